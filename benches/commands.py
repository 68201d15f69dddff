#!/usr/bin/env python3
"""Whole commands beside their peers: python-bloscpack, python-blosc2, zstd, lz4, pigz, cp.

    cargo build --release --locked && benches/commands.py

All run in turn on the same files, warm, several rounds; docs/benchmarks.md tells what the figures mean. The first run makes an
environment of Python with the peers below target/bench-commands, which needs the network.
"""

import argparse
import os
import sys
import tempfile

from kit import cells, chart, docs, machine, peers, places, report
from kit.data import KINDS, make
from kit.measure import say


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blpk", metavar="FILE", help="the command [default: target/release/blpk]")
    parser.add_argument("--sizes", default="256M,1G", help="of the data, with commas between [default: %(default)s]")
    parser.add_argument("--data", default=",".join(KINDS), help="kinds of data [default: %(default)s]")
    parser.add_argument("--without", default="", metavar="NAMES", help="programs of the path that are left out: pigz takes long")
    parser.add_argument("--rounds", type=int, default=5, help="that are counted [default: %(default)s]")
    parser.add_argument("--threads", type=int, default=2, help="for those who can [default: %(default)s]")
    parser.add_argument("--slow", type=float, default=8, metavar="SECONDS",
                        help="what takes longer has three rounds [default: %(default)s]")
    parser.add_argument("--folder", help="for the files [default: /dev/shm if there is room, else below target/]")
    parser.add_argument("--disk", help="a folder on a disk, for cp [default: below target/, unless that is in memory]")
    parser.add_argument("--json", metavar="FILE", help="for all that is measured [default: target/bench-commands/commands.json]")
    parser.add_argument("--from", dest="made", metavar="FILE", help="measure nothing: report what such a file has")
    parser.add_argument("--docs", metavar="FOLDER", help="write the tables and the chart of FOLDER/benchmarks.md")
    parser.add_argument("--smoke", action="store_true", help="little data, one round, no program is installed: does it run?")
    chosen = parser.parse_args()
    if chosen.smoke:
        chosen.sizes, chosen.data, chosen.rounds = "4M", "ticks", 1
    unknown = set(chosen.data.split(",")) - set(KINDS)
    if unknown:
        parser.error(f"no such data: {', '.join(unknown)}")
    return chosen


def disk_folder(chosen):
    """A new folder on a disk, or nothing where none is known."""
    place = chosen.disk or places.BASE
    if not chosen.disk and places.filesystem(place) in ("tmpfs", "ramfs"):
        say("no --disk given: cp on a disk is left out")
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
    # The raw file, what comes back, and the files of eleven peers, none of which is much longer than the raw one.
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
        with open(os.path.join(chosen.docs, "benchmarks.svg"), "w") as file:
            file.write(chart.drawn(found))


if __name__ == "__main__":
    sys.exit(main())
