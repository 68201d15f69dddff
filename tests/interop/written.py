"""The reference opens what `blpk` writes: content, metadata, header, offsets."""

import itertools
import json

import bloscpack
import numpy
from bloscpack import append as reference_append
from bloscpack.args import calculate_nchunks
from bloscpack.headers import decode_blosc_flags

from common import (CHECKSUMS, CODECS, FILTERS, METADATA, Look, Failure, equal,
                    expect, numbers, reference_unpack, snappy_chunk)

GRID = len(CODECS) * len(FILTERS) * len(CHECKSUMS) * 2 * 2
CASES = GRID + 90

# Blocks of a multiple of 8 elements are bit-shuffled, others are stored as
# they are: both must occur.
TYPESIZE, CHUNK, LENGTH = 4, 3000, 10007
OTHER_METADATA = ({}, [], 5, 0, "abc", "", True, 1.5e-300, {"a": None}, [1, [2, [3]]],
                  [0.1, 1e22, 2**53 + 1, -2**63, 2**64 - 1], 10**30,
                  {"k%d" % i: "value " * 9 for i in range(200)}, "x" * 70000)


def run(tally, blpk, reference, place):
    data = numbers(LENGTH)
    source = place.file("in", data)
    metadata = place.file("meta.json", json.dumps(METADATA).encode())

    def grid():
        axes = (CODECS, FILTERS, CHECKSUMS, (True, False), (True, False))
        for number, axis in enumerate(itertools.product(*axes)):
            codec, filter_, checksum, offsets, with_metadata = axis
            options = ["-t", TYPESIZE, "-z", CHUNK, "-n", 1 + number % 2]
            options += ["-m", metadata] if with_metadata else []
            yield ("-".join(map(str, axis)), written, blpk, place, data, source,
                   dict(codec=codec, filter=filter_, checksum=checksum, offsets=offsets,
                        typesize=TYPESIZE, chunk_size=CHUNK,
                        metadata=METADATA if with_metadata else None), options)

    tally.cases(grid())
    tally.cases(shapes(blpk, place))
    tally.cases(metadata_values(blpk, place))
    tally.cases(edits(blpk, place))
    tally.cases(arrays(blpk, place))


def written(blpk, place, data, source, wanted, options=()):
    """Compresses `source` and compares what the reference reads with `wanted`."""
    out = place.folder() / "out.blp"
    arguments = ["compress", *options]
    for option, key in (("-c", "codec"), ("--shuffle", "filter"), ("-k", "checksum")):
        if key in wanted:
            arguments += [option, wanted[key]]
    if not wanted.get("offsets", True):
        arguments.append("-o")
    quiet = blpk.ok(*arguments, source, out)
    equal(quiet, b"", "standard output")
    opened(out, data, wanted)
    return out


def opened(path, data, wanted):
    """The reference opens `path` and reads `data`, and everything that `wanted` names."""
    content, metadata = reference_unpack(path)
    equal(content, data, "content")
    equal(metadata, wanted.get("metadata"), "metadata")
    look = Look(path)
    header = look.header
    equal(header.format_version, 3, "format version")
    for key in ("checksum", "offsets", "typesize"):
        if key in wanted:
            equal(header[key], wanted[key], key)
    if "chunk_size" in wanted:
        geometry = calculate_nchunks(len(data), wanted["chunk_size"])
        equal((header.nchunks, header.chunk_size, header.last_chunk), geometry,
              "number of chunks, chunk size, last chunk")
    equal(header.metadata, wanted.get("metadata") is not None, "metadata flag")
    equal(look.end, look.size, "end of the last chunk and of the file")
    if header.offsets:
        equal(look.offsets, look.positions, "offsets")
    else:
        equal(header.max_app_chunks, 0, "max_app_chunks without offsets")
    if "max_app_chunks" in wanted:
        equal(header.max_app_chunks, wanted["max_app_chunks"], "max_app_chunks")
    for chunk, blosc_header in look.chunks:
        chunk_as_wanted(chunk, blosc_header, wanted)


def chunk_as_wanted(chunk, header, wanted):
    equal(header["version"], 2, "version byte of the chunk")
    if "typesize" in wanted:
        equal(header["typesize"], wanted["typesize"], "typesize of the chunk")
    if header["nbytes"] == 0 or snappy_chunk.is_copy(chunk):
        return
    flags = decode_blosc_flags(header["flags"])
    if "codec" in wanted:
        equal(flags["codec"], {"lz4hc": "lz4"}.get(wanted["codec"], wanted["codec"]),
              "codec of the chunk")
    if wanted.get("filter") == "none":
        expect(not flags["byte_shuffle"] and not flags["bit_shuffle"], "filter set:", flags)
    elif "filter" in wanted and header["typesize"] > 1:
        expect(flags[wanted["filter"] + "_shuffle"], "filter not set:", flags)


