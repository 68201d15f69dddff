"""Stores that `blpk` writes: python-blosc2 opens them, and both append to them in turns.

A sequence begins with a table that one of the two makes, as `.b2z` or `.b2d`. Steps follow, each by one of the two: rows
appended by `blpk append` from CSV, and by python-blosc2 rows appended, deleted or set. After each step both read the same values
as a model has, and `blpk verify` finds nothing. Tables of lists, words and objects get their rows from JSON lines and Arrow
instead. `STORE_SEQUENCES=200` runs that many of each; the default is fewer."""

import csv
import dataclasses
import json
import os
import random
import warnings
import zipfile

import blosc2
import numpy
import pyarrow

from common import equal, expect

SEQUENCES = int(os.environ.get("STORE_SEQUENCES", 12))
TREES = 6
CASES = 2 * SEQUENCES + TREES
WORDS = ("a", "né", "zwölf Wörter", "\u65e5\u672c", "comma, \"quote\"", "line\nend", "x" * 50, "\U0001f600", "1.5 m")


def run(tally, blpk, reference, place):
    warnings.simplefilter("ignore")
    for seed in range(SEQUENCES):
        tally.case("sequence %d" % seed, sequence, blpk, place, seed)
        tally.case("items %d" % seed, items, blpk, place, seed)
    for seed in range(TREES):
        tally.case("tree %d" % seed, tree, blpk, place, seed)


@dataclasses.dataclass
class Kind:
    """A kind of column: how `blpk import` and python-blosc2 describe it, and a function that draws a value."""

    dtype: str
    spec: object
    draw: object
    nullable: bool


def kind(rng):
    name = rng.choice(["i8", "i4", "u2", "f8", "f4", "?", "U9", "text", "M8[us]", "M8[s]", "c16"])
    nullable = rng.random() < 0.4 and name not in ("U9", "text")
    null = {"nullable": True, "null_storage": "mask"} if nullable else {}
    spec, draw = {
        "i8": (blosc2.int64, lambda: rng.choice([-2**63, 2**63 - 1, rng.randrange(100)])),
        "i4": (blosc2.int32, lambda: rng.choice([-2**31, 2**31 - 1, rng.randrange(100)])),
        "u2": (blosc2.uint16, lambda: rng.choice([0, 65535, rng.randrange(100)])),
        "f8": (blosc2.float64, lambda: rng.choice([-1.5, 1e300, rng.random()])),
        "f4": (blosc2.float32, lambda: float(numpy.float32(rng.choice([-1.5, 0.25, rng.random()])))),
        "?": (blosc2.bool, lambda: rng.random() < 0.5),
        "U9": (lambda **null: blosc2.string(max_length=9), lambda: rng.choice(["b", "né", "abcdefghi", "\U0001f600"])),
        "text": (lambda **null: blosc2.utf8(), lambda: rng.choice(WORDS)),
        "M8[us]": (lambda **null: blosc2.timestamp(unit="us", **null), lambda: numpy.datetime64(rng.randrange(-10**15, 10**15), "us")),
        "M8[s]": (lambda **null: blosc2.timestamp(unit="s", **null), lambda: numpy.datetime64(rng.randrange(-10**9, 10**9), "s")),
        "c16": (blosc2.complex128, lambda: complex(rng.random(), rng.randrange(-5, 5))),
    }[name]
    return Kind("" if name == "text" else name, spec(**null), lambda: None if nullable and rng.random() < 0.3 else draw(), nullable)


def drawn(rng, kinds, count):
    """Rows; the first has no null, since a column all of whose rows are null has no type in CSV."""
    rows = [{name: kind.draw() for name, kind in kinds.items()} for _ in range(count)]
    for row in rows[:1]:
        for name, kind in kinds.items():
            while row[name] is None:
                row[name] = kind.draw()
    return rows


def as_csv(path, names, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(names)
        for row in rows:
            lines.writerow([cell(row[name]) for name in names])
    return path


def cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, complex):
        return "%r%s%rj" % (value.real, "" if value.imag < 0 else "+", value.imag)
    return str(value)


