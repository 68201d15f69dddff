"""Stores: python-blosc2 writes trees, and tables of every kind of column, and `blpk export` reads the same values.

Tables are drawn from a seeded generator: kinds of columns, ways to store nulls, codecs, sizes, deleted rows, and where the
table is (`.b2z`, `.b2d`, a folder of a tree, `.b2e`). What python-blosc2 reads is compared as JSON lines, as CSV,
and of every fourth table as Arrow."""

import csv
import dataclasses
import io
import json
import math
import random
import sys
import warnings

import blosc2
import numpy
import pyarrow

from common import equal, expect

TABLES = 220
TREES = 24
TENSORS = ("<f8", "<i4", "?", "<U3", "<c16", "S5")
OBJECTS = 600
CASES = TABLES + TREES + len(TENSORS) + OBJECTS + 4
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
WORDS = ("", "a", "né", "zwölf Wörter", "\u65e5\u672c", "comma, \"quote\"", "line\nend", "x" * 50, "\U0001f600")
# Version 4.3 has neither null masks, `utf8`, missing complex numbers nor attributes, and tables are only files.
IS_OLD = not hasattr(blosc2, "utf8")
CODECS = (blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.LZ4HC, blosc2.Codec.ZLIB, blosc2.Codec.ZSTD)


def run(tally, blpk, reference, place):
    warnings.simplefilter("ignore")
    for seed in range(TABLES):
        tally.case("table %d" % seed, table, blpk, place, seed)
    for seed in range(TREES):
        tally.case("tree %d" % seed, tree, blpk, place, seed)
    for dtype in TENSORS:
        tally.case("tensor of %s" % dtype, tensor, blpk, place, dtype)
    for seed in range(OBJECTS):
        tally.case("objects %d" % seed, objects, blpk, place, seed)
    tally.case("objects that refer to others", references, blpk, place)
    tally.case("indexes", indexes, blpk, place)
    tally.case("delta after shuffle", delta_after_shuffle, blpk, place)
    tally.case("bare chunk", bare_chunk, blpk, place)


def nulls(rng, in_band):
    """How nulls are stored, if there are any: arguments of a kind of column."""
    choices = [{}, {"nullable": True}, {"nullable": True, "null_storage": "mask"}][:1 if IS_OLD else 3]
    return rng.choice(choices + [in_band] * 2 if in_band else choices)


def some(rng, null, value):
    """A value, or null where there may be any."""
    has = bool(null) and "null_value" not in null and null.get("null_storage") != "sentinel"
    return None if has and rng.random() < 0.2 else value


def but_first(draw):
    """The same, but the first value is not null: python-blosc2 4.14.1 does not take rows all of whose strings are null."""
    drawn = []
    def value():
        drawn.append(draw())
        while len(drawn) == 1 and drawn[0] is None:
            drawn[0] = draw()
        return drawn[-1]
    return value


