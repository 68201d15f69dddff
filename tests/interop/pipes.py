"""Pipes: `cat in | blpk c | blpk d`, files made from a pipe, concatenations."""

import json
import os
import struct
import subprocess
import time

from bloscpack import append as reference_append
from bloscpack.args import calculate_nchunks

from common import (CHECKSUMS, CODECS, LONGEST_RUN, METADATA, Failure, Look, equal,
                    expect, numbers, reference_unpack)
from written import opened

CASES = 93
CHUNK = 1000
LENGTHS = (0, 1, 999, 1000, 1001, 2000, 30_500)
# Defined in docs/format.md: a pure copy of nothing with typesize 0.
END_MARK = struct.pack("<4B3I", 2, 1, 2, 0, 0, 0, 16)


def run(tally, blpk, reference, place):
    for part in (through, named, redirected, sized, streams, concatenated, manners):
        tally.cases(part(blpk, place))


def through(blpk, place):
    """`cat in | blpk c | blpk d`: three concurrent processes."""
    for length in LENGTHS:
        yield ("through-%d" % length, piped, blpk, place, numbers(length), ["-z", CHUNK])
    for codec in CODECS:
        yield ("through-%s" % codec, piped, blpk, place, numbers(30_500),
               ["-z", CHUNK, "-c", codec])
    for checksum in CHECKSUMS:
        yield ("through-%s" % checksum, piped, blpk, place, numbers(30_500),
               ["-z", CHUNK, "-k", checksum])
    yield ("through-default-8M", piped, blpk, place, numbers(8_388_611), [])


def piped(blpk, place, data, options):
    source = place.file("in", data)
    with source.open("rb") as file:
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        packer = subprocess.Popen([blpk.program, "c", *map(str, options)],
                                  stdin=cat.stdout, stdout=subprocess.PIPE)
        cat.stdout.close()
        unpacker = subprocess.Popen([blpk.program, "d"], stdin=packer.stdout,
                                    stdout=subprocess.PIPE)
        packer.stdout.close()
        try:
            out = unpacker.communicate(timeout=LONGEST_RUN)[0]
        finally:
            unpacker.kill()
            packer.wait(LONGEST_RUN)
            cat.wait(LONGEST_RUN)
    equal((packer.returncode, unpacker.returncode), (0, 0), "statuses")
    equal(out, data, "content")


def named(blpk, place):
    """A pipe into a named file: header complete, offsets filled."""
    for length in LENGTHS:
        yield "named-%d" % length, into_file, blpk, place, length, dict(codec="lz4")
    for checksum in CHECKSUMS:
        yield ("named-%s" % checksum, into_file, blpk, place, 30_500,
               dict(codec="zstd", checksum=checksum))
    yield "named-metadata", into_file, blpk, place, 30_500, dict(metadata=METADATA)
    yield "named-800-chunks", into_file, blpk, place, 800_000, dict(codec="blosclz")


def into_file(blpk, place, length, wanted):
    data = numbers(length)
    out = place.folder() / "out.blp"
    options = ["-z", CHUNK]
    if "codec" in wanted:
        options += ["-c", wanted["codec"]]
    if "checksum" in wanted:
        options += ["-k", wanted["checksum"]]
    if "metadata" in wanted:
        options += ["-m", place.file("meta.json", json.dumps(wanted["metadata"]).encode())]
    equal(blpk.ok("c", *options, "-", out, stdin=data), b"", "standard output")
    opened(out, data, dict(wanted, offsets=True))
    look = Look(out)
    if length >= CHUNK:
        equal((look.header.nchunks, look.header.chunk_size, look.header.last_chunk),
              calculate_nchunks(length, CHUNK), "number of chunks, chunk size, last chunk")
    equal(blpk.ok("d", out, "-"), data, "content")
    blpk.ok("verify", out)
    if length >= CHUNK:   # otherwise the chunk size is the length, without room to append
        more = place.file("more", b"more" * 99)
        reference_append.append(str(out), str(more))
        equal(blpk.ok("d", out, "-"), data + b"more" * 99, "content with what was appended")


def redirected(blpk, place):
    """`blpk c > out.blp` is a whole file; what is appended to another file stays a stream, which is empty for the
    reference."""
    for length in LENGTHS:
        yield "redirected-%d" % length, into_redirected, blpk, place, numbers(length), []
    for codec in CODECS:
        yield ("redirected-%s" % codec, into_redirected, blpk, place, numbers(30_500),
               ["-c", codec])
    yield "redirected-records", records_redirected, blpk, place
    yield "redirected-appending", appended, blpk, place


def shell(blpk, place, script, data):
    done = subprocess.run(["sh", "-c", script], input=data, cwd=place.folder(), stderr=subprocess.PIPE,
                          env={**os.environ, "BLPK": str(blpk.program)}, timeout=LONGEST_RUN, check=False)
    equal((done.returncode, done.stderr), (0, b""), "status and standard error")


