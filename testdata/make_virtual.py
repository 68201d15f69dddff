#!/usr/bin/env python3
"""Makes `virtual`: frames and stores of python-blosc2 4.14.1 whose elements are not, or not all, in them.
usage: make_virtual.py [DIRECTORY]
  DIRECTORY   default: target/testdata/virtual
Needs `pip install blosc2==4.14.1 fsspec`.
"""
import dataclasses
import json
import os
import shutil
import sys
from pathlib import Path

import blosc2
import fsspec
import numpy
from blosc2 import b2objects, proxy_source

# Blocks of small chunks are worth a request of their own, too.
proxy_source.BLOCK_MIN_CBYTES = 0

SHAPE, CHUNKS, BLOCKS = (10, 14), (6, 8), (2, 3)


@blosc2.dsl_kernel
def kernel(x, y):
    return x * y + 1


def function(inputs, output, offset):
    output[:] = inputs[0] + inputs[1]


@dataclasses.dataclass
class Row:
    price: float = blosc2.field(blosc2.float64())
    count: int = blosc2.field(blosc2.int64())


def elements(first):
    return numpy.arange(first, first + 140, dtype="f8").reshape(SHAPE)


def new(name, first):
    return blosc2.asarray(elements(first), chunks=CHUNKS, blocks=BLOCKS, urlpath=name, mode="w")


def plain(name):
    """The frame as it is, not what it stands for."""
    return blosc2.blosc2_ext.open(name, "a", 0)


