#!/usr/bin/env python3
"""Scans and filters a table of python-blosc2 with 24 million rows, beside python-blosc2 itself.

usage: ctable.py BLPK_SQL [ROUNDS] [ROWS]

The table has the shape of python-blosc2's comparison on taxi rides: eight columns of numbers and times, made from a seed, written
by python-blosc2 as `.b2z`. Tasks: a condition on two columns that some 70 rows fulfil, with three columns of these rows; a sum of a
column under a condition; the sum of a whole column. The two take turns, each with two threads, in a new process each time.
Ours is the time of the whole command, python-blosc2's that of the second run of the query in its process. Prints medians in
milliseconds, the most memory, and the median of the ratios of a round: below 1, ours is faster. The results are compared.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

MAKE = r'''
import dataclasses, sys
import blosc2, numpy as np
rows, path = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(1)
table = np.empty(rows, [("vendor", "i1"), ("passengers", "i4"), ("pickup", "i8"), ("dropoff", "i8"),
                        ("distance", "f8"), ("fare", "f8"), ("tip", "f8"), ("total", "f8")])
table["vendor"] = rng.integers(1, 3, rows)
table["passengers"] = rng.integers(0, 7, rows)
table["pickup"] = 1_704_067_200 + np.cumsum(rng.integers(0, 3, rows))
table["dropoff"] = table["pickup"] + rng.integers(60, 3600, rows)
table["distance"] = rng.exponential(3, rows).round(2)
table["fare"] = (3 + 2.5 * table["distance"] + rng.exponential(2, rows)).round(2)
table["tip"] = (table["fare"] * rng.integers(0, 4, rows) / 10).round(2)
table["total"] = (table["fare"] + table["tip"] + 1.5).round(2)
kinds = {"i1": (int, blosc2.int8), "i4": (int, blosc2.int32), "i8": (int, blosc2.int64), "f8": (float, blosc2.float64)}
fields = [(name, kinds[table.dtype[name].str[1:]][0], blosc2.field(kinds[table.dtype[name].str[1:]][1]())) for name in table.dtype.names]
stored = blosc2.CTable(dataclasses.make_dataclass("Ride", fields), urlpath=path, mode="w")
stored.extend(table)
stored.close()
'''

TASKS = {
    "two conditions, three columns": (
        "SELECT count(*), sum(fare), sum(tip), sum(total) FROM '{}' WHERE distance > 30 AND tip > 25",
        "rows = table.where('(distance > 30) & (tip > 25)'); found = [len(rows)] + [float(rows[name][:].sum()) for name in ('fare', 'tip', 'total')]"),
    "a condition and a sum": (
        "SELECT sum(fare) FROM '{}' WHERE passengers = 5",
        "found = [float(table.where('passengers == 5')['fare'][:].sum())]"),
    "a sum": (
        "SELECT sum(total) FROM '{}'",
        "found = [float(table['total'][:].sum())]"),
}

PEER = r'''
import json, resource, sys, time
import blosc2
blosc2.set_nthreads(2)
table = blosc2.CTable.open(sys.argv[1], mode="r")
for _ in range(2):
    begun = time.perf_counter()
    {}
    took = time.perf_counter() - begun
print(json.dumps([took * 1e3, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, found]))
'''


def ours(program, query, path):
    # GNU time would be one more thing to install.
    runner = ("import json, resource, subprocess, sys, time; begun = time.perf_counter(); "
              "out = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout; took = time.perf_counter() - begun; "
              "print(json.dumps([took * 1e3, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, out.splitlines()[1].split(',')]))")
    command = [sys.executable, "-c", runner, program, "--threads", "2", query.format(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    program = os.path.abspath(sys.argv[1])
    rounds, rows = int((sys.argv[2:] or ["5"])[0]), (sys.argv[3:] or ["24000000"])[0]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rides.b2z")
        subprocess.run([sys.executable, "-c", MAKE, rows, path], check=True)
        print(f"{int(rows):,} rows, {os.path.getsize(path) / 1e6:.0f} MB\n")
        print("| task | ours, ms, MB | python-blosc2, ms, MB | ours / python-blosc2 |\n|---|---|---|---|")
        for name, (query, call) in TASKS.items():
            times = ([], [])
            for _ in range(rounds):
                one = ours(program, query, path)
                peer = json.loads(subprocess.run([sys.executable, "-c", PEER.replace("{}", call), path],
                                                 check=True, capture_output=True, text=True).stdout)
                for mine, other in zip(map(float, one[2]), peer[2], strict=True):
                    assert abs(mine - other) <= 1e-9 * abs(other), (name, one[2], peer[2])
                for run, into in zip((one, peer), times):
                    into.append(run[:2])
            cells = [f"{statistics.median(run[0] for run in runs):.0f}, {max(run[1] for run in runs):.0f}" for runs in times]
            ratio = statistics.median(mine[0] / other[0] for mine, other in zip(*times))
            print(f"| {name} | {cells[0]} | {cells[1]} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
