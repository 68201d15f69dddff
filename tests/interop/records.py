"""Files of records: read by a reader that has nothing but docs/format.md, `struct` and the real
`blosc`; refused by the reference; and the values of a packed chunk used by Arrow unchanged."""

import hashlib
import itertools
import json
import struct
import zlib

import blosc
import bloscpack
import numpy
import pyarrow

from common import CHECKSUMS, CODECS, METADATA, equal, expect

FORMS = ((), ("--packed",), ("--packed", "-z", 1000))
# The codecs that the wheel of `blosc` can decode.
KNOWN = tuple(codec for codec in CODECS if codec != "snappy")
CASES = len(KNOWN) * len(FORMS) * len(CHECKSUMS) * 2 * 2 + 20
OFFSETS, METADATA_BIT, VARLEN = 1, 2, 4
END = bytes((2, 1, 2, 0)) + struct.pack("<III", 0, 0, 16)


def run(tally, blpk, reference, place):
    tally.cases(grid(blpk, place))
    tally.cases(settings(blpk, place))
    tally.cases(refusals(blpk, reference, place))
    tally.cases(arrow(blpk, place))


# The reader ---------------------------------------------------------------

def chunks_of(file):
    """The metadata and the contents of the chunks of a file of records, fully checked."""
    magic, version, options, checksum, _, size, last, count = struct.unpack_from("<4s4B2iq", file)
    assert magic == b"blpk" and version in (2, 3) and options & VARLEN
    assert (size, last) == (-1, -1)
    meta, spare, at = None, 0, 32
    if version == 2:
        meta_size, seal = struct.unpack_from("<iI", file, 24)
        meta, at = json.loads(file[at:at + meta_size]), at + meta_size
    else:
        spare, = struct.unpack_from("<q", file, 24)
        if options & METADATA_BIT:
            _, _, kind, codec, _, _, room, stored = struct.unpack_from("<8s4B3I", file, at)
            text = file[at + 32:at + 32 + stored]
            end = at + 32 + room
            check(kind, text, file, end)
            meta = json.loads(zlib.decompress(text) if codec else text)
            at = end + len(digest(kind, b""))
    table = struct.unpack_from("<%dq" % (count + spare), file, at) if options & OFFSETS else ()
    at += 8 * len(table)
    if version == 2:
        equal(seal, zlib.crc32(file[:28] + bytes(4) + file[32:at]), "seal")
    starts, contents = [], []
    while at < len(file):
        length, = struct.unpack_from("<I", file, at + 12)
        chunk = file[at:at + length]
        check(checksum, chunk, file, at + length)
        starts.append(at)
        contents.append(None if chunk == END else blosc.decompress(chunk))
        at += length + len(digest(checksum, b""))
    if count == -1:
        equal(contents.pop(), None, "the end mark")
    else:
        equal(len(contents), count, "number of chunks")
    equal(list(table), (starts + [-1] * spare if table else []), "offsets")
    return meta, contents


def digest(kind, data):
    """The digest of data, by the table of checksums in the format."""
    if kind in (1, 2):
        return struct.pack("<I", (zlib.adler32, zlib.crc32)[kind - 1](data))
    return hashlib.new(CHECKSUMS[kind], data).digest() if kind else b""


def check(kind, data, file, at):
    computed = digest(kind, data)
    equal(file[at:at + len(computed)], computed, "digest of what ends at %d" % at)


def packed(content):
    """The number of the first record, the lengths, and the concatenated records."""
    first, count, width, zero = struct.unpack_from("<QIB3s", content)
    equal(zero, bytes(3), "reserved bytes")
    lengths = numpy.frombuffer(content, "<u%d" % width, count, 16)
    return first, lengths, content[16 + count * width:]


def records_of(file):
    meta, contents = chunks_of(file)
    packing = meta.get("packing")
    if packing is None:
        return meta, contents
    equal((packing["name"], packing["version"]), ("lengths", 1), "packing")
    records = []
    for content in contents:
        first, lengths, values = packed(content)
        equal(first, len(records), "number of the first record")
        expect(len(lengths) == 1 or len(content) <= packing["chunk_size"], "too large a chunk")
        ends = numpy.cumsum(lengths, dtype="u8").tolist()
        equal(ends[-1], len(values), "end of the last record")
        records += [values[start:end] for start, end in zip([0] + ends, ends)]
    return meta, records


# The cases ----------------------------------------------------------------