def into_redirected(blpk, place, data, options):
    out = place.folder() / "out.blp"
    script = "cat | \"$BLPK\" c -z %d %s > '%s'" % (CHUNK, " ".join(options), out)
    shell(blpk, place, script, data)
    opened(out, data, dict(offsets=True))
    equal(blpk.ok("d", out, "-"), data, "content")
    more = place.file("more", b"more" * 99)
    if len(data) >= CHUNK and "snappy" not in options:   # the reference's wheel has no Snappy
        reference_append.append(str(out), str(more))
        equal(reference_unpack(out)[0], data + b"more" * 99, "content with what was appended")


def records_redirected(blpk, place):
    """The reference knows no records, but a member of them has its number and the positions of its chunks."""
    out, named_out = place.folder() / "out.blp", place.folder() / "named.blp"
    lines = b"".join(b"line %d\n" % number for number in range(5000))
    shell(blpk, place, "cat | \"$BLPK\" records pack - > '%s'" % out, lines)
    blpk.ok("records", "pack", "-", named_out, stdin=lines)
    equal(out.read_bytes(), named_out.read_bytes(), "the file and one that was named")


def appended(blpk, place):
    out = place.folder() / "out.blp"
    data = numbers(5000)
    shell(blpk, place, "\"$BLPK\" c -z 900 > '%s'" % out, data)
    whole = out.read_bytes()
    shell(blpk, place, "cat | \"$BLPK\" c -z 900 >> '%s'" % out, data)
    equal(out.read_bytes()[:len(whole)], whole, "the first file")
    equal(blpk.ok("d", out, "-"), data + data, "content of both")


def sized(blpk, place):
    """The length is known in advance: the header is one that the reference can
    use, although the target cannot seek."""
    for length in LENGTHS:
        yield "size-%d" % length, with_size, blpk, place, length
        yield "file-to-stdout-%d" % length, from_file, blpk, place, length
    yield "size-too-small", wrong_size, blpk, 30_499
    yield "size-too-large", wrong_size, blpk, 30_501


def with_size(blpk, place, length):
    data = numbers(length)
    stream = blpk.ok("c", "-z", CHUNK, "-k", "md5", "--size", length, stdin=data)
    opened(place.file("out.blp", stream), data,
           dict(chunk_size=CHUNK, offsets=False, checksum="md5"))
    equal(blpk.ok("d", stdin=stream), data, "content")


def from_file(blpk, place, length):
    data = numbers(length)
    stream = blpk.ok("c", "-z", CHUNK, place.file("in", data), "-")
    opened(place.file("out.blp", stream), data, dict(chunk_size=CHUNK, offsets=False))


def wrong_size(blpk, size):
    blpk.status(1, "c", "-z", CHUNK, "--size", size, stdin=numbers(30_500))


def streams(blpk, place):
    """Length unknown: -1 chunks and an end mark, whose absence is reported."""
    for length in LENGTHS:
        yield "ended-%d" % length, ended, blpk, place, length
        yield "cut-%d" % length, cut, blpk, length
    for every in ("700", "2K", "1s"):
        yield "flushed-%s" % every, flushed, blpk, place, every


def ended(blpk, place, length):
    data = numbers(length)
    stream = blpk.ok("c", "-z", CHUNK, "-k", "None", stdin=data)
    chunk_size, last_chunk, nchunks = struct.unpack_from("<iiq", stream, 8)
    equal((last_chunk, nchunks), (-1, -1), "last chunk and number of chunks")
    expect(chunk_size in (-1, CHUNK), "chunk size", chunk_size)
    equal(stream[5] & 1, 0, "offsets flag")
    equal(stream[-16:], END_MARK, "end mark")
    equal(blpk.ok("d", stdin=stream), data, "content")
    path = place.file("stream.blp", stream)
    blpk.ok("verify", path)
    info = blpk.info(path)
    equal((info["state"], info["uncompressed_bytes"]), ("complete", length), "info")


def cut(blpk, length):
    data = numbers(length)
    stream = blpk.ok("c", "-z", CHUNK, "-k", "None", stdin=data)[:-16]
    equal(blpk.status(4, "d", stdin=stream).stdout, data, "content before the cut")
    allowed = blpk.status(0, "d", "--allow-unterminated", stdin=stream)
    equal(allowed.stdout, data, "content, unterminated allowed")
    expect(allowed.stderr, "no warning")


def flushed(blpk, place, every):
    """Uneven chunks: the reference unpacks nothing, as from any stream without a count, and says nothing."""
    data = numbers(5000)
    stream = blpk.ok("c", "--flush-every", every, stdin=data)
    equal(struct.unpack_from("<iiq", stream, 8), (-1, -1, -1), "sizes and number of chunks")
    equal(blpk.ok("d", stdin=stream), data, "content")
    equal(reference_unpack(place.file("stream.blp", stream))[0], b"", "content for the reference")
    even = place.folder() / "even.blp"
    blpk.ok("c", "-", even, stdin=blpk.ok("d", stdin=stream))
    equal(reference_unpack(even)[0], data, "content of a file made of it")


