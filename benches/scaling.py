#!/usr/bin/env python3
"""Measures how the cost of `blpk` grows with the work: bytes through a pipe, chunks, records, random access, memory.

    cargo build --release --locked --package blpk && benches/scaling.py

docs/benchmarks.md explains the figures.
"""

import argparse
import sys

from kit import docs, growth, growth_report, machine, peers, places
from kit.measure import say


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blpk", metavar="FILE", help="command to measure [default: target/release/blpk]")
    parser.add_argument("--rounds", type=int, help="rounds that count [default: 3; with --quick 1]")
    parser.add_argument("--threads", type=int, default=2, help="number of threads [default: %(default)s]")
    parser.add_argument("--folder", help="folder for the files [default: /dev/shm if it has room, otherwise in target/]")
    parser.add_argument("--quick", action="store_true", help="run a small version")
    parser.add_argument("--json", metavar="FILE",
                        help="write all measurements to FILE [default: target/bench-commands/scaling.json]")
    parser.add_argument("--from", dest="made", metavar="FILE", help="measure nothing; report the measurements in FILE")
    parser.add_argument("--docs", metavar="FOLDER", help="update the tables in FOLDER/scaling.md")
    return parser.parse_args()


def measured(chosen):
    plan, rounds = (growth.QUICK, 1) if chosen.quick else (growth.Plan(), 3)
    rounds = chosen.rounds or rounds
    command, tools, python = places.command(chosen.blpk), places.tools(install=False), places.python()
    # For the chunks: the content, the decompressed copy and the files. For the ranges: files of a quarter of their content.
    need = max(4 * 1024 * max(plan.chunks), max(plan.totals) // 2, 150 * max(plan.records), 3 * plan.memory)
    with places.scratch(chosen.folder, need) as folder:
        setting = peers.Setting(command, python, tools, chosen.threads, folder)
        found = {"machine": machine.facts(setting), "rounds": rounds, "cells": []}
        clock = machine.Clock()
        for part in (growth.memory, growth.by_bytes, growth.by_ranges, growth.by_chunks, growth.by_records):
            found["cells"] += part(setting, plan, rounds)
            clock.note(found)
            docs.keep(found, chosen.json or places.BASE / "scaling.json")
            say(f"{found['seconds']} s")
    return found


def main():
    chosen = options()
    docs.reported(chosen, measured, growth_report.summary, "scaling")


if __name__ == "__main__":
    sys.exit(main())
