#!/usr/bin/env python3
"""Counts the instructions of the hot paths and compares them with guard.json.

    benches/guard.py [--update] [--jobs N] GUARD [CASE..]

GUARD is the program of benches/guard.rs, built with `cargo build --release --bench guard`. Each of
its cases runs once under callgrind, which is free of the machine's noise: the counts of two runs
differ by less than 1 percent. The exit status is 1 if a case takes more instructions than
guard.json says, plus a margin: 5 percent if rustc is the same as for guard.json, 15 percent if not.
A case that has become faster by the same margin is mentioned, so that its count can be lowered.

--update rewrites guard.json, to be committed with a reason: an accepted slowdown, a speedup, or a
new rustc.
"""

import argparse
import concurrent.futures
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "guard.json")
MARGIN, WIDE_MARGIN = 0.05, 0.15


def count(program, case):
    """The number of instructions within the function `measured`."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         "--toggle-collect=guard::measured*", program, case],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found or int(found[1]) == 0:
        sys.exit(f"guard: {case} ended with {done.returncode}:\n{done.stderr}")
    return int(found[1])


def rustc():
    line = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    return line.stdout.strip()


def processor():
    """The processor features that decide which kernels run, and so the counts."""
    machine = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    except OSError:
        flags = set()
    return " ".join([machine, *(flag for flag in ("avx2", "bmi2", "pclmulqdq", "sha_ni") if flag in flags)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="rewrite guard.json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases run at once [default: all cores]")
    parser.add_argument("guard", help="program built from benches/guard.rs")
    parser.add_argument("case", nargs="*", help="run only these cases")
    args = parser.parse_args()

    if not shutil.which("valgrind"):
        sys.exit("guard: valgrind is missing; it is needed to count instructions")
    names = subprocess.run([args.guard, "--list"], capture_output=True, text=True, check=True)
    names = names.stdout.split()
    cases = args.case or names
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        counts = dict(zip(cases, pool.map(lambda case: count(args.guard, case), cases)))
    print(f"{len(cases)} cases in {time.monotonic() - start:.0f} s")

    if args.update:
        if args.case:
            sys.exit("guard: --update needs all cases; leave out the names")
        with open(KEPT, "w", encoding="utf-8") as out:
            json.dump({"rustc": rustc(), "processor": processor(), "instructions": counts}, out, indent=2)
            out.write("\n")
        return

    with open(KEPT, encoding="utf-8") as kept:
        kept = json.load(kept)
    if kept["processor"] != processor():
        print(f"guard.json is for the processor {kept['processor']}; this one is {processor()} and runs other code: "
              "nothing is compared")
        return
    is_same = kept["rustc"] == rustc()
    margin = MARGIN if is_same else WIDE_MARGIN
    if not is_same:
        print(f"guard.json is for {kept['rustc']}; this is {rustc()}, so the margin is {margin:.0%}. "
              "To narrow it, run benches/guard.py --update on the previous commit.")
    slower = []
    for case, now in counts.items():
        before = kept["instructions"].get(case)
        if before is None:
            slower.append(f"{case} is not in guard.json; add it with --update")
            continue
        ratio = now / before
        note = ""
        if ratio > 1 + margin:
            note = "  SLOWER"
            slower.append(f"{case} takes {ratio - 1:.1%} more instructions than guard.json says "
                          f"({now:,} instead of {before:,})")
        elif ratio < 1 - margin:
            note = "  faster; lower its count with --update"
        print(f"{case:16} {now:13,} {before:13,} {ratio:7.3f}{note}")
    gone = [] if args.case else sorted(set(kept["instructions"]) - set(names))
    slower += [f"{case} is in guard.json but no longer exists; remove it with --update" for case in gone]
    if slower:
        sys.exit("\n".join(["", *slower, "", "Find out why (with callgrind_annotate), or explain in the "
                            "commit why it is worth it and run this with --update."]))


if __name__ == "__main__":
    main()