def scalar(rng):
    """A kind of column of a fixed length: its annotation, its specification, and a function that draws a value."""
    name = rng.choice(INTS + ("float32", "float64", "complex64", "complex128", "bool", "string", "bytes", "timestamp", "ndarray"))
    if name in INTS:
        limits = numpy.iinfo(name)
        null = nulls(rng, {"null_value": rng.choice([int(limits.max), 3])})
        draw = lambda: some(rng, null, rng.choice([int(limits.min), int(limits.max), rng.randrange(0, 100), 3]))
        return int, getattr(blosc2, name)(**null), draw
    if name in ("float32", "float64"):
        null = nulls(rng, {"null_value": rng.choice([math.nan, -1.5])})
        draw = lambda: some(rng, null, rng.choice([-1.5, 0.1, 1e300 if name == "float64" else 1e30, math.inf, -0.0, rng.random()]))
        return float, getattr(blosc2, name)(**null), draw
    if name in ("complex64", "complex128"):
        null = {} if IS_OLD else nulls(rng, {})
        draw = lambda: some(rng, null, complex(rng.random(), rng.randrange(-5, 5)))
        return complex, getattr(blosc2, name)(**null), draw
    if name == "bool":
        null = rng.choice([{}, {"null_value": 255}] + [{"nullable": True, "null_storage": "mask"}] * (not IS_OLD))
        draw = lambda: some(rng, null, rng.random() < 0.5)
        return bool, blosc2.bool(**null), draw
    if name == "string":
        null = nulls(rng, {"null_value": "NA"})
        draw = lambda: some(rng, null, rng.choice(["", "NA", "né", "abcdef", "\U0001f600"]))
        return str, blosc2.string(max_length=rng.choice([6, 9]), **null), but_first(draw)
    if name == "bytes":
        null = nulls(rng, {"null_value": b"NA"})
        draw = lambda: some(rng, null, rng.choice([b"", b"NA", b"ab\xff", b"abcdef"]))
        return bytes, blosc2.bytes(max_length=rng.choice([6, 9]), **null), but_first(draw)
    if name == "timestamp":
        unit = rng.choice(["s", "ms", "us", "ns"])
        null = nulls(rng, {})
        draw = lambda: some(rng, null, numpy.datetime64(rng.randrange(-10**9, 10**9), unit))
        return object, blosc2.timestamp(unit=unit, **null), draw
    shape, dtype = rng.choice([((2,), "<f4"), ((2, 3), "<i2"), ((4,), "?"), ((1, 2), "<f8")])
    draws = numpy.random.default_rng(rng.randrange(1000))
    return object, blosc2.ndarray(shape, numpy.dtype(dtype)), lambda: draws.integers(0, 2, shape).astype(dtype)


def varying(rng):
    """The same for values whose length varies."""
    kind = rng.choice((*["utf8"] * (0 if IS_OLD else 2), "vlstring", "vlbytes", "dictionary", "list", "list", "struct", "object"))
    is_nullable = rng.random() < 0.5
    plain = {"nullable": True} if is_nullable else {}
    more = rng.choice([{}, {"batch_rows": rng.choice([1, 7, 100])}, {"items_per_block": rng.choice([1, 5])}])
    word = lambda: some(rng, plain, rng.choice(WORDS) + str(rng.randrange(100)))
    if kind == "utf8":
        null = nulls(rng, {"null_value": "NULL"})
        return str, blosc2.utf8(**null), lambda: some(rng, null, rng.choice(WORDS + ("NULL",)))
    if kind == "vlstring":
        return str, blosc2.vlstring(**plain, **more), word
    if kind == "vlbytes":
        return bytes, blosc2.vlbytes(**plain, **more), lambda: some(rng, plain, rng.choice([b"", b"a\0", b"\xff\xfe", b"word"]))
    if kind == "dictionary":
        return str, blosc2.dictionary(**plain), lambda: some(rng, plain, rng.choice(WORDS))
    if kind == "object":
        draw = lambda: rng.choice([1, -2.5, "text", {"a": [1, {"b": None}]}, [1, "x"], b"bytes", True, 2**60])
        return object, blosc2.object(**plain, **more), lambda: some(rng, plain, draw())
    if kind == "struct":
        spec = blosc2.struct({"a": blosc2.int64(), "b": blosc2.vlstring()}, **plain)
        return dict, spec, lambda: some(rng, plain, {"a": rng.randrange(9), "b": rng.choice(WORDS)})
    item, annotation, draw = rng.choice([
        (blosc2.int64(), list[int], lambda: rng.randrange(-9, 9)),
        (blosc2.float64(), list[float], lambda: rng.choice([0.5, -1.25, 1e300])),
        (blosc2.vlstring(), list[str], lambda: rng.choice(WORDS)),
        (blosc2.bool(), list[bool], lambda: rng.random() < 0.5),
    ])
    if rng.random() < 0.3:
        more = {"storage": "vl"}
    spec = blosc2.list(item, **plain, **more)
    return annotation, spec, lambda: some(rng, plain, [draw() for _ in range(rng.choice([0, 1, 2, 30]))])


