"""Reads the same directory with bcolz and with our library, and compares each with an array in memory."""

import ast
import json
import math

import bcolz
import numpy

from common import equal, expect

bcolz.set_nthreads(1)
ITEM_LIMIT = 7      # single elements compared, each time


class Wanted:
    """The expected array: its elements, default and attributes."""

    def __init__(self, elements, default=None, attributes=None):
        self.elements = elements
        self.default = numpy.zeros((), elements.dtype) if default is None else default
        self.attributes = dict(attributes or {})

    def __len__(self):
        return len(self.elements)

    @property
    def dtype(self):
        return self.elements.dtype

    @property
    def row_shape(self):
        return self.elements.shape[1:]

    def append(self, elements):
        self.elements = joined(self.dtype, [self.elements, elements])

    def set(self, begin, end, elements):
        self.elements = joined(self.dtype, [self.elements])
        self.elements[begin:end] = elements

    def resize(self, rows):
        """New elements have the default value."""
        missing = max(rows - len(self), 0)
        blank = self.default.tobytes() * (missing * math.prod(self.row_shape))
        self.elements = self.elements[:rows]
        self.append(numpy.frombuffer(blank, self.dtype).reshape(missing, *self.row_shape))


def joined(dtype, parts):
    """A copy of the parts, concatenated byte by byte: NumPy would swap big-endian elements, and drop
    the bytes between fields."""
    copied = bytearray().join(numpy.ascontiguousarray(part).tobytes() for part in parts)
    return numpy.frombuffer(copied, dtype).reshape(-1, *parts[0].shape[1:])


def same(found, wanted, what):
    """Compares byte by byte, since NaN has many representations."""
    found = numpy.asarray(found)
    equal(found.dtype, wanted.dtype, "dtype of " + what)
    equal(found.shape, wanted.shape, "shape of " + what)
    if found.tobytes() != wanted.tobytes():
        rows = [number for number in range(len(wanted))
                if found[number].tobytes() != wanted[number].tobytes()] if wanted.ndim else []
        expect(False, "other elements:", what, "rows", rows[:5], "of", len(rows))


