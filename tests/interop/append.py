"""Files that grow and change: by `blpk append`, `patch` and `append -m`, and by
the reference's own append, in any order.

A sequence creates a file and changes it step by step, along with a model of its
content in memory. After each step both tools must read that content.
"""

import itertools
import json
import random

import bloscpack
import numpy
from bloscpack import BloscArgs, BloscpackArgs
from bloscpack import append as reference_append
from bloscpack.constants import CNAME_AVAIL

from common import CHECKSUMS, CODECS, FILTERS, Failure, Look, equal, expect, numbers, \
    reference_unpack

SEQUENCES, STEPS = 100, 6
CASES = SEQUENCES + 80
STOCK = numbers(400_000, seed=11)


def run(tally, blpk, reference, place):
    # The reference's append reads Snappy chunks in the same way as its reader.
    reference_append.blosc = bloscpack.file_io.blosc
    for cases in (sequences, arrays, in_turns):
        tally.cases(cases(blpk, place))


# Sequences ----------------------------------------------------------------

def sequences(blpk, place):
    for seed in range(SEQUENCES):
        yield ("sequence-%d" % seed, sequence, blpk, place.folder(), seed)


def sequence(blpk, folder, seed):
    state = State(blpk, folder, random.Random(seed))
    history = []
    try:
        for step in itertools.chain([state.create], state.steps()):
            history.append(step())
            state.check()
    except Exception as error:
        raise Failure("%s\n    after %s" % (error, "; ".join(history))) from error


class State:
    """A file, and its expected content."""

    def __init__(self, blpk, folder, rng):
        self.blpk, self.rng = blpk, rng
        self.path, self.more = folder / "a.blp", folder / "more"
        self.model, self.metadata = bytearray(), None
        self.foreign = False   # a layout that Bloscpack 0.16 does not read

    def piece(self, most):
        length = min(self.rng.choice((0, 1, 7, 500, 3000, 20_000)), most)
        at = self.rng.randrange(len(STOCK) - length)
        return STOCK[at:at + length]

    def some_metadata(self):
        return self.rng.choice(({"a": 1}, [1.5, None, "\u043a\u043b"], {"text": "x" * 700}, {}))

    def create(self):
        data = STOCK[:self.rng.choice((0, 1, 999, 6000, 40_000))]
        self.model += data
        self.more.write_bytes(data)
        size = self.rng.choice((1000, 4096, 16_384))
        if self.rng.random() < 0.4 and data:
            codec, checksum = self.rng.choice(CNAME_AVAIL), self.rng.choice(CHECKSUMS)
            bloscpack.pack_bytes_to_file(
                data, str(self.path), chunk_size=size,
                blosc_args=BloscArgs(typesize=self.rng.choice((1, 4, 8)), cname=codec),
                bloscpack_args=BloscpackArgs(checksum=checksum,
                                             offsets=self.rng.random() < 0.8))
            return "reference: %d bytes, chunks of %d, %s, %s" % (len(data), size, codec, checksum)
        options = ["-z", size, "-c", self.rng.choice(CODECS), "-k", self.rng.choice(CHECKSUMS),
                   "-t", self.rng.choice((1, 4, 8)), "--shuffle", self.rng.choice(list(FILTERS))]
        kind = self.rng.random()
        if kind < 0.15:
            options += ["-o"]
        elif kind < 0.3:
            options += ["--max-app-chunks", self.rng.randrange(4)]
        elif kind < 0.4:
            options += ["--format", 2]
            self.foreign = True
        if self.rng.random() < 0.15 and not self.foreign:
            packed = self.blpk.ok("c", *options, stdin=data)
            self.path.write_bytes(packed)
            # Until something is appended, it is a stream, which Bloscpack 0.16 does not read.
            self.blpk.ok("append", self.path, stdin=b"end")
            self.model += b"end"
            options += ["as a stream"]
        else:
            self.blpk.ok("c", *options, self.more, self.path)
        return "c %d bytes, %s" % (len(data), " ".join(map(str, options)))

    def steps(self):
        kinds = (self.append, self.append, self.patch, self.rewrite, self.reference_append)
        for _ in range(STEPS):
            yield self.rng.choice(kinds)

    def append(self):
        data = self.piece(1 << 20)
        options = []
        for option, values in (("-c", CODECS), ("-t", (1, 2, 8)), ("-l", (0, 1, 9)),
                               ("--shuffle", tuple(FILTERS)), ("--max-app-chunks", (0, 3))):
            if self.rng.random() < 0.3:
                options += [option, self.rng.choice(values)]
        if self.rng.random() < 0.5:
            self.more.write_bytes(data)
            self.blpk.ok("append", *options, self.path, self.more)
        else:
            self.blpk.ok("append", *options, self.path, stdin=data)
        self.model += data
        return "append %d bytes %s" % (len(data), " ".join(map(str, options)))

    def patch(self):
        data = self.piece(len(self.model))
        at = self.rng.randint(0, len(self.model) - len(data))
        self.blpk.ok("patch", self.path, "--at", at, stdin=data)
        self.model[at:at + len(data)] = data
        return "patch %d bytes at %d" % (len(data), at)

    def rewrite(self):
        self.metadata, data = self.some_metadata(), self.piece(500)
        self.more.write_text(json.dumps(self.metadata))
        self.blpk.ok("append", "-m", self.more, "--replace-metadata", self.path, stdin=data)
        self.model += data
        return "append -m --replace-metadata %d bytes, %r" % (len(data), self.metadata)

    def reference_append(self):
        data = self.piece(20_000)
        if self.foreign or not data or not self.model:
            return self.append()
        header = Look(self.path).header
        # The reference cannot append without a table, without room, or to an empty file.
        room = header.max_app_chunks * header.chunk_size + header.chunk_size - header.last_chunk
        if not header.offsets or len(data) > room:
            return self.append()
        self.more.write_bytes(data)
        codec = self.rng.choice(CNAME_AVAIL)
        reference_append.append(str(self.path), str(self.more),
                                blosc_args=BloscArgs(typesize=4, cname=codec))
        self.model += data
        return "reference: append %d bytes, %s" % (len(data), codec)

    def check(self):
        expect(not list(self.path.parent.glob("*journal*")), "a journal is left behind")
        equal(self.blpk.ok("-q", "cat", self.path), bytes(self.model), "content")
        if not self.foreign:
            content, metadata = reference_unpack(self.path)
            equal(content, bytes(self.model), "content for the reference")
            equal(metadata, self.metadata, "metadata for the reference")


