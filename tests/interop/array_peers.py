"""Arrays as the library, Caterva and python-blosc2 write and read them.

Where one of them is known to misread its own arrays, it is asked in another way, or not at all:

- with the delta filter, slices of both, and whole reads of python-blosc2, decode blocks without the first one, which they
  need; Caterva's `to_buffer` and single chunks of python-blosc2 are right;
- python-blosc2 opens Caterva arrays as plain chunks, which are assembled here.
"""

import blosc2
import msgpack
import numpy

from array_model import DTYPES, box, planes, slices
from common import equal, expect

CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
KINDS = ("caterva", "b2nd")
META = {"unit": msgpack.packb("metres"), "axes": msgpack.packb([1, {"t": None}])}
VLMETA = {"note": msgpack.packb("x" * 5000), "n": msgpack.packb(3)}


# Writers ---------------------------------------------------------------------

def create(ours, path, model, fields):
    told = {"meta": hexed(META), "vlmeta": hexed(VLMETA)}
    if fields["kind"] == "b2nd":
        told["dtype"] = DTYPES.get(model.itemsize)
    ours.call("create", path=str(path), shape=model.shape, itemsize=model.itemsize, chunks=model.chunks,
              blocks=model.blocks, **{**told, **fields})
    ours.call("set", model.elements, slice=[(0, length) for length in model.shape])
    ours.call("flush")
    ours.close()


def hexed(layers):
    return {name: content.hex() for name, content in layers.items()}


def theirs(peers, path, model, fields):
    """Has Caterva or python-blosc2, depending on the kind, write an array."""
    if fields["kind"] == "caterva":
        peers.caterva.call("create", model.elements, path=str(path), shape=model.shape, itemsize=model.itemsize,
                           chunks=model.chunks, blocks=model.blocks, meta=hexed(META),
                           **{name: fields[name] for name in ("compressor", "level", "filters", "sparse")})
        peers.caterva.close()
        return
    blosc2.asarray(as_typed(model), chunks=model.chunks, blocks=model.blocks, urlpath=str(path),
                   contiguous=not fields["sparse"], cparams=cparams(fields),
                   meta={name: msgpack.unpackb(layer) for name, layer in META.items()})


def as_typed(model):
    """The elements as a NumPy array, of a dtype that `b2nd` can name."""
    return numpy.ascontiguousarray(model.elements).view(DTYPES[model.itemsize])[..., 0]


def cparams(fields):
    names = {"shuffle": blosc2.Filter.SHUFFLE, "bitshuffle": blosc2.Filter.BITSHUFFLE, "delta": blosc2.Filter.DELTA}
    return {"codec": getattr(blosc2.Codec, fields["compressor"].upper()), "clevel": fields["level"],
            "filters": [names[name] for name in fields["filters"]],
            "filters_meta": [0 for _ in fields["filters"]], "nthreads": 1}


# Readers ---------------------------------------------------------------------

def all_read(peers, path, model, fields, rng, meta=META, vlmeta=VLMETA):
    """Every reader that supports the array reads the same."""
    has_delta = "delta" in fields["filters"]
    ours_reads(peers.ours, path, model, fields["kind"], rng, meta, vlmeta)
    if fields["kind"] == "b2nd":
        blosc2_reads(path, model, has_delta, rng, meta, vlmeta)
        return
    if peers.caterva:
        caterva_reads(peers.caterva, path, model, has_delta, rng, meta)
    blosc2_reads_chunks(path, model, meta, vlmeta)
    if path.is_file() and not has_delta and 0 not in model.shape:
        blosc2_reads_frame(path, model)


def wheres(model, rng):
    yield [(0, length) for length in model.shape]
    yield from planes(rng, model.shape)
    for _ in range(4):
        yield box(rng, model.shape)


def same(found, model, where, who):
    expect(found == model.bytes(where), "%s: other elements in %s" % (who, where))


def has_form(found, model, who):
    equal((tuple(found["shape"]), tuple(found["chunks"]), tuple(found["blocks"]), found["itemsize"]),
          (model.shape, model.chunks, model.blocks, model.itemsize), "%s: form" % who)


def ours_reads(ours, path, model, kind, rng, meta=None, vlmeta=None):
    ours = ours.reader or ours
    ours.open(path)
    found = ours.info()
    has_form(found, model, "ours")
    equal(found["kind"], kind, "kind")
    if meta is not None:
        equal({name: layer for name, layer in found["meta"].items() if name not in KINDS}, hexed(meta), "ours: meta")
        equal(found["vlmeta"], hexed(vlmeta), "ours: vlmeta")
    for where in wheres(model, rng):
        same(ours.read(slice=where), model, where, "ours")
    equal(ours.call("verify")[0]["sound"], True, "ours: sound")
    ours.close()


def caterva_reads(caterva, path, model, has_delta, rng, meta):
    caterva.open(path)
    found = caterva.info()
    has_form(found, model, "caterva")
    equal({name: layer for name, layer in found["meta"].items() if name != "caterva"}, hexed(meta), "caterva: meta")
    if 0 not in model.shape:
        same(caterva.call("whole")[1], model, None, "caterva, whole")
        for where in () if has_delta else wheres(model, rng):
            same(caterva.read(slice=where), model, where, "caterva")
    caterva.close()


def has_layers(schunk, kind, meta, vlmeta):
    equal(sorted(schunk.meta.keys()), sorted([kind, *meta]), "blosc2: names of meta")
    for name, layer in meta.items():
        equal(schunk.meta[name], msgpack.unpackb(layer), "blosc2: meta")
    equal({name: schunk.vlmeta[name] for name in schunk.vlmeta},
          {name: msgpack.unpackb(layer) for name, layer in vlmeta.items()}, "blosc2: vlmeta")


def blosc2_reads(path, model, has_delta, rng, meta, vlmeta):
    array = blosc2.open(str(path), mode="r")
    expect(isinstance(array, blosc2.NDArray), "blosc2: no array")
    has_form({"shape": array.shape, "chunks": array.chunks, "blocks": array.blocks,
              "itemsize": array.dtype.itemsize}, model, "blosc2")
    has_layers(array.schunk, "b2nd", meta, vlmeta)
    if has_delta:
        chunks_hold(array.schunk, model)
        return
    for where in wheres(model, rng):
        same(numpy.ascontiguousarray(array[slices(where)]).tobytes(), model, where, "blosc2")


def blosc2_reads_chunks(path, model, meta, vlmeta):
    schunk = blosc2.open(str(path), mode="r")
    expect(isinstance(schunk, blosc2.SChunk), "blosc2: no chunks")
    has_layers(schunk, "caterva", meta, vlmeta)
    chunks_hold(schunk, model)


def chunks_hold(schunk, model):
    chunks = [schunk.decompress_chunk(number) for number in range(schunk.nchunks)]
    expect((model.from_chunks(chunks) == model.elements).all(), "blosc2: other elements in the chunks")


def blosc2_reads_frame(path, model):
    array = blosc2.ndarray_from_cframe(path.read_bytes())
    equal(array.shape, model.shape, "blosc2: shape of the frame")
    same(array.tobytes() if hasattr(array, "tobytes") else array[:].tobytes(), model, None, "blosc2, from the frame")
