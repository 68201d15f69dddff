"""N-dimensional arrays: the real Caterva and python-blosc2 open, slice, change and reopen arrays written by the library, and
the library does the same with theirs."""

import itertools
import os
import sys
import tempfile
from pathlib import Path

import blosc2
import msgpack
import numpy

import array_turns
from array_model import DTYPES, FORMS, MANTISSA, Model, box, elements, truncated
from array_peers import CODECS, KINDS, META, VLMETA, all_read, create, hexed, ours_reads, theirs
from common import Failure, equal, expect
from ours import Ours

CASES = 690
FILTERS = ((), ("shuffle",), ("bitshuffle",), ("delta",), ("delta", "shuffle"), ("truncprec:9", "shuffle"))


class Peers:
    """The library, in two processes, and the real tools; `caterva` is None if it is missing."""

    def __init__(self, blpk, python_caterva):
        self.blpk, self.ours = blpk, Ours.beside(blpk, "array_driver")
        self.caterva = None
        if python_caterva:
            self.caterva = Ours((python_caterva, Path(__file__).with_name("caterva_peer.py")))

    def end(self):
        self.ours.end()
        if self.caterva:
            self.caterva.end()


def run(tally, blpk, *_):
    python_caterva = os.environ.get("BLPK_CATERVA")
    if not python_caterva:
        print("arrays: CATERVA IS MISSING: it has wheels for Python 3.8 to 3.11 only; "
              "the cases that need it are left out", file=sys.stderr, flush=True)
        if sys.version_info[:2] == (3, 11):
            tally.failed += 1
    blosc2.set_nthreads(2)
    peers = Peers(blpk, python_caterva)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for cases in (written, specials, changed, structured, foreign, array_turns.cases):
        for name, check, *arguments in cases():
            if not peers.caterva and name.startswith(("theirs-caterva", "turns-caterva")):
                continue
            with tempfile.TemporaryDirectory(prefix="blpk-arrays-", dir=memory) as folder:
                tally.case(name, check, peers, Path(folder) / "array", *arguments)
    peers.end()


# Written by the library ------------------------------------------------------