def columns(rng):
    """Columns of a table: name, annotation, specification, and a function that draws a value."""
    makers = [scalar if rng.random() < 0.5 else varying for _ in range(rng.randrange(1, 7))]
    drawn = [("c%d" % number, *maker(rng)) for number, maker in enumerate(makers)]
    return [("id", int, blosc2.int64(), None)] + drawn


def written(rng, place):
    """A table that python-blosc2 has written, as a path, and what python-blosc2 reads of it, by column."""
    drawn = columns(rng)
    kind = dataclasses.make_dataclass("Row", [
        (name, annotation, blosc2.field(spec)) for name, annotation, spec, _ in drawn])
    ending = rng.choice(["b2z", "b2z", "b2d", "b2d", "tree.b2z", "tree.b2d", "b2e"][:4 if IS_OLD else 7])
    # python-blosc2 takes time that grows with the square of the rows to copy batches.
    is_fixed = all(hasattr(spec, "dtype") and spec.dtype is not None for _, _, spec, _ in drawn)
    rows = rng.choice([0, 1, 2, 5, 17, 60, 150] + [40000] * (is_fixed and ending in ("b2z", "b2d")))
    path = place.folder() / ("store." + ending)
    # Batches that BloscLZ stores with level 0 make python-blosc2 4.14.1 crash.
    codec = rng.choice(CODECS)
    level = rng.choice([1, 5, 9] + [0] * (codec != blosc2.Codec.BLOSCLZ))
    options = {} if rng.random() < 0.4 else {"cparams": blosc2.CParams(codec=codec, clevel=level)}
    is_file = ending in ("b2z", "b2d")
    where = {"urlpath": str(path), "mode": "w"} if is_file else {}
    table = blosc2.CTable(kind, **where, **options)
    values = lambda number: tuple(number if draw is None else draw() for _, _, _, draw in drawn)
    is_text = any(isinstance(spec, (blosc2.string, blosc2.bytes)) for _, _, spec, _ in drawn)
    done = 0
    while done < rows:
        step = min(rows - done, rng.choice([1, 10, rows]) if rows < 100 and not is_text else rows)
        table.extend([values(done + number) for number in range(step)])
        done += step
    if rows and rng.random() < 0.7:
        table.delete(sorted(rng.sample(range(rows), rng.randrange(0, rows + 1) if rows < 20 else rows // rng.choice([2, 5, 50]))))
    if rng.random() < 0.3 and not IS_OLD:
        table.vlmeta["author"] = "me"
    inside = ""
    if is_file:
        table.close()
    elif ending == "b2e":
        path.write_bytes(table.to_cframe())
    else:
        with blosc2.TreeStore(str(path), mode="w", threshold=rng.choice([0, 100])) as store:
            store["/dir/table"] = table
            store["/dir/array"] = numpy.arange(5)
        inside = "/dir/table"
    read = reopened(path, ending)
    # python-blosc2 cannot read all kinds of columns without rows.
    result = {name: cells(read[name], spec) if len(read) else [] for name, _, spec, _ in drawn}
    return str(path) + inside, result


def reopened(path, ending):
    if ending in ("b2z", "b2d"):
        return blosc2.CTable.open(str(path))
    if ending == "b2e":
        return blosc2.ctable_from_cframe(path.read_bytes())
    return blosc2.TreeStore(str(path), mode="r")["/dir/table"]


def cells(column, spec):
    """The values of a column as JSON has them, with None for null."""
    # Of a single null text, python-blosc2 4.14.1 reads two.
    values = column[:][:len(column)]
    mask = numpy.ma.getmaskarray(values) if isinstance(values, numpy.ma.MaskedArray) else None
    if mask is None:
        mask = [False] * len(values)
    if getattr(spec, "null_value", None) is not None and len(values):
        missing = numpy.asarray(column.is_null())
        mask = [one or bool(other) for one, other in zip(mask, missing)]
    values = numpy.ma.getdata(values) if isinstance(values, numpy.ma.MaskedArray) else values
    mask = [bool(numpy.all(one)) for one in mask]
    is_bool = isinstance(spec, blosc2.bool)
    return [None if missing else as_json(bool(value) if is_bool else value) for value, missing in zip(values, mask)]


def as_json(value):
    if value is None or isinstance(value, (bool, int, str)) and not isinstance(value, numpy.generic):
        return value
    if isinstance(value, numpy.ndarray):
        return [as_json(one) for one in value] if value.ndim else as_json(value[()])
    if isinstance(value, numpy.datetime64):
        return None if numpy.isnat(value) else str(value)
    if isinstance(value, numpy.bool_):
        return bool(value)
    if isinstance(value, numpy.integer):
        return int(value)
    if isinstance(value, (complex, numpy.complexfloating)):
        single = isinstance(value, numpy.complex64)
        return [as_json(numpy.float32(part) if single else float(part)) for part in (value.real, value.imag)]
    if isinstance(value, numpy.float32):
        return shortest(value)
    if isinstance(value, (float, numpy.floating)):
        return None if math.isnan(value) else "inf" if value == math.inf else "-inf" if value == -math.inf else float(value)
    if isinstance(value, (bytes, numpy.bytes_)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return {"hex": bytes(value).hex()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {key: as_json(one) for key, one in value.items()}
    return [as_json(one) for one in value]


def shortest(value):
    """A float of 32 bits as the double with the fewest digits that identify it."""
    if not numpy.isfinite(value):
        return as_json(float(value))
    return float(str(value))


def table(blpk, place, seed):
    path, wanted = written(random.Random(seed), place)
    lines = blpk.ok("export", path, "-", "--to", "jsonl").decode().splitlines()
    found = [json.loads(line) for line in lines]
    names = list(wanted)
    for name in names:
        equal([row[name] for row in found], wanted[name], "%s of %s" % (name, path))
    equal(len(found), len(wanted["id"]), "rows of %s" % path)
    text = blpk.ok("export", path, "-", "--to", "csv").decode(errors="surrogateescape")
    found = list(csv.reader(io.StringIO(text, newline="")))
    equal(found[0], names, "header")
    columns = {name: [row[number] for row in found[1:]] for number, name in enumerate(names)}
    for name in names:
        for cell, value in zip(columns[name], wanted[name], strict=True):
            expect(same_text(cell, value), "%s of %s: %r is not %r" % (name, path, cell, value))
    equal(blpk.ok("verify", path).count(b": ok,"), 1, "verify")
    if seed % 4 == 0:
        columnar(blpk, place, path, wanted)


def columnar(blpk, place, path, wanted):
    """The same values in a file of Arrow."""
    out = str(place.folder() / "out.arrow")
    blpk.ok("export", path, out)
    with pyarrow.OSFile(out) as file:
        found = pyarrow.ipc.open_file(file).read_all()
    equal(found.column_names, list(wanted), "columns of %s" % out)
    for name, values in wanted.items():
        column = found.column(name)
        is_numpy = pyarrow.types.is_temporal(column.type) or pyarrow.types.is_floating(column.type)
        cells = column.to_numpy() if is_numpy else column.to_pylist()
        if pyarrow.types.is_struct(column.type) and column.type.field(0).name == "re":
            single = column.type.field(0).type == pyarrow.float32()
            cells = [cell and [numpy.float32(part) if single else part for part in cell.values()] for cell in cells]
        cells = [as_json(cell) for cell in cells]
        if cells != values and (pyarrow.types.is_string(column.type) or pyarrow.types.is_string_view(column.type)):
            # Objects are texts in JSON.
            cells = [cell and json.loads(cell) for cell in cells]
        equal(cells, values, "%s of %s" % (name, out))


def same_text(cell, value):
    """Whether a cell of CSV is a value; NaN and null are the same in JSON, but not here."""
    if value is None:
        return cell in ("", "nan")
    if isinstance(value, str):
        return cell == value
    if isinstance(value, list) and len(value) == 2 and cell.endswith("j"):
        number = complex(cell)
        return [number.real, number.imag] == value
    if isinstance(value, dict) and set(value) == {"hex"}:
        # Bytes that are not UTF-8 are written as they are.
        return cell.encode(errors="surrogateescape") == bytes.fromhex(value["hex"])
    return json.loads(cell) == value


def tree(blpk, place, seed):
    rng, draws = random.Random(seed), numpy.random.default_rng(seed)
    ending = ("b2z", "b2d", "b2e")[seed % 3]
    path = str(place.folder() / ("tree." + ending))
    if ending == "b2e":
        store = blosc2.EmbedStore(path, mode="w")
    else:
        store = rng.choice([blosc2.TreeStore, blosc2.DictStore])(path, mode="w", threshold=rng.choice([0, 300, 10**6]))
    arrays = {}
    for number in range(rng.randrange(1, 9)):
        name = "/".join(rng.choice(["a", "b.c", "d e", "\u00e9"]) + str(number) for _ in range(rng.randrange(1, 4)))
        shape = rng.choice([(), (0, 3), (5,), (1000,), (20, 30), (3, 4, 5)])
        dtype = rng.choice(["<i4", "<f8", "?", "<U3", "S5", "<c16", "<u2"])
        array = draws.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
        store["/" + name], arrays[name] = array, array
    if hasattr(store, "close"):
        store.close()
    del store
    listed = blpk.ok("ls", path).decode().splitlines()
    equal(sorted(line.split("  ")[0] for line in listed), sorted(arrays), "ls of %s" % path)
    for name, array in arrays.items():
        found = numpy.load(io.BytesIO(blpk.ok("export", path + "/" + name, "-", "--to", "npy")))
        expect(found.dtype == array.dtype and found.shape == array.shape and (found == array).all(), name, "of", path)
        equal(blpk.ok("cat", path + "/" + name), array.tobytes(), "bytes of %s" % name)
    expect(b": ok," in blpk.ok("verify", path), "verify of", path)


def tensor(blpk, place, dtype):
    """What `save_tensor` and `save_array` write: a frame of bytes, with shape and dtype in its metadata."""
    array = numpy.random.default_rng(1).integers(0, 2 if dtype == "?" else 100, (30, 4, 5)).astype(dtype)
    path = str(place.folder() / "t.b2frame")
    for save in (blosc2.save_tensor, blosc2.save_array):
        save(array, path, mode="w")
        found = numpy.load(io.BytesIO(blpk.ok("export", path, "-", "--to", "npy")))
        expect(found.dtype == array.dtype and found.shape == array.shape and (found == array).all(), save.__name__)
        facts = blpk.info(path)
        equal(facts["shape"], list(array.shape), "shape by %s" % save.__name__)


def can_store(value):
    """Whether this version of python-blosc2 stores a value: 4.9 has neither complex numbers nor sets."""
    try:
        blosc2.ObjectArray().append(value)
    except TypeError:
        return False
    return True


def some_object(rng, depth=0):
    """Any value that python-blosc2 stores in MessagePack."""
    leaves = (lambda: None, lambda: rng.random() < 0.5, lambda: rng.randrange(-2**63, 2**63), lambda: 2**64 - 1,
              lambda: rng.choice([0.5, -1e300, math.inf, math.nan]), lambda: rng.choice(WORDS), lambda: rng.choice([b"", b"a\0", b"\xff"]))
    if HAS_SETS:
        leaves += (lambda: complex(rng.random(), -1), lambda: {rng.randrange(9)}, lambda: numpy.int16(rng.randrange(99)))
    nested = (lambda: [some_object(rng, depth + 1) for _ in range(rng.randrange(4))],
              lambda: tuple(some_object(rng, depth + 1) for _ in range(rng.randrange(3))),
              lambda: {rng.choice(WORDS): some_object(rng, depth + 1) for _ in range(rng.randrange(3))})
    return rng.choice(leaves + nested if depth < 3 else leaves)()


HAS_SETS = can_store({1})


def objects(blpk, place, seed):
    """A frame of an ObjectArray, BatchArray or ListArray, in a file of its own or in a tree: a table of one column."""
    rng = random.Random(seed)
    is_in_tree = seed % 7 == 0
    path = str(place.folder() / "o.b2frame")
    where = {} if is_in_tree else {"urlpath": path, "mode": "w", "contiguous": True}
    if rng.random() < 0.5:
        where["cparams"] = blosc2.CParams(codec=rng.choice(CODECS[1:]), clevel=rng.choice([1, 9]))
    count = rng.choice([0, 1, 5, 40, 300])
    if seed % 3 == 0:
        made = blosc2.ObjectArray(**where)
        wanted = [some_object(rng) for _ in range(count)]
        made.extend(wanted)
    elif seed % 3 == 1:
        made = blosc2.BatchArray(items_per_block=rng.choice([None, 1, 7]), **where)
        wanted = []
        while len(wanted) < count:
            batch = [some_object(rng) for _ in range(rng.choice([1, 3, 50]))]
            made.append(batch)
            wanted += batch
    else:
        draw = lambda: rng.choice([rng.randrange(-9, 9)] + [None] * HAS_SETS)
        made = blosc2.ListArray(item_spec=blosc2.int64(**{"nullable": True} if HAS_SETS else {}), nullable=True, **where)
        wanted = [rng.choice([None, [], [draw() for _ in range(rng.randrange(9))]]) for _ in range(count)]
        made.extend(wanted)
        made.flush()
    if is_in_tree:
        path = str(place.folder() / "o.b2z")
        with blosc2.TreeStore(path, mode="w") as store:
            store["/dir/o"] = made
        path += "/dir/o"
    lines = blpk.ok("export", path, "-", "--to", "jsonl").decode().splitlines()
    equal([json.loads(line) for line in lines], [{"value": as_json(one)} for one in wanted], "objects of %s" % path)
    expect(b": ok," in blpk.ok("verify", path), "verify of", path)


def references(blpk, place):
    """A frame within a value, and a lazy expression, are named, and nothing is made up in their place."""
    path = str(place.folder() / "r.b2frame")
    made = blosc2.ObjectArray(urlpath=path, mode="w", contiguous=True)
    made.append(blosc2.arange(10))
    ran = blpk.status(5, "export", path, "-", "--to", "jsonl")
    expect(b"a frame within a value" in ran.stderr, ran.stderr)


def indexes(blpk, place):
    """`append` drops indexes that a user has made, and names them; the summary comes back by itself."""
    path, rows = str(place.folder() / "i.b2z"), place.folder() / "rows.csv"
    kind = dataclasses.make_dataclass("Row", [(name, int, blosc2.field(blosc2.int64())) for name in ("id", "n")])
    table = blosc2.CTable(kind, urlpath=path, mode="w")
    table.extend([(number, number * 7 % 10) for number in range(1000)])
    table.create_index("n")
    table.create_index("id", kind=blosc2.IndexKind.FULL)
    table.close()
    rows.write_text("id,n\n1000,3\n")
    said = blpk.status(0, "append", path, str(rows)).stderr.decode()
    expect("the index full of column id" in said and "the index bucket of column n" in said, said)
    equal(said.count("the index"), 2, said)
    table = blosc2.CTable.open(path)
    equal((len(table), len(table.indexes), len(table.where("n == 3"))), (1001, 0, 101), "rows")


def delta_after_shuffle(blpk, place):
    """Which bytes it refers to depends on the version of the writer, which a file does not tell."""
    path = str(place.folder() / "d.b2frame")
    filters = [blosc2.Filter.SHUFFLE, blosc2.Filter.DELTA]
    blosc2.SChunk(data=numpy.arange(10_000), urlpath=path, mode="w", cparams={"filters": filters, "filters_meta": [0, 0]})
    ran = blpk.status(5, "cat", path)
    expect(b"delta" in ran.stderr.lower() and b"shuffle" in ran.stderr.lower(), ran.stderr)


def bare_chunk(blpk, place):
    path = place.folder() / "chunk"
    path.write_bytes(blosc2.compress2(numpy.arange(1000)))
    ran = blpk.status(5, "cat", path)
    expect(b"a single Blosc chunk, without a container" in ran.stderr, ran.stderr)


if __name__ == "__main__":
    from common import Command, Place, Tally
    tally = Tally("stores")
    run(tally, Command(sys.argv[1]), None, Place())
    print(tally.line())
    sys.exit(tally.failed > 0)
