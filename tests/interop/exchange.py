"""Export and import: NumPy, pyarrow and the modules csv and json read what `blpk export` writes, and `blpk import`
reads what they write. The command has to be built with the feature `arrow`."""

import csv
import io
import itertools
import json
import sys
from pathlib import Path

import bcolz
import bloscpack
import numpy
import pyarrow
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from common import equal, expect

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "testdata"))
import archives  # noqa: E402

ROWS = 1234
TYPES = (
    "?", "i1", "<i2", ">i4", "<i8", "u1", ">u2", "<u4", "<u8", "<f2", ">f2", "<f4", "<f8", ">f8",
    "<c8", ">c16", "S1", "S9", "<U5", ">U3", "V4", "<M8[s]", "<M8[ms]", ">M8[us]", "<M8[ns]",
    "<M8[D]", "<m8[s]", "<m8[ns]", "<M8[h]", "<m8[W]",
    [("a", "<i4"), ("b", ">f8"), ("c", "S3"), ("d", "<u2", (2,))],
)
SHAPES = ((ROWS,), (77, 3), (20, 2, 4))
LAYOUTS = ("bcolz", "blz", "blz-doc", "carray-doc")
ARROW = {"arrow": lambda path: pyarrow.feather.read_table(path, memory_map=False),
         "parquet": pyarrow.parquet.read_table,
         "arrows": lambda path: pyarrow.ipc.open_stream(path.read_bytes()).read_all()}
WRITERS = {
    "plain.arrow": lambda table, path: pyarrow.feather.write_feather(table, path, "uncompressed"),
    "lz4.feather": lambda table, path: pyarrow.feather.write_feather(table, path, "lz4", chunksize=100),
    "zstd.feather": lambda table, path: pyarrow.feather.write_feather(table, path, "zstd"),
    "snappy.parquet": lambda table, path: pyarrow.parquet.write_table(table, path, row_group_size=300),
    "zstd.parquet": lambda table, path: pyarrow.parquet.write_table(
        table, path, compression="zstd", data_page_version="2.0", use_dictionary=False),
}
CASES = len(TYPES) * len(SHAPES) + len(WRITERS) * 2 + 22


def run(tally, blpk, reference, place):
    tally.cases(arrays(blpk, place))
    tally.cases(tables(blpk, place))
    tally.cases(from_arrow(blpk, place))
    tally.cases(from_csv(blpk, place))
    tally.cases(with_gaps(blpk, place))
    tally.cases(packed(blpk, place))
    tally.cases(zipline(blpk, place))


