#!/usr/bin/env python3
"""Chooses the test data in `frames` from the full corpora of Blosc2 frames.

    python3 testdata/choose_frames.py CORPUS target/testdata/frames

Like `choose.py`, selects the smallest frames that together show every trait of
the corpora (see `traits`), and writes the part of each manifest that the tests
need. A sparse frame is a folder.
"""

import json
import shutil
import struct
import sys
from pathlib import Path

from choose import cover
from choose_datasets import files

LARGEST = 20_000   # bytes
CORPORA = ("caterva", "b2nd")
KEPT = ("file", "layout", "metalayer", "shape", "chunkshape", "blockshape", "typesize", "dtype",
        "dtype_hint", "codec", "clevel", "filters", "nbytes", "sha256", "metalayers",
        "vlmetalayers", "writer", "note")
HEADER = struct.Struct(">10x xIxQ xBBBB xqxqxixixixhxhB")   # up to the flag for vlmetalayers
REPEATED = 3


def contents(path):
    """The files of a frame by name; the name of a contiguous frame is empty."""
    return files(path) if path.is_dir() else {"": path.read_bytes()}


def traits(entry, content):
    """The traits of a frame: of its header, its index, and its metalayers."""
    frame = content.get("", content.get("chunks.b2frame"))
    fields = HEADER.unpack_from(frame)
    header_len, _, flags, kind, _, _, content_len, section_len, _, _, chunk_size, *_ = fields
    axes, name = len(entry["shape"]), entry["metalayer"]
    yield "kind", name, kind, flags
    yield "axes", name, axes if axes in (0, 8, 16) else "some"
    yield "size of chunks", chunk_size > 0, content_len > 0, section_len > 0
    yield "metalayers", len(entry.get("metalayers", [])) > 1
    yield "vlmetalayers", kind, len(entry.get("vlmetalayers", {})) > 0
    yield "dtype", entry.get("dtype", "").startswith("[")
    if kind == 1:
        chunks = 0 if content_len == 0 else -(-content_len // chunk_size)
        stored = len(content) - 1
        yield "files of chunks", (stored > chunks) - (stored < chunks)
    if name == "caterva":
        yield "stale bytes", len(entry["metalayers"][name]) // 2 > 6 + 19 * axes
    if content_len:
        index = frame[header_len + (0 if kind else section_len):]
        special = index[31] >> 4
        yield "index", special, index[39] if special == REPEATED else 0


def candidates(corpus):
    """`(entry, bytes, traits)` of all frames; `cover` uses only the number of bytes."""
    for entry in json.loads((corpus / "manifest.json").read_text())["entries"]:
        content = contents(corpus / entry["file"])
        found = {json.dumps(trait) for trait in traits(entry, content)}
        size = sum(map(len, content.values()))
        if size <= LARGEST:
            yield dict(entry, corpus=corpus.name), bytes(size), found


def write(corpus, target, entries):
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for entry in entries:
        copy = shutil.copytree if (corpus / entry["file"]).is_dir() else shutil.copy
        copy(corpus / entry["file"], target / entry["file"])
    kept = [{key: entry[key] for key in KEPT if key in entry} for entry in entries]
    lines = ",\n".join(json.dumps(part) for part in kept)
    (target / "manifest.json").write_text(
        '{"count": %d, "entries": [\n%s\n]}\n' % (len(kept), lines))
    found = [path for path in target.rglob("*") if path.is_file()]
    print("%s: %d frames, %d files, %d bytes" % (
        corpus.name, len(kept), len(found), sum(path.stat().st_size for path in found)))


def main(corpora, target):
    everything = [one for name in CORPORA for one in candidates(corpora / name)]
    chosen, seen = cover(everything, lambda entry, size: False)
    for name in CORPORA:
        entries = [one[0] for one in everything if one in chosen and one[0]["corpus"] == name]
        write(corpora / name, target / name, entries)
    print("%d frames of %d, %d traits" % (len(chosen), len(everything), len(seen)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
