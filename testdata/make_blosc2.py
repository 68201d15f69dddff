#!/usr/bin/env python3
"""Makes `blosc2/chunks.bin` and `blosc2/manifest.json`: chunks written by python-blosc2 4.14.1 (C-Blosc2
3.3.5), and the data that C-Blosc2 decodes them to.
usage: make_blosc2.py [DIRECTORY [all]]
  DIRECTORY   default: target/testdata/blosc2
  all         every combination instead of a selection: some 10 MB
Needs `pip install blosc2==4.14.1`.
"""
import hashlib
import itertools
import json
import random
import struct
import sys
from pathlib import Path

import blosc2
import numpy

NONE, SHUFFLE, BIT, DELTA, TRUNC = (blosc2.Filter.NOFILTER, blosc2.Filter.SHUFFLE,
                                    blosc2.Filter.BITSHUFFLE, blosc2.Filter.DELTA,
                                    blosc2.Filter.TRUNC_PREC)
CODECS = {"blosclz": blosc2.Codec.BLOSCLZ, "lz4": blosc2.Codec.LZ4, "lz4hc": blosc2.Codec.LZ4HC,
          "zlib": blosc2.Codec.ZLIB, "zstd": blosc2.Codec.ZSTD}
PIPELINES = {"none": [], "shuffle": [SHUFFLE], "bit": [BIT], "delta": [DELTA],
             "delta+shuffle": [DELTA, SHUFFLE], "delta+bit": [DELTA, BIT],
             # Never three filters that move bytes: C-Blosc2 3.3.5 cannot always read such chunks that it wrote.
             "shuffle+bit": [SHUFFLE, BIT]}
SPLITS = {"always": blosc2.SplitMode.ALWAYS_SPLIT, "never": blosc2.SplitMode.NEVER_SPLIT,
          "auto": blosc2.SplitMode.AUTO_SPLIT}


def wander(size, typesize, seed):
    """A random walk of integers of `typesize` bytes, cut off at `size` bytes."""
    draw, value, out = random.Random(seed), 1 << 20, bytearray()
    while len(out) < size:
        value += draw.randrange(-90, 100)
        if draw.randrange(50) == 0:
            out += value.to_bytes(8, "little")[:typesize].ljust(typesize, b"\1") * draw.randrange(30)
        out += value.to_bytes(8, "little")[:typesize].ljust(typesize, b"\0")
    return bytes(out[:size])


def right(filters):
    return [NONE] * (6 - len(filters)) + filters


def compress(data, typesize, codec, filters, metas=None, **more):
    metas = metas or [0] * len(filters)
    cparams = dict(typesize=typesize, codec=codec, filters=right(filters),
                   filters_meta=[0] * (6 - len(metas)) + metas, nthreads=1, clevel=5)
    cparams.update(more)
    return blosc2.compress2(data, **cparams)


