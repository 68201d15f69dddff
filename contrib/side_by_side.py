#!/usr/bin/env python3
"""Run two builds of the command beside each other and compare everything that they write.

    contrib/side_by_side.py OLD_BLPK NEW_BLPK            everything (some minutes with two processes)
    contrib/side_by_side.py --quick OLD_BLPK NEW_BLPK    some cases of each family (less than a minute)
    contrib/side_by_side.py --list OLD_BLPK NEW_BLPK     the names of the cases
    contrib/side_by_side.py --only PATTERN OLD NEW       the cases whose names match a regular expression
    contrib/side_by_side.py --damages 4000 OLD NEW       also about so many damaged files, verified and recovered

A case is a folder of files and some command lines (side_by_side/cases.py). Each build runs them in a folder of its own,
with the same content, up to the first failure. After each command line these are compared:

* The exit status, and the whole tree: names, kinds, permissions, and the SHA-256 of each file. They have to be the
  same.
* Standard output. Data (of `cat`, `export`, `records get` and so on) has to be the same, byte for byte. JSON has to be
  equal as JSON, with numbers as they are spelled; --allow-new-key names keys that may be new. Values under TEXT_KEYS
  (side_by_side/compare.py) are texts.
* Texts: the rest of standard output, and standard error. They may differ. Each distinct change is listed once, in a
  Markdown table, to be reviewed; in it, numbers, names and digests are placeholders. The manual page and the
  completions repeat the help, so only the number of changed lines is listed, and options that are no longer offered.

The inputs are copies of everything in testdata/, data made by seeded generators with a matrix of options, damaged
files, and files and datasets that the old build left in the middle of a change (it was killed by a limit on the size of
files). The script writes Markdown to standard output. It exits with 1 if statuses, bytes or JSON differ, with 0
otherwise. The same builds give the same report, except for the seconds.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "side_by_side"))

from bench import Bench, Case, Content, Step, script  # noqa: E402
from cases import families  # noqa: E402
from compare import Comparison, Outcome, normalised  # noqa: E402

# Failures that are printed for each case.
MOST_FAILURES = 6


class Runner:
    """Runs cases with two builds, below a folder."""

    def __init__(self, old: Path, new: Path, work: Path, new_keys: set[str]) -> None:
        self.old, self.new, self.work, self.new_keys = old, new, work, new_keys
        self.benches = 0

    def run(self, number: int, case: Case) -> Outcome:
        """Runs a case, up to the first failure."""
        top = self.work / f"case-{number}"
        old, new = Bench(self.old, top / "old"), Bench(self.new, top / "new")
        old.put(case.files)
        for step in case.prepare:
            old.start(step)
        shutil.copytree(old.folder, new.folder, symlinks=True)
        outcome = self._compare(case, old, new)
        shutil.rmtree(top, ignore_errors=True)
        return outcome

    def _compare(self, case: Case, old: Bench, new: Bench) -> Outcome:
        outcome = Outcome(case.name)
        for number, step in enumerate(case.steps, 1):
            before, after = (bench.run(step, number == len(case.steps)) for bench in (old, new))
            Comparison(outcome, step, self.new_keys).compare(before, after)
            outcome.commands += 1
            outcome.files += len(before.tree)
            if outcome.failures:
                break
        return outcome

    def make(self, files: Mapping[str, Content], steps: list[Step]) -> Path:
        """Runs steps with the old build; gives the path of the result, `made`."""
        bench = self._old_bench(files)
        for step in steps:
            status, _, errors = bench.start(step)
            if status != 0:
                sys.exit(f"side_by_side: {step}: {errors.decode(errors='replace')}")
        return bench.folder / "made"

    def describe(self, path: Path) -> dict[str, Any]:
        """The output of the old build's `info --json` for a dataset or a frame."""
        bench = self._old_bench({"in": path})
        _, stdout, _ = bench.start(*script("info --json in"))
        shutil.rmtree(bench.folder)
        return json.loads(stdout) if stdout.strip() else {}

    def _old_bench(self, files: Mapping[str, Content]) -> Bench:
        self.benches += 1
        bench = Bench(self.old, self.work / f"bench-{self.benches}")
        bench.put(files)
        return bench


