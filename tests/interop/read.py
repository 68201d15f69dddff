"""`blpk` opens what the reference writes: content, header, metadata, soundness."""

import itertools
import json
import math

import bloscpack
import numpy
from bloscpack import BloscArgs, BloscpackArgs, MetadataArgs
from bloscpack import append as reference_append
from bloscpack.constants import CNAME_AVAIL

from common import (CHECKSUMS, FILTERS, HEADER_FIELDS, METADATA, Look, equal, expect,
                    numbers, reference_unpack, snappy_chunk)

GRID = len(CNAME_AVAIL) * len(FILTERS) * len(CHECKSUMS) * 2 * 2
CASES = GRID + 80

TYPESIZE, CHUNK, LENGTH = 4, 3000, 10007
OTHER_METADATA = ({}, [], 5, 0, "abc", "", True, 1.5e-300, {"a": None}, [1, [2, [3]]],
                  {"nan": math.nan, "inf": [math.inf, -math.inf]}, math.nan,
                  {"\u043a": "\U0001f600", "nul": "a\0b"},
                  [0.1, 1e22, 2**53 + 1, -2**63, 2**64 - 1], 10**30,
                  {"k%d" % i: "value " * 9 for i in range(200)}, "x" * 70000)


def run(tally, blpk, reference, place):
    def grid():
        data = numbers(LENGTH)
        axes = (CNAME_AVAIL, FILTERS, CHECKSUMS, (True, False), (True, False))
        for axis in itertools.product(*axes):
            codec, filter_, checksum, offsets, metadata = axis
            path = packed(place, data, METADATA if metadata else None,
                          dict(typesize=TYPESIZE, cname=codec, shuffle=FILTERS[filter_]),
                          dict(checksum=checksum, offsets=offsets))
            yield ("-".join(map(str, axis)), opens, blpk, path, data)

    tally.cases(grid())
    for more in (shapes, metadata_values, metadata_sections, appended, arrays):
        tally.cases(more(blpk, place))


def packed(place, data, metadata=None, blosc_args=None, bloscpack_args=None,
           metadata_args=None, chunk_size=CHUNK):
    path = place.folder() / "in.blp"
    bloscpack.pack_bytes_to_file(
        data, str(path), chunk_size=chunk_size, metadata=metadata,
        blosc_args=BloscArgs(**blosc_args or {}),
        bloscpack_args=BloscpackArgs(**bloscpack_args or {}),
        metadata_args=MetadataArgs(**metadata_args or {}))
    return path


def opens(blpk, path, data):
    """`blpk` reads from `path` what was packed and what the reference reads."""
    equal(reference_unpack(path)[0], data, "content for the reference")
    out = path.with_name("out")
    blpk.ok("decompress", path, out)
    equal(out.read_bytes(), data, "content")
    blpk.ok("verify", path)
    described(blpk.info(path), Look(path), data)


def described(info, look, data):
    """`blpk info --json` matches the header."""
    equal(info["kind"], "bloscpack", "kind")
    equal(info["state"], "complete", "state")
    for field in HEADER_FIELDS:
        found, wanted = info[field], look.header[field]
        if field == "max_app_chunks" and not look.header.offsets:
            wanted = found if found in (None, 0) else 0   # absent
        equal(found, None if wanted == -1 else wanted, field)
    equal(without_nan(info["metadata"]), without_nan(look.metadata), "metadata")
    equal(info["uncompressed_bytes"], len(data), "uncompressed_bytes")
    codecs = {name for chunk, _ in look.chunks if not snappy_chunk.is_copy(chunk)
              for name in [("blosclz", "lz4", "snappy", "zlib", "zstd")[chunk[2] >> 5]]}
    missing = codecs - {"lz4" if name == "lz4hc" else name for name in info["codecs"]}
    expect(not missing, "codecs lacks", missing, "has", info["codecs"])


def without_nan(value):
    """Standard JSON has no NaN or Infinity: their names are shown."""
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)
    if isinstance(value, list):
        return [without_nan(one) for one in value]
    if isinstance(value, dict):
        return {key: without_nan(one) for key, one in value.items()}
    return value


def shapes(blpk, place):
    def one(name, length, chunk_size, blosc_args=None, bloscpack_args=None):
        data = numbers(length)
        path = packed(place, data, None, blosc_args, bloscpack_args, chunk_size=chunk_size)
        return (name, opens, blpk, path, data)

    for codec, filter_ in itertools.product(CNAME_AVAIL, FILTERS):
        yield one("long-%s-%s" % (codec, filter_), 2_500_003, "1M",
                  dict(cname=codec, shuffle=FILTERS[filter_]))
    for length in (0, 1, 7, 15, 16, 17, 127, 128, 129, 999, 1000, 1001, 2000):
        yield one("length-%d" % length, length, 1000)
    for typesize in (1, 2, 3, 5, 7, 12, 16, 17, 100, 255):
        for filter_ in ("byte", "bit"):
            yield one("typesize-%d-%s" % (typesize, filter_), 9001, 1111,
                      dict(typesize=typesize, shuffle=FILTERS[filter_]))
    for level in range(10):
        yield one("level-%d" % level, 30_000, "10K", dict(clevel=level, cname="lz4"))
    yield one("many-chunks", 30_000, 10)
    for spare in (0, 1, 1000):
        yield one("spare-%d" % spare, 9001, 1000, None, dict(max_app_chunks=spare))