# Arrays -------------------------------------------------------------------

def arrays(blpk, place):
    """Rows appended to arrays written by `pack_ndarray_to_file`."""
    rng = numpy.random.default_rng(5)
    fields = numpy.dtype([("a", "<i4"), ("b", "S5"), ("c", ">f8", (2,))])
    for dtype, tail, order, chunk in itertools.product(
            ("<f8", ">i2", "u1", "S7", "<U3", "c16", "?", fields), ((), (3,), (2, 5)), "CF",
            (None, 560)):
        dtype = numpy.dtype(dtype)
        if order == "F" and not tail or chunk and chunk % dtype.itemsize:
            continue
        shape = (4 + 40 * bool(chunk),) + tail
        raw = rng.integers(0, 2 if dtype == "?" else 100, shape + (dtype.itemsize,), dtype="u1")
        if dtype.kind in "SU":
            raw = numpy.full(shape + (dtype.itemsize,), 0, "u1")
            raw[..., 0] = 65 + rng.integers(0, 20, shape)
        array = raw.view(dtype).reshape(shape)
        if order == "F":
            array = numpy.asfortranarray(array)
        name = "array-%s-%s-%s-%s" % (dtype.str, "x".join(map(str, shape)), order, chunk)
        yield (name, array_grows, blpk, place.folder() / "a.blp", array, chunk)


def array_grows(blpk, path, array, chunk):
    arguments = dict(chunk_size=chunk) if chunk else {}
    bloscpack.pack_ndarray_to_file(array, str(path), **arguments)
    fortran = numpy.isfortran(array)
    # The rows of an array in Fortran order are along its last axis.
    axis, order = (array.ndim - 1, "F") if fortran else (0, "C")
    for count in (1, 3, 200):
        index = numpy.arange(count) % array.shape[axis]
        more = numpy.take(array, index, axis)
        blpk.ok("append", path, stdin=more.tobytes(order))
        # `concatenate` loses the byte order.
        array = numpy.concatenate([array, more], axis).astype(array.dtype)
        if fortran:
            array = numpy.asfortranarray(array)
        found = bloscpack.unpack_ndarray_from_file(str(path))
        equal((found.dtype, found.shape), (array.dtype, array.shape), "dtype and shape")
        expect(found.tobytes("A") == array.tobytes("A") and (found == array).all(), "other elements")
        equal(numpy.isfortran(found), fortran, "order")
    blpk.ok("verify", path)


# In turns -----------------------------------------------------------------

def in_turns(blpk, place):
    """Stale bytes after the reference's append, then our append, then the reference's again."""
    for checksum in CHECKSUMS:
        for metadata in (None, {"a": 1}):
            name = "turns-%s-%s" % (checksum, metadata)
            yield (name, stale, blpk, place.folder() / "a.blp", checksum, metadata)


def stale(blpk, path, checksum, metadata):
    model = bytes(4000)
    bloscpack.pack_bytes_to_file(
        model, str(path), chunk_size=3000, metadata=metadata, blosc_args=BloscArgs(clevel=0),
        bloscpack_args=BloscpackArgs(checksum=checksum))
    more = path.with_name("more")
    for turn in range(3):
        more.write_bytes(b"\1")
        reference_append.append(str(path), str(more), blosc_args=BloscArgs(clevel=9))
        model += b"\1"
        look = Look(path)
        expect(turn > 0 or look.size > look.end, "no bytes left after the last chunk")
        added = STOCK[turn * 5000:][:(1, 2600, 9000)[turn]]
        blpk.ok("append", path, stdin=added)
        model += added
        look = Look(path)
        equal(look.size, look.end, "bytes of the file")
        equal(reference_unpack(path), (model, metadata), "what the reference reads")
        equal(look.offsets[:look.header.nchunks], look.positions, "offsets")
        blpk.ok("verify", path)
        equal(blpk.ok("cat", path), model, "content")
