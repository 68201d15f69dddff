"""Arrays and tables in directories: the real bcolz opens, slices, changes and reopens datasets that the
library has created and changed, and the library does the same with those of bcolz."""

import itertools
import json
import os
import re
import tempfile
from pathlib import Path

import bcolz
import numpy

import turns
from actors import BcolzArray, OursArray, OursTable
from both import (Wanted, bcolz_has, bcolz_table_has, can_be_indexed, is_indexed, ours_has, ours_reads,
                  ours_table_has, same)
from common import equal, expect
from elements import PERSISTED, ROW_SHAPES, default, values
from ours import Ours, to_hex

CASES = 1700
CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
FILTERS = ("none", "byte", "bit")
ATTRIBUTES = {"temp": 22.5, "n": [1, {"\u00e9": None}]}


def run(tally, blpk, *_):
    ours = Ours.beside(blpk)
    # In memory where possible: every flush waits for the disk several times.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for cases in (created, changed, tables, zipline, unflushed, watched, foreign, indexed, turns.cases):
        for name, check, *arguments in cases():
            with tempfile.TemporaryDirectory(prefix="blpk-datasets-", dir=memory) as folder:
                tally.case(name, check, ours, Path(folder) / "dataset", *arguments)
    ours.end()


# Created --------------------------------------------------------------------

def chunk_lengths(row_bytes):
    """Chunks of one row, of a few, of a multiple of 8 rows or not, and of several blocks."""
    many = 400_000 // row_bytes
    return 1, 7, 64, 100, many // 8 * 8, many // 8 * 8 + 3


def sizes(chunk):
    """No rows, one row, whole chunks, and chunks with a remainder."""
    return 0, 1, chunk, 3 * chunk, 2 * chunk + chunk // 3, chunk - 1