def sequence(blpk, place, seed):
    rng = random.Random(seed)
    is_ours = rng.random() < 0.6
    # The fields of a class of Python have other names.
    choice = ["a", "n\u00e9", "d", "e", "id"] + (["b c", "p.q", "p.r"] if is_ours else [])
    kinds = {name: kind(rng) for name in rng.sample(choice, rng.randrange(1, 6))}
    names = list(kinds)
    folder = place.folder()
    path = str(folder / ("t." + rng.choice(["b2z", "b2d"])))
    rows = drawn(rng, kinds, rng.choice([1, 3, 50, 700]))
    if is_ours:
        types = ",".join("%s=%s" % (name, kind.dtype) for name, kind in kinds.items() if kind.dtype)
        source = as_csv(folder / "0.csv", names, rows)
        small = ["--chunklen", rng.choice(["300", "1000"])] if rng.random() < 0.5 else []
        blpk.ok("import", source, path, *small, *(["--types", types] if types else []))
        check_nulls(kinds, rows)
    else:
        with made(path, kinds) as table:
            table.extend([tuple(row[name] for name in names) for row in rows])
    same(blpk, path, kinds, rows, "made")
    # After rows at the end were deleted, python-blosc2 4.14.1 appends text where it does not look for it.
    has_text, is_cut = any(kind.dtype == "" for kind in kinds.values()), False
    for step in range(rng.randrange(2, 6)):
        what = rng.choice(["ours", "ours", "theirs", "delete", "set"])
        what = "ours" if is_cut and has_text and what == "theirs" else what
        more = drawn(rng, kinds, rng.choice([1, 2, 60, 1500]))
        if what == "ours":
            blpk.ok("append", path, as_csv(folder / ("%d.csv" % (step + 1)), names, more))
            rows += more
            is_cut = False
        else:
            with blosc2.CTable.open(path, mode="a") as table:
                if what == "theirs":
                    table.extend([tuple(row[name] for name in names) for row in more])
                    rows += more
                elif what == "delete":
                    gone = sorted(rng.sample(range(len(rows)), rng.randrange(0, max(1, len(rows) // 2))))
                    if rng.random() < 0.3 and len(rows) > 2:
                        gone = list(range(len(rows) // 2, len(rows)))
                    is_cut = is_cut or len(rows) - 1 in gone
                    if gone:
                        table.delete(gone)
                    rows = [row for at, row in enumerate(rows) if at not in set(gone)]
                else:
                    name, at = rng.choice(names), rng.randrange(len(rows))
                    value = more[0][name]
                    table[name][at] = value
                    rows[at] = {**rows[at], name: value}
        same(blpk, path, kinds, rows, "%s in step %d" % (what, step))


@dataclasses.dataclass
class Items:
    """A kind of column whose values vary in length: its type in Python, its description, its type in Arrow (None if there is none),
    and a function that draws a value."""

    annotation: object
    spec: object
    arrow: object
    draw: object


def item_kind(rng, has_arrow):
    """Lists, words of a dictionary, text, bytes, objects and records; with Arrow, those that Arrow has."""
    lists = [
        (int, blosc2.int64(nullable=True), pyarrow.int64(), lambda: rng.choice([None, -2**63, 5])),
        (int, blosc2.int8(), pyarrow.int8(), lambda: rng.randrange(-128, 128)),
        (float, blosc2.float64(), pyarrow.float64(), lambda: rng.choice([0.5, -1e300, 2.0])),
        (str, blosc2.vlstring(), pyarrow.string(), lambda: rng.choice(WORDS)),
        (bool, blosc2.bool(), pyarrow.bool_(), lambda: rng.random() < 0.5),
        (list[int], blosc2.list(blosc2.int64()), pyarrow.large_list(pyarrow.int32()), lambda: [rng.randrange(9)] * rng.randrange(3)),
    ]
    item, spec, arrow, draw_item = rng.choice(lists)
    more = rng.choice([{}, {"batch_rows": 7}, {"items_per_block": 3}])
    some_list = lambda: [draw_item() for _ in range(rng.choice([0, 1, 2, 40]))]
    kinds = [
        Items(list[item], blosc2.list(spec, nullable=True, **more), pyarrow.list_(arrow), some_list),
        Items(str, blosc2.dictionary(nullable=True), pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), lambda: rng.choice(WORDS)),
    ]
    if not has_arrow:
        record = blosc2.struct({"a": blosc2.int64(), "b": blosc2.vlstring()}, nullable=True)
        kinds += [
            Items(str, blosc2.vlstring(nullable=True, **more), None, lambda: rng.choice(WORDS)),
            Items(bytes, blosc2.vlbytes(nullable=True, **more), None, lambda: rng.choice(WORDS).encode()),
            Items(object, blosc2.object(nullable=True, **more), None, lambda: rng.choice([[1, "x"], {"a": [None]}, 7, True])),
            Items(dict, record, None, lambda: {"a": rng.randrange(9), "b": rng.choice(WORDS)}),
        ]
    kind = rng.choice(kinds)
    draw = kind.draw
    return dataclasses.replace(kind, draw=lambda: None if rng.random() < 0.2 else draw())


def items(blpk, place, seed):
    """Both make and extend a table of values whose length varies, in turns."""
    rng = random.Random(seed)
    has_arrow = rng.random() < 0.6
    is_ours = has_arrow and rng.random() < 0.7
    kinds = {"c%d" % number: item_kind(rng, has_arrow) for number in range(rng.randrange(1, 4))}
    kinds["id"] = Items(int, blosc2.int64(), pyarrow.int64(), lambda: rng.randrange(-9, 9))
    folder, names = place.folder(), list(kinds)
    some = lambda count: [{name: kind.draw() for name, kind in kinds.items()} for _ in range(count)]
    path = str(folder / ("t." + rng.choice(["b2z", "b2d"])))

    def source(number, rows, form):
        """The rows in a file."""
        path = folder / ("%d.%s" % (number, form))
        if form == "jsonl":
            text = lambda value: value.decode() if isinstance(value, bytes) else value
            lines = [json.dumps({name: text(value) for name, value in row.items()}) for row in rows]
            path.write_text("".join(line + "\n" for line in lines))
        else:
            columns = [pyarrow.array([row[name] for row in rows], type=kind.arrow) for name, kind in kinds.items()]
            with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, (made := pyarrow.table(columns, names)).schema) as out:
                out.write_table(made)
        return path

    rows = some(rng.choice([1, 3, 50, 2500]))
    if is_ours:
        blpk.ok("import", source(0, rows, "arrow"), path)
    else:
        fields = [(name, kind.annotation, blosc2.field(kind.spec)) for name, kind in kinds.items()]
        with blosc2.CTable(dataclasses.make_dataclass("Row", fields), urlpath=path, mode="w") as table:
            table.extend([tuple(row.values()) for row in rows])
    same_items(blpk, path, kinds, rows, "made")
    is_cut = False
    for step in range(1, rng.randrange(3, 6)):
        what = rng.choice(["ours", "ours", "theirs", "delete"])
        # After rows at the end were deleted, python-blosc2 4.14.1 appends values where it does not look for them.
        what = "ours" if is_cut and what == "theirs" else what
        more = some(rng.choice([1, 5, 300, 2100]))
        if what == "ours":
            blpk.ok("append", path, source(step, more, rng.choice(["jsonl", "arrow"] if has_arrow else ["jsonl"])))
            rows, is_cut = rows + more, False
        else:
            with blosc2.CTable.open(path, mode="a") as table:
                if what == "theirs":
                    table.extend([tuple(row.values()) for row in more])
                    rows = rows + more
                else:
                    start = rng.randrange(len(rows))
                    gone = range(start, len(rows)) if rng.random() < 0.5 else range(start, min(start + 3, len(rows) - 1))
                    if gone:
                        table.delete(list(gone))
                    is_cut = is_cut or len(rows) - 1 in gone
                    rows = [row for at, row in enumerate(rows) if at not in gone]
        same_items(blpk, path, kinds, rows, "%s in step %d" % (what, step))


def same_items(blpk, path, kinds, rows, when):
    found = blpk.run("verify", path)
    expect(found.returncode == 0, "verify of", path, when, found.stdout.decode(), found.stderr.decode())
    ours = [json.loads(line) for line in blpk.ok("export", path, "-", "--to", "jsonl").decode().splitlines()]
    text = lambda value: value.decode() if isinstance(value, bytes) else value
    equal(ours, [{name: text(value) for name, value in row.items()} for row in rows], "%s %s, read by blpk" % (path, when))
    with blosc2.CTable.open(path) as table:
        equal(len(table), len(rows), "rows of %s %s" % (path, when))
        for name in kinds if rows else ():
            equal(theirs(table[name], len(rows)), [row[name] for row in rows], "%s of %s %s, read by python-blosc2" % (name, path, when))


def check_nulls(kinds, rows):
    """What CSV does not show: a column without an empty cell may not be null, so it stays without."""
    for name, kind in kinds.items():
        if kind.nullable and all(row[name] is not None for row in rows):
            draw = kind.draw
            def some(draw=draw):
                value = draw()
                while value is None:
                    value = draw()
                return value
            kind.draw, kind.nullable = some, False


def made(path, kinds):
    fields = [(name, kind.spec) for name, kind in kinds.items()]
    namespace = {"__annotations__": {name: spec.python_type for name, spec in fields}}
    namespace.update({name: blosc2.field(spec) for name, spec in fields})
    return blosc2.CTable(dataclasses.dataclass(type("Row", (), namespace)), urlpath=path, mode="w")


def same(blpk, path, kinds, rows, when):
    found = blpk.run("verify", path)
    expect(found.returncode == 0, "verify of", path, when, found.stdout.decode(), found.stderr.decode())
    lines = blpk.ok("export", path, "-", "--to", "jsonl").decode().splitlines()
    ours = [json.loads(line) for line in lines]
    for name in kinds:
        wanted = [as_json(row[name], kinds[name].dtype) for row in rows]
        equal([row[name] for row in ours], wanted, "%s of %s %s, read by blpk" % (name, path, when))
    with blosc2.CTable.open(path) as table:
        equal(len(table), len(rows), "rows of %s %s" % (path, when))
        for name, kind in kinds.items():
            equal(theirs(table[name], len(rows)), [plain(row[name]) for row in rows],
                  "%s of %s %s, read by python-blosc2" % (name, path, when))


def theirs(column, rows):
    values = column[:][:rows] if rows else []
    if isinstance(values, list):
        return values
    mask = numpy.ma.getmaskarray(values) if isinstance(values, numpy.ma.MaskedArray) else [False] * rows
    values = numpy.ma.getdata(values)
    return [None if missing else plain(value) for value, missing in zip(values, mask)]


def plain(value):
    if value is None or isinstance(value, numpy.datetime64) and numpy.isnat(value):
        return None
    if isinstance(value, numpy.datetime64):
        return int(value.astype("i8"))
    if isinstance(value, numpy.generic):
        return value.item()
    return value


def as_json(value, dtype):
    if dtype == "f4" and value is not None:
        # The fewest digits that identify it.
        return float(str(numpy.float32(value)))
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, numpy.datetime64):
        return str(value)
    return value


def tree(blpk, place, seed):
    rng, draws = random.Random(seed), numpy.random.default_rng(seed)
    folder = place.folder()
    arrays = {}
    for number in range(rng.randrange(1, 5)):
        shape = rng.choice([(0, 3), (5,), (1000,), (20, 30), (3, 4, 5)])
        dtype = rng.choice(["<i4", "<f8", "?", "S5", "<c16", "<u2"])
        name = "%s%d" % (rng.choice(["a", "b.c", "d e", "\u00e9"]), number)
        arrays[name] = draws.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
        numpy.save(folder / (name + ".npy"), arrays[name])
        blpk.ok("import", folder / (name + ".npy"), folder / (name + ".b2nd"))
    path = folder / ("tree." + rng.choice(["b2z", "b2d"]))
    blpk.ok("convert", *(folder / (name + ".b2nd") for name in arrays), path)
    expect(b": ok," in blpk.ok("verify", path), "verify of", path)
    with blosc2.TreeStore(str(path), mode="r") as store:
        equal(sorted(store.keys()), sorted("/" + name for name in arrays), "keys of %s" % path)
        for name, array in arrays.items():
            found = store["/" + name]
            expect(found.dtype == array.dtype and (found[()] == array).all(), name, "of", path)
    with blosc2.TreeStore(str(path), mode="a") as store:
        store["/more/x"] = numpy.arange(7)
    expect(b": ok," in blpk.ok("verify", path), "verify of", path, "after a change")
    if path.suffix == ".b2z":
        equal(zipfile.ZipFile(path).comment, b"", "comment after a change")
    for name, array in arrays.items():
        equal(blpk.ok("cat", "%s/%s" % (path, name)), array.tobytes(), "bytes of %s" % name)


if __name__ == "__main__":
    import sys
    from common import Command, Place, Tally
    tally = Tally("store_turns")
    run(tally, Command(sys.argv[1]), None, Place())
    print(tally.line())
    sys.exit(tally.failed > 0)