def present(proxy):
    """A digit for each element: 1 if the proxy has fetched it."""
    blocks = [-(-chunk // block) for chunk, block in zip(CHUNKS, BLOCKS)]
    digits = ""
    for at in numpy.ndindex(*SHAPE):
        chunk = [a // c for a, c in zip(at, CHUNKS)]
        block = [a % c // b for a, c, b in zip(at, CHUNKS, BLOCKS)]
        number = int(numpy.ravel_multi_index(chunk, (2, 2)))
        block = int(numpy.ravel_multi_index(block, blocks)) if proxy._blocks_per_chunk > 1 else 0
        digits += str(int(proxy._is_fetched(number, block)))
    return digits


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.chdir(folder)
    a, b = new("a.b2nd", 1), new("b.b2nd", 2)
    manifest = {}

    def note(path, kind, digits=None, **facts):
        manifest[path] = {"kind": kind, "present": digits or "0" * 140, **facts}

    expression = {"definition": "(o1 + (o0 * 2))", "operands": {"o0": "b.b2nd", "o1": "a.b2nd"}}
    (a + b * 2).save("expression.b2nd")
    note("expression.b2nd", "lazy expression", **expression)
    (a + b * 2).save("expression_sparse", contiguous=False)
    note("expression_sparse", "lazy expression", **expression)
    # As python-blosc2 wrote them before version 4.
    old = blosc2.empty(SHAPE, "f8", chunks=CHUNKS, blocks=BLOCKS, urlpath="expression_old.b2nd", meta={"LazyArray": 0})
    old.schunk.vlmeta["_LazyArray"] = expression | {"expression": expression["definition"]}
    note("expression_old.b2nd", "lazy expression", **expression)

    operands = {"o0": "a.b2nd", "o1": "b.b2nd"}
    blosc2.lazyudf(kernel, (a, b), dtype=numpy.float64).save("kernel.b2nd")
    note("kernel.b2nd", "user function", name="kernel", operands=operands)
    blosc2.lazyudf(function, (a, b), dtype=numpy.float64, shape=SHAPE).save("function.b2nd")
    note("function.b2nd", "user function", name="function", operands=operands)

    server = {"operands": {"source": "https://example.org/api/@public/x.b2nd"}}
    far = b2objects.make_b2object_carrier("c2array", SHAPE, "f8", chunks=CHUNKS, blocks=BLOCKS, urlpath="server.b2nd")
    reference = blosc2.Ref.c2array_ref("@public/x.b2nd", "https://example.org/api/")
    b2objects.write_b2object_payload(far, reference.to_dict())
    note("server.b2nd", "remote array", **server)

    local = {"operands": {"source": "a.b2nd"}}
    for name, wanted, options in [
        ("proxy_none.b2nd", None, {}),
        ("proxy_chunk.b2nd", (slice(0, 3), slice(9, 14)), {}),
        ("proxy_all.b2nd", (), {}),
        ("proxy_sparse", (slice(7, 9), slice(0, 2)), {"contiguous": False}),
        ("proxy_old.b2nd", (slice(0, 3), slice(0, 2)), {}),
        ("proxy_dirty.b2nd", (), {}),
    ]:
        proxy = blosc2.Proxy(a, urlpath=name, mode="w", **options)
        if wanted is not None:
            proxy.fetch(wanted)
        note(name, "proxy", None if "dirty" in name else present(proxy), **local)
    # As python-blosc2 wrote them before version 4, and as an interrupted program leaves them.
    proxy = plain("proxy_old.b2nd")
    del proxy.schunk.vlmeta["proxy-fetched"]
    proxy = plain("proxy_dirty.b2nd")
    proxy.schunk.vlmeta["proxy-dirty"] = {"pid": 1, "version": 1}

    with fsspec.open("memory://bucket/a.b2nd", "wb") as to:
        to.write(Path("a.b2nd").read_bytes())
    url = {"operands": {"source": "memory://bucket/a.b2nd"}}
    source = blosc2.FsspecNDSource("memory://bucket/a.b2nd")
    proxy = blosc2.Proxy(source, urlpath="proxy_blocks.b2nd", mode="w")
    for wanted in [(slice(1, 2), slice(3, 5)), (slice(8, 10), slice(9, 10))]:
        assert (proxy[wanted] == elements(1)[wanted]).all()
    digits = present(proxy)
    assert 0 < digits.count("1") < 35, "whole chunks were fetched"
    note("proxy_blocks.b2nd", "proxy", digits, **url)
    remote = blosc2.RemoteArray("memory://bucket/a.b2nd", cache_path="remote.b2nd", cache_policy=blosc2.CachePolicy.DISK)
    assert remote[7, 1] == elements(1)[7, 1]
    note("remote.b2nd", "remote array", present(remote._proxy), **url)
    remote = blosc2.RemoteArray("memory://bucket/a.b2nd", cache_path="remote_all.b2nd", cache_policy=blosc2.CachePolicy.DISK)
    assert (remote[:] == elements(1)).all()
    note("remote_all.b2nd", "remote array", present(remote._proxy), **url)
    b2objects.write_b2object_user_vlmeta(remote._carrier, {"unit": "K"})

    chunks = blosc2.SChunk(chunksize=400, data=elements(1).tobytes(), urlpath="chunks.b2frame", mode="w", cparams={"typesize": 8})
    proxy = blosc2.Proxy(chunks, urlpath="proxy_chunks.b2frame", mode="w")
    proxy[60:70]

    # A frame in a tree keeps what it is.
    with blosc2.EmbedStore("tree.b2e", mode="w") as tree:
        tree["/a"] = a
        tree["/lazy"] = a + b * 2
    with blosc2.DictStore("tree.b2z", mode="w", threshold=None) as tree:
        tree["/a"] = a
        tree["/lazy"] = blosc2.open("expression.b2nd", deserialize="full")
    with blosc2.TreeStore("source.b2z", mode="w") as tree:
        tree["/x/a"] = a
        tree["/b"] = b
    with fsspec.open("memory://bucket/source.b2z", "wb") as to:
        to.write(Path("source.b2z").read_bytes())
    store = blosc2.open("memory://bucket/source.b2z", lazy=True)
    assert store["/x/a"][7, 1] == elements(1)[7, 1]
    store.save("remote.b2z")
    Path("source.b2z").unlink()

    table = blosc2.CTable(Row, urlpath="table.b2z", mode="w")
    table.extend([(1.5, 2), (2.5, 4), (3.0, 10)])
    table.add_computed_column("total", "price * count")
    table.close()
    table = blosc2.CTable(Row, urlpath="stale.b2z", mode="w")
    table.extend([(1.5, 2), (2.5, 4), (3.0, 10)])
    table.add_generated_column("total", values="price * count", dtype="f8")
    table["price"][0] = 100.0
    table.close()
    Path("manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "target/testdata/virtual").absolute())