def created():
    """Each dtype with each codec and filter, and with each chunk length and size; the other settings vary
    from case to case."""
    number = itertools.count()
    for dtype, (codec, kind) in itertools.product(PERSISTED, itertools.product(CODECS, FILTERS)):
        at = next(number)
        row_shape = ROW_SHAPES[at // 7 % len(ROW_SHAPES)]
        row_bytes = numpy.dtype(dtype).itemsize * int(numpy.prod(row_shape))
        chunk = chunk_lengths(row_bytes)[at % 6]
        yield case(dtype, row_shape, codec, kind, at % 10, chunk, sizes(chunk)[at // 5 % 6])
    for dtype, chunk, size in itertools.product(PERSISTED, range(6), range(6)):
        at = next(number)
        row_shape = ROW_SHAPES[at // 5 % len(ROW_SHAPES)]
        row_bytes = numpy.dtype(dtype).itemsize * int(numpy.prod(row_shape))
        chunk = chunk_lengths(row_bytes)[chunk]
        yield case(dtype, row_shape, CODECS[at % 5], FILTERS[at // 4 % 3], 1 + at % 9, chunk,
                   sizes(chunk)[size])


def case(dtype, row_shape, codec, kind, level, chunk, rows):
    name = "created-%s%s-%s-%s-%d-%d-%d" % (
        dtype, row_shape or "", codec, kind, level, chunk, rows)
    fields = {"compressor": codec, "filter": kind, "level": level, "chunk_rows": chunk}
    return name, is_opened, dtype, row_shape, fields, rows


def is_opened(ours, path, dtype, row_shape, fields, rows):
    rng = numpy.random.default_rng(rows)
    wanted = Wanted(values(rng, dtype, (rows, *row_shape)), default(rng, dtype),
                    ATTRIBUTES if rows % 2 else {})
    create(ours, path, wanted, fields)
    bcolz_has(path, wanted, rng)
    ours_has(ours, path, wanted, rng)


def create(ours, path, wanted, fields):
    ours.call("create", path=str(path), dtype=str(wanted.dtype), row_shape=wanted.row_shape,
              default=to_hex(wanted.default), **fields)
    ours.call("append", wanted.elements)
    for key, value in wanted.attributes.items():
        ours.call("attribute", key=key, value=value)
    ours.call("flush")
    ours.close()
    only_known_files(path, ["index"] if fields.get("index") else [])




def only_known_files(path, more=()):
    """Nothing else remains in the folder: no journal, no lock."""
    table = (path / "__rootdirs__").exists()
    for array in [found for found in path.iterdir() if found.is_dir()] if table else [path]:
        equal(sorted(found.name for found in array.iterdir()), ["__attrs__", "data", "meta"],
              "names in %s" % array.name)
        equal(sorted(found.name for found in (array / "meta").iterdir()), [*more, "sizes", "storage"],
              "names in meta")
        rows = json.loads((array / "meta/sizes").read_text())["shape"][0]
        chunk = json.loads((array / "meta/storage").read_text())["chunklen"]
        equal({found.name for found in (array / "data").iterdir()},
              {"__%d.blp" % number for number in range(-(-rows // chunk))}, "superchunks")


# Changed --------------------------------------------------------------------

def changed():
    for number, dtype in enumerate(PERSISTED):
        row_shape = ROW_SHAPES[number % 4]
        row_bytes = numpy.dtype(dtype).itemsize * int(numpy.prod(row_shape))
        several_blocks = () if number % 4 else chunk_lengths(row_bytes)[4 + number // 4 % 2:][:1]
        for chunk in (1, 8, 13, *several_blocks):
            yield "changed-%s-%d" % (dtype, chunk), is_changed, dtype, row_shape, chunk


def is_changed(ours, path, dtype, row_shape, chunk):
    """One change after another, each checked with bcolz."""
    rng = numpy.random.default_rng(chunk)
    wanted = Wanted(values(rng, dtype, (0, *row_shape)), default(rng, dtype))
    create(ours, path, wanted, {"chunk_rows": chunk, "compressor": CODECS[chunk % 5],
                                "filter": FILTERS[chunk % 3]})
    actor = OursArray(ours, path)
    for change in array_changes(actor, wanted, chunk, rng):
        actor.flush()
        try:
            bcolz_has(path, wanted, rng)
            ours_has(ours, path, wanted, rng)
        except Exception as error:
            raise type(error)("after %s: %s" % (change, error)) from error
    actor.close()
    only_known_files(path)
    bcolz_has(path, wanted, rng)


def array_changes(actor, wanted, chunk, rng):
    def new(rows):
        return values(rng, wanted.dtype, (rows, *wanted.row_shape))

    for rows in (1, chunk - 1, chunk // 2, 2 * chunk + 1, 0):
        elements = new(rows)
        actor.append(elements)
        wanted.append(elements)
        yield "append %d" % rows
    rows = len(wanted)
    for begin, end in ((0, 1), (rows - 1, rows), (chunk // 2, chunk + 1), (chunk, 2 * chunk),
                       (0, rows), (1, rows - 1)):
        elements = new(end - begin)
        actor.set(begin, end, elements)
        wanted.set(begin, end, elements)
        yield "set %d:%d" % (begin, end)
    for change, to in (("trim", rows - 1), ("trim", 3 * chunk), ("resize", 3 * chunk + 2),
                       ("trim", 2 * chunk + chunk // 2), ("resize", chunk), ("resize", 4 * chunk),
                       ("resize", 4 * chunk + 1), ("trim", 0), ("resize", 2), ("resize", 0)):
        getattr(actor, change)(to)
        wanted.resize(to)
        yield "%s %d" % (change, to)
    elements = new(chunk + 2)
    actor.append(elements)
    wanted.append(elements)
    yield "append to nothing"
    for key, value in [*ATTRIBUTES.items(), ("temp", -1)]:
        actor.attribute(key, value)
        wanted.attributes[key] = value
        yield "attribute %s" % key
    actor.unset("n")
    del wanted.attributes["n"]
    yield "no attribute"


# Tables ---------------------------------------------------------------------

def tables():
    for chunks in ((None, None, None, None), (1, 2, 3, 4), (8, 8, 8, 8), (5, 100, 7, 16)):
        yield "table-%s" % (chunks,), is_table, chunks


def is_table(ours, path, chunks):
    rng = numpy.random.default_rng(7)
    columns = {
        "id": Wanted(values(rng, "<u4", (0,)), numpy.array(5, "<u4")),
        "\u00e9t\u00e9": Wanted(values(rng, ">f8", (0, 2)), numpy.array(numpy.nan, ">f8")),
        "data": Wanted(values(rng, "<U3", (0,))),
        "_u": Wanted(values(rng, "|S7", (0, 1, 3))),
    }
    attributes = {"a": 1}
    ours.call("create", path=str(path), attributes=attributes, columns=[
        {"column": name, "dtype": str(wanted.dtype), "row_shape": wanted.row_shape,
         "default": to_hex(wanted.default), "chunk_rows": chunk, "expected_rows": 90}
        for (name, wanted), chunk in zip(columns.items(), chunks)])
    ours.call("flush")
    ours.close()
    actor = OursTable(ours, path)
    for change in table_changes(actor, columns, attributes, rng):
        actor.flush()
        try:
            bcolz_table_has(path, columns, attributes, rng)
            ours_table_has(ours, path, columns, attributes, rng)
        except Exception as error:
            raise type(error)("after %s: %s" % (change, error)) from error
    actor.close()


def table_changes(actor, columns, attributes, rng):
    yield "nothing"
    for rows in (10, 6, 1, 40):
        new = [values(rng, wanted.dtype, (rows, *wanted.row_shape)) for wanted in columns.values()]
        actor.append(new)
        for wanted, elements in zip(columns.values(), new):
            wanted.append(elements)
        yield "append %d" % rows
    for number, (name, wanted) in enumerate(columns.items()):
        elements = values(rng, wanted.dtype, (3 + number, *wanted.row_shape))
        actor.set(name, 6, 9 + number, elements)
        wanted.set(6, 9 + number, elements)
        yield "set %s" % name
    for change, to in (("trim", 56), ("trim", 40), ("resize", 48), ("resize", 31),
                       ("resize", 0), ("resize", 17)):
        getattr(actor, change)(to)
        for wanted in columns.values():
            wanted.resize(to)
        yield "%s %d" % (change, to)
    for name, dtype, position in (("first", "<i2", 0), ("last", "bool", None), ("meta", "|S2", 2)):
        elements = values(rng, dtype, (17,))
        actor.add(name, elements, position)
        items = list(columns.items())
        items.insert(len(items) if position is None else position, (name, Wanted(elements)))
        columns.clear()
        columns.update(items)
        yield "add %s" % name
    for name in ("id", "last"):
        columns[name].set(0, 17, values(rng, columns[name].dtype, (17,)))
        actor.replace(name, columns[name].elements)
        yield "replace %s" % name
    for name, keep in (("first", False), ("data", True)):
        actor.delete(name, keep)
        del columns[name]
        yield "delete %s" % name
    actor.attribute("calendar_name", "XNYS")
    attributes["calendar_name"] = "XNYS"
    yield "attribute"
    actor.attribute("unit", "m", column="\u00e9t\u00e9")
    columns["\u00e9t\u00e9"].attributes["unit"] = "m"
    yield "attribute of a column"
    for name in list(columns)[1:]:
        actor.delete(name, False)
        del columns[name]
        yield "delete %s" % name


# As zipline does it ---------------------------------------------------------

DAILY = ("open", "high", "low", "close", "volume", "day", "id")


def zipline():
    yield "zipline-daily", is_daily
    yield "zipline-minutes", is_minutes


def is_daily(ours, path):
    """A table of counts, with columns opened by their own path."""
    rng = numpy.random.default_rng(3)
    days = {name: rng.integers(0, 1 << 32, 20_000, "u4") for name in DAILY}
    first_row = {str(sid): sid * 100 for sid in range(200)}
    ours.call("create", path=str(path), attributes={
        "first_trading_day": -9223372036854775808, "first_row": first_row, "calendar_name": "XNYS",
    }, columns=[{"column": name, "dtype": "uint32", "expected_rows": 20_000} for name in DAILY])
    ours.call("append", *days.values())
    ours.call("flush")
    ours.close()
    table = bcolz.ctable(rootdir=str(path), mode="r")
    equal(table.attrs["first_row"], first_row, "first rows")
    equal(table.attrs["first_trading_day"], numpy.iinfo("i8").min, "first trading day")
    for name, wanted in days.items():
        same(table[name][100:300], wanted[100:300], name)
        column = bcolz.carray(rootdir=str(path / name), mode="r")
        same(column[:], wanted, name)
        same(column[19_900:20_001], wanted[19_900:], name)
        equal(column[7], wanted[7], name)
        # The folder of a column, which our library opens as an array too.
        ours.open(path / name)
        ours_reads(ours, ours.info(), Wanted(wanted), rng)
        ours.close()
    # zipline parses this file itself to get the shape.
    sizes = json.loads((path / "close" / "meta" / "sizes").read_text())
    equal((sizes["shape"], sizes["nbytes"]), ([20_000], 80_000), "sizes")
    # The chunk length that bcolz chooses for full columns.
    for name in DAILY:
        other = bcolz.carray(days[name], expectedlen=20_000)
        equal(bcolz.carray(rootdir=str(path / name), mode="r").chunklen, other.chunklen, "chunklen")


def is_minutes(ours, path):
    """Created empty with an `expectedlen` of years, filled day by day by both, shortened by bcolz."""
    rng = numpy.random.default_rng(4)
    names = DAILY[:5]
    rows = {name: Wanted(numpy.zeros(0, "u4")) for name in names}
    ours.call("create", path=str(path), columns=[
        {"column": name, "dtype": "uint32", "expected_rows": 1_474_200} for name in names])
    ours.call("flush")
    ours.close()
    equal(bcolz.open(str(path), mode="r")["open"].chunklen, 65_536, "chunklen")
    for day in range(6):
        new = [rng.integers(0, 9, 390, "u4") for _ in names]
        for wanted, elements in zip(rows.values(), new):
            wanted.append(elements)
        if day % 2:
            table = bcolz.ctable(rootdir=str(path), mode="a")
            table.append(new)
            table.flush()
        else:
            actor = OursTable(ours, path)
            actor.append(new)
            actor.flush()
            actor.close()
        bcolz_table_has(path, rows, {}, rng)
        ours_table_has(ours, path, rows, {}, rng)
    for to in (390 * 3, 0, 390):
        table = bcolz.ctable(rootdir=str(path), mode="a")
        table.resize(to)
        table.flush()
        for wanted in rows.values():
            wanted.resize(to)
        ours_table_has(ours, path, rows, {}, rng)


# Not flushed by bcolz -------------------------------------------------------

def unflushed():
    for seed in range(30):
        yield "unflushed-%d" % seed, is_unflushed, seed


def is_unflushed(ours, path, seed):
    """bcolz ends before it flushes. The next bcolz shows what is there; our library reads the same
    and continues from there."""
    rng = numpy.random.default_rng(seed)
    chunk = int(rng.choice([4, 10, 16]))
    wanted = Wanted(values(rng, "<i8", (int(rng.integers(0, 4 * chunk)),)), numpy.array(-1))
    bcolz.carray(wanted.elements, dflt=-1, chunklen=chunk, rootdir=str(path)).flush()
    for _ in range(4):
        array = bcolz.carray(rootdir=str(path), mode="a")
        for _ in range(rng.integers(1, 3)):
            if rng.integers(0, 2) or not len(array):
                array.append(values(rng, "<i8", (int(rng.integers(0, 3 * chunk)),)))
            else:
                begin, end = sorted(rng.integers(0, len(array) + 1, 2).tolist())
                array[begin:end] = values(rng, "<i8", (end - begin,))
        del array
        wanted.elements = bcolz.carray(rootdir=str(path), mode="r")[:]
        ours_has(ours, path, wanted, rng)
        actor = OursArray(ours, path)
        turns.step_array(actor, wanted, chunk, rng)
        actor.flush()
        actor.close()
        bcolz_has(path, wanted, rng)
        ours_has(ours, path, wanted, rng)


def watched():
    yield "watched-appends", is_watched


def is_watched(ours, path):
    """While bcolz has the array open and changes it, our library opens what has been flushed."""
    rng = numpy.random.default_rng(1)
    wanted = Wanted(values(rng, "<f4", (25, 2)), numpy.array(2.5, "f4"))
    array = bcolz.carray(wanted.elements, dflt=2.5, chunklen=10, rootdir=str(path))
    array.flush()
    for rows in (1, 3, 1, 40, 5):
        new = values(rng, "<f4", (rows, 2))
        array.append(new)
        ours_has(ours, path, wanted, rng)
        array.flush()
        wanted.append(new)
        ours_has(ours, path, wanted, rng)
    array.trim(10)
    wanted.resize(len(wanted) - 10)
    ours_has(ours, path, wanted, rng)
    actor = BcolzArray(path)
    actor.attribute("a", float("nan"))
    wanted.attributes["a"] = float("nan")
    ours_has(ours, path, wanted, rng)


# Not opened by bcolz --------------------------------------------------------

# bcolz does not even open its own structured arrays.
STRUCTURED = ([("a", "<i4"), ("b", "<f8"), ("c", "<u2")], [("s", "|S3"), ("n", "<i2", (2,))],
              numpy.dtype([("a", "i1"), ("b", "<f8")], align=True))
# bcolz does not write these, but reads them.
READABLE = ("complex64", "complex128", ">c8", "datetime64[s]", "datetime64[D]", "timedelta64[ms]")


def indexed():
    for dtype in PERSISTED:
        if can_be_indexed(dtype, ()):
            yield "indexed-%s" % dtype, is_left_alone, dtype
    yield "indexed-table", is_left_alone_in_a_table,


def held(ours, path, wanted, rng, **column):
    """Which superchunks the index describes as they are."""
    ours.reader.open(path)
    entries = ours.reader.call("entries", **column)[0]["entries"]
    ours.reader.close()
    is_indexed(entries, wanted.elements, 16)
    return entries and [entry is not None for entry in entries]


def is_left_alone(ours, path, dtype):
    """bcolz changes the array and its copies, and leaves the index; of what it has changed nothing is believed."""
    rng = numpy.random.default_rng(10)
    wanted = Wanted(values(rng, dtype, (55,)))
    create(ours, path, wanted, {"chunk_rows": 16, "index": True})
    equal(held(ours, path, wanted, rng), [True] * 4, "superchunks that hold")
    index = (path / "meta" / "index").read_bytes()
    array = bcolz.carray(rootdir=str(path), mode="a")
    same(array[:], wanted.elements, "all in bcolz")
    copy = array.copy(rootdir=str(path) + ".copy")
    same(copy[:], wanted.elements, "the copy by bcolz")
    expect(not Path(str(path) + ".copy/meta/index").exists(), "bcolz has copied the index")
    more = values(rng, dtype, (30,))
    array.append(more)
    array.flush()
    wanted.elements = numpy.concatenate([wanted.elements, more]).astype(dtype)
    equal(held(ours, path, wanted, rng), [True] * 3 + [False] * 3, "after an append by bcolz")
    array.trim(45)
    array.flush()
    wanted.elements = wanted.elements[:40]
    # The superchunk that it cut is written again.
    equal(held(ours, path, wanted, rng), [True, True, False], "after a trim by bcolz")
    if numpy.dtype(dtype).str[1:] != "M8":
        array[3:5] = wanted.elements[20:22]
        array.flush()
        wanted.elements[3:5] = wanted.elements[20:22]
        is_same = wanted.elements[3:5].tobytes() == values(numpy.random.default_rng(10), dtype, (55,))[3:5].tobytes()
        expect(is_same or not held(ours, path, wanted, rng)[0], "the index holds after a change by bcolz")
    equal((path / "meta" / "index").read_bytes(), index, "the index that bcolz has left")
    same(bcolz.carray(rootdir=str(path), mode="r")[:], wanted.elements, "all in bcolz")
    ours.open(path, edit=True)
    ours.call("index")
    ours.call("flush")
    ours.close()
    equal(held(ours, path, wanted, rng), [True] * 3, "after an update")


def is_left_alone_in_a_table(ours, path):
    rng = numpy.random.default_rng(11)
    wanted = Wanted(values(rng, "int64", (55,)))
    ours.call("create", path=str(path), columns=[
        {"column": "a", "dtype": "int64", "chunk_rows": 16, "index": True}])
    ours.call("append", wanted.elements)
    ours.call("flush")
    ours.close()
    table = bcolz.ctable(rootdir=str(path), mode="a")
    same(table["a"][:], wanted.elements, "the column in bcolz")
    same(table.copy(rootdir=str(path) + ".copy")["a"][:], wanted.elements, "the copy by bcolz")
    more = values(rng, "int64", (30,))
    table.append([more])
    table.flush()
    wanted.elements = numpy.concatenate([wanted.elements, more])
    equal(held(ours, path, wanted, rng, column="a"), [True] * 3 + [False] * 3, "after an append by bcolz")
    table.trim(35)
    table.flush()
    wanted.elements = wanted.elements[:50]
    same(bcolz.ctable(rootdir=str(path), mode="r")["a"][:], wanted.elements, "the column in bcolz")
    equal(held(ours, path, wanted, rng, column="a"), [True] * 3 + [False], "after a trim by bcolz")


def foreign():
    for dtype in STRUCTURED:
        yield "foreign-%s" % dtype, is_foreign, dtype, "not understood|not recognized"
    for dtype in READABLE:
        yield "foreign-%s" % dtype, is_foreign, dtype, None


def is_foreign(ours, path, dtype, refusal):
    rng = numpy.random.default_rng(9)
    dtype = numpy.dtype(dtype)
    wanted = Wanted(values(rng, dtype, (55,)))
    create(ours, path, wanted, {"chunk_rows": 16})
    ours_has(ours, path, wanted, rng)
    actor = OursArray(ours, path)
    for _ in range(8):
        turns.step_array(actor, wanted, 16, rng)
        actor.flush()
        ours_has(ours, path, wanted, rng)
    actor.close()
    if refusal is None:
        same(bcolz.carray(rootdir=str(path), mode="r")[:], wanted.elements, "all in bcolz")
        return
    try:
        bcolz.carray(rootdir=str(path), mode="r")
    except (TypeError, ValueError) as error:
        expect(re.search(refusal, str(error)), "another error of bcolz:", error)
    else:
        expect(False, "bcolz now opens %s" % dtype)
