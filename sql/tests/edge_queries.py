#!/usr/bin/env python3
"""Compares answers over values at the edges of their types with those of DuckDB: one answer, whatever the way to it.

    edge_queries.py BLPK ANSWERS [--queries N] [--repeats N] [--seed N]

The columns hold zeros and NaN of both signs, infinities, the least and the greatest value of each type and their neighbours,
NaT, empty and longest texts; each chunk has few different values, so that an index leaves out many. Every query runs over the
table with an index and without one, in one partition and in two, and a join in both orders, each several times. All answers
have to be the same, and the one of DuckDB; where DuckDB reports an error, such as an overflow, all of them have to be errors.

ANSWERS is the example `answers` of the package bloscpack-datafusion, a process that lives as long as this one.
"""

import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile

import duckdb
import numpy as np
import pyarrow as pa

ROWS, CHUNK, OTHERS = 1500, 100, 120
INTEGERS = [f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)]
FLOATS = ["f2", "f4", "f8"]
TIMES = [f"t_{unit}" for unit in ("s", "ms", "us", "ns")]
TEXTS = ["raw", "text"]
LONGEST = "z" * 12
WORDS = ["", " ", "0", "A", "a", "ab", "abc", "a%", "zzz", "~", LONGEST[:-1], LONGEST]
UNICODE = [*WORDS, "é", "日本", "\uffff", "\U0010ffff", "\U0010ffff" * 12]
PATTERNS = ["%", "", "a%", "z%", LONGEST + "%", "%z", "_", "~%", "日%", "\U0010ffff%", "\uffff%"]
DUCK = {"i1": "TINYINT", "i2": "SMALLINT", "i4": "INTEGER", "i8": "BIGINT", "u1": "UTINYINT", "u2": "USMALLINT", "u4": "UINTEGER",
        "u8": "UBIGINT", "f2": "FLOAT", "f4": "FLOAT", "f8": "DOUBLE", "t_s": "TIMESTAMP_S", "t_ms": "TIMESTAMP_MS",
        "t_us": "TIMESTAMP", "t_ns": "TIMESTAMP_NS", "day": "DATE", "raw": "VARCHAR", "text": "VARCHAR", "flag": "BOOLEAN"}


def dtype_of(rng):
    order = lambda: rng.choice("<>")
    fields = [("id", "<i8"), ("flag", "?")]
    fields += [(name, (order() if name[1] != "1" else "") + name) for name in INTEGERS + FLOATS]
    fields += [(name, f"{order()}M8[{name[2:]}]") for name in TIMES]
    fields += [("day", f"{order()}M8[D]"), ("raw", "S12"), ("text", f"{order()}U12")]
    return np.dtype(fields)


def edges(name):
    """The values of a column that are most likely to be taken for others."""
    kind = name[0]
    if name in INTEGERS:
        info = np.iinfo(name)
        values = {info.min, info.min + 1, 0, 1, 7, info.max - 1, info.max, -1, -7}
        return np.array(sorted(value for value in values if info.min <= value <= info.max), name)
    if name in FLOATS:
        info, width = np.finfo(name), np.dtype(name).itemsize * 8
        quiet = {"f2": 0x7e00, "f4": 0x7fc00000, "f8": 0x7ff8000000000000}[name]
        nans = np.array([quiet, quiet | 1 << width - 1, quiet | 5], f"u{width // 8}").view(name)
        plain = [0.0, -0.0, 1.0, -1.0, 7.0, 0.5, np.inf, -np.inf, info.max, info.min, info.smallest_subnormal, -info.smallest_subnormal]
        return np.concatenate([np.array(plain, name), nans, np.array([0.0, -0.0], name)])
    if name in TIMES:
        most = np.iinfo("i8").max
        return np.array(["NaT", 0, 1, -1, 86_400, -most, most, most - 1], "O").astype(f"M8[{name[2:]}]")
    if name == "day":
        return np.array(["NaT", 0, 1, -1, 20_000, 2**31 - 1, -(2**31) + 2], "O").astype("M8[D]")
    if name == "raw":
        return np.array([word.encode() for word in WORDS])
    if name == "text":
        return np.array(UNICODE)
    return np.array([False, True])