def samples(seed=5):
    """Empty records, short ones, noise, and some that are longer than a packed chunk."""
    rng = numpy.random.default_rng(seed)
    lengths = [0, 1, 0, 255, 256, 257, 65535, 65536, 70000] + rng.integers(0, 60, 300).tolist()
    return [(rng.integers(0, 256, length, "u1") if number % 3 else
             numpy.arange(length, dtype="u4").astype("u1")).tobytes()
            for number, length in enumerate(lengths)]


def prefixed(records):
    return b"".join(struct.pack("<I", len(record)) + record for record in records)


def grid(blpk, place):
    records = samples()
    source, metadata = place.file("in", prefixed(records)), place.file(
        "meta.json", json.dumps({"own": METADATA}).encode())
    axes = (KNOWN, FORMS, CHECKSUMS, (2, 3), (False, True))
    for axis in itertools.product(*axes):
        codec, form, checksum, version, stream = axis
        options = ["-c", codec, "-k", checksum, "--format", version, "-m", metadata, *form]
        yield ("-".join(map(str, axis)), reads, blpk, place, source, records, options, stream)


def reads(blpk, place, source, records, options, stream):
    out = place.folder() / "out.blp"
    given = blpk.ok("records", "pack", "--lengths", *options, source, "-" if stream else out)
    found, contents = records_of(given if stream else out.read_bytes())
    equal(contents, records, "records")
    equal(found["own"], METADATA, "metadata of the user")
    equal(found["dtype"], "varbinary", "dtype")
    equal(found.get("shape"), None if stream else [len(records)], "shape")


def settings(blpk, place):
    records = samples(9)
    for number, options in enumerate((
            ["--small"], ["--quick"], ["--small", "--format", 3], ["--quick", "--format", 3],
            ["--packed", "-n", 4], ["-l", 0], ["--packed", "-l", 0], ["--packed", "-z", 64])):
        yield "settings-%d" % number, grows, blpk, place, records, options
    for options in ([], ["--packed"], ["--format", 3]):
        yield "empty-%s" % options, grows, blpk, place, [], options


def grows(blpk, place, records, options):
    """Appended records can be read too."""
    out = place.folder() / "out.blp"
    blpk.ok("records", "pack", "--lengths", *options, out, stdin=prefixed(records))
    more = samples(11)
    for part in (more[:1], more[1:150], more[150:]):
        equal(records_of(out.read_bytes())[1], records, "records")
        blpk.ok("records", "append", "--lengths", out, stdin=prefixed(part))
        records = records + part
    found, contents = records_of(out.read_bytes())
    equal(contents, records, "records after appending")
    equal(found["shape"], [len(records)], "shape after appending")


def refusals(blpk, reference, place):
    for form, version, stream in itertools.product(FORMS[:2], (2, 3), (False, True)):
        yield ("refused-%s-%d-%s" % (form, version, stream), refused, blpk, reference, place,
               [*form, "--format", version], stream)


def refused(blpk, reference, place, options, stream):
    """The reference refuses the file, as a library and as a command, and returns nothing."""
    path = place.folder() / "records.blp"
    given = blpk.ok("records", "pack", *options, "-" if stream else path, stdin=b"one\ntwo\n")
    if stream:
        path.write_bytes(given)
    try:
        found = bloscpack.unpack_bytes_from_file(str(path))
    except ValueError as error:
        expect("options" in str(error), "no clear error:", error)
    else:
        expect(False, "the reference read", found)
    done = reference.run("decompress", path, path.with_name("out"))
    expect(done.returncode != 0, "the reference's command succeeds")
    expect(b"options" in done.stderr, "no clear error:", done.stderr)
    out = path.with_name("out")
    expect(not out.exists() or not out.read_bytes(), "the reference's command wrote something")


def arrow(blpk, place):
    for options in (["--packed"], ["--quick"], ["--packed", "-z", 300]):
        yield "arrow-%s" % options[-1], taken_over, blpk, place, options


def taken_over(blpk, place, options):
    """The values of a packed chunk are the values of an Arrow array, unchanged; its offsets are sums of the lengths."""
    records = samples()
    file = blpk.ok("records", "pack", "--lengths", *options, "-", stdin=prefixed(records))
    for kind, offset in ((pyarrow.binary(), "<i4"), (pyarrow.large_binary(), "<i8")):
        arrays = []
        for content in chunks_of(file)[1]:
            _, lengths, values = packed(content)
            offsets = numpy.zeros(len(lengths) + 1, offset)
            numpy.cumsum(lengths, out=offsets[1:])
            buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(values)]
            arrays.append(pyarrow.Array.from_buffers(kind, len(lengths), buffers))
            arrays[-1].validate(full=True)
        equal(pyarrow.chunked_array(arrays).to_pylist(), records, "records as Arrow has them")