def concatenated(blpk, place):
    data = [numbers(length, seed) for seed, length in enumerate((5000, 1, 7777))]
    files = []
    for number, content in enumerate(data):
        out = place.folder() / "out.blp"
        blpk.ok("c", "-z", 900 + number, place.file("in", content), out)
        files.append(out.read_bytes())
    empty = place.folder() / "out.blp"
    blpk.ok("c", place.file("in", b""), empty)
    stream = blpk.ok("c", "-z", CHUNK, stdin=data[2])
    for name, members, wanted in (
            ("two", files[:2], data[:2]), ("three", files, data),
            ("same-twice", files[:1] * 2, data[:1] * 2),
            ("empty-between", [files[0], empty.read_bytes(), files[1]], data[:2]),
            ("stream-first", [stream, files[0]], [data[2], data[0]]),
            ("stream-last", [files[0], stream], [data[0], data[2]]),
            ("streams", [stream, stream], [data[2], data[2]])):
        yield "concatenated-" + name, members_read, blpk, place, members, wanted
    yield "concatenated-second-damaged", second_damaged, blpk, files


def members_read(blpk, place, members, wanted):
    stream, content = b"".join(members), b"".join(wanted)
    equal(blpk.ok("d", stdin=stream), content, "content from a pipe")
    path = place.file("both.blp", stream)
    equal(blpk.ok("d", path, "-"), content, "content from a file")
    blpk.ok("verify", path)


def second_damaged(blpk, files):
    second = bytearray(files[2])
    second[-40] ^= 4
    done = blpk.status(3, "d", stdin=files[0] + bytes(second))
    expect(done.stderr, "no message")


def manners(blpk, place):
    yield "slow-writer", slow_writer, blpk
    yield "reader-leaves", reader_leaves, blpk, place
    yield "fifo-input", fifo_input, blpk, place
    yield "empty-input", refused, blpk, 4, b""
    yield "cut-in-magic", refused, blpk, 4, b"bl"
    yield "cut-in-header", refused, blpk, 4, b"blpk\3\1\1"
    yield "other-input", refused, blpk, 5, b"\x1f\x8b" + bytes(90)
    yield "metadata-through", metadata_through, blpk, place


def refused(blpk, status, stream):
    done = blpk.status(status, "d", stdin=stream)
    equal(done.stdout, b"", "standard output")
    expect(done.stderr, "no message")


def slow_writer(blpk):
    data = numbers(3001)
    packer = subprocess.Popen([blpk.program, "c", "-z", str(CHUNK)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for at in range(0, len(data), 501):
        packer.stdin.write(data[at:at + 501])
        packer.stdin.flush()
        time.sleep(0.01)
    stream = packer.communicate(timeout=LONGEST_RUN)[0]
    equal(packer.returncode, 0, "status")
    equal(blpk.ok("d", stdin=stream), data, "content")


def reader_leaves(blpk, place):
    """`blpk d big.blp - | head -c 1` prints no message."""
    out = place.folder() / "big.blp"
    blpk.ok("c", place.file("in", numbers(9_000_000)), out)
    unpacker = subprocess.Popen([blpk.program, "d", str(out), "-"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(unpacker.stdout.read(1), numbers(1), "first byte")
    unpacker.stdout.close()
    message = unpacker.stderr.read()
    unpacker.stderr.close()
    status = unpacker.wait(LONGEST_RUN)
    equal(message, b"", "standard error")
    expect(status in (0, -13, 141), "status", status)


def fifo_input(blpk, place):
    """A named FIFO: the reference writes an empty file, we write the content."""
    data = numbers(5000)
    fifo = place.folder() / "fifo"
    os.mkfifo(fifo)
    out = fifo.with_name("out.blp")
    packer = subprocess.Popen([blpk.program, "c", "-z", str(CHUNK), str(fifo), str(out)])
    try:
        with open(fifo, "wb") as file:
            file.write(data)
        equal(packer.wait(LONGEST_RUN), 0, "status")
    finally:
        packer.kill()
    equal(reference_unpack(out)[0], data, "content")


def metadata_through(blpk, place):
    data = numbers(5000)
    metadata = place.file("meta.json", json.dumps(METADATA).encode())
    stream = blpk.ok("c", "-m", metadata, stdin=data)
    back = place.folder() / "meta.json"
    equal(blpk.ok("d", "--metadata-out", back, stdin=stream), data, "content")
    if json.loads(back.read_text(encoding="utf-8")) != METADATA:
        raise Failure("metadata differs: " + back.read_text(encoding="utf-8"))