def written():
    """Each number of axes with each element size and codec; the other settings vary from case to case."""
    number = itertools.count()
    for axes, itemsize, codec in itertools.product(FORMS, DTYPES, CODECS):
        at = next(number)
        filters = FILTERS[at // 2 % len(FILTERS)]
        if filters[:1] == ("truncprec:9",) and itemsize not in MANTISSA:
            filters = ("bitshuffle",)
        fields = {"compressor": codec, "filters": filters, "level": at % 10, "kind": KINDS[at % 2],
                  "sparse": at // 3 % 2 == 1, "threads": 1 + at % 3}
        yield "written-%d-%d-%s-%s-%d" % (axes, itemsize, codec, "+".join(filters), at), \
            is_read, axes, itemsize, fields
    for axes in (1, 2, 3):
        for number, kind in itertools.product(range(4), KINDS):
            fields = {"compressor": "lz4", "filters": ("shuffle",), "level": 5, "kind": kind,
                      "sparse": number % 2 == 1}
            yield "lengths-%d-%d-%s" % (axes, number, kind), is_read_of, axes, number, fields


def is_read(peers, path, axes, itemsize, fields):
    rng = numpy.random.default_rng(axes * 1000 + itemsize)
    shape, chunks, blocks = FORMS[axes]
    model = Model(elements(rng, shape, itemsize), chunks, blocks)
    create(peers.ours, path, model, fields)
    if "truncprec:9" in fields["filters"]:
        model.elements = with_less_precision(peers.ours, path, model)
    all_read(peers, path, model, fields, rng)


def with_less_precision(ours, path, model):
    """The elements as stored: chunks that do not become smaller are stored unchanged, without going through a filter."""
    ours.open(path)
    found = numpy.frombuffer(ours.read(slice=[(0, length) for length in model.shape]), "u1")
    ours.close()
    found, less = found.reshape(model.elements.shape), truncated(model.elements, 9)
    expect(((found == less).all(-1) | (found == model.elements).all(-1)).all(), "neither truncated nor as it was")
    return found.copy()


def is_read_of(peers, path, axes, number, fields):
    """Axes as long as a chunk, shorter, a multiple of it, and empty."""
    rng = numpy.random.default_rng(number)
    _, chunks, blocks = FORMS[axes]
    shape = [(chunk, 1 if block == 1 else block - 1, 2 * chunk, 0)[number]
             for chunk, block in zip(chunks, blocks)]
    if number == 3 and axes > 1:
        shape[0] = 9
    model = Model(elements(rng, shape, 8), chunks, blocks)
    create(peers.ours, path, model, fields)
    all_read(peers, path, model, fields, rng)


# Arrays of one value ----------------------------------------------------------

def specials():
    for kind, sparse, axes in itertools.product(KINDS, (False, True), (1, 2, 3)):
        for content in ("zeros", "full", "nans", "empty"):
            for itemsize in (4, 8) if content == "nans" else (1, 7, 8):
                yield "%s-%s-%d-%d-%s" % (content, kind, axes, itemsize, sparse), \
                    is_special, axes, itemsize, kind, sparse, content


def is_special(peers, path, axes, itemsize, kind, sparse, content):
    rng = numpy.random.default_rng(itemsize)
    shape, chunks, blocks = FORMS[axes]
    model = Model(numpy.zeros((*shape, itemsize), "u1"), chunks, blocks)
    data = []
    if content == "full":
        model.elements[:] = rng.integers(1, 256, itemsize)
        data = [model.elements[(0,) * axes]]
    elif content == "nans":
        model.elements[:] = numpy.array([numpy.nan], "<f%d" % itemsize).view("u1")
    fields = {"kind": kind, "sparse": sparse, "filters": ("shuffle",), "compressor": "lz4"}
    dtype = {"dtype": DTYPES[itemsize]} if kind == "b2nd" else {}
    peers.ours.call("create", *data, path=str(path), shape=shape, itemsize=itemsize, chunks=chunks, blocks=blocks,
                    content=content, meta=hexed(META), vlmeta=hexed(VLMETA), **dtype, **fields)
    peers.ours.close()
    if content == "empty":
        # Unwritten elements may have any value, but can be read.
        equal(len(reread(peers, path, model, kind)), model.elements.size, "blosc2: bytes")
        ours_reads(peers.ours, path, model, kind, rng)
    else:
        all_read(peers, path, model, fields, rng)
    peers.ours.open(path, edit=True)
    where = box(rng, shape)
    data = elements(rng, [end - begin for begin, end in where], itemsize)
    peers.ours.call("set", data, slice=where)
    model.set(where, data)
    peers.ours.call("flush")
    peers.ours.close()
    if content != "empty":
        all_read(peers, path, model, fields, rng)


def reread(peers, path, model, kind):
    if kind == "b2nd":
        return blosc2.open(str(path), mode="r")[...].tobytes()
    if peers.caterva:
        peers.caterva.open(path)
        found = peers.caterva.call("whole")[1]
        peers.caterva.close()
        return found
    schunk = blosc2.open(str(path), mode="r")
    return model.from_chunks([schunk.decompress_chunk(number) for number in range(schunk.nchunks)]).tobytes()


# Arrays that the library changes ------------------------------------------------

def changed():
    for kind, sparse, axes in itertools.product(KINDS, (False, True), (1, 2, 3, 4)):
        for itemsize, codec in ((8, "lz4"), (3, "zstd"), (1, "blosclz")):
            yield "changed-%s-%d-%d-%s" % (kind, axes, itemsize, sparse), \
                is_changed, axes, itemsize, {"kind": kind, "sparse": sparse, "filters": ("shuffle",),
                                             "compressor": codec, "level": 5}


def is_changed(peers, path, axes, itemsize, fields):
    """Every operation on an array, one after another; the other tools read the array after each."""
    rng = numpy.random.default_rng(axes)
    shape, chunks, blocks = FORMS[axes]
    model, ours = Model(elements(rng, shape, itemsize), chunks, blocks), peers.ours
    meta, vlmeta = dict(META), dict(VLMETA)
    create(ours, path, model, fields)

    def data(lens):
        return elements(rng, lens, itemsize)

    def with_(axis, length):
        return [length if other == axis else old for other, old in enumerate(model.shape)]

    def resize(shape):
        ours.call("resize", shape=shape)
        model.resize(shape)

    def insert(axis, at, count, name="insert"):
        new = data(with_(axis, count))
        ours.call(name, new, axis=axis, **({"at": at} if name == "insert" else {}))
        model.insert(axis, at, new)

    def delete(axis, begin, end):
        ours.call("delete", axis=axis, range=(begin, end))
        model.delete(axis, begin, end)

    def set_(where):
        new = data([end - begin for begin, end in where])
        ours.call("set", new, slice=where)
        model.set(where, new)

    def layers():
        meta["unit"] = msgpack.packb("a longer name of it")
        meta["new"] = msgpack.packb(1)
        vlmeta["note"] = msgpack.packb(list(range(500)))
        del vlmeta["n"]
        for name in ("unit", "new"):
            ours.call("meta", meta[name], layer=name)
        ours.call("vlmeta", vlmeta["note"], layer="note")
        ours.call("unset", layer="n")

    def overwrite():
        # Often enough that more than half of the file is dead.
        for _ in range(3):
            set_([(0, length) for length in model.shape])
            ours.call("flush")

    last = axes - 1
    steps = [
        lambda: set_(box(rng, model.shape)),
        lambda: resize([length + 3 for length in model.shape]),
        lambda: resize([length - 4 if length > 5 else length for length in model.shape]),
        lambda: resize([length + 2 for length in model.shape]),
        lambda: insert(0, chunks[0], chunks[0]),
        lambda: insert(last, 1, 2),
        lambda: delete(0, 0, chunks[0]),
        lambda: delete(last, 1, 2),
        lambda: insert(0, model.shape[0], 5, "append"),
        lambda: insert(last, model.shape[last], 1, "append"),
        layers, overwrite,
        lambda: resize(with_(0, 0)),
        lambda: resize(with_(0, 4)),
        lambda: set_([(0, length) for length in model.shape]),
    ]
    for number, step in enumerate(steps):
        ours.open(path, edit=True)
        step()
        ours.call("flush")
        ours.close()
        try:
            all_read(peers, path, model, fields, rng, meta, vlmeta)
        except Exception as error:
            raise Failure("after step %d: %s" % (number, error)) from error
    squeezed_and_copied(peers, path, model, fields, rng, meta, vlmeta)


def squeezed_and_copied(peers, path, model, fields, rng, meta, vlmeta):
    """A copy with a new axis of one element, which is then squeezed; and a copy with other chunks."""
    shape = (1, *model.shape)
    single = Model(model.elements[None], (1, *model.chunks), (1, *model.blocks))
    other = path.with_name("single")
    if len(shape) > 8:
        return
    create(peers.ours, other, single, dict(fields, meta=hexed(meta), vlmeta=hexed(vlmeta)))
    peers.ours.open(other, edit=True)
    peers.ours.call("squeeze")
    peers.ours.call("flush")
    keep = [axis for axis, length in enumerate(shape) if length != 1]
    if keep == list(range(1, len(shape))):
        all_read(peers, other, model, fields, rng, meta, vlmeta)
    copy = Model(model.elements, [2 * block for block in model.blocks], model.blocks)
    kind = KINDS[1 - KINDS.index(fields["kind"])]
    fields, third = dict(fields, kind=kind, sparse=not fields["sparse"]), path.with_name("copy")
    peers.ours.open(path)
    dtype = {"dtype": DTYPES[model.itemsize]} if kind == "b2nd" else {}
    peers.ours.call("copy", path=str(third), chunks=copy.chunks, blocks=copy.blocks, kind=kind,
                    sparse=fields["sparse"], **dtype)
    peers.ours.close()
    all_read(peers, third, copy, fields, rng, meta, vlmeta)


# Dtypes of b2nd ----------------------------------------------------------------

TYPES = ("|b1", "<i2", ">i4", "<u8", "<f2", "<f4", ">f8", "<c8", "|S5", "<U3", "<M8[ns]", "<m8[s]",
         [("a", "<i4"), ("b", "<f8")], [("x", "|S3"), ("y", ">u2"), ("z", "<f4", (2,))])


def structured():
    for number, dtype in enumerate(TYPES):
        yield "type-%s" % (dtype,), is_typed, dtype, number
        yield "type-theirs-%s" % (dtype,), is_typed_by_blosc2, dtype, number


def typed(dtype, number):
    dtype, rng = numpy.dtype(dtype), numpy.random.default_rng(number)
    shape, chunks, blocks = FORMS[2]
    if dtype.kind == "U":
        raw = rng.integers(97, 123, (*shape, dtype.itemsize // 4)).astype("<u4").view("u1")
    elif dtype.kind == "b":
        raw = rng.integers(0, 2, (*shape, 1), "u1")
    else:
        raw = elements(rng, shape, dtype.itemsize)
    return dtype, Model(raw, chunks, blocks), rng


def is_typed(peers, path, dtype, number):
    dtype, model, rng = typed(dtype, number)
    text = repr(dtype.descr) if dtype.names else dtype.str
    fields = {"kind": "b2nd", "dtype": text, "filters": ("shuffle",), "compressor": "zstd"}
    create(peers.ours, path, model, fields)
    all_read(peers, path, model, fields, rng)
    equal(blosc2.open(str(path), mode="r").dtype, dtype, "blosc2: dtype")


def is_typed_by_blosc2(peers, path, dtype, number):
    dtype, model, rng = typed(dtype, number)
    values = numpy.ascontiguousarray(model.elements).view(dtype)[..., 0]
    blosc2.asarray(values, chunks=model.chunks, blocks=model.blocks, urlpath=str(path))
    ours_reads(peers.ours, path, model, "b2nd", rng)


# Written by the others ------------------------------------------------------------

def foreign():
    number = itertools.count()
    for axes, itemsize in itertools.product(FORMS, DTYPES):
        for codec in (CODECS[next(number) % 5], CODECS[(next(number) + 1) % 5]):
            at = next(number)
            filters = FILTERS[at % 5]
            fields = {"compressor": codec, "filters": filters, "level": at % 10, "sparse": at // 2 % 2 == 1}
            name = "%d-%d-%s-%s-%d" % (axes, itemsize, codec, "+".join(filters), at)
            for kind in KINDS:
                yield "theirs-%s-%s" % (kind, name), is_foreign, axes, itemsize, dict(fields, kind=kind)
    for kind, sparse, content in itertools.product(KINDS, (False, True), ("zeros", "full", "empty", "nans")):
        # Caterva has no NaN arrays.
        if (kind, content) != ("caterva", "nans"):
            yield "theirs-%s-%s-%s" % (kind, content, sparse), is_foreign_special, kind, sparse, content


def is_foreign(peers, path, axes, itemsize, fields):
    rng = numpy.random.default_rng(axes * 1000 + itemsize)
    shape, chunks, blocks = FORMS[axes]
    model = Model(elements(rng, shape, itemsize), chunks, blocks)
    theirs(peers, path, model, fields)
    ours_reads(peers.ours, path, model, fields["kind"], rng, META, {})
    # Changed by the library, and read by the tool that wrote it.
    peers.ours.open(path, edit=True)
    where = box(rng, model.shape)
    data = elements(rng, [end - begin for begin, end in where], itemsize)
    peers.ours.call("set", data, slice=where)
    model.set(where, data)
    shape = [length + 2 if axis % 2 else max(length - 1, 1) for axis, length in enumerate(model.shape)]
    peers.ours.call("resize", shape=shape)
    model.resize(shape)
    data = elements(rng, (3, *model.shape[1:]), itemsize)
    peers.ours.call("append", data, axis=0)
    model.insert(0, model.shape[0], data)
    peers.ours.call("flush")
    peers.ours.close()
    all_read(peers, path, model, fields, rng, META, {})


def is_foreign_special(peers, path, kind, sparse, content):
    rng = numpy.random.default_rng(5)
    shape, chunks, blocks = FORMS[2]
    model = Model(numpy.zeros((*shape, 8), "u1"), chunks, blocks)
    value = numpy.array([1.25])
    if content == "full":
        model.elements[:] = value.view("u1")
    elif content == "nans":
        model.elements[:] = numpy.array([numpy.nan]).view("u1")
    if kind == "caterva":
        data = [value] if content == "full" else []
        peers.caterva.call("create", *data, path=str(path), shape=shape, itemsize=8, chunks=chunks, blocks=blocks,
                           content=content, compressor="lz4", level=5, filters=["shuffle"], sparse=sparse)
        peers.caterva.close()
    else:
        make = {"zeros": blosc2.zeros, "empty": blosc2.empty, "nans": blosc2.nans,
                "full": lambda shape, **chosen: blosc2.full(shape, value[0], **chosen)}[content]
        make(shape, dtype=numpy.dtype("<f8"), chunks=chunks, blocks=blocks, urlpath=str(path), contiguous=not sparse)
    ours_reads(peers.ours, path, model, kind, rng)
