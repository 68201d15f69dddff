#!/usr/bin/env python3
"""Times queries over TPC-H as ctables, against the same engine over Parquet, DuckDB, bcolz and python-blosc2.

usage: sql.py PROGRAM DIR [ROUNDS]

PROGRAM is `bloscpack-tpch` as built by cargo, DIR a folder written by `bloscpack-tpch make DIR`. Needs duckdb, bcolz-zipline, numexpr,
blosc2 and pyarrow. The systems take turns, with two threads each. A new process runs each query twice and reports the time of the
second run and its peak memory. Prints medians of time and memory, and for each peer the median of the ratios ctable / peer of the
same round: below 1, ctables are faster. "no index" are the same ctables without the files of statistics. bcolz and python-blosc2 have
tables, not SQL: they only run queries that consist of a condition and columns.
"""

import os
import shutil
import statistics
import subprocess
import sys

QUERIES = ["Q1", "Q6", "point", "range", "dates", "top-k", "count", "strings"]

PEER = r'''
import glob, resource, sys, time
system, name, folder = sys.argv[1:]
import numpy as np

CONDITIONS = {
    "Q6": ("lineitem", ["l_extendedprice", "l_discount"],
           "(l_shipdate >= {0}) & (l_shipdate < {1}) & (l_discount >= 0.05) & (l_discount <= 0.07) & (l_quantity < 24)",
           ("1994-01-01", "1995-01-01")),
    "point": ("orders", ["o_custkey", "o_totalprice", "o_orderdate", "o_shippriority"], "o_orderkey == 157446", ()),
    "range": ("orders", ["o_totalprice"], "(o_orderkey >= 100000) & (o_orderkey <= 160000)", ()),
    "dates": ("lineitem", ["l_extendedprice"], "(l_shipdate >= {0}) & (l_shipdate <= {1})", ("1995-03-01", "1995-03-25")),
}

def duckdb_query():
    import duckdb
    database = duckdb.connect(config={"threads": 2})
    for path in glob.glob(folder + "/*.snappy.parquet"):
        table = path.rsplit("/", 1)[1].split(".")[0]
        database.sql(f"CREATE VIEW {table} AS SELECT * FROM '{path}'")
    text = open(folder + f"/queries/{name}.sql").read()
    return lambda: database.sql(text).fetchall()

def days(dates):
    return [int(np.datetime64(date, "D").astype("i8")) for date in dates]

def bcolz_query():
    import bcolz
    bcolz.set_nthreads(2)
    table, columns, condition, dates = CONDITIONS[name]
    opened = bcolz.open(folder + "/bcolz/" + table, mode="r")
    condition = condition.format(*days(dates))
    return lambda: [row for row in opened.where(condition, outcols=columns)]

def blosc2_query():
    import blosc2
    blosc2.set_nthreads(2)
    table, columns, condition, dates = CONDITIONS[name]
    opened = blosc2.CTable.open(f"{folder}/{table}.b2z", mode="r")
    condition = condition.format(*days(dates))
    return lambda: [opened.where(condition)[column][:] for column in columns]

run = {"duckdb": duckdb_query, "bcolz": bcolz_query, "blosc2": blosc2_query}[system]()
run()
begun = time.perf_counter()
run()
print((time.perf_counter() - begun) * 1e3, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
'''

# Numbers and days of the two tables, for the peers that have no dates.
MAKE = r'''
import dataclasses, os, sys
folder = sys.argv[1]
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
WANTED = {
    "orders": ["o_orderkey", "o_custkey", "o_totalprice", "o_orderdate", "o_shippriority"],
    "lineitem": ["l_shipdate", "l_discount", "l_quantity", "l_extendedprice"],
}
for table, names in WANTED.items():
    read = pq.read_table(f"{folder}/{table}.snappy.parquet", columns=names)
    for at, name in enumerate(names):
        if pa.types.is_date32(read[name].type):
            read = read.set_column(at, name, read[name].cast("int32"))
    import blosc2
    kinds = {"int64": blosc2.int64, "int32": blosc2.int32, "double": blosc2.float64}
    python = {"int64": int, "int32": int, "double": float}
    fields = [(name, python[str(read[name].type)], blosc2.field(kinds[str(read[name].type)]())) for name in names]
    rows = np.empty(len(read), [(name, np.asarray(read[name][:1]).dtype) for name in names])
    for name in names:
        rows[name] = np.asarray(read[name])
    stored = blosc2.CTable(dataclasses.make_dataclass("Row", fields), urlpath=f"{folder}/{table}.b2z", mode="w")
    stored.extend(rows)
    stored.close()
    import bcolz
    columns = [np.asarray(read[name]) for name in names]
    os.makedirs(folder + "/bcolz", exist_ok=True)
    bcolz.ctable(columns, names=names, rootdir=f"{folder}/bcolz/{table}", mode="w", cparams=bcolz.cparams(cname="lz4")).flush()
'''


def prepare(program, folder):
    plain = os.path.join(folder, "plain")
    if not os.path.exists(plain):
        os.makedirs(plain)
        for name in os.listdir(folder):
            if os.path.exists(os.path.join(folder, name, "__rootdirs__")):
                shutil.copytree(os.path.join(folder, name), os.path.join(plain, name), ignore=shutil.ignore_patterns("index"))
    queries = os.path.join(folder, "queries")
    os.makedirs(queries, exist_ok=True)
    for name in QUERIES:
        text = subprocess.run([program, "query", name], check=True, capture_output=True, text=True).stdout
        with open(os.path.join(queries, f"{name}.sql"), "w") as file:
            file.write(text)
    if not os.path.exists(os.path.join(folder, "orders.b2z")):
        subprocess.run([sys.executable, "-c", MAKE, folder], check=True)


def main():
    program, folder, *rounds = sys.argv[1:]
    prepare(program, folder)
    ours = lambda form, at: lambda name: [program, "once", form, name, at]
    peer = lambda system: lambda name: [sys.executable, "-c", PEER, system, name, folder]
    few = {"Q6", "point", "range", "dates"}
    systems = {
        "ctable": (ours("ctable", folder), set(QUERIES)),
        "no index": (ours("ctable", os.path.join(folder, "plain")), set(QUERIES)),
        "Parquet Snappy": (ours("snappy", folder), set(QUERIES)),
        "Parquet Zstd": (ours("zstd", folder), set(QUERIES)),
        "DuckDB": (peer("duckdb"), set(QUERIES)),
        "bcolz": (peer("bcolz"), few),
        "python-blosc2": (peer("blosc2"), few),
    }
    print("| query | " + " | ".join(f"{system}: ms, MB" for system in systems) + " | "
          + " | ".join(f"/ {system}" for system in systems if system != "ctable") + " |")
    print("|---" * (2 * len(systems)) + "|")
    for name in QUERIES:
        times, peaks = {system: [] for system in systems}, {system: [] for system in systems}
        for _ in range(int(rounds[0]) if rounds else 5):
            for system, (command, known) in systems.items():
                if name in known:
                    out = subprocess.run(command(name), check=True, capture_output=True, text=True).stdout.split()
                    times[system].append(float(out[0]))
                    peaks[system].append(int(out[1]) / 1024)
        cells = [f"{statistics.median(times[s]):.1f}, {statistics.median(peaks[s]):.0f}" if times[s] else "" for s in systems]
        for system in systems:
            if system != "ctable":
                ratios = [one / other for one, other in zip(times["ctable"], times[system])]
                cells.append(f"{statistics.median(ratios):.2f}" if ratios else "")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
