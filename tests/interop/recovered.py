"""The reference opens the output of `blpk recover`; the damaged files are the reference's own, so
recovery reads what the reference wrote."""

import json

import bloscpack
from bloscpack import BloscArgs, BloscpackArgs

from common import CHECKSUMS, METADATA, Look, equal, expect, numbers
from written import opened

CASES = 90
CHUNK, LENGTH, TYPESIZE = 3000, 25_007, 4


def run(tally, blpk, reference, place):
    tally.cases(grid(blpk, place))
    tally.cases(own(blpk, place))


def grid(blpk, place):
    """Every checksum, with and without offsets and metadata, each damaged in several ways."""
    data = numbers(LENGTH)
    for checksum in CHECKSUMS[1:]:
        for offsets in (True, False):
            for metadata in (None, METADATA):
                path = place.folder() / "sound.blp"
                bloscpack.pack_bytes_to_file(
                    data, str(path), chunk_size=CHUNK, metadata=metadata,
                    blosc_args=BloscArgs(typesize=TYPESIZE),
                    bloscpack_args=BloscpackArgs(offsets=offsets, checksum=checksum))
                name = "%s-%s-%s" % (checksum, offsets, metadata is not None)
                for damage in (header, hole, cut):
                    yield ("%s-%s" % (name, damage.__name__), recovered, blpk, place,
                           path, data, checksum, metadata, damage)


def header(file, look):
    """Loses no content, only the header's information about its end."""
    return bytes(32) + file[32:], []


def hole(file, look):
    """Overwrites the body of chunk 4 and the whole of chunk 6."""
    for number in (4, 6):
        start = look.positions[number] + (30 if number == 4 else 0)
        end = look.positions[number + 1]
        file = file[:start] + b"\xee" * (end - start) + file[end:]
    return file, [4, 6]


def cut(file, look):
    return file[:look.positions[7] + 5], [7, 8]


def recovered(blpk, place, path, data, checksum, metadata, damage):
    bad, lost = damage(path.read_bytes(), Look(path))
    bad_path = place.file("bad.blp", bad)
    out = bad_path.with_name("out.blp")
    done = blpk.run("recover", "--json", bad_path, out)
    report = json.loads(done.stdout)
    expect(done.returncode == (0 if report["complete"] else 3), "status", done.returncode)
    chunks = [data[at:at + CHUNK] for at in range(0, len(data), CHUNK)]
    kept = b"".join(chunk for number, chunk in enumerate(chunks) if number not in lost)
    equal(report["chunks"], len(chunks) - len(lost), "chunks")
    opened(out, kept, dict(checksum=checksum, offsets=True, typesize=TYPESIZE,
                           chunk_size=CHUNK, metadata=metadata))
    blpk.ok("verify", out)
    if lost:
        filled = out.with_name("filled.blp")
        blpk.status(3, "recover", "--fill", bad_path, filled)
        whole = b"".join(bytes(len(chunk)) if number in lost else chunk
                         for number, chunk in enumerate(chunks))
        opened(filled, whole, dict(checksum=checksum, metadata=metadata))


def own(blpk, place):
    """Streams and concatenations, which only `blpk` writes."""
    data = numbers(LENGTH, 3)
    stream = blpk.ok("c", "-z", CHUNK, stdin=data)
    for name, bad, chunks in (
            ("cut-stream", stream[:-30], 8),
            ("two-streams", stream + stream, 18),
            ("sound-stream", stream, 9)):
        yield name, from_stream, blpk, place, bad, data, chunks


def from_stream(blpk, place, bad, data, chunks):
    path = place.file("bad", bad)
    out = path.with_name("out.blp")
    done = blpk.run("recover", path, out)
    expect(done.returncode in (0, 3), "status", done.returncode)
    wanted = (data + data)[:chunks * CHUNK] if chunks < 9 else data * (chunks // 9)
    opened(out, wanted, dict(offsets=True))
