"""Decodes a Blosc 1 chunk whose compressor is Snappy, in plain Python.

The wheels of `blosc` are built without Snappy, so the reference cannot open
such a chunk. This reader takes its place for the chunk alone; header,
metadata, offsets and digests stay with Bloscpack. Written from the format
descriptions of Blosc 1 and Snappy; slow, and meant for small inputs.
"""

import struct

import numpy

SNAPPY = 2
BYTE_SHUFFLE, PURE_COPY, BIT_SHUFFLE, ONE_STREAM = 0x01, 0x02, 0x04, 0x10
SPLIT_MAX_TYPESIZE, SPLIT_MIN_ELEMENTS = 16, 128


def codec(chunk):
    return chunk[2] >> 5


def is_copy(chunk):
    return bool(chunk[2] & PURE_COPY)


def decompress(chunk):
    flags, typesize = chunk[2], chunk[3]
    nbytes, blocksize, ctbytes = struct.unpack_from("<III", chunk, 4)
    assert ctbytes == len(chunk), "chunk length differs from its header"
    if flags & PURE_COPY:
        return bytes(chunk[16:16 + nbytes])
    assert codec(chunk) == SNAPPY, "not a Snappy chunk"
    nblocks = -(-nbytes // blocksize)
    starts = struct.unpack_from("<%dI" % nblocks, chunk, 16)
    blocks = []
    for number, start in enumerate(starts):
        size = min(blocksize, nbytes - number * blocksize)
        split = (not flags & ONE_STREAM and size == blocksize
                 and typesize <= SPLIT_MAX_TYPESIZE
                 and blocksize // typesize >= SPLIT_MIN_ELEMENTS)
        streams = typesize if split else 1
        data = b"".join(_streams(chunk, start, streams, size // streams))
        blocks.append(_unfilter(data, flags, typesize))
    return b"".join(blocks)


def _streams(chunk, at, count, size):
    for _ in range(count):
        (stored,) = struct.unpack_from("<i", chunk, at)
        stream = chunk[at + 4:at + 4 + stored]
        at += 4 + stored
        yield bytes(stream) if stored == size else snappy(stream, size)


def _unfilter(data, flags, typesize):
    elements = len(data) // typesize
    whole = elements * typesize
    if flags & BYTE_SHUFFLE and typesize > 1:
        planes = numpy.frombuffer(data[:whole], "u1").reshape(typesize, elements)
        return planes.T.tobytes() + data[whole:]
    if flags & BIT_SHUFFLE and elements and elements % 8 == 0:
        bits = numpy.unpackbits(numpy.frombuffer(data[:whole], "u1"), bitorder="little")
        rows = bits.reshape(typesize * 8, elements).T
        return numpy.packbits(rows, bitorder="little").tobytes() + data[whole:]
    return data


def snappy(stream, size):
    """Decodes one raw Snappy stream that must give `size` bytes."""
    length, at = _varint(stream)
    assert length == size, "Snappy stream of %d bytes, not %d" % (length, size)
    out = bytearray()
    while at < len(stream):
        tag = stream[at]
        at += 1
        kind = tag & 3
        if kind == 0:
            count = tag >> 2
            if count >= 60:
                width = count - 59
                count = int.from_bytes(stream[at:at + width], "little")
                at += width
            count += 1
            out += stream[at:at + count]
            at += count
            continue
        if kind == 1:
            count, back = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | stream[at]
            at += 1
        else:
            width = 2 if kind == 2 else 4
            count, back = (tag >> 2) + 1, int.from_bytes(stream[at:at + width], "little")
            at += width
        assert 0 < back <= len(out), "Snappy copy from before the start"
        for _ in range(count):
            out.append(out[-back])
    assert len(out) == size, "Snappy stream ends early"
    return bytes(out)


def _varint(stream):
    value = shift = at = 0
    while True:
        byte = stream[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