def shapes(blpk, place):
    """Lengths, chunk sizes, typesizes and levels that are not in the grid."""
    sources = {}

    def one(name, length, wanted, *options):
        if length not in sources:
            data = numbers(length)
            sources[length] = data, place.file("in", data)
        return (name, written, blpk, place, *sources[length], wanted, options)

    for codec, filter_ in itertools.product(CODECS, FILTERS):
        length = 40_000 if codec == "snappy" else 2_500_003
        yield one("long-%s-%s" % (codec, filter_), length,
                  dict(codec=codec, filter=filter_, typesize=8, chunk_size="1M"))
    for length, chunk in itertools.product(
            (0, 1, 7, 15, 16, 17, 127, 128, 129, 999, 1000, 1001, 2000), (1000, "1M")):
        yield one("length-%d-%s" % (length, chunk), length,
                  dict(codec="lz4", chunk_size=chunk, typesize=8), "-z", chunk)
    for typesize in (1, 2, 3, 5, 7, 12, 16, 17, 100, 255):
        for filter_ in ("byte", "bit"):
            yield one("typesize-%d-%s" % (typesize, filter_), 9001,
                      dict(codec="blosclz", filter=filter_, typesize=typesize,
                           chunk_size=1111), "-t", typesize, "-z", 1111)
    for level in range(10):
        yield one("level-%d" % level, 30_000, dict(codec="zstd", chunk_size=10240),
                  "-l", level, "-z", "10K")
    yield one("many-chunks", 30_000, dict(codec="lz4", chunk_size=10), "-z", 10, "-n", 2)
    yield one("chunk-max", 30_000, dict(codec="lz4", chunk_size=30_000), "-z", "max")
    yield one("chunk-half-K", 30_000, dict(chunk_size=512), "-z", "0.5K")
    # The settings of Blosc are chosen by the data.
    yield one("default", 3_000_000, dict(checksum="crc32", offsets=True, chunk_size="1M"))
    yield one("default-off", 3_000_000, dict(checksum="crc32", offsets=True, typesize=8,
                                             chunk_size="1M"), "--auto=off")
    for spare in (0, 1, 1000):
        yield one("spare-%d" % spare, 9001, dict(chunk_size=1000, max_app_chunks=spare),
                  "-z", 1000, "--max-app-chunks", spare)


def metadata_values(blpk, place):
    data = numbers(1000)
    source = place.file("in", data)
    for number, value in enumerate(OTHER_METADATA):
        file = place.file("meta.json", json.dumps(value).encode())
        yield ("metadata-%d" % number, written, blpk, place, data, source,
               dict(metadata=value), ["-m", file])


def edits(blpk, place):
    """The reference edits one of our files, and both still agree on it."""
    data = numbers(LENGTH)
    first = 8200   # two chunks of 3000 and one of 2200
    for name, until, checksum in (
            ("squeezed", 8300, "crc32"), ("filled", 9000, "adler32"),
            ("spilled", LENGTH, "sha256"), ("no-checksum", LENGTH, "None")):
        yield ("appended-" + name, appended, blpk, place, data[:until], first, checksum)
    yield ("metadata-rewritten", rewritten, blpk, place, data)


def appended(blpk, place, data, first, checksum):
    source = place.file("in", data[:first])
    more = place.file("more", data[first:])
    wanted = dict(codec="lz4", typesize=TYPESIZE, checksum=checksum)
    out = written(blpk, place, data[:first], source, wanted,
                  ["-t", TYPESIZE, "-z", CHUNK])
    before = Look(out).header
    reference_append.append(str(out), str(more))
    equal(reference_unpack(out)[0], data, "content for the reference")
    after = Look(out).header
    equal(after.nchunks + after.max_app_chunks, before.nchunks + before.max_app_chunks,
          "entries of the offset table")
    equal(blpk.ok("decompress", out, "-"), data, "content")
    blpk.ok("verify", out)


def rewritten(blpk, place, data):
    source = place.file("in", data)
    metadata = place.file("meta.json", json.dumps(METADATA).encode())
    out = written(blpk, place, data, source, dict(metadata=METADATA), ["-m", metadata])
    with open(out, "r+b") as file:
        reference_append._seek_to_metadata(file)
        reference_append._rewrite_metadata_fp(file, {"a": 1})
    equal(reference_unpack(out)[1], {"a": 1}, "metadata for the reference")
    equal(blpk.info(out)["metadata"], {"a": 1}, "metadata")
    equal(blpk.ok("decompress", out, "-"), data, "content")


def arrays(blpk, place):
    rows = numpy.zeros(50, dtype=[("a", "<i4"), ("b", "S5")])
    rows["a"] = numpy.arange(50)
    for name, array in (("f8", numpy.linspace(0, 1, 600)),
                        ("fortran", numpy.asfortranarray(numpy.arange(600).reshape(20, 30))),
                        ("rows", rows)):
        yield ("array-" + name, array_opened, blpk, place, array)


def array_opened(blpk, place, array):
    """The reference reads bytes and NumPy metadata written by us as an array."""
    dtype = repr(array.dtype.descr) if array.dtype.names else repr(array.dtype.str)
    order = "F" if numpy.isfortran(array) else "C"
    metadata = place.file("meta.json", json.dumps(dict(
        dtype=dtype, shape=array.shape, order=order, container="numpy")).encode())
    source = place.file("in", array.tobytes(order))
    out = place.folder() / "out.blp"
    blpk.ok("compress", "-t", array.itemsize, "-z", 10 * array.itemsize, "-m", metadata,
            source, out)
    back = bloscpack.unpack_ndarray_from_file(str(out))
    if back.dtype != array.dtype or back.shape != array.shape or not (back == array).all():
        raise Failure("array differs: %r" % back.dtype)