def chosen(runner: Runner, quick: bool, only: str | None, damages: int) -> list[Case]:
    """The cases to run."""
    found: list[Case] = []
    for cases, stride in families(runner.make, runner.describe, damages):
        found += list(cases)[:: stride if quick else 1]
    return [case for case in found if not only or re.search(only, case.name)]


def changed_texts(outcomes: list[Outcome]) -> tuple[dict[tuple[str, str], list[str]], dict[str, list[str]]]:
    """The distinct changes of texts with where they were seen, and those of numbers and names alone."""
    texts: dict[tuple[str, str], list[str]] = {}
    others: dict[str, list[str]] = {}
    for old, new, place in (text for outcome in outcomes for text in outcome.texts):
        before, after = normalised(old), normalised(new)
        if before == after:
            others.setdefault(before, []).append(f"{cell(old)} → {cell(new)} ({cell(place)})")
        else:
            texts.setdefault((before, after), []).append(place)
    return texts, others


def cell(text: str) -> str:
    """A text as a cell of a table."""
    escaped = text.strip().replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return escaped.replace("\n", "<br>") or "(nothing)"


def some(failures: list[str]) -> list[str]:
    """The first failures of a case, and how many more there are."""
    more = len(failures) - MOST_FAILURES
    return failures[:MOST_FAILURES] + ([f"… and {more} more of this case"] if more > 0 else [])


def print_list(title: str, items: list[str]) -> None:
    if items:
        print(f"\n## {title}\n")
        print("\n".join(f"- {item}" for item in items))


def print_texts(texts: dict[tuple[str, str], list[str]]) -> None:
    if texts:
        print("\n## Changed texts\n\n| old | → new | times | first seen in |\n|---|---|--:|---|")
        for (old, new), places in sorted(texts.items()):
            print(f"| {cell(old)} | {cell(new)} | {len(places)} | {cell(places[0])} |")


def report(outcomes: list[Outcome], seconds: float) -> int:
    """Prints what was found; gives the exit status."""
    failed = sum(bool(outcome.failures) for outcome in outcomes)
    texts, others = changed_texts(outcomes)
    commands, files = sum(outcome.commands for outcome in outcomes), sum(outcome.files for outcome in outcomes)
    print(f"{len(outcomes):,} cases, {commands:,} commands, {files:,} comparisons of files, in {seconds:.0f} s: "
          f"{failed} cases with failures, {len(texts)} changed texts.")
    print_list("Other bytes, statuses or JSON", [line for outcome in outcomes for line in some(outcome.failures)])
    print_texts(texts)
    print_list("Manual page and completions", [line for outcome in outcomes for line in outcome.generated])
    print_list("Texts with other numbers or names", [f"{found[0]}, {len(found)} times" for found in others.values()])
    return 1 if failed else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run two builds of the command beside each other and compare them.")
    parser.add_argument("old", type=Path, help="the old build of blpk")
    parser.add_argument("new", type=Path, help="the new build of blpk")
    parser.add_argument("--quick", action="store_true", help="run some cases of each family")
    parser.add_argument("--only", metavar="PATTERN", help="run the cases whose names match")
    parser.add_argument("--damages", type=int, default=0, metavar="N", help="also recover about N damaged files")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--allow-new-key", action="append", default=[], metavar="KEY",
                        help="a key of JSON that may be new: its name, or a path such as 'files[].damages[].side'")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases at once [default: all cores]")
    parser.add_argument("--work", type=Path, help="folder to work in [default: a new one, in memory if possible]")
    options = parser.parse_args()
    for blpk in (options.old, options.new):
        if not os.access(blpk, os.X_OK) or blpk.is_dir():
            parser.error(f"not a program: {blpk}")
    return options


def main() -> int:
    options = arguments()
    memory = Path("/dev/shm")
    place = options.work or (memory if os.access(memory, os.W_OK) else None)
    os.umask(0o022)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="side-by-side-", dir=place) as work:
        runner = Runner(options.old.resolve(), options.new.resolve(), Path(work), set(options.allow_new_key))
        cases = chosen(runner, options.quick, options.only, options.damages)
        if options.list:
            print("\n".join(case.name for case in cases))
            return 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(runner.run, range(len(cases)), cases))
    return report(outcomes, time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
