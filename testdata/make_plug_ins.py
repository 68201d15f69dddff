#!/usr/bin/env python3
"""Makes `plug_ins`: arrays of python-blosc2 4.14.1 with the filters and compressors that C-Blosc2 has as plug-ins, and frames of
objects. `manifest.json` has the digest of each array as python-blosc2 reads it, and the objects as JSON.

usage: make_plug_ins.py [DIRECTORY]
  DIRECTORY   default: target/testdata/plug_ins
Needs `pip install blosc2==4.14.1`.
"""
import hashlib
import json
import shutil
import sys
from pathlib import Path

import blosc2
import numpy

SHUFFLE, BITSHUFFLE = blosc2.Filter.SHUFFLE, blosc2.Filter.BITSHUFFLE
BYTEDELTA, NDCELL, NDMEAN, INT_TRUNC = blosc2.Filter.BYTEDELTA, blosc2.Filter.NDCELL, blosc2.Filter.NDMEAN, blosc2.Filter.INT_TRUNC
FIRST_BYTEDELTA = 34
SHAPE, CHUNKS, BLOCKS = (60, 50), (31, 26), (13, 9)

FILTERS = {
    "bytedelta": ("<f8", [SHUFFLE, BYTEDELTA], [0, 8]),
    "bytedelta_bits": ("<i4", [BITSHUFFLE, BYTEDELTA], [0, 4]),
    "bytedelta_first": ("<i2", [SHUFFLE, FIRST_BYTEDELTA], [0, 2]),
    "ndcell": ("<f4", [NDCELL, SHUFFLE], [4, 0]),
    "ndmean": ("<f8", [NDMEAN, SHUFFLE], [3, 0]),
    "int_trunc": ("<u4", [INT_TRUNC, SHUFFLE], [26, 0]),
}
CODECS = {
    "ndlz4": ("u1", blosc2.Codec.NDLZ, 4),
    "ndlz8": ("u1", blosc2.Codec.NDLZ, 8),
    "zfp_accuracy": ("<f8", blosc2.Codec.ZFP_ACC, 253),
    "zfp_precision": ("<f4", blosc2.Codec.ZFP_PREC, 9),
    "zfp_rate": ("<f8", blosc2.Codec.ZFP_RATE, 12),
}
OBJECTS = [None, True, -1, 2**64 - 1, 0.5, "né", b"\xff", [1, "x"], (1, 2), {"a": [None, {"b": 1.5}]}, 1 + 2j, {7}]
AS_JSON = [None, True, -1, 2**64 - 1, 0.5, "né", {"hex": "ff"}, [1, "x"], [1, 2], {"a": [None, {"b": 1.5}]}, [1.0, 2.0], [7]]
LISTS = [[1, 2], [], None, [3]]


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "target" / "testdata" / "plug_ins"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    blosc2.set_nthreads(1)
    manifest = {"arrays": {}, "objects": {}}
    smooth = numpy.add.outer(numpy.arange(SHAPE[0]) ** 2, numpy.arange(SHAPE[1]) * 7) % 1000
    settings = {name: (dtype, {"filters": filters, "filters_meta": metas}) for name, (dtype, filters, metas) in FILTERS.items()}
    for name, (dtype, codec, meta) in CODECS.items():
        plain = {"filters": [blosc2.Filter.NOFILTER], "filters_meta": [0]}
        settings[name] = dtype, {"codec": codec, "codec_meta": meta, **plain}
    for name, (dtype, cparams) in settings.items():
        file = name + ".b2nd"
        values = (smooth % 5 if dtype == "u1" else smooth).astype(dtype)
        blosc2.asarray(values, urlpath=str(folder / file), chunks=CHUNKS, blocks=BLOCKS, cparams={"nthreads": 1, **cparams})
        read = blosc2.open(str(folder / file), mode="r")[:]
        manifest["arrays"][file] = hashlib.sha256(numpy.ascontiguousarray(read).tobytes()).hexdigest()
    put = lambda name, make, **more: make(urlpath=str(folder / name), mode="w", contiguous=True, **more)
    objects = put("objects.b2frame", blosc2.ObjectArray)
    objects.extend(OBJECTS)
    batches = put("batches.b2frame", blosc2.BatchArray, items_per_block=2)
    batches.append(OBJECTS[:5])
    batches.append(OBJECTS[5:])
    lists = put("lists.b2frame", blosc2.ListArray, item_spec=blosc2.int64(), nullable=True)
    lists.extend(LISTS)
    lists.flush()
    put("none.b2frame", blosc2.ObjectArray)
    frame = put("frame.b2frame", blosc2.ObjectArray)
    frame.append(blosc2.arange(3))
    manifest["objects"] = {"objects.b2frame": AS_JSON, "batches.b2frame": AS_JSON, "lists.b2frame": LISTS, "none.b2frame": []}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