def table_of(numbers, dtype, rows):
    table = np.zeros(rows, dtype)
    table["id"] = np.arange(rows)
    for name in dtype.names[1:]:
        values = edges(name)
        for start in range(0, rows, CHUNK):
            few = values[numbers.integers(0, len(values), numbers.integers(1, 4))]
            part = table[name][start:start + CHUNK]
            part[:] = few[numbers.integers(0, len(few), len(part))]
    return table


def as_arrow(table):
    """The same as an Arrow table, made without the code that is tested."""
    arrays = []
    for name in table.dtype.names:
        values = table[name].astype(table.dtype[name].newbyteorder("="))
        kind = values.dtype.kind
        if kind == "M":
            missing = np.isnat(values)
            integers = np.where(missing, 0, values.astype("i8"))
            integers = pa.array(integers.astype("i4") if name == "day" else integers, mask=missing)
            arrays.append(integers.cast(pa.date32() if name == "day" else pa.timestamp(name[2:])))
        elif kind == "S":
            arrays.append(pa.array([value.decode() for value in values.tolist()], pa.string()))
        elif kind == "U":
            arrays.append(pa.array(values.tolist(), pa.string()))
        else:
            arrays.append(pa.array(values.astype("f4") if name == "f2" else values))
    return pa.table(arrays, names=list(table.dtype.names))


