#!/usr/bin/env python3
"""Times whole commands against python-bloscpack, python-blosc2, zstd, lz4, pigz and cp.

    cargo build --release --locked --package blpk && benches/commands.py

All programs run in turn on the same files, with warm caches, for several rounds. docs/benchmarks.md explains the figures. The
first run creates a Python environment with the peers in target/bench-commands, which needs network access.
"""

import argparse
import os
import sys
import tempfile

from kit import aims, cells, chart, docs, machine, peers, places, report
from kit.data import KINDS, make
from kit.measure import say


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blpk", metavar="FILE", help="command to measure [default: target/release/blpk]")
    parser.add_argument("--sizes", default="256M,1G", help="data sizes, separated by commas [default: %(default)s]")
    parser.add_argument("--data", default=",".join(KINDS), help="kinds of data, separated by commas [default: %(default)s]")
    parser.add_argument("--without", default="", metavar="NAMES", help="programs to leave out, for example pigz, which is slow")
    parser.add_argument("--rounds", type=int, default=5, help="rounds that count [default: %(default)s]")
    parser.add_argument("--threads", type=int, default=2, help="threads for programs that support them [default: %(default)s]")
    parser.add_argument("--slow", type=float, default=8, metavar="SECONDS",
                        help="programs slower than this run at most three rounds [default: %(default)s]")
    parser.add_argument("--folder", help="folder for the files [default: /dev/shm if it has room, otherwise in target/]")
    parser.add_argument("--disk",
                        help="folder on a disk, for the comparison with cp [default: in target/, unless that is in memory]")
    parser.add_argument("--json", metavar="FILE",
                        help="write all measurements to FILE [default: target/bench-commands/commands.json]")
    parser.add_argument("--from", dest="made", metavar="FILE", help="measure nothing; report the measurements in FILE")
    parser.add_argument("--docs", metavar="FOLDER", help="update commands.md, commands.svg and aims.md in FOLDER")
    parser.add_argument("--smoke", action="store_true",
                        help="quick check that everything runs: little data, one round, nothing installed")
    chosen = parser.parse_args()
    if chosen.smoke:
        chosen.sizes, chosen.data, chosen.rounds = "4M", "ticks", 1
    unknown = set(chosen.data.split(",")) - set(KINDS)
    if unknown:
        parser.error(f"unknown kind of data: {', '.join(unknown)}")
    return chosen


def disk_folder(chosen):
    """A new folder on a disk, or None if no disk is known."""
    place = chosen.disk or places.BASE
    if not chosen.disk and places.filesystem(place) in ("tmpfs", "ramfs"):
        say("no --disk given: skipping the comparison with cp on a disk")
        return None
    os.makedirs(place, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="disk-", dir=place)


def all_cells(setting, chosen, disk):
    sizes = [places.size(one) for one in chosen.sizes.split(",")]
    raw = os.path.join(setting.folder, "raw")
    yield cells.at_start(setting, 5 if chosen.smoke else 50)
    for size in sizes:
        for kind in (KINDS[name] for name in chosen.data.split(",")):
            say(f"{kind.name}, {places.told(size)}")
            make(setting.python, kind.name, size, raw)
            yield from peers.compared(setting, kind, raw, chosen.rounds, chosen.slow)
            if kind.name in ("ramp", "ticks"):
                yield cells.to_null(setting, kind, raw, chosen.rounds)
                if disk:
                    yield cells.on_disk(setting, kind, raw, disk, chosen.rounds)
            if kind.name == "ticks" and size == min(sizes):
                yield from cells.by_threads(setting, kind, raw, chosen.rounds)
            os.remove(raw)


def measured(chosen):
    command = places.command(chosen.blpk)
    tools = places.tools(install=not chosen.smoke)
    tools = {name: path for name, path in tools.items() if name not in chosen.without.split(",")}
    python = places.python()
    # The raw file, the decompressed copy, and one file for each of eleven peers; none is much longer than the raw file.
    need = 13 * max(places.size(one) for one in chosen.sizes.split(","))
    disk = disk_folder(chosen)
    with places.scratch(chosen.folder, need) as folder:
        setting = peers.Setting(command, python, tools, chosen.threads, folder)
        found = {"machine": machine.facts(setting, disk and disk.name), "rounds": chosen.rounds, "cells": []}
        clock = machine.Clock()
        for cell in all_cells(setting, chosen, disk and disk.name):
            found["cells"].append(cell)
            clock.note(found)
            docs.keep(found, chosen.json or places.BASE / "commands.json")
            say("\n".join(report.detailed(cell)), "\n")
    if disk:
        disk.cleanup()
    return found


def main():
    chosen = options()
    found = docs.reported(chosen, measured, report.summary, "commands")
    if chosen.docs:
        docs.write(os.path.join(chosen.docs, "aims.md"), "aims", aims.table(found))
        with open(os.path.join(chosen.docs, "commands.svg"), "w") as file:
            file.write(chart.drawn(found))


if __name__ == "__main__":
    sys.exit(main())
