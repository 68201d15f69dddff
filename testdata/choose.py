#!/usr/bin/env python3
"""Chooses the test data in `bloscpack` from the full corpus.

    python3 testdata/choose.py CORPUS/bloscpack target/testdata/bloscpack

Selects the smallest files that together show every trait of the corpus (see
`traits`), and writes the part of the manifest that the tests need. Leaves out
files made from prose.
"""

import hashlib
import json
import shutil
import struct
import sys
from pathlib import Path

PROSE = ("text", "rep300k")
KEPT = ("file", "group", "format", "raw_len", "raw_sha256", "header", "metadata",
        "header_hex", "metadata_raw", "metadata_header", "offsets", "first_chunk_at", "nchunks",
        "trailing_bytes", "file_sha256")
DIGEST = {"None": 0, "adler32": 4, "crc32": 4, "md5": 16, "sha1": 20, "sha224": 28,
          "sha256": 32, "sha384": 48, "sha512": 64}
CODEC = ("blosclz", "lz4", "snappy", "zlib", "zstd")
WHOLE_GROUPS = ("appended", "handmade-spec-valid", "metadata-values",
                "metadata-rewritten", "bcolz-chunk-file")
WHOLE_GROUP_LIMIT = 13_000   # bytes per file in those groups


def chunks(entry, content):
    """The Blosc header of each chunk, with its position."""
    at = entry["first_chunk_at"]
    for _ in range(entry["nchunks"]):
        version, _, flags, typesize, nbytes, blocksize, ctbytes = struct.unpack_from(
            "<4B3I", content, at)
        assert version == 2, entry["file"]
        yield dict(at=at, flags=flags, typesize=typesize, nbytes=nbytes, blocksize=blocksize)
        at += ctbytes + DIGEST[entry["header"].get("checksum", "None")]
    assert len(content) - at == entry["trailing_bytes"], entry["file"]


def offsets(entry, content):
    """The counted entries of the table of offsets, read from the file itself."""
    header = entry["header"]
    if not (header.get("offsets") or header.get("options", 0) & 1):
        return []
    spare = header.get("max_app_chunks", 0)
    at = entry["first_chunk_at"] - 8 * (entry["nchunks"] + spare)
    table = list(struct.unpack_from("<%dq" % entry["nchunks"], content, at))
    listed = entry["offsets"]
    if entry.get("offsets_elided"):
        assert listed == table[:6] + table[-2:], entry["file"]
    else:
        assert listed == table, entry["file"]
    return table


def traits(entry, content):
    header, section = entry["header"], entry.get("metadata_header")
    layout, checksum = str(entry["format"]), header.get("checksum")
    with_offsets = bool(header.get("offsets") or header.get("options", 0) & 1)
    with_metadata = bool(header.get("metadata") or entry.get("metadata_raw"))
    yield "group", entry["group"], layout
    yield "made by", entry["made_by"]
    yield "input", entry["input"] and entry["input"].rstrip("0123456789")
    yield "axes", layout, checksum, with_offsets, with_metadata
    yield "trailing", layout, entry["trailing_bytes"] > 0
    yield "count", layout, min(entry["nchunks"], 5), entry["nchunks"] > 50
    yield "unknown", layout, [key for key, value in header.items() if value == -1]
    yield "spare", min(header.get("max_app_chunks", 0), 1001)
    if entry["raw_len"] < 300:
        yield "length", entry["raw_len"]
    if section:
        yield "section", section["meta_checksum"], section["meta_codec"]
        yield "section level", section["meta_level"]
        yield "section full", section["max_meta_size"] == section["meta_comp_size"]
    if entry.get("numpy"):
        yield "dtype", entry["numpy"]["dtype_str"], entry["numpy"].get("order")
        yield "dimensions", len(entry["numpy"]["shape"]), layout
    for chunk in chunks(entry, content):
        flags, typesize = chunk["flags"], chunk["typesize"]
        blocks = -(-chunk["nbytes"] // max(chunk["blocksize"], 1))
        tail = bool(chunk["nbytes"] % max(chunk["blocksize"], 1))
        if flags & 2:   # pure copies are large and all alike
            yield "copy", layout, chunk["nbytes"] > 0
            continue
        codec = CODEC[flags >> 5]
        yield "chunk", layout, codec, flags
        yield "typesize", codec, typesize, flags & 5
        yield "blocks", codec, flags & 0x15, min(blocks, 3), tail
        yield "nbytes", min(chunk["nbytes"], 20)


def cover(candidates, always):
    """The smallest of the candidates `(entry, content, traits)` that show all traits, plus those always taken."""
    candidates, chosen, seen = list(candidates), [], set()

    def take(one):
        candidates.remove(one)
        chosen.append(one)
        seen.update(one[2])

    for one in list(candidates):
        if always(one[0], one[1]):
            take(one)
    while candidates:
        one = max(candidates, key=lambda one: len(one[2] - seen) / (len(one[1]) + 2000))
        if not one[2] - seen:
            break
        take(one)
    return chosen, seen


def main(corpus, target):
    manifest = json.loads((corpus / "manifest.json").read_text())
    files = [entry for entry in manifest["files"] if entry["input"] not in PROSE]
    candidates = []
    for entry in files:
        content = (corpus / entry["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == entry["file_sha256"], entry["file"]
        found = {json.dumps(trait) for trait in traits(entry, content)}
        candidates.append((entry, content, found))

    chosen, seen = cover(candidates, lambda entry, content: (
        entry["group"] in WHOLE_GROUPS and len(content) <= WHOLE_GROUP_LIMIT))

    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    order = {entry["file"]: number for number, entry in enumerate(files)}
    chosen.sort(key=lambda one: order[one[0]["file"]])
    kept = []
    for entry, content, _ in chosen:
        (target / entry["file"]).write_bytes(content)
        part = {key: entry[key] for key in KEPT if key in entry}
        part["offsets"] = offsets(entry, content)
        kept.append(part)
    lines = ",\n".join(json.dumps(part) for part in kept)
    (target / "manifest.json").write_text(
        '{"count": %d, "files": [\n%s\n]}\n' % (len(kept), lines))
    total = sum(len(content) for _, content, _ in chosen)
    print("%d files of %d, %d bytes, %d traits" % (len(kept), len(files), total, len(seen)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
