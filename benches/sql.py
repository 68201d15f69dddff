"""Times queries: TPC-H as ctables, against the same engine over Parquet, DuckDB, bcolz and python-blosc2; and a table of python-blosc2
with 24 million rows, against python-blosc2.

Of TPC-H, each system has a process for each query, in which it runs once before the rounds that count. "No index" are the same ctables
without the files of statistics. bcolz and python-blosc2 have tables, not SQL: they only run queries that consist of a condition and
columns. The other table has the shape of python-blosc2's comparison on taxi rides, made from a seed; ours is a whole process."""

import os
import shutil
import subprocess
from pathlib import Path

from kit import figures
from kit.bench import Bench
from kit.measure import Failed, Server, in_turn, peer, run, say
from kit.places import Missing
from kit.report import compared

QUERIES = ["Q1", "Q6", "point", "range", "dates", "top-k", "count", "strings"]
# Those that are a condition and columns.
PLAIN = ["Q6", "point", "range", "dates"]

PEER = r'''
import glob
system, folder = ARGUMENTS
import numpy as np

CONDITIONS = {
    "Q6": ("lineitem", ["l_extendedprice", "l_discount"],
           "(l_shipdate >= {0}) & (l_shipdate < {1}) & (l_discount >= 0.05) & (l_discount <= 0.07) & (l_quantity < 24)",
           ("1994-01-01", "1995-01-01")),
    "point": ("orders", ["o_custkey", "o_totalprice", "o_orderdate", "o_shippriority"], "o_orderkey == 157446", ()),
    "range": ("orders", ["o_totalprice"], "(o_orderkey >= 100000) & (o_orderkey <= 160000)", ()),
    "dates": ("lineitem", ["l_extendedprice"], "(l_shipdate >= {0}) & (l_shipdate <= {1})", ("1995-03-01", "1995-03-25")),
}

def duckdb_query(name):
    import duckdb
    database = duckdb.connect(config={"threads": 2})
    for path in glob.glob(folder + "/*.snappy.parquet"):
        table = path.rsplit("/", 1)[1].split(".")[0]
        database.sql(f"CREATE VIEW {table} AS SELECT * FROM '{path}'")
    text = open(folder + f"/queries/{name}.sql").read()
    return lambda: database.sql(text).fetchall()

def condition(name):
    table, columns, words, dates = CONDITIONS[name]
    return table, columns, words.format(*[int(np.datetime64(date, "D").astype("i8")) for date in dates])

def bcolz_query(name):
    import bcolz
    bcolz.set_nthreads(2)
    table, columns, words = condition(name)
    opened = bcolz.open(folder + "/bcolz/" + table, mode="r")
    return lambda: [row for row in opened.where(words, outcols=columns)]

def blosc2_query(name):
    import blosc2
    blosc2.set_nthreads(2)
    table, columns, words = condition(name)
    opened = blosc2.CTable.open(f"{folder}/{table}.b2z", mode="r")
    return lambda: [opened.where(words)[column][:] for column in columns]

ready = {}
def query(name):
    if name not in ready:
        ready[name] = {"duckdb": duckdb_query, "bcolz": bcolz_query, "blosc2": blosc2_query}[system](name)
    took(ready[name])
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




def prepare(setting, program, folder):
    Path(folder).mkdir()
    subprocess.run([program, "make", "--scale", setting.size("1", "0.05"), folder], check=True)
    plain, queries = os.path.join(folder, "plain"), Path(folder, "queries")
    for name in os.listdir(folder):
        if os.path.exists(os.path.join(folder, name, "__rootdirs__")):
            shutil.copytree(os.path.join(folder, name), os.path.join(plain, name), ignore=shutil.ignore_patterns("index"))
    queries.mkdir()
    for name in QUERIES:
        text = subprocess.run([program, "query", name], check=True, capture_output=True, text=True).stdout
        (queries / f"{name}.sql").write_text(text)
    subprocess.run([setting.python("bcolz-zipline", "blosc2", "pyarrow"), "-c", MAKE, folder], check=True)


def of_queries(setting):
    program = setting.built("--manifest-path", "sql/Cargo.toml", "-p", "bloscpack-tpch")
    folder = os.path.join(setting.folder, "tpch")
    prepare(setting, program, folder)
    ours = lambda form, at: lambda: Server([program, "serve", form, at], split=True)
    others = {"DuckDB": ("duckdb", "duckdb"), "bcolz": ("bcolz-zipline", "bcolz"), "python-blosc2": ("blosc2", "blosc2")}
    systems = {"ctable": ours("ctable", folder), "no index": ours("ctable", os.path.join(folder, "plain")),
               "Parquet Snappy": ours("snappy", folder), "Parquet Zstd": ours("zstd", folder)}
    for name, (package, system) in others.items():
        try:
            python = setting.python(package, "numpy")
            systems[name] = lambda python=python, system=system: peer(python, PEER, system, folder)
        except Missing as why:
            say(f"left out: {why}")
    cells = []
    for query in QUERIES:
        say(query)
        servers = {name: start() for name, start in systems.items() if query in PLAIN or name not in ("bcolz", "python-blosc2")}
        steps = {name: lambda _, ask=ask, words=("query", query) if name in others else (query,): ask(*words)
                 for name, ask in servers.items()}
        cells.append({"task": query, "results": in_turn(steps, setting.rounds)})
        for server in servers.values():
            server.close()
    shutil.rmtree(folder)
    return cells


def with_peaks(found):
    last = lambda cell, name: f"{max(run['peak'] for run in figures.runs(cell, name)) / 1024:.0f}"
    return compared(found["cells"], "ms", [("peak MiB", last)])


RIDES = r'''
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


