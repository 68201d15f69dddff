#!/usr/bin/env python3
"""Times datasets against bcolz-zipline: each task by both in turn, for several rounds.

usage: datasets.py PROGRAM PYTHON [ROUNDS] [VALUES]

PROGRAM is the bench `datasets` as built by cargo, PYTHON an interpreter with bcolz-zipline and numpy. For each task, prints the
median seconds and how many times faster PROGRAM is, with the range over the paired rounds."""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TASKS = ["create", "read", "slices", "small", "table", "scan"]

BCOLZ = r'''
import sys, time, shutil, os
import numpy as np, bcolz
task, folder = sys.argv[1:]
values = np.fromfile(folder + "/values.f64")
array, table = folder + "/bcolz", folder + "/bcolz-table"
class Places:
    state = 1
    def next(self, below):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % below
def slices(count, length):
    a, places = bcolz.carray(rootdir=array, mode="r"), Places()
    at = [places.next(len(a) - length) for _ in range(count)]
    begun = time.perf_counter()
    for start in at:
        a[start:start + length]
    return time.perf_counter() - begun
if task == "create":
    begun = time.perf_counter()
    bcolz.carray(values, rootdir=array, mode="w").flush()
    took = time.perf_counter() - begun
elif task == "read":
    begun = time.perf_counter()
    bcolz.carray(rootdir=array, mode="r")[:]
    took = time.perf_counter() - begun
elif task == "slices":
    took = slices(200, 100_000)
elif task == "small":
    took = slices(100_000, 10)
elif task == "table":
    rows = len(values) // 16
    columns = [values[i * rows:(i + 1) * rows] for i in range(16)]
    begun = time.perf_counter()
    bcolz.ctable(columns, names=["c%d" % i for i in range(16)], rootdir=table, mode="w").flush()
    took = time.perf_counter() - begun
elif task == "scan":
    begun = time.perf_counter()
    t, total = bcolz.ctable(rootdir=table, mode="r"), 0.0
    for name in t.names:
        for block in bcolz.iterblocks(t[name], blen=131072):
            total += block.sum()
    took = time.perf_counter() - begun
print(took)
'''


def took(command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main():
    program, python = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 20_000_000
    with tempfile.TemporaryDirectory(prefix="datasets", dir=".") as folder:
        make = f"import numpy as np; np.cumsum(np.random.default_rng(1).normal(size={count}).round(2)).tofile({folder + '/values.f64'!r})"
        subprocess.run([python, "-c", make], check=True)
        script = Path(folder, "bcolz.py").absolute()
        script.write_text(BCOLZ.replace("import numpy as np, bcolz", "sys.path.pop(0); import numpy as np, bcolz"))
        found = {task: [] for task in TASKS}
        for _ in range(rounds):
            for task in TASKS:
                ours = took([program, task, folder])
                theirs = took([python, str(script), task, folder])
                found[task].append((ours, theirs))
        print(f"{'task':8} {'ours s':>8} {'bcolz s':>8} {'times faster':>13}")
        for task, pairs in found.items():
            ratios = [theirs / ours for ours, theirs in pairs]
            ours, theirs = (statistics.median(side) for side in zip(*pairs))
            print(f"{task:8} {ours:8.3f} {theirs:8.3f} {statistics.median(ratios):8.1f}  ({min(ratios):.1f} to {max(ratios):.1f})")


if __name__ == "__main__":
    main()
