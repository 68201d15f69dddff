"""The filters and compressors that C-Blosc2 has as plug-ins: the library reads what python-blosc2 writes, and python-blosc2 what
the library writes. Those that lose data are only read: the expected values are the ones that python-blosc2 reads."""

import itertools
import subprocess
import tempfile
from pathlib import Path

import blosc2
import numpy

from array_model import DTYPES, FORMS, Model
from array_peers import CODECS, create, ours_reads, same
from arrays import Peers
from common import Failure, equal, expect

CASES = 1200
SHUFFLE, BITSHUFFLE, DELTA, TRUNCATE, NDCELL, NDMEAN, BYTEDELTA_1, BYTEDELTA, INT_TRUNC = 1, 2, 3, 4, 32, 33, 34, 35, 36
NDLZ, ZFP_ACC, ZFP_PREC, ZFP_RATE = 32, 33, 34, 35

# Filters with their parameters, and the element sizes for which they exist. 0 streams are as many as an element has bytes, at most
# 127: python-blosc2 opens no frame with a larger parameter, nor with a negative one.
SMALL, ANY, NUMBERS, FLOATS, INTEGERS = (
    (1, 2, 3, 4, 7, 8, 16, 127), (1, 2, 3, 4, 7, 8, 16, 255), (2, 4, 8, 16), (4, 8), (1, 2, 4, 8))
KEPT = (
    (SMALL, ((SHUFFLE, 0), (BYTEDELTA, 0))),
    (NUMBERS, ((BITSHUFFLE, 0), (BYTEDELTA, 0))),
    (ANY, ((BYTEDELTA, 1),)),
    (ANY, ((BYTEDELTA, 5), (SHUFFLE, 0))),
    (ANY, ((NDCELL, 2),)),
    (ANY, ((NDCELL, 2), (SHUFFLE, 0))),
    (SMALL, ((NDCELL, 2), (BYTEDELTA, 0))),
)
# C-Blosc2 3.3.5 overwrites its source with the output of the third filter: if the chunk then does not become smaller, it stores
# that, and with delta it loses the block that all others refer to.
THREE = (
    (SMALL, ((NDCELL, 1), (SHUFFLE, 0), (BYTEDELTA, 0))),
    (NUMBERS, ((DELTA, 0), (SHUFFLE, 0), (BYTEDELTA, 0))),
)
READ = (
    (SMALL, ((SHUFFLE, 0), (BYTEDELTA_1, 0))),
    (FLOATS, ((TRUNCATE, 9), (BYTEDELTA, 0))),
    (INTEGERS, ((INT_TRUNC, 5), (SHUFFLE, 0))),
    (INTEGERS, ((INT_TRUNC, 7), (BITSHUFFLE, 0))),
    (FLOATS, ((NDMEAN, 2),)),
    (FLOATS, ((NDMEAN, 3), (SHUFFLE, 0))),
)
# Forms with blocks of at least 4 elements along each axis, which ZFP needs.
ZFP_FORMS = (((1003,), (130,), (17,)), ((50, 41), (20, 17), (5, 7)), ((20, 19, 11), (7, 8, 5), (4, 5, 4)),
             ((9, 8, 7, 6), (5, 8, 6, 6), (4, 4, 5, 6)))
ZFP = ((ZFP_ACC, 256 - 3), (ZFP_ACC, 0), (ZFP_ACC, 2), (ZFP_PREC, 4), (ZFP_PREC, 18), (ZFP_RATE, 3), (ZFP_RATE, 37), (ZFP_RATE, 90))


def run(tally, blpk, *_):
    blosc2.set_nthreads(2)
    peers = Peers(blpk, None)
    for cases in (read, written, lossy, planes, lengths, refused):
        for name, check, *arguments in cases():
            with tempfile.TemporaryDirectory(prefix="blpk-plugins-", dir="/dev/shm") as folder:
                tally.case(name, check, peers, Path(folder) / "array.b2nd", *arguments)
    peers.end()


def named(filters):
    return "+".join("%d.%d" % pair for pair in filters)


def all_of(filters):
    """Each element size and codec, with forms of 1 to 4 axes in turn."""
    number = itertools.count()
    for (sizes, steps), codec in itertools.product(filters, CODECS):
        for itemsize in sizes:
            at = next(number)
            for axes in (1 + at % 4, 1 + (at + 1) % 4):
                yield "%s-%s-%d-%d" % (named(steps), codec, itemsize, axes), axes, itemsize, codec, steps, at


