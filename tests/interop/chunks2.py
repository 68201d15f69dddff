"""Chunks of Blosc 2: C-Blosc2, through python-blosc2, reads what the library writes, and the library
reads what C-Blosc2 writes."""

import itertools
import json
import random
import struct
import subprocess
from pathlib import Path

import blosc2

from common import Failure, equal, expect, numbers

CASES = 2500
CODECS = {"blosclz": blosc2.Codec.BLOSCLZ, "lz4": blosc2.Codec.LZ4, "lz4hc": blosc2.Codec.LZ4HC,
          "zlib": blosc2.Codec.ZLIB, "zstd": blosc2.Codec.ZSTD}
NONE, SHUFFLE, BITSHUFFLE, DELTA, TRUNCATE = range(5)
PIPELINES = ([], [SHUFFLE], [BITSHUFFLE], [DELTA], [DELTA, SHUFFLE], [DELTA, BITSHUFFLE],
             [SHUFFLE, BITSHUFFLE])


class Chunks:
    """One process that encodes and decodes."""

    def __init__(self, blpk):
        program = Path(blpk.program).parent / "examples" / "chunk_driver"
        if not program.exists():
            raise Failure("no driver at '%s' (cargo build --release --examples)" % program)
        self._process = subprocess.Popen([str(program)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)

    def end(self):
        self._process.stdin.close()
        equal(self._process.wait(60), 0, "status of the driver")

    def call(self, name, data, **fields):
        line = json.dumps(dict(fields, do=name, bytes=len(data))).encode()
        self._process.stdin.write(line + b"\n" + data)
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        content = self._process.stdout.read(answer["bytes"])
        if "error" in answer:
            raise Failure("%s: %s" % (fields, answer["error"]))
        return content

    def decode(self, chunk, start, length):
        return self.call("decode", chunk, start=start, len=length)


def six(values):
    return [0] * (6 - len(values)) + list(values)


def theirs(chunk):
    """A chunk as C-Blosc2 decodes it."""
    return blosc2.decompress2(chunk) if struct.unpack_from("<I", chunk, 4)[0] else b""


def in_slices(chunk, data, typesize):
    """Puts a chunk into a C-Blosc2 superchunk and reads items from it."""
    items = len(data) // typesize
    if not items or len(data) % typesize:
        return
    schunk = blosc2.SChunk(chunksize=len(data), cparams={"typesize": typesize})
    schunk.insert_chunk(0, chunk)
    blocksize, = struct.unpack_from("<I", chunk, 8)
    for start, stop in ((0, 1), (items // 3, items // 2), (items - 1, items), (0, items)):
        if start and (stop - start) * typesize in (blocksize, len(data) % blocksize):
            # C-Blosc2 3.3.5 treats items as long as a block as a block, wherever they begin.
            stop -= 1
        equal(bytes(schunk[start:stop]), data[start * typesize:stop * typesize],
              "items %d to %d" % (start, stop))


def written(ours, data, pipeline, typesize, **more):
    metas = more.pop("metas", [0] * len(pipeline))
    chunk = ours.call("encode", data, filters=six(pipeline), metas=six(metas),
                      typesize=typesize, **more)
    expect(len(chunk) <= len(data) + 32, "a chunk longer than a pure copy")
    want = data if TRUNCATE not in pipeline else ours.decode(chunk, 0, len(data))
    equal(theirs(chunk), want, "what C-Blosc2 decodes")
    equal(ours.decode(chunk, 0, len(data)), want, "what the library decodes")
    if DELTA not in pipeline:
        # C-Blosc2 does not decode the first block when others need it.
        in_slices(chunk, want, typesize)


def read(ours, data, pipeline, typesize, **more):
    chunk = blosc2.compress2(data, typesize=typesize, nthreads=1,
                             filters=six([blosc2.Filter(step) for step in pipeline])
                             if pipeline else [blosc2.Filter.NOFILTER] * 6,
                             filters_meta=[0] * 6, **more)
    if theirs(chunk) != data:
        # C-Blosc2 3.3.5 is unreliable with blocks that are not whole elements.
        expect(len(data) % typesize, "C-Blosc2 does not read its own chunk")
        return
    equal(ours.decode(chunk, 0, len(data)), data, "what the library decodes")
    start = len(data) * 2 // 3
    equal(ours.decode(chunk, start, len(data) // 5), data[start:start + len(data) // 5], "a range")


def special(ours, kind, typesize, value):
    nbytes = 4800 * typesize
    data = value if kind == "value" else b""
    chunk = ours.call("special", data, kind=kind, nbytes=nbytes, typesize=typesize,
                      blocksize=480 * typesize)
    back = theirs(chunk)
    if kind == "uninit":
        return equal(len(back), nbytes, "bytes")
    want = value * (nbytes // len(value))
    equal(back, want, "what C-Blosc2 decodes")
    equal(ours.decode(chunk, 0, nbytes), want, "what the library decodes")


def cases(ours):
    turn = 0
    for size, typesize, codec, pipeline in itertools.product(
            (0, 31, 32, 127, 4097, 24_000, 300_000), (1, 2, 3, 4, 8, 12, 16, 17, 255),
            CODECS, PIPELINES):
        turn += 1
        level, whole = turn % 10, turn % 3 != 0
        length = size - size % typesize if whole else size
        data = numbers(length) if turn % 5 else bytes([turn % 7]) * length
        blocksize = (None, 16 * typesize, 1024 * typesize)[turn % 3]
        name = "%s %s level %d typesize %d, %d bytes, blocks %s" % (
            codec, pipeline, level, typesize, length, blocksize)
        yield ("write " + name, written, ours, data, pipeline, typesize,
               dict(compressor=codec, level=level, blocksize=blocksize))
        if turn % 4 == 0 and length and length % typesize == 0:
            yield ("read " + name, read, ours, data, pipeline, typesize,
                   dict(codec=CODECS[codec], clevel=level))
    draw = random.Random(3)
    for typesize, code in ((4, "f"), (8, "d")):
        floats = struct.pack("<3000" + code, *(draw.gauss(0, 1e3) for _ in range(3000)))
        for bits, steps in itertools.product((1, 10, 22, 256 - 4),
                                             ([TRUNCATE], [TRUNCATE, SHUFFLE],
                                              [TRUNCATE, DELTA, BITSHUFFLE])):
            metas = [bits] + [0] * (len(steps) - 1)
            yield ("truncate %d of %d bytes, %s" % (bits, typesize, steps), written, ours, floats,
                   steps, typesize, dict(compressor="zstd", level=5, blocksize=8000, metas=metas))
    for kind, typesize, value in (("zeros", 1, b"\0"), ("zeros", 7, b"\0"), ("uninit", 8, b""),
                                  ("nan", 4, b"\0\0\xc0\x7f"), ("nan", 8, bytes(6) + b"\xf8\x7f"),
                                  ("value", 1, b"x"), ("value", 8, b"12345678"),
                                  ("value", 3, b"abc")):
        yield "special %s %d" % (kind, typesize), special, ours, kind, typesize, value


def named(one, ours, data, pipeline, typesize, more):
    one(ours, data, pipeline, typesize, **more)


def run(tally, blpk, _reference, _place):
    ours = Chunks(blpk)
    for name, check, *arguments in cases(ours):
        if check is special:
            tally.case(name, check, *arguments)
        else:
            tally.case(name, named, check, *arguments)
    ours.end()