def numbers(dtype, shape, seed=0):
    """Elements with random bits, as far as the dtype allows."""
    dtype, rng = numpy.dtype(dtype), numpy.random.default_rng(seed)
    if dtype.names:
        out = numpy.zeros(shape, dtype)
        for number, name in enumerate(dtype.names):
            base, inner = dtype[name].base, dtype[name].shape
            out[name] = numbers(base, tuple(shape) + inner, seed + number)
        return out
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "S":
        letters = rng.integers(32, 127, (*shape, dtype.itemsize), dtype="u1")
        return letters.view(dtype)[..., 0]
    if dtype.kind == "U":
        letters = rng.choice(numpy.array([ord("a"), 0xe9, 0x20ac, 0x1d11e]), (*shape, dtype.itemsize // 4))
        return letters.astype(dtype.byteorder + "u4").view(dtype)[..., 0]
    if dtype.kind in "mM":
        counts = rng.integers(-20000, 20000, shape, dtype="i8")
        out = counts.astype(dtype)
        out.reshape(-1)[::7] = "NaT"
        return out
    if dtype.kind in "fc":
        out = (rng.standard_normal(shape) * 100).astype(dtype)
        out.reshape(-1)[:3] = [numpy.nan, numpy.inf, -0.0]
        return out
    return rng.integers(0, 256, (*shape, dtype.itemsize), dtype="u1").view(dtype)[..., 0]


def same(found, wanted, what):
    equal(found.dtype, wanted.dtype, what + ": dtype")
    equal(found.shape, wanted.shape, what + ": shape")
    equal(found.tobytes(), wanted.tobytes(), what + ": bytes")


def check_column(column, array, what):
    """Compares an Arrow column with NumPy elements."""
    column = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    equal(len(column), len(array), what + ": rows")
    for axis in array.shape[1:]:
        expect(pyarrow.types.is_fixed_size_list(column.type), what, column.type)
        equal(column.type.list_size, axis, what)
        column, array = column.flatten(), array.reshape(-1, *array.shape[2:])
    kind = array.dtype.kind
    if array.dtype.names:
        for name in array.dtype.names:
            check_column(column.field(name), array[name], what + "." + name)
    elif kind == "c":
        check_column(column.field("re"), array.real, what)
        check_column(column.field("im"), array.imag, what)
    elif kind in "SUV":
        wanted = [bytes(element) for element in array] if kind == "V" else array.tolist()
        if kind == "S":
            # All of them are UTF-8.
            wanted = [element.decode() for element in wanted]
        equal(column.to_pylist(), wanted, what)
    elif kind in "mM" and numpy.datetime_data(array.dtype)[0] in ("h", "W"):
        equal(column.to_pylist(), [None if numpy.isnat(one) else int(one.astype("i8")) for one in array], what)
    elif kind in "mM":
        found = column.to_numpy(zero_copy_only=False)
        equal(found.dtype.kind, kind, what)
        same(found.astype(array.dtype), array, what)
    else:
        found = column.to_numpy(zero_copy_only=False)
        same(found, array.astype(array.dtype.newbyteorder("=")), what)


def arrays(blpk, place):
    for number, (dtype, shape) in enumerate(itertools.product(TYPES, SHAPES)):
        yield "array %s %s" % (dtype, shape), one_array, blpk, place, dtype, shape, number


def one_array(blpk, place, dtype, shape, number):
    folder, array = place.folder(), numbers(dtype, shape, number)
    fortran = number % 2 == 1
    numpy.save(folder / "in.npy", numpy.asfortranarray(array) if fortran else array)
    numpy.save(folder / "c.npy", numpy.ascontiguousarray(array))
    layout = LAYOUTS[number % len(LAYOUTS)]
    blpk.ok("import", folder / "in.npy", folder / "d", "--layout", layout)
    blpk.ok("export", folder / "d", folder / "out.npy")
    same(numpy.load(folder / "out.npy"), array, "npy")
    equal((folder / "out.npy").read_bytes(), (folder / "c.npy").read_bytes(), "npy, byte for byte")
    for ending, read in ARROW.items():
        path = folder / ("out." + ending)
        blpk.ok("export", folder / "d", path)
        check_column(read(path)["value"], array, ending)
    for ending in ("arrow", "parquet"):
        blpk.ok("import", folder / ("out." + ending), folder / ending)
        blpk.ok("export", folder / ending, folder / (ending + ".npy"))
        back = numpy.load(folder / (ending + ".npy"))
        # A single column, as an array or as the only field.
        back = back["value"] if back.dtype.names == ("value",) else back
        same(back, array, ending + " back")
    blpk.ok("export", folder / "d", folder / "out.jsonl")
    equal(len((folder / "out.jsonl").read_text().splitlines()), shape[0], "lines")
    text = blpk.ok("export", folder / "d", "-", "--to", "csv").decode()
    cells = list(csv.reader(io.StringIO(text, newline="")))
    # An array of two axes has a column for each position along the second.
    names = [f"value_{number}" for number in range(shape[1])] if len(shape) == 2 else ["value"]
    equal((cells[0], len(cells)), (names, shape[0] + 1), "csv")
    if array.dtype.kind in "iuf" and array.ndim <= 2:
        found = numpy.array(cells[1:], array.dtype.newbyteorder("=")).reshape(shape)
        expect(numpy.array_equal(found, array, equal_nan=array.dtype.kind == "f"), "csv: numbers")


def tables(blpk, place):
    fields = [("c%d" % number, dtype) for number, dtype in enumerate(TYPES)]
    for number, layout in enumerate(LAYOUTS):
        # In the layouts of the two documents, fields are nested columns.
        simple = [field for field in fields if isinstance(field[1], str)]
        chosen = simple if layout.endswith("-doc") else fields
        yield "table " + layout, one_table, blpk, place, chosen, layout, number


def one_table(blpk, place, fields, layout, number):
    folder, table = place.folder(), numbers(fields, (ROWS,), number)
    numpy.save(folder / "in.npy", table)
    blpk.ok("import", "--table", folder / "in.npy", folder / "t", "--layout", layout)
    blpk.ok("export", folder / "t", folder / "out.npy")
    same(numpy.load(folder / "out.npy"), table, "npy")
    for ending, read in ARROW.items():
        path = folder / ("out." + ending)
        blpk.ok("export", folder / "t", path)
        found = read(path)
        equal(found.column_names, [name for name, _ in fields], ending)
        for name, _ in fields:
            check_column(found[name], table[name], "%s %s" % (ending, name))
    blpk.ok("export", folder / "t", folder / "part.parquet", "--columns", "c9,c1", "--rows", "10..20")
    part = pyarrow.parquet.read_table(folder / "part.parquet")
    equal(part.column_names, ["c9", "c1"], "columns")
    check_column(part["c9"], table["c9"][10:20], "rows")
    lines = blpk.ok("export", folder / "t", "-", "--to", "jsonl").decode().splitlines()
    found = [json.loads(line)["c4"] for line in lines]
    equal(found, table["c4"].tolist(), "jsonl")


def arrow_table(rows):
    rng = numpy.random.default_rng(rows)
    words = ["", "a", "\u00e9\u20ac", "\U0001d11e-clef", "longest of all words"]
    text = [words[at] for at in rng.integers(0, len(words), rows)]
    gaps = rng.random(rows) < 0.2
    floats = rng.standard_normal(rows)
    counts = rng.integers(-10**12, 10**12, rows)
    return pyarrow.table({
        "int": pyarrow.array(counts),
        "small": pyarrow.array(rng.integers(0, 200, rows), pyarrow.uint8()),
        "flag": pyarrow.array(gaps),
        "float": pyarrow.array(floats, mask=gaps),
        "text": pyarrow.array(text, pyarrow.string()),
        "many": pyarrow.array(text, pyarrow.large_string()),
        "category": pyarrow.array(text, pyarrow.string()).dictionary_encode(),
        "bytes": pyarrow.array([word.encode() for word in text], pyarrow.binary()),
        "day": pyarrow.array(rng.integers(-9999, 20000, rows), pyarrow.int32()).cast(pyarrow.date32()),
        "moment": pyarrow.array(counts, pyarrow.timestamp("ns"), mask=gaps),
        "span": pyarrow.array(counts, pyarrow.duration("ms"), mask=gaps),
    })


def from_arrow(blpk, place):
    for (name, write), rows in itertools.product(WRITERS.items(), (0, ROWS)):
        yield "%s %d" % (name, rows), one_of_arrow, blpk, place, name, write, rows


def one_of_arrow(blpk, place, name, write, rows):
    folder, table = place.folder(), arrow_table(rows)
    write(table, folder / name)
    blpk.ok("import", folder / name, folder / "t")
    blpk.ok("export", folder / "t", folder / "out.npy")
    found = numpy.load(folder / "out.npy")
    equal(found.dtype.names, tuple(table.column_names), "columns")
    for column in ("int", "small", "flag", "float", "moment", "span"):
        wanted = table[column].to_numpy()
        kind = wanted.dtype.kind
        if kind in "mM":
            wanted, got = wanted.astype("i8"), found[column].astype("i8")
        else:
            got = found[column]
        expect(numpy.array_equal(got, wanted, equal_nan=kind == "f"), column)
    equal(found["day"].astype("i8").tolist(), table["day"].cast(pyarrow.int32()).to_pylist(), "day")
    for column in ("text", "many", "category", "bytes"):
        equal(found[column].tolist(), table[column].to_pylist(), column)


def from_csv(blpk, place):
    rows = [["name", "n", "x", "when"], ["a,b", "1", "0.5", "2016-01-04"], ["\"q\"", "-2", "", "1999-12-31"],
            ["two\nlines", "3", "1e300", ""], ["\u20ac", "4", "nan", "2016-02-29"]]
    for dialect in ("excel", "unix", "excel-tab"):
        yield "csv " + dialect, one_csv, blpk, place, rows, dialect


def one_csv(blpk, place, rows, dialect):
    folder = place.folder()
    with open(folder / "in.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, dialect).writerows(rows)
    options = ("--delimiter", "tab") if dialect == "excel-tab" else ()
    blpk.ok("import", folder / "in.csv", folder / "t", *options)
    blpk.ok("export", folder / "t", folder / "out.npy")
    table = numpy.load(folder / "out.npy")
    equal(table.dtype.descr, [("name", "<U9"), ("n", "<i8"), ("x", "<f8"), ("when", "<M8[D]")], "types")
    equal(table["name"].tolist(), [row[0] for row in rows[1:]], "name")
    equal(table["n"].tolist(), [1, -2, 3, 4], "n")
    expect(numpy.array_equal(table["x"], [0.5, numpy.nan, 1e300, numpy.nan], equal_nan=True), "x")
    blpk.ok("export", folder / "t", folder / "out.csv")
    with open(folder / "out.csv", newline="", encoding="utf-8") as file:
        back = list(csv.reader(file))
    equal([row[0] for row in back], [row[0] for row in rows], "name back")
    equal([row[3] for row in back], [row[3] for row in rows], "when back")


def with_gaps(blpk, place):
    for layout in LAYOUTS:
        yield "gaps " + layout, one_with_gaps, blpk, place, layout


def one_with_gaps(blpk, place, layout):
    """Empty cells are null again, as pyarrow reads the same file; bcolz has NaN and NaT, and ignores our attribute."""
    folder = place.folder()
    (folder / "in.csv").write_text("n,y,when\n1,1.5,2024-01-02\n 9007199254740993,,\n3,300,2024-01-04\n")
    wanted = pyarrow.csv.read_csv(folder / "in.csv")
    blpk.ok("import", folder / "in.csv", folder / "t", "--layout", layout)
    for ending in ("arrow", "parquet"):
        blpk.ok("export", folder / "t", folder / ("out." + ending))
        found = ARROW[ending](folder / ("out." + ending))
        for name in wanted.column_names:
            equal(found[name].to_pylist(), wanted[name].to_pylist(), "%s %s" % (ending, name))
        # Nulls are noted once more.
        blpk.ok("import", folder / ("out." + ending), folder / ending)
        again = blpk.ok("export", folder / ending, "-", "--to", "csv").decode()
        equal(again.splitlines()[2], "9007199254740993,,", ending)
    if layout == "bcolz":
        table = bcolz.open(str(folder / "t"), mode="r")
        equal(table["n"][:].tolist(), [1, 9007199254740993, 3], "bcolz: n")
        expect(numpy.array_equal(table["y"][:], [1.5, numpy.nan, 300], equal_nan=True), "bcolz: y")
        expect(numpy.isnat(table["when"][:]).tolist() == [False, True, False], "bcolz: when")
        table = bcolz.open(str(folder / "t"), mode="a")
        table.append(([4], [7.5], numpy.array(["2024-01-05"], "<M8[D]")))
        table.flush()
        del table
        equal(blpk.ok("export", folder / "t", "-", "--to", "csv").decode().splitlines()[2:],
              ["9007199254740993,,", "3,300.0,2024-01-04", "4,7.5,2024-01-05"], "after bcolz")


def packed(blpk, place):
    for number, order in itertools.product(range(5), "CF"):
        yield "packed %d %s" % (number, order), one_packed, blpk, place, number, order


def one_packed(blpk, place, number, order):
    folder = place.folder()
    shape = ((500,), (30, 40), (7, 8, 9), (1, 600), (600, 1))[number]
    array = numpy.asarray(numbers(("<f8", ">i4", "<u2", "<i8", "<f4")[number], shape, number), order=order)
    bloscpack.pack_ndarray_to_file(array, str(folder / "a.blp"), chunk_size="1K")
    blpk.ok("export", folder / "a.blp", folder / "out.npy")
    same(numpy.load(folder / "out.npy"), numpy.ascontiguousarray(array), "whole")


def zipline(blpk, place):
    """Daily bars, compared with the attributes of the bundle."""
    yield "zipline", one_bundle, blpk, place


def one_bundle(blpk, place):
    bundle = archives.unpacked() / "datasets/bcolz/zipline_daily_equities.bcolz"
    folder = place.folder()
    blpk.ok("export", bundle, folder / "out.parquet")
    found = pyarrow.parquet.read_table(folder / "out.parquet")
    attributes = json.loads((bundle / "__attrs__").read_text())
    equal(json.loads(found.schema.metadata[b"bloscpack.attributes"]), attributes, "attributes")
    rows = sum(attributes["last_row"][sid] - attributes["first_row"][sid] + 1 for sid in attributes["first_row"])
    equal(found.num_rows, rows, "rows")
    equal({str(sid) for sid in found["id"].to_pylist()}, set(attributes["first_row"]), "assets")