def cases(every):
    sizes = (31, 32, 200, 5000, 20_011) if every else (1300,)
    typesizes = (1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 100, 255) if every else (1, 4, 12, 8)
    for number, (size, typesize, (codec, c), (name, f), (split, s)) in enumerate(itertools.product(
            sizes, typesizes, CODECS.items(), PIPELINES.items(), SPLITS.items())):
        if not every and number % 3 != (number // 9) % 3:
            continue
        for blocksize in ((0, 1000 // typesize * typesize) if every else (480,)):
            label = "%s %s %s typesize %d, %d bytes, blocks %d" % (
                codec, name, split, typesize, size, blocksize)
            data = wander(size, typesize, number)
            yield label, data, compress(data, typesize, c, f, splitmode=s, blocksize=blocksize)
    for typesize, kind in ((4, "f4"), (8, "f8")):
        data = numpy.linspace(-1, 1, 500, dtype=kind).tobytes()
        for bits in (10, 1, -5):
            for name, filters in (("trunc", [TRUNC]), ("trunc+shuffle", [TRUNC, SHUFFLE]),
                                  ("trunc+delta+shuffle", [TRUNC, DELTA, SHUFFLE])):
                metas = [bits] + [0] * (len(filters) - 1)
                chunk = compress(data, typesize, CODECS["lz4"], filters, metas, blocksize=800)
                yield "%s %d of %s" % (name, bits, kind), None, chunk
    for name in ("zstd", "lz4", "lz4hc"):
        for typesize, filters, split in ((4, [], "never"), (8, [SHUFFLE], "always"),
                                         (8, [SHUFFLE], "never"), (4, [DELTA, BIT], "auto")):
            data = wander(8000, typesize, 5)
            chunk = compress(data, typesize, CODECS[name], filters, use_dict=True, blocksize=800,
                             splitmode=SPLITS[split])
            if chunk[31] & 1:
                yield "dictionary %s typesize %d %s" % (name, typesize, split), data, chunk
    for level in (0, 1, 9):
        for name, codec in CODECS.items():
            data = wander(3000, 4, level)
            yield "level %d %s" % (level, name), data, compress(data, 4, codec, [SHUFFLE],
                                                               clevel=level)
    noise = random.Random(1).randbytes(300)
    yield "noise", noise, compress(noise, 4, CODECS["zstd"], [SHUFFLE])
    yield "zeros", bytes(9000), compress(bytes(9000), 4, CODECS["lz4"], [SHUFFLE])
    yield "runs", b"\7" * 9000, compress(b"\7" * 9000, 1, CODECS["lz4"], [], blocksize=2000)
    halves = bytes(4000) + noise
    yield "runs and noise", halves, compress(halves, 2, CODECS["zlib"], [SHUFFLE], blocksize=1000)
    yield "empty", b"", compress(b"", 4, CODECS["zstd"], [SHUFFLE])
    for width in (2, 3, 4, 8):
        data = wander(4000, width, width)
        yield "shuffle width %d" % width, data, compress(data, 24, CODECS["lz4"], [SHUFFLE],
                                                         [width], blocksize=960)
    for typesize, special, value in ((4, "ZERO", None), (4, "NAN", None), (8, "NAN", None),
                                     (8, "UNINIT", None), (4, "VALUE", 7), (8, "VALUE", 2.5),
                                     (3, "VALUE", b"abc"), (1, "VALUE", b"x")):
        schunk = blosc2.SChunk(chunksize=3000 // typesize * typesize,
                               cparams={"typesize": typesize})
        schunk.fill_special(2500, getattr(blosc2.SpecialValue, special), value)
        chunk = schunk.get_chunk(0)
        want = bytes(len(schunk.decompress_chunk(0))) if special == "UNINIT" else None
        yield "special %s typesize %d" % (special, typesize), want, chunk


def main():
    place = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).resolve().parents[1] / "target/testdata/blosc2"
    place.mkdir(parents=True, exist_ok=True)
    blob, entries, left_out = bytearray(), [], []
    for label, data, chunk in cases("all" in sys.argv[2:]):
        nbytes, = struct.unpack_from("<I", chunk, 4)
        try:
            back = blosc2.decompress2(chunk) if nbytes else b""
        except ValueError:
            back = None
        if data is None:
            data = back
        elif back != data and not label.startswith("special UNINIT"):
            # C-Blosc2 3.3.5 is unreliable with blocks that are not whole elements.
            left_out.append(label)
            continue
        blocksize, = struct.unpack_from("<I", chunk, 8)
        if not chunk[2] & 0x12 and not chunk[31] & 0x70 and blocksize % chunk[3]:
            # The last bytes of each block are in no stream, so they were right only by chance.
            left_out.append(label)
            continue
        entries.append({"chunk": label, "at": len(blob), "len": len(chunk), "raw_len": len(data),
                        "raw_sha256": hashlib.sha256(data).hexdigest()})
        blob += chunk
    (place / "chunks.bin").write_bytes(blob)
    lines = ",\n  ".join(json.dumps(entry) for entry in entries)
    text = '{"written_by": "python-blosc2 %s",\n "entries": [\n  %s\n ]}\n' % (
        blosc2.__version__, lines)
    (place / "manifest.json").write_text(text)
    print("%d chunks, %d bytes; %d that C-Blosc2 does not read itself left out"
          % (len(entries), len(blob), len(left_out)))


if __name__ == "__main__":
    main()