def read():
    for name, *case in all_of(KEPT + READ):
        yield "read-" + name, is_read, *case


def written():
    for name, *case in all_of(KEPT + THREE):
        yield "written-" + name, is_written, *case


def smooth(rng, shape, itemsize):
    """Values that grow by small steps, as bytes: what these filters are for. Some of them are floating-point numbers."""
    steps = rng.integers(-3, 9, shape)
    if itemsize in (4, 8):
        values = (numpy.cumsum(steps, -1) * 0.37 + 100).astype("<f%d" % itemsize)
    else:
        values = numpy.cumsum(steps, -1).astype("<i8")
    flat = numpy.ascontiguousarray(values)[..., numpy.newaxis].view("u1")
    repeats = -(-itemsize // flat.shape[-1])
    return numpy.ascontiguousarray(numpy.tile(flat, repeats)[..., :itemsize])


def model_of(axes, itemsize, at):
    rng = numpy.random.default_rng(axes * 1000 + itemsize + at)
    shape, chunks, blocks = FORMS[axes]
    return Model(smooth(rng, shape, itemsize), chunks, blocks), rng


def dtype_of(itemsize, steps):
    is_integer = steps[0][0] == INT_TRUNC
    return "<i%d" % itemsize if is_integer and itemsize > 1 else DTYPES.get(itemsize, "|V%d" % itemsize)


def put(path, model, dtype, contiguous=True, **cparams):
    values = numpy.ascontiguousarray(model.elements).view(dtype)[..., 0]
    blosc2.asarray(values, chunks=model.chunks, blocks=model.blocks, urlpath=str(path), contiguous=contiguous,
                   cparams={"nthreads": 1, "clevel": 5, **cparams})


def filters_of(steps):
    known = {one.value: one for one in blosc2.Filter}
    # Parameters are signed bytes for python-blosc2.
    metas = [meta - 256 if meta > 127 else meta for _, meta in steps]
    return {"filters": [known.get(number, number) for number, _ in steps], "filters_meta": metas}


def codec_of(name):
    return getattr(blosc2.Codec, name.upper())


def is_read(peers, path, axes, itemsize, codec, steps, at):
    model, rng = model_of(axes, itemsize, at)
    streams = [(number, meta or itemsize) if number in (BYTEDELTA, BYTEDELTA_1) else (number, meta) for number, meta in steps]
    put(path, model, dtype_of(itemsize, steps), at % 3 > 0, codec=codec_of(codec), **filters_of(streams))
    if any(number in (TRUNCATE, INT_TRUNC, NDMEAN) for number, _ in steps):
        as_read_by_blosc2(path, model)
    ours_reads(peers.ours, path, model, "b2nd", rng)


def as_read_by_blosc2(path, model):
    values = numpy.ascontiguousarray(blosc2.open(str(path), mode="r")[:])
    model.elements = values[..., numpy.newaxis].view("u1").reshape(model.elements.shape).copy()


def is_written(peers, path, axes, itemsize, codec, steps, at):
    model, rng = model_of(axes, itemsize, at)
    fields = {"compressor": codec, "ids": [number for number, _ in steps], "metas": [meta for _, meta in steps],
              "level": 1 + at % 9, "kind": "b2nd", "sparse": at % 3 == 0, "threads": 1 + at % 3}
    create(peers.ours, path, model, fields)
    ours_reads(peers.ours, path, model, "b2nd", rng)
    has_delta = any(number == DELTA for number, _ in steps)
    array = blosc2.open(str(path), mode="r")
    equal((array.shape, array.chunks, array.blocks), (model.shape, model.chunks, model.blocks), "blosc2: form")
    if has_delta:
        chunks = [array.schunk.decompress_chunk(number) for number in range(array.schunk.nchunks)]
        expect((model.from_chunks(chunks) == model.elements).all(), "blosc2: other elements")
    else:
        same(numpy.ascontiguousarray(array[:]).tobytes(), model, None, "blosc2")


def lossy():
    for (codec, meta), form, itemsize in itertools.product(ZFP, ZFP_FORMS, (4, 8)):
        yield "zfp-%d-%d-%d-%d" % (codec, meta, len(form[0]), itemsize), is_lossy, codec, meta, form, itemsize


def is_lossy(peers, path, codec, meta, form, itemsize):
    rng = numpy.random.default_rng(codec * 1000 + meta)
    shape, chunks, blocks = form
    model = Model(smooth(rng, shape, itemsize), chunks, blocks)
    put(path, model, "<f%d" % itemsize, codec=blosc2.Codec(codec), codec_meta=meta, filters=[blosc2.Filter.NOFILTER], filters_meta=[0])
    as_read_by_blosc2(path, model)
    ours_reads(peers.ours, path, model, "b2nd", rng)


def planes():
    for cell, itemsize, form, content in itertools.product((4, 8), (1, 2, 4, 8), range(3), ("smooth", "rows", "noise", "flat")):
        yield "ndlz-%d-%d-%d-%s" % (cell, itemsize, form, content), is_plane, cell, itemsize, form, content


def is_plane(peers, path, cell, itemsize, form, content):
    shape, chunks, blocks = (((50, 41), (30, 25), (15, 13)), ((64, 64), (64, 64), (32, 16)), ((100, 90), (99, 90), (33, 45)))[form]
    rng = numpy.random.default_rng(cell + form)
    values = {"smooth": lambda: numpy.add.outer(numpy.arange(shape[0]), numpy.arange(shape[1])) // 3,
              "rows": lambda: rng.integers(0, 3, shape[0])[:, None] * rng.integers(0, 2, shape[1]),
              "noise": lambda: rng.integers(0, 256, shape),
              "flat": lambda: numpy.full(shape, 7)}[content]()
    elements = values.astype("<u%d" % itemsize)[..., numpy.newaxis].view("u1")
    model = Model(numpy.ascontiguousarray(elements), chunks, blocks)
    filters = ((SHUFFLE, 0),) if itemsize > 1 else ((0, 0),)
    put(path, model, "<u%d" % itemsize, codec=blosc2.Codec.NDLZ, codec_meta=cell, splitmode=blosc2.SplitMode.ALWAYS_SPLIT,
        **filters_of(filters))
    ours_reads(peers.ours, path, model, "b2nd", rng)


def lengths():
    """Chunks whose length is not a multiple of the element or of the streams, in frames without an array."""
    for steps in (KEPT[0][1], KEPT[2][1], KEPT[3][1]):
        for typesize, length in itertools.product((1, 2, 4, 8, 16), (1, 31, 129, 1000, 70_001, 262_147)):
            yield "length-%s-%d-%d" % (named(steps), typesize, length), is_frame, steps, typesize, length


def is_frame(peers, path, steps, typesize, length):
    rng = numpy.random.default_rng(length)
    data = smooth(rng, (-(-length // typesize),), typesize).tobytes()[:length]
    path = path.with_suffix(".b2frame")
    streams = [(number, meta or typesize) if number == BYTEDELTA else (number, meta) for number, meta in steps]
    schunk = blosc2.SChunk(chunksize=max(length // 2 * 2, 1), urlpath=str(path), contiguous=True,
                           cparams={"typesize": typesize, "codec": blosc2.Codec.ZSTD, "blocksize": 4096, **filters_of(streams)})
    half = max(length // 2 * 2, 1)
    schunk.append_data(data[:half])
    if data[half:]:
        schunk.append_data(data[half:])
    # C-Blosc2 3.3.5 splits a single block even if its length is not a multiple of the element, and cannot read it back.
    try:
        expect(b"".join(schunk.decompress_chunk(number) for number in range(schunk.nchunks)) == data, "lost by python-blosc2")
    except RuntimeError:
        return
    del schunk
    done = subprocess.run([peers.blpk.program, "cat", str(path)], capture_output=True, check=False)
    expect(done.returncode == 0, done.stderr.decode())
    expect(done.stdout == data, "other content")


def refused():
    blosc2.register_filter(200, copied, copied, "copied")
    yield "user-filter", is_refused, (200, 0), "filter number 200"


def copied(source, out, meta, schunk):
    out[:] = source


def is_refused(peers, path, step, words):
    model, _ = model_of(2, 8, 1)
    blosc2.set_nthreads(1)
    put(path, model, "<f8", codec=blosc2.Codec.ZSTD, **filters_of([step]))
    blosc2.set_nthreads(2)
    peers.ours.open(path)
    try:
        peers.ours.read(slice=[(0, length) for length in model.shape])
    except Failure as error:
        expect(words in str(error), error)
    else:
        raise Failure("was read")
    finally:
        peers.ours.close()