def metadata_values(blpk, place):
    data = numbers(1000)
    for number, value in enumerate(OTHER_METADATA):
        yield ("metadata-%d" % number, opens, blpk, packed(place, data, value), data)


def metadata_sections(blpk, place):
    """Checksum, codec, level and room of the metadata section."""
    data = numbers(1000)
    for checksum, codec in itertools.product(CHECKSUMS, ("None", "zlib")):
        path = packed(place, data, METADATA, metadata_args=dict(
            meta_checksum=checksum, meta_codec=codec, meta_level=6 if codec == "zlib" else 0))
        yield ("section-%s-%s" % (checksum, codec), opens, blpk, path, data)
    for level in range(10):
        path = packed(place, data, METADATA, metadata_args=dict(meta_level=level))
        yield ("section-level-%d" % level, opens, blpk, path, data)
    for room in (200, 5000):
        path = packed(place, data, METADATA, metadata_args=dict(max_meta_size=room))
        yield ("section-room-%d" % room, opens, blpk, path, data)
    for name, value in (("shorter", {"a": 1}), ("longer", {"a": "x" * 500})):
        path = packed(place, data, METADATA)
        with open(path, "r+b") as file:
            reference_append._seek_to_metadata(file)
            reference_append._rewrite_metadata_fp(file, value)
        yield ("rewritten-" + name, opens, blpk, path, data)


def appended(blpk, place):
    """Files that the reference has appended to: spare offsets, leftover bytes."""
    data = numbers(LENGTH)

    def one(name, cuts, leaves=False, **bloscpack_args):
        path = packed(place, data[:cuts[0]], METADATA, dict(typesize=TYPESIZE, cname="zstd"),
                      bloscpack_args)
        for number, (start, end) in enumerate(zip(cuts, cuts[1:])):
            more = place.file("more", data[start:end])
            arguments = BloscArgs(typesize=TYPESIZE, cname=CNAME_AVAIL[number % len(CNAME_AVAIL)])
            reference_append.append(str(path), str(more), blosc_args=arguments)
        return (name, appended_opens, blpk, path, data[:cuts[-1]], leaves)

    yield one("appended-squeezed", (8200, 8300))
    yield one("appended-filled", (8200, 9000))
    yield one("appended-spilled", (8200, LENGTH))
    yield one("appended-often", (3000, 3001, 5999, 6000, 6001, 9500, LENGTH))
    yield one("appended-no-checksum", (8200, LENGTH), checksum="None")
    yield one("appended-all-spare", (6000, LENGTH), max_app_chunks=2)
    for checksum in CHECKSUMS[1:]:
        yield one("appended-" + checksum, (8200, LENGTH), checksum=checksum)
    yield shrunken(blpk, place)


def appended_opens(blpk, path, data, leaves):
    look = Look(path)
    equal(look.size > look.end, leaves, "bytes left after the last chunk")
    opens(blpk, path, data)


def shrunken(blpk, place):
    """A last chunk whose compressed size shrinks as its content grows: noise at
    level 0, then a little more at level 9. The reference never shortens the file."""
    data = bytes(4000) + b"\1"
    path = packed(place, data[:-1], None, dict(clevel=0), chunk_size=CHUNK)
    more = place.file("more", data[-1:])
    reference_append.append(str(path), str(more), blosc_args=BloscArgs(clevel=9))
    return ("appended-leaves-bytes", appended_opens, blpk, path, data, True)


def arrays(blpk, place):
    rows = numpy.zeros(50, dtype=[("a", "<i4"), ("b", "S5"), ("c", ">f8", (2,))])
    rows["a"] = numpy.arange(50)
    for name, array in (
            ("f8", numpy.linspace(0, 1, 600)), ("be", numpy.arange(600, dtype=">i2")),
            ("fortran", numpy.asfortranarray(numpy.arange(600).reshape(20, 30))),
            ("rows", rows), ("scalar", numpy.array(3.25)), ("none", numpy.zeros((0, 3))),
            ("text", numpy.array(["a", "bc"], "U2"))):
        path = place.folder() / "in.blp"
        bloscpack.pack_ndarray_to_file(array, str(path))
        order = "F" if numpy.isfortran(array) else "C"
        yield ("array-" + name, opens, blpk, path, array.tobytes(order))
