#!/usr/bin/env python3
"""Chooses the test data in `datasets` from the full corpora of directory datasets.

    python3 testdata/choose_datasets.py CORPUS target/testdata/datasets

Like `choose.py`, selects the smallest datasets that together show every trait of
the corpora (see `traits`), and writes the part of each manifest that the tests
need.
"""

import json
import re
import shutil
import struct
import sys
from pathlib import Path

from choose import CODEC, cover

LARGEST = 36_000   # bytes
CORPORA = ("bcolz", "bcolz-legacy", "blz", "carray05")
KEPT = ("name", "kind", "writer", "note", "attrs", "names", "rootdirs", "compare", "object_repr",
        "recoverable_rows", "recoverable_sha256_le", "writer_error", "writer_can_reopen")
KEPT_OF_ARRAY = ("name", "dtype", "shape", "attrs", "storage", "sizes", "sha256_native",
                 "sha256_le")


def files(folder):
    """The paths of the files below a dataset's folder, with their bytes."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def arrays(entry):
    """The array, or the columns, each with its path prefix."""
    if "columns" in entry:
        return [(column, column["name"] + "/") for column in entry["columns"]]
    return [(entry, "")] if "dtype" in entry else []


def length(rows, chunklen):
    return "none" if rows == 0 else "less" if rows < chunklen else "over" if rows % chunklen else "full"


def traits(entry, content):
    """The traits of a dataset."""
    writer = re.sub(r" .*1\.13.*", " 1.13", entry["writer"])
    yield "writer", entry["writer"], entry["kind"]
    yield "note", entry["kind"], entry["note"]
    yield "error", writer, entry.get("writer_error"), entry.get("writer_can_reopen") is True
    yield "columns", writer, len(entry.get("names", [])), "files" if content else "none"
    yield "attributes", len(entry.get("attrs", {})) > 0, entry["kind"]
    for name in entry.get("names", []):
        yield "column", name.isascii()
    for array, at in arrays(entry):
        storage, sizes = array["storage"], array["sizes"]
        params = storage.get("cparams") or storage["bparams"]
        rows, chunklen = array["shape"][0], storage["chunklen"]
        yield "dtype", array["dtype"]
        yield "dtype and program", writer.split()[0], re.sub(r"\d+", "", array["dtype"])
        yield "dimensions", writer, len(array["shape"])
        yield "rows", writer.split()[0], length(rows, chunklen)
        yield "params", writer, [(key, str(type(params[key]))) for key in sorted(params)]
        yield "compressor", writer, params.get("cname")
        yield "filter of a compressor", params.get("cname"), params["shuffle"]
        yield "quantize", params.get("quantize", 0), array["dtype"]
        yield "default", str(type(storage["dflt"])), str(storage["dflt"])[:3] in ("nan", "inf", "-in")
        yield "cbytes", sizes["cbytes"] < 0
        expected = -(-rows // chunklen)
        found = [path for path in content if path.startswith(at + "data/")]
        yield "superchunks", writer, (len(found) > expected) - (len(found) < expected)
        for path in found:
            yield from chunk_traits(writer, content[path])


def chunk_traits(writer, file):
    flags, typesize, nbytes, blocksize = struct.unpack_from("<2x2B2I", file, 16)
    if flags & 2:   # pure copies are all alike
        yield "copy", writer
        return
    blocks = -(-nbytes // blocksize)
    yield "chunk", writer, CODEC[flags >> 5]
    yield "filter", CODEC[flags >> 5], flags & 5
    yield "blocks", CODEC[flags >> 5], flags & 0x15, min(blocks, 2), nbytes % blocksize > 0
    yield "typesize", CODEC[flags >> 5], typesize


def candidates(corpus):
    """`(entry, bytes, traits)` of all datasets; `cover` uses only the number of bytes."""
    for entry in json.loads((corpus / "manifest.json").read_text())["datasets"]:
        content = files(corpus / entry["name"])
        found = {json.dumps(trait) for trait in traits(entry, content)}
        size = sum(map(len, content.values()))
        if size <= LARGEST:
            yield dict(entry, corpus=corpus.name), bytes(size), found


def write(corpus, target, entries):
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    kept = [keep(entry, corpus, target) for entry in entries]
    lines = ",\n".join(json.dumps(part) for part in kept)
    (target / "manifest.json").write_text(
        '{"count": %d, "datasets": [\n%s\n]}\n' % (len(kept), lines))
    found = [path for path in target.rglob("*") if path.is_file()]
    print("%s: %d datasets, %d files, %d bytes" % (
        corpus.name, len(kept), len(found), sum(path.stat().st_size for path in found)))


def keep(entry, corpus, target):
    """Copies a dataset, and returns its part of the manifest."""
    for path, content in files(corpus / entry["name"]).items():
        copy = target / entry["name"] / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
    root = Path(entry["name"]).parts[0]
    if (corpus / root / "metadata.json").is_file():
        shutil.copy(corpus / root / "metadata.json", target / root)
    part = {key: entry[key] for key in KEPT if key in entry}
    if "columns" in entry:
        part["columns"] = [{key: column[key] for key in KEPT_OF_ARRAY if key in column}
                           for column in entry["columns"]]
    part.update((key, entry[key]) for key in KEPT_OF_ARRAY if key in entry)
    if entry.get("compare") == "fields":
        part["npy"] = entry["npy"]
        shutil.copy(corpus / entry["npy"], target)
    return part


def main(corpora, target):
    everything = [one for name in CORPORA for one in candidates(corpora / name)]
    chosen, seen = cover(everything, lambda entry, size: False)
    for name in CORPORA:
        entries = [one[0] for one in everything if one in chosen and one[0]["corpus"] == name]
        write(corpora / name, target / name, entries)
    print("%d datasets of %d, %d traits" % (len(chosen), len(everything), len(seen)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