def ranges(rng, rows, chunk, count=8):
    """Rows around chunk boundaries, and random ones."""
    found = {(0, rows), (0, min(1, rows)), (max(rows - 1, 0), rows)}
    for border in (chunk, rows // chunk * chunk, rng.integers(0, rows + 1)):
        found.add((max(min(border, rows) - 3, 0), min(border + 3, rows)))
        found.add((min(border, rows), min(border + 1, rows)))
    for _ in range(count):
        found.add(tuple(sorted(rng.integers(0, rows + 1, 2))))
    return sorted((int(begin), int(end)) for begin, end in found)


# bcolz --------------------------------------------------------------------

def bcolz_has(path, wanted, rng, modes="ra"):
    """Opens the array as a user would, and reads it in every way that bcolz offers."""
    for mode in modes:
        bcolz_reads(bcolz.carray(rootdir=str(path), mode=mode), wanted, rng)
    opened = bcolz.open(str(path), mode="r")
    expect(isinstance(opened, bcolz.carray), "bcolz.open gives", type(opened))
    return opened


def bcolz_reads(array, wanted, rng):
    elements, rows = wanted.elements, len(wanted)
    equal(array.dtype, wanted.dtype, "dtype in bcolz")
    equal(array.shape, elements.shape, "shape in bcolz")
    # For raw bytes bcolz keeps their JSON text.
    if wanted.dtype.kind != "V":
        equal(numpy.asarray(array.dflt, wanted.dtype).tobytes(), wanted.default.tobytes(),
              "default in bcolz")
    equal(json.dumps(array.attrs.getall()), json.dumps(wanted.attributes), "attributes in bcolz")
    equal(array.nbytes, elements.nbytes, "nbytes in bcolz")
    same(array[:], elements, "all in bcolz")
    for begin, end in ranges(rng, rows, array.chunklen):
        same(array[begin:end], elements[begin:end], "bcolz %d:%d" % (begin, end))
        step = int(rng.integers(2, 5))
        same(array[begin:end:step], elements[begin:end:step],
             "bcolz %d:%d:%d" % (begin, end, step))
    # bcolz loses single datetimes without a unit.
    items = 0 if wanted.dtype.str[1:] == "M8" else min(rows, ITEM_LIMIT)
    for row in rng.integers(0, rows, items).tolist():
        found = numpy.asarray(array[row], wanted.dtype).reshape(1, *wanted.row_shape)
        expected = elements[row:row + 1]
        # Conversion through a Python or processor number makes a signalling NaN quiet.
        if wanted.dtype.kind != "f" or not numpy.array_equal(found, expected, equal_nan=True):
            same(found, expected, "bcolz %d" % row)
    # bcolz drops the first axis of blocks of one row, and the byte order.
    blocks = [numpy.asarray(block, wanted.dtype).reshape(-1, *wanted.row_shape) for block in
              bcolz.iterblocks(array, blen=max(array.chunklen // 2, 1))]
    if blocks:
        same(joined(wanted.dtype, blocks), elements, "blocks in bcolz")


def bcolz_table_has(path, columns, attributes, rng, modes="ra"):
    for mode in modes:
        table = bcolz.ctable(rootdir=str(path), mode=mode)
        equal(table.names, list(columns), "names in bcolz")
        equal(json.dumps(table.attrs.getall()), json.dumps(attributes), "attributes in bcolz")
        for name, wanted in columns.items():
            equal(len(table), len(wanted), "rows in bcolz")
            bcolz_reads(table[name], wanted, rng)
        for row in rng.integers(0, len(table), min(len(table), 2)).tolist():
            for name, value in zip(columns, table[row]):
                wanted = columns[name]
                found = numpy.asarray(value, wanted.dtype).reshape(1, *wanted.row_shape)
                same(found, wanted.elements[row:row + 1], "row %d in bcolz" % row)
    expect(isinstance(bcolz.open(str(path), mode="r"), bcolz.ctable), "bcolz sees no table")


# Ours ---------------------------------------------------------------------

def ours_has(ours, path, wanted, rng):
    """Opens the array again, for reading, and reads it in every way that the library offers."""
    ours = ours.reader
    ours.open(path)
    ours_reads(ours, ours.info(), wanted, rng)
    ours.close()


def ours_reads(ours, info, wanted, rng, **column):
    elements, rows = wanted.elements, len(wanted)
    text = info["dtype"]
    dtype = numpy.dtype(ast.literal_eval(text) if text[0] in "[{" else text)
    equal(dtype, wanted.dtype, "dtype in ours")
    equal(info["shape"], list(elements.shape), "shape in ours")
    equal(info["default"], wanted.default.tobytes().hex(), "default in ours")
    equal(json.dumps(json.loads(info["attributes"])), json.dumps(wanted.attributes),
          "attributes in ours")
    equal(info["notes"], [], "notes of ours")
    is_ours(ours.read(**column), elements, "all")
    for begin, end in ranges(rng, rows, info["chunk_shape"][0]):
        is_ours(ours.read(rows=[begin, end], **column), elements[begin:end],
                "%d:%d" % (begin, end))
    if wanted.row_shape:
        box = [sorted(rng.integers(0, side + 1, 2).tolist()) for side in elements.shape]
        part = elements[tuple(slice(*axis) for axis in box)]
        is_ours(ours.read(slice=box, **column), part, "box %s" % box)
    is_indexed(ours.call("entries", **column)[0]["entries"], elements, info["chunk_shape"][0])
    at_once = int(rng.integers(1, 40_000))
    is_ours(ours.call("blocks", at_once=at_once, **column)[1], elements, "blocks")


def is_indexed(entries, elements, chunk):
    """The statistics of superchunks that hold are those of the elements."""
    for number, entry in enumerate(entries or []):
        if entry is not None:
            part = elements[number * chunk:(number + 1) * chunk]
            equal(entry, statistics(part), "statistics of superchunk %d of %s" % (number, part.dtype))


def statistics(part):
    """The statistics that an index has of these elements."""
    kind, keys, nulls = part.dtype.kind, part, numpy.zeros(len(part), bool)
    if kind == "f":
        nulls = numpy.isnan(part)
        # The order of IEEE 754: as integers, the negative ones the other way round.
        bits = part.astype(part.dtype.newbyteorder("=")).view("i%d" % part.itemsize)
        keys = numpy.where(bits < 0, bits ^ numpy.iinfo(bits.dtype).max, bits)
    elif kind in "Mm":
        nulls = numpy.isnat(part)
        keys = part.astype(part.dtype.newbyteorder("=")).view("i8")
    ordered = [number for number in range(len(part)) if kind == "f" or not nulls[number]]
    keys = keys.tolist()
    element = lambda number: part[number:number + 1].tobytes().hex()
    pairs = [(keys[one], keys[one + 1]) for one in range(len(part) - 1)]
    is_whole = len(ordered) == len(part)
    return {
        "rows": len(part),
        "nulls": int(nulls.sum()),
        "min": element(min(ordered, key=lambda number: keys[number])) if ordered else None,
        "max": element(max(ordered, key=lambda number: keys[number])) if ordered else None,
        "ascending": is_whole and all(one <= other for one, other in pairs),
        "descending": is_whole and all(one >= other for one, other in pairs),
    }


def can_be_indexed(dtype, row_shape):
    dtype = numpy.dtype(dtype)
    is_short = dtype.itemsize <= (64 if dtype.kind in "SU" else 8)
    return not row_shape and dtype.kind in "biufMmSU" and is_short


def is_ours(found, wanted, what):
    found = numpy.frombuffer(found, "u1")
    same(found, numpy.frombuffer(wanted.tobytes(), "u1"), "%s in ours" % what)


def ours_table_has(ours, path, columns, attributes, rng):
    ours = ours.reader
    ours.open(path)
    info = ours.info()
    equal(info["names"], list(columns), "names in ours")
    equal(json.dumps(json.loads(info["attributes"])), json.dumps(attributes),
          "attributes in ours")
    for (name, wanted), column in zip(columns.items(), info["columns"]):
        equal(info["rows"], len(wanted), "rows in ours")
        ours_reads(ours, column, wanted, rng, column=name)
    whole = b"".join(wanted.elements.tobytes() for wanted in columns.values())
    expect(ours.call("table")[1] == whole, "other rows in ours")
    ours.close()