# A query of ours, and the same as a call of python-blosc2.
ASKED = {
    "two conditions, three columns": (
        "SELECT count(*), sum(fare), sum(tip), sum(total) FROM '{}' WHERE distance > 30 AND tip > 25",
        "rows = table.where('(distance > 30) & (tip > 25)'); found = [len(rows)] + [float(rows[n][:].sum()) for n in ('fare', 'tip', 'total')]"),
    "a condition and a sum": (
        "SELECT sum(fare) FROM '{}' WHERE passengers = 5", "found = [float(table.where('passengers == 5')['fare'][:].sum())]"),
    "a sum": ("SELECT sum(total) FROM '{}'", "found = [float(table['total'][:].sum())]"),
}

TABLE = r'''
import blosc2
blosc2.set_nthreads(2)
table, answer = blosc2.CTable.open(ARGUMENTS[0], mode="r"), None
def query(call):
    names = {"table": table}
    took(lambda: exec(call, names))
    open(ARGUMENTS[1], "w").write(",".join(map(repr, names["found"])))
'''


def of_table(setting):
    program = setting.built("--manifest-path", "sql/Cargo.toml", "-p", "blpk-sql")
    path, mine, theirs = (os.path.join(setting.folder, name) for name in ("rides.b2z", "ours.csv", "theirs.csv"))
    python, cells = setting.python("blosc2"), []
    subprocess.run([python, "-c", RIDES, str(setting.size(24_000_000, 500_000)), path], check=True)
    for task, (query, call) in ASKED.items():
        say(task)
        with peer(python, TABLE, path, theirs) as table:
            steps = {"ours": lambda _: run([program, "--threads", "2", query.format(path)], mine, watch=True),
                     "python-blosc2": lambda _: table("query", call)}
            cells.append({"task": task, "results": in_turn(steps, setting.rounds)})
        one, other = ([float(word) for word in Path(file).read_text().splitlines()[-1].split(",")] for file in (mine, theirs))
        if len(one) != len(other) or any(abs(a - b) > 1e-9 * abs(b) for a, b in zip(one, other)):
            raise Failed(f"{task}: {one} is not {other}")
    os.remove(path)
    return cells


BENCHES = [Bench("sql", "benchmarks/sql.md", of_queries, with_peaks), Bench("ctable", "benchmarks/sql.md", of_table, with_peaks)]
