#!/usr/bin/env python3
"""Compares what `blpk compress` does by default with `--auto=off`, zstd -3 and gzip, on twelve kinds of files.

    cargo build --release --locked --package blpk && benches/everyday.py

Needs no package. All programs run in turn on the same files, with warm caches, in several rounds; times are medians of the wall
time of whole processes. The status is 1 if the default is more than 5 % slower than `--auto=off` without a smaller file.
"""

import argparse
import os
import statistics
import sys

from kit import docs, everyday, places
from kit.measure import in_turn, run, say

# How much slower the default may be where it is not smaller.
SLOWER = 1.05


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blpk", metavar="FILE", help="command to measure [default: target/release/blpk]")
    parser.add_argument("--size", default="32M", help="size of a file [default: %(default)s]")
    parser.add_argument("--rounds", type=int, default=9, help="rounds that count [default: %(default)s]")
    parser.add_argument("--only", default="", metavar="WORD", help="only kinds whose names contain this")
    parser.add_argument("--folder", help="folder for the files [default: /dev/shm if it has room, otherwise in target/]")
    parser.add_argument("--json", metavar="FILE", default=places.BASE / "everyday.json", help="where the measurements go")
    parser.add_argument("--from", dest="made", metavar="FILE", help="measure nothing; report the measurements in FILE")
    parser.add_argument("--docs", metavar="FOLDER", help="update FOLDER/everyday.md")
    return parser.parse_args()


def programs(command, plain, packed):
    """Command lines by name. Each writes `packed`, or what its name says in its place."""
    return {
        "default": [command, "compress", "-f", plain, packed],
        "off": [command, "compress", "-f", "--auto=off", plain, packed],
        "zstd": ["zstd", "-3", "-q", "-f", plain, "-o", packed],
        "gzip": ["gzip", "-k", "-f", "-c", plain],
    }


def cell(name, command, folder, chosen):
    plain, packed = os.path.join(folder, "plain"), os.path.join(folder, "packed")
    size = everyday.make(name, places.size(chosen.size), command, plain)
    lines, lens = programs(command, plain, packed), {}

    def step(which):
        def once(_):
            done = run(lines[which], stdout=packed if which == "gzip" else os.devnull)
            lens[which] = os.path.getsize(packed)
            return done
        return once

    results = in_turn({which: step(which) for which in lines}, chosen.rounds)
    one = {"name": name, "size": size}
    for which in lines:
        one[which] = {"bytes": lens[which], "runs": [again["wall"] for again in results[which]["runs"]]}
    return one


def measured(chosen):
    command = places.command(chosen.blpk)
    found = {"rounds": chosen.rounds, "cells": []}
    os.makedirs(places.BASE, exist_ok=True)
    with places.scratch(chosen.folder, 4 * places.size(chosen.size)) as folder:
        for name in everyday.KINDS:
            if chosen.only in name:
                say(name)
                found["cells"].append(cell(name, command, folder, chosen))
                docs.keep(found, chosen.json)
    return found


def seconds(one, which):
    return statistics.median(one[which]["runs"])


def slowness(one):
    """The time of the default divided by the time of `--auto=off`: the median of the rounds' ratios."""
    return statistics.median(new / old for new, old in zip(one["default"]["runs"], one["off"]["runs"]))


def is_worse(one):
    return one["default"]["bytes"] >= one["off"]["bytes"] and slowness(one) > SLOWER


def summary(found):
    lines = ["| data | `blpk c` | `--auto=off` | `zstd -3` | `gzip` | `blpk c` | `--auto=off` | `zstd -3` | `gzip` | time of `blpk c` / off |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for one in found["cells"]:
        parts = [f"{100 * one[which]['bytes'] / one['size']:.1f} %" for which in ("default", "off", "zstd", "gzip")]
        times = [f"{1000 * seconds(one, which):.0f} ms" for which in ("default", "off", "zstd", "gzip")]
        lines.append(f"| {one['name']} | {' | '.join(parts)} | {' | '.join(times)} | {slowness(one):.2f} |")
    sizes = {one["size"] for one in found["cells"]}
    lines += ["", f"Files of {min(sizes)} to {max(sizes)} bytes; medians of {found['rounds']} rounds."]
    worse = [one["name"] for one in found["cells"] if is_worse(one)]
    lines.append(f"More than {100 * SLOWER - 100:.0f} % slower than `--auto=off` without a smaller file: {', '.join(worse) or 'none'}.")
    return lines


def main():
    chosen = options()
    found = docs.reported(chosen, measured, summary, "everyday")
    return any(is_worse(one) for one in found["cells"])


if __name__ == "__main__":
    sys.exit(main())