class Queries:
    """Random queries: pairs of the same in the language of each engine."""

    def __init__(self, rng, names):
        self.rng, self.names = rng, [name for name in names if name != "id"]

    def literal(self, name):
        """A constant to compare a column with, for this engine and for DuckDB."""
        rng = self.rng
        both = lambda text: (text, text)
        if name == "flag":
            return both(rng.choice(["true", "false"]))
        if name in INTEGERS:
            info = np.iinfo(name)
            near = [info.min - 1, info.min, info.min + 1, -7, -1, 0, 1, 7, info.max - 1, info.max, info.max + 1]
            # Beyond 64 bits, this engine has no integers.
            return both(str(rng.choice([value for value in near if -2**63 <= value < 2**64])))
        if name in FLOATS:
            value = rng.choice(["0.0", "-0.0", "1", "-1", "7", "0.5", "NaN", "-NaN", "inf", "-inf", "65504", "3.4028234663852886e38",
                                "1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "-5e-324", "1e-45"])
            target = rng.choice(["real", "double"]) if not value.strip("-").endswith(("308", "324")) else "double"
            if value == "-NaN":
                return both(f"(-cast('NaN' AS {target}))")
            return both(f"cast('{value}' AS {target})")
        if name in TIMES:
            moment = rng.choice(["1970-01-01 00:00:00", "1970-01-01 00:00:01", "1970-01-02 00:00:00", "1969-12-31 23:59:59"])
            return f"timestamp '{moment}'", f"cast('{moment}' AS {DUCK[name]})"
        if name == "day":
            return both(f"date '{rng.choice(['1970-01-01', '1969-12-31', '1970-01-02', '2024-10-04'])}'")
        return both("'" + rng.choice(UNICODE) + "'")

    def among(self, name):
        """The columns that a column is compared with."""
        for family in (INTEGERS, FLOATS, TEXTS):
            if name in family:
                return family
        return [name]

    def either(self, texts, pattern):
        """The pattern with each of some pairs."""
        return tuple(pattern.format(*(text[side] for text in texts)) for side in (0, 1))

    def test(self, depth, alias=""):
        """A condition on a single row that has no parts."""
        rng = self.rng
        name = rng.choice(self.names if rng.random() < 0.6 else FLOATS)
        at, operator = alias + name, rng.choice(["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
        one = self.literal(name)
        forms = ["literal"] * 5 + ["list"] * 3 + ["column", "between", "null", "case", "nullif", "greatest", "subquery", "maximum", "exists"]
        if name in FLOATS:
            forms += ["negative", "inverse", "product"]
        if name in TEXTS:
            forms += ["like"] * 3
        form = rng.choice(forms)
        if form == "list":
            literals = [self.literal(name) for _ in range(rng.choice([1, 2, 2, 3, 4, 5, 6, 6, 7, 12]))]
            return self.either(literals, f"{at} {rng.choice(['', 'NOT '])}IN (" + ", ".join(["{}"] * len(literals)) + ")")
        if form == "column":
            return self.either([], f"{at} {operator} {alias}{rng.choice(self.among(name))}")
        if form == "between":
            return self.either([one, self.literal(name)], f"{at} {rng.choice(['', 'NOT '])}BETWEEN {{}} AND {{}}")
        if form == "null":
            return self.either([], f"{at} IS {rng.choice(['', 'NOT '])}NULL")
        if form == "case" and name not in TIMES:
            return self.either([one, self.literal(name)], f"(CASE {at} WHEN {{}} THEN 1 WHEN {{}} THEN 2 ELSE 3 END {operator} 2)")
        if form == "nullif" and name not in TIMES:
            return self.either([one], f"nullif({at}, {{}}) IS {rng.choice(['', 'NOT '])}NULL")
        if form == "greatest" and name not in TIMES:
            return self.either([one, one], f"({rng.choice(['greatest', 'least'])}({at}, {{}}) {operator} {{}})")
        # Within another condition, DataFusion's IN (SELECT …) knows no null: see docs/sql.md.
        if form == "subquery" and alias == "" and (depth == 0 or name not in [*TIMES, "day"]):
            return self.either([], f"{at} {rng.choice(['', 'NOT '])}IN (SELECT {rng.choice(self.among(name))} FROM other WHERE id < {rng.choice([1, 5, 50])})")
        if form == "maximum" and alias == "" and name != "flag":
            return self.either([], f"({at} {operator} (SELECT {rng.choice(['min', 'max'])}({name}) FROM other WHERE id < {rng.choice([1, 5, 50])}))")
        if form == "exists" and alias == "":
            own = rng.choice(self.among(name))
            if rng.random() < 0.5 or name == "flag":
                return self.either([], f"{rng.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM other o WHERE o.{own} = here.{name} AND o.id < 30)")
            return self.either([], f"here.id {rng.choice(['<', '>'])} (SELECT max(o.id) FROM other o WHERE o.{own} = here.{name})")
        if form == "negative":
            return self.either([one], f"(-{at} {operator} {{}})")
        if form == "inverse":
            return self.either([], f"(cast('1' AS double) / {at} {operator} cast('{rng.choice(['0', '-inf', 'inf', 'NaN'])}' AS double))")
        if form == "product":
            return self.either([one, self.literal(name)], f"({at} * {{}} {operator} {{}})")
        if form == "like":
            return self.either([], f"{at} {rng.choice(['', 'NOT '])}LIKE '{rng.choice(PATTERNS)}'")
        if rng.random() < 0.2:
            return self.either([one], f"({{}} {operator} {at})")
        return self.either([one], f"{at} {operator} {{}}")

    def condition(self, depth=0, alias=""):
        rng = self.rng
        form = rng.random()
        if depth < 2 and form < 0.3:
            parts = [self.condition(depth + 1, alias) for _ in range(2)]
            return self.either(parts, "({}" + rng.choice([" AND ", " OR "]) + "{})")
        if depth < 3 and form < 0.4:
            return self.either([self.condition(depth + 1, alias)], f"{rng.choice(['NOT', 'NOT', 'true = '])} ({{}})")
        return self.test(depth, alias)

    def overflow(self):
        """A condition with arithmetic that may overflow."""
        rng = self.rng
        name = rng.choice([name for name in INTEGERS if name[0] == "i"])
        big = f"cast({name} AS bigint)"
        value = rng.choice([f"-{name}", f"-{big}", f"abs({name})", f"{big} + {rng.choice([1, 7, 2**63 - 1])}",
                            f"{big} - {rng.choice([1, 2, 2**63 - 1])}", f"{big} * {rng.choice([1, 2, -1, 2**33])}", f"{big} + i8", f"{big} - i8",
                            f"{big} * i8"])
        narrowed = f"id {rng.choice(['<', '>='])} {rng.choice([100, 700, 1300])}"
        # DuckDB reads what a query needs; the rows that the others leave out could overflow as well.
        return self.either([], f"{value} {rng.choice(['<', '>', '<=', '>=', '=', '<>'])} {rng.choice([0, 1, -1, 7, 127])}"), narrowed

    def query(self):
        """The queries in which {table} is to be replaced."""
        rng = self.rng
        form = rng.choice(["rows"] * 6 + ["join"] * 3 + ["groups", "top", "extremes", "sums", "overflow", "distinct", "window", "sets"])
        rows = "count(*) AS n, sum(id) AS s, min(id) AS a, max(id) AS z"
        if form == "overflow":
            condition, narrowed = self.overflow()
            return self.either([condition], f"SELECT {rows} FROM (SELECT * FROM {{{{table}}}} WHERE {narrowed}) here WHERE {{}}")
        where = self.condition()
        if form == "join":
            name = rng.choice(self.names if rng.random() < 0.5 else FLOATS)
            other = rng.choice(self.among(name))
            where = self.condition(alias=rng.choice(["here.", "o."]))
            kind = rng.choice(["", "", "LEFT ", "RIGHT ", "FULL "])
            extra = rng.choice(["", f" AND here.{name} >= o.{other}", " AND here.id % 3 = o.id % 3"])
            sides = ["{{table}} here", "other o"]
            rng.shuffle(sides)
            using = f"ON (here.{name} {rng.choice(['=', '=', '=', 'IS NOT DISTINCT FROM'])} o.{other}){extra}"
            return self.either([where], "SELECT count(*) AS n, sum(here.id) AS s, sum(o.id) AS o, count(here.id) AS c "
                               f"FROM {sides[0]} {kind}JOIN {sides[1]} {using} WHERE {{}}")
        name = rng.choice([name for name in self.names if name != "flag"] if rng.random() < 0.4 else FLOATS)
        source = "FROM {{table}} here WHERE {}"
        if form == "rows":
            return self.either([where], f"SELECT {rows} {source}")
        if form == "groups":
            keys = rng.choice([name, f"{name}, flag", f"ROLLUP ({name}, flag)", f"{name}, {rng.choice([other for other in FLOATS if other != name])}"])
            shown = keys.removeprefix("ROLLUP (").removesuffix(")")
            value = rng.choice(["f4", "f8", "i8"])
            return self.either([where], f"SELECT {shown}, count(*) AS n, sum(id) AS s, min({value}) AS a, max({value}) AS z, "
                               f"count(DISTINCT {value}) AS d {source} GROUP BY {keys}")
        if form == "top":
            order = f"{name} {rng.choice(['ASC', 'DESC'])} NULLS {rng.choice(['FIRST', 'LAST'])}, id"
            return self.either([where], f"SELECT id {source} ORDER BY {order} LIMIT {rng.choice([1, 3, 20, 200])}")
        if form == "extremes":
            return self.either([where], f"SELECT min({name}) AS a, max({name}) AS z, count({name}) AS n, count(DISTINCT {name}) AS d {source}")
        if form == "sums":
            name = rng.choice(INTEGERS)
            # Larger sums than the column can hold are an error here; DuckDB has integers of 128 bits for them.
            total = ("sum({0})", "cast(sum({0}) AS " + ("U" if name[0] == "u" else "") + "BIGINT)")
            return self.either([tuple(text.format(name) for text in total), where], f"SELECT {{}} AS s, avg({name}) AS a FROM {{{{table}}}} here WHERE {{}}")
        if form == "distinct":
            return self.either([where], f"SELECT DISTINCT {name}, {rng.choice(['flag', *FLOATS])} AS second {source}")
        if form == "sets":
            kind = rng.choice(["INTERSECT", "EXCEPT", "UNION"])
            return self.either([where], f"SELECT count(*) AS n FROM (SELECT {name} {source} {kind} SELECT {name} FROM other) AS sets")
        frame = rng.choice(["", " ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING"])
        return self.either([where], f"SELECT sum(r * id) AS r, max(m) AS m, min(k) AS k FROM (SELECT id, rank() OVER (PARTITION BY flag ORDER BY {name} NULLS LAST, id) AS r, "
                           f"max({name}) OVER (ORDER BY id{frame}) AS m, min({name}) OVER (PARTITION BY {name} ORDER BY id) AS k {source}) AS windows")


def plain(value):
    """A value as `answers` writes it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "nan" if value != value else "0" if value == 0 else struct.pack(">d", value).hex()
    return str(value)


def expected(database, query):
    # Its optimizer finds out that some conditions are never true without computing them.
    database.execute(f"PRAGMA {'disable' if 'bigint' in query or '-i' in query or 'abs(i' in query else 'enable'}_optimizer")
    try:
        table = database.sql(query).to_arrow_table()
    except duckdb.Error as error:
        return None, str(error).split("\n")[0]
    columns = []
    for column in table.columns:
        if pa.types.is_temporal(column.type):
            # As counts, since Python has no moments that are so far away.
            column = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
        columns.append([plain(value) for value in column.to_pylist()])
    return ";".join(sorted(",".join(row) for row in zip(*columns))), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("blpk")
    parser.add_argument("answers")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print every query with its answer")
    options = parser.parse_args()
    options.blpk, options.answers = map(os.path.abspath, (options.blpk, options.answers))
    rng, numbers = random.Random(options.seed), np.random.default_rng(options.seed)
    database = duckdb.connect()
    database.execute("SET threads = 1")
    dtype = dtype_of(rng)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        named = []
        for name, rows in (("here", ROWS), ("other", OTHERS)):
            array = table_of(numbers, dtype, rows)
            np.save(f"{name}.npy", array)
            loaded = as_arrow(array)
            database.execute(f"CREATE TABLE {'known' if name == 'here' else name} AS SELECT * FROM loaded")
            for kind, words in ((name, []), (f"{name}_index", ["--index"])):
                subprocess.run([options.blpk, "import", "-q", "--table", f"{name}.npy", kind, "--chunklen", str(CHUNK), *words], check=True)
                named.append(f"{kind}={kind}")
        engine = subprocess.Popen([options.answers, *named], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        queries, wrong, errors, hits = Queries(rng, dtype.names), 0, 0, 0
        for number in range(options.queries):
            ours, theirs = queries.query()
            right, why = expected(database, theirs.replace("{table}", "known"))
            errors, hits = errors + (right is None), hits + bool(right)
            found = {}
            for table in ("here", "here_index"):
                for partitions in (1, 2):
                    query = ours.replace("{table}", table).replace("other", "other_index" if table == "here_index" else "other")
                    # Time can only matter where rows meet others, or where a filter arises on the way.
                    repeats = options.repeats if any(word in query[6:] for word in ("JOIN", "SELECT", "LIMIT")) else 2
                    engine.stdin.write(f"{partitions}\t{repeats}\t{query}\n")
            engine.stdin.flush()
            for way in ("1 partition", "2 partitions", "index, 1 partition", "index, 2 partitions"):
                answer = engine.stdout.readline().removesuffix("\n")
                if right is None and answer.startswith("error: "):
                    answer = None
                found[way] = answer
            if options.show:
                print(f"{number}: {ours}\n  {why or (right or '')[:200]}")
            bad = {way: answer for way, answer in found.items() if answer != right}
            if bad:
                wrong += 1
                print(f"{number}: {ours}\n  DuckDB: {why or right[:300]}")
                for way, answer in bad.items():
                    print(f"  {way}: {answer[:300]}")
                sys.stdout.flush()
        engine.stdin.close()
        if engine.wait():
            sys.exit("the engine failed")
    print(f"{options.queries} queries, in 4 ways, up to {options.repeats} times each, {hits} with rows, {errors} errors of DuckDB, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
