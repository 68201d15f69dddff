#!/usr/bin/env python3
"""Compares the answers of blpk-sql with those of DuckDB, over the same data, for random queries.

    random_queries.py BLPK BLPK_SQL [--queries N] [--seed N]

NumPy makes tables of every dtype that Arrow can hold: with NaN and NaT, both byte orders, unicode, strings with and without
their full length, of 0 rows, of 1 row, and of many chunks. `blpk` writes them in every layout, as archives and as arrays of
structured elements in Bloscpack files, and python-blosc2 as stores, of which it then deletes rows. DuckDB reads the same arrays,
which this script converts to Arrow itself.
"""

import argparse
import decimal
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import blosc2
import duckdb
import numpy as np
import pyarrow as pa

LAYOUTS = ("bcolz", "blz", "blz-doc", "carray-doc")
WORDS = ["", "a", "ab", "Zürich", "日本", "naïve", "twelve bytes", "thirteen byte", "x" * 20, "~", "é"]
ASCII = [word for word in WORDS if word.isascii()]
UNITS = ("s", "ms", "us", "ns")


def column(rng, dtype, rows):
    """Random elements, with few different values, so that conditions and joins have hits."""
    kind = dtype.kind
    if kind == "b":
        return rng.random(rows) < 0.5
    if kind in "iu":
        low = 0 if kind == "u" else -20
        return rng.integers(low, 20, rows).astype(dtype)
    if kind == "f":
        values = (rng.integers(-40, 40, rows) / 4).astype(dtype)
        values[rng.random(rows) < 0.1] = np.nan
        values[values == 0] = 0.0
        return values
    if kind in "mM":
        values = rng.integers(0, 50, rows).astype("i8")
        values = (values * 86_400 * {"D": 1, "s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[np.datetime_data(dtype)[0]]
                  if np.datetime_data(dtype)[0] != "D" else values)
        values = values.astype(dtype)
        values[rng.random(rows) < 0.1] = "NaT"
        return values
    words = ASCII if kind == "S" else WORDS
    return np.array([words[i].encode() if kind == "S" else words[i] for i in rng.integers(0, len(words), rows)], dtype=dtype)


def dtype_of(rng):
    """The columns of a table: one of each kind, with a byte order each."""
    order = lambda: rng.choice(["<", ">"])
    fields = [("flag", "?"), ("i1", "i1"), ("u1", "u1")]
    fields += [(f"i{size}", f"{order()}i{size}") for size in (2, 4, 8)]
    fields += [(f"u{size}", f"{order()}u{size}") for size in (2, 4, 8)]
    fields += [(f"f{size}", f"{order()}f{size}") for size in (4, 8)]
    fields += [(f"t_{unit}", f"{order()}M8[{unit}]") for unit in UNITS]
    fields += [("day", f"{order()}M8[D]"), ("raw", "S20"), ("short", "S5"), ("text", f"{order()}U20")]
    return np.dtype(fields)


def as_arrow(array):
    """The same as an Arrow table, made without the code that is tested."""
    arrays, names = [], []
    for name in array.dtype.names:
        values = array[name]
        values = values.astype(values.dtype.newbyteorder("="))
        kind = values.dtype.kind
        if kind == "M":
            missing = np.isnat(values)
            unit = np.datetime_data(values.dtype)[0]
            counts = np.where(missing, 0, values.astype("i8"))
            target = pa.date32() if unit == "D" else pa.timestamp(unit)
            integers = pa.array(counts.astype("i4" if unit == "D" else "i8"), mask=missing)
            arrays.append(integers.cast(target))
        elif kind == "S":
            arrays.append(pa.array([value.decode() for value in values.tolist()], pa.string()))
        elif kind == "U":
            arrays.append(pa.array(values.tolist(), pa.string()))
        else:
            arrays.append(pa.array(np.ascontiguousarray(values)))
        names.append(name)
    return pa.table(arrays, names=names)


def write(blpk, layout, array, name):
    """Writes a table; returns its path, and the rows that it contains as an Arrow table."""
    run = lambda *words: subprocess.run([blpk, *words], check=True)
    np.save(f"{name}.npy", array)
    if layout == "file":
        run("import", "-q", f"{name}.npy", f"{name}.blp")
        return f"{name}.blp", as_arrow(array)
    if layout == "store":
        return f"{name}.b2z", write_store(as_arrow(array), f"{name}.b2z")
    run("import", "-q", "--table", f"{name}.npy", name, "--chunklen", "700", "--layout", "bcolz" if layout == "zip" else layout)
    if layout == "zip":
        shutil.make_archive(name, "zip", name)
        return f"{name}.zip", as_arrow(array)
    return name, as_arrow(array)


def write_store(table, path):
    """Writes a table with python-blosc2, and deletes every seventh row."""
    # It has no dates.
    table = table.set_column(table.column_names.index("day"), "day", table["day"].cast(pa.timestamp("s")))
    stored = blosc2.CTable.from_arrow(table.schema, table.to_batches(), urlpath=path, null_storage="mask")
    if len(table) > 3:
        stored.delete(slice(3, None, 7))
    stored.close()
    return table.filter(pa.array([row % 7 != 3 for row in range(len(table))], pa.bool_()))


class Queries:
    """Random queries over tables of these columns, in the language that both engines have in common."""

    def __init__(self, rng, dtype, tables):
        self.rng, self.dtype, self.tables = rng, dtype, tables
        self.names = list(dtype.names)

    def literal(self, name):
        kind, rng = self.dtype[name].kind, self.rng
        if kind == "b":
            return rng.choice(["true", "false"])
        if kind in "iu":
            return str(rng.randint(-25, 25) if kind == "i" else rng.randint(0, 25))
        if kind == "f":
            return rng.choice([str(rng.randint(-44, 44) / 4), f"cast('NaN' as {'real' if self.dtype[name].itemsize == 4 else 'double'})"])
        if kind == "M":
            day = np.datetime64("1970-01-01", "D") + rng.randint(0, 55)
            if name == "day":
                return f"date '{day}'"
            return f"timestamp '{day} 00:00:00'"
        return "'" + rng.choice(WORDS) + "'"

    def condition(self, depth=0, alias=""):
        rng = self.rng
        if depth < 2 and rng.random() < 0.4:
            joined = rng.choice([" AND ", " OR "])
            return "(" + joined.join(self.condition(depth + 1, alias) for _ in range(2)) + ")"
        name = rng.choice(self.names)
        kind, at = self.dtype[name].kind, alias + name
        forms = ["compare"] * 5 + ["null", "in", "between", "not"]
        if kind in "SU":
            forms += ["like"] * 3
        form = rng.choice(forms)
        if form == "null":
            return f"{at} IS {rng.choice(['', 'NOT '])}NULL"
        if form == "in":
            return f"{at} IN ({', '.join(self.literal(name) for _ in range(3))})"
        if form == "between" and kind != "b":
            return f"{at} BETWEEN {self.literal(name)} AND {self.literal(name)}"
        if form == "not":
            return f"NOT ({self.condition(depth + 1, alias)})"
        if form == "like":
            return f"{at} LIKE '{rng.choice(['%', 'a%', '%b', '%ü%', '_', '__', '%e_', 'x%x'])}'"
        return f"{at} {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {self.literal(name)}"

    def aggregate(self, name, alias="", in_groups=False):
        kind, at = self.dtype[name].kind, alias + name
        some = [f"count({at})", f"count(DISTINCT {at})"]
        # In groups, DataFusion compares floats by their order without NaN.
        if kind != "b" and not (in_groups and kind == "f"):
            some += [f"min({at})", f"max({at})"]
        if kind in "iu":
            some += [f"sum(cast({at} AS bigint))", f"avg(cast({at} AS double))"]
        return self.rng.choice(some)

    def query(self):
        rng = self.rng
        table = rng.choice(self.tables)
        where = f" WHERE {self.condition()}" if rng.random() < 0.8 else ""
        form = rng.choice(["rows", "rows", "top", "aggregates", "groups", "join"])
        if form == "rows":
            names = rng.sample(self.names, rng.randint(1, 5))
            return f"SELECT {', '.join(names)} FROM {table}{where}", False
        if form == "top":
            names = rng.sample(self.names, rng.randint(1, 4))
            order = ", ".join(f"{name} {rng.choice(['ASC', 'DESC'])} NULLS LAST" for name in names)
            limit = rng.choice([0, 1, 7, 100])
            return f"SELECT {', '.join(names)} FROM {table}{where} ORDER BY {order} LIMIT {limit}", True
        if form == "aggregates":
            some = ", ".join(self.aggregate(rng.choice(self.names)) + f" AS a{i}" for i in range(3))
            return f"SELECT count(*) AS n, {some} FROM {table}{where}", False
        if form == "groups":
            names = rng.sample(self.names, rng.randint(1, 2))
            keys = ", ".join(names)
            having = " HAVING count(*) > 2" if rng.random() < 0.3 else ""
            some = self.aggregate(rng.choice(self.names), in_groups=True)
            return f"SELECT {keys}, count(*) AS n, {some} AS a FROM {table}{where} GROUP BY {keys}{having}", False
        other, key = rng.choice(self.tables), rng.choice(["i4", "text", "raw", "day", "u2", "t_us"])
        kind = rng.choice(["", "LEFT "])
        where = f" WHERE {self.condition(alias='a.')}" if rng.random() < 0.8 else ""
        return (f"SELECT count(*) AS n, {self.aggregate(rng.choice(self.names), 'b.')} AS x "
                f"FROM {table} a {kind}JOIN {other} b ON a.{key} = b.{key}{where}"), False


def plain(value):
    """A value as one that can be compared, whichever type each engine gives it."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (1, int(value))
    if isinstance(value, float):
        return (2, "nan") if value != value else (1, float(f"{value:.9g}"))
    if isinstance(value, (int, decimal.Decimal)):
        return (1, float(f"{float(value):.9g}"))
    return (3, str(value).removesuffix(" 00:00:00"))


def rows_of(table, is_ordered):
    columns = [[plain(value) for value in column.to_pylist()] for column in table.columns]
    rows = list(zip(*columns))
    return rows if is_ordered else sorted(rows, key=repr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("blpk")
    parser.add_argument("blpk_sql")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.blpk, options.blpk_sql = map(os.path.abspath, (options.blpk, options.blpk_sql))
    rng, numbers = random.Random(options.seed), np.random.default_rng(options.seed)
    database = duckdb.connect()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        dtype, tables, named = dtype_of(rng), [], []
        for layout in (*LAYOUTS, "zip", "file", "store"):
            for rows in (0, 1, 500, 5000):
                name = f"{layout.replace('-', '_')}_{rows}"
                array = np.zeros(rows, dtype)
                for field in dtype.names:
                    array[field] = column(numbers, dtype[field], rows)
                path, contained = write(options.blpk, layout, array, name)
                database.register(name, contained)
                tables.append(name)
                named += ["--table", f"{name}={path}"]
        queries = Queries(rng, dtype, tables)
        work = [(number, *queries.query()) for number in range(options.queries)]

        def ours(item):
            number, query, _ = item
            out = f"{number}.arrow"
            done = subprocess.run([options.blpk_sql, "-o", out, "--format", "arrow", *named, query], capture_output=True, text=True)
            if done.returncode:
                return done.stderr
            with pa.memory_map(out) as file:
                table = pa.ipc.open_file(file).read_all()
            os.remove(out)
            return table

        wrong = hits = 0
        with ThreadPoolExecutor(2) as pool:
            for (number, query, is_ordered), found in zip(work, pool.map(ours, work)):
                expected = rows_of(database.sql(query).to_arrow_table(), is_ordered)
                hits += bool(expected)
                if isinstance(found, str):
                    print(f"{number}: {query}\n  {found}")
                    wrong += 1
                elif rows_of(found, is_ordered) != expected:
                    print(f"{number}: {query}\n  {found.num_rows} rows; expected {len(expected)}")
                    for one, other in zip(rows_of(found, is_ordered), expected):
                        if one != other:
                            print(f"  {one}\n  {other}")
                            break
                    wrong += 1
        print(f"{options.queries} queries, {hits} with rows, {wrong} wrong")
        sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
