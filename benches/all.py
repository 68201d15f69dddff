#!/usr/bin/env python3
"""Runs the benchmarks in one run, and writes their tables into the pages, between marks.

    just bench-all --python PYTHON --python OTHER_PYTHON

Every program gets a first run that does not count, then runs in turn with the others. A ratio is the time of a program divided by
ours in the same round. Where the slowest round of a program takes more than 1.5 times as long as its fastest, the row is measured
again, and marked if that does not help. docs/benchmarks.md explains the tables.

Peers come from the interpreters given with --python, in the environment variable BENCH_PYTHONS (separated as in PATH), or in the
environments that `just interop` makes. A bench whose peers are in none of them is left out. All measurements are saved in
target/bench/NAME.json.
"""

import argparse
import glob
import importlib
import json
import os
import sys
import traceback

from kit import docs, machine, places
from kit.measure import say

MODULES = ("commands", "scaling", "ranges", "everyday", "rust", "arrays", "sql", "to_zarr", "remote", "python")
# Most programs here use two threads, so that a load of this much disturbs them.
BUSY = 0.5


def options(names):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", choices=names, help=f"run this bench only: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="little data and one round, to see that all benches run; the pages stay as they are")
    parser.add_argument("--anyway", action="store_true", help="run on a busy machine, and with changes that are not committed")
    parser.add_argument("--python", action="append", metavar="FILE", help="an interpreter with peers")
    parser.add_argument("--rounds", type=int, help="rounds that count [default: 5; with --quick 1]")
    parser.add_argument("--threads", type=int, default=2, help="threads of commands [default: %(default)s]")
    parser.add_argument("--from", dest="made", action="store_true", help="measure nothing; write the tables of the saved measurements")
    return parser.parse_args()


def saved(bench, quick):
    return places.BASE / f"{bench.name}{'-quick' if quick else ''}.json"


def measured(bench, setting, about):
    """Measures, and saves the measurements; returns why if that fails."""
    say(f"\n== {bench.name}")
    try:
        saved(bench, setting.quick).write_text(json.dumps({"about": about, "cells": bench.measured(setting)}))
    except places.Missing as why:
        return why
    except Exception as why:
        # The other benches take hours, and are of use without this one.
        traceback.print_exc()
        return why


def write(bench, quick):
    """Makes the tables of a bench; they go into the pages if they are not of a quick run."""
    found = json.loads(saved(bench, quick).read_text())
    about = found["about"]
    for page, name, summary in ((bench.page, bench.name, bench.summary), *bench.more):
        lines = summary(found)
        print(f"{name}: {docs.check(page, name, lines)} tables, {len(lines)} lines, for docs/{page}")
        if not quick:
            run = os.path.relpath("benchmarks.md", os.path.dirname(page))
            changed = " with changes" if about["changed"] else ""
            busy = f", on a busy machine (load {about['load']:.1f})" if about["load"] > BUSY else ""
            docs.write(page, name, [f"[Run]({run}#the-run) of {about['date']}, commit {about['commit']}{changed}{busy}.", "", *lines])
    if not quick:
        bench.draw(found)


def main():
    benches = {bench.name: bench for module in MODULES for bench in importlib.import_module(module).BENCHES}
    chosen = options(benches)
    pythons = chosen.python or list(filter(None, os.environ.get("BENCH_PYTHONS", "").split(os.pathsep)))
    pythons = pythons or glob.glob(str(places.ROOT / "target" / "interop" / "venv*" / "bin" / "python"))
    places.BASE.mkdir(parents=True, exist_ok=True)
    wanted, failed = [benches[name] for name in chosen.only or benches], {}
    if not chosen.made:
        with places.scratch(chosen.quick) as folder:
            setting = places.Setting(chosen.quick, chosen.rounds or (1 if chosen.quick else 5), chosen.threads, pythons, folder)
            about, clock = machine.facts(setting), machine.Clock()
            wrong = [f"the load is {about['load']:.1f}: other programs are busy"] if about["load"] > BUSY else []
            wrong += ["changes are not committed"] if about["changed"] else []
            if wrong and not (chosen.quick or chosen.anyway):
                sys.exit(f"{' and '.join(wrong)}; --anyway runs all the same, and the tables say so")
            for bench in wanted:
                if why := measured(bench, setting, about):
                    failed[bench.name] = why
            clock.note(about)
            print("\n".join(machine.described(about)))
            if not (chosen.quick or chosen.only):
                docs.write("benchmarks.md", "run", machine.described(about))
    for bench in wanted:
        if bench.name not in failed and saved(bench, chosen.quick).exists():
            write(bench, chosen.quick)
    for name, why in failed.items():
        print(f"{name}: {'left out' if isinstance(why, places.Missing) else 'FAILED'}: {why}")
    return any(not isinstance(why, places.Missing) for why in failed.values())


if __name__ == "__main__":
    sys.exit(main())
