"""One of the programs that read and write Zarr, in an environment of its own.

    peer.py write FOLDER COUNT SEED VERSION    arrays FOLDER/N.zarr, their elements in FOLDER/N.npy, what they are in FOLDER/N.txt
    peer.py read READER < LIST                 lines "ARRAY.zarr ELEMENTS.npy": prints one line for each, "ok" or the difference
    peer.py tables < LIST                      lines "GROUP.zarr FOLDER": the same with xarray, and FOLDER/COLUMN.npy
    peer.py references < LIST                  lines "GROUP.json MEMBER SHAPE SHA256", each word as JSON: the same with references,
                                               and the digest of the elements in little-endian order

READER is zarr, zarrs or tensorstore. This file is not in the folder of `zarr.py`, which it would import instead of Zarr."""

import hashlib
import io
import json
import os
import random
import re
import sys
import warnings

import numpy
import zarr

try:
    import fsspec
except ImportError:
    # Only the newest environment has it, which alone reads references.
    fsspec = None

warnings.simplefilter("ignore")
IS_3 = not zarr.__version__.startswith("2.")
PLAIN = ["?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16", "S5", "<U3", "V7",
         "<M8[ns]", "<M8[25us]", "<M8[D]", "<m8[s]", [("a", "<i4"), ("b", "<f8"), ("c", "S3")],
         [("a", "<i4"), ("s", [("x", "<u2"), ("y", "?")])]]
BIG = [">i2", ">u4", ">i8", ">f2", ">f4", ">f8", ">c8", ">c16", ">U4", ">M8[s]", ">m8[ms]"]


def elements(rng, dtype, shape):
    count = int(numpy.prod(shape, dtype=int))
    dtype = numpy.dtype(dtype)
    raw = rng.randbytes(count * dtype.itemsize)
    if dtype.kind == "b":
        return numpy.array([byte & 1 for byte in raw], dtype=dtype).reshape(shape)
    if dtype.kind == "U":
        words = ["".join(rng.choice("aé日😀") for _ in range(rng.randint(0, dtype.itemsize // 4))) for _ in range(count)]
        return numpy.array(words, dtype=dtype).reshape(shape)
    if dtype.kind == "S":
        words = [rng.randbytes(rng.randint(0, dtype.itemsize)).replace(b"\0", b"x") for _ in range(count)]
        return numpy.array(words, dtype=dtype).reshape(shape)
    if dtype.names:
        array = numpy.zeros(shape, dtype)
        for name in dtype.names:
            array[name] = elements(rng, dtype[name].base, shape + dtype[name].shape)
        return array
    if dtype.kind in "fciu" and rng.random() < 0.6:
        return (numpy.arange(count) % 97 - (40 if dtype.kind in "fci" else 0)).astype(dtype).reshape(shape)
    return numpy.frombuffer(raw, dtype=dtype).reshape(shape).copy()


def shapes(rng):
    shape = tuple(rng.randint(0 if rng.random() < 0.05 else 1, rng.choice((6, 40, 300)) if axis == 0 else 12)
                  for axis in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 4))))
    chunks = tuple(rng.randint(1, max(1, length + 2)) for length in shape)
    return shape, chunks


def fill_of(rng, dtype):
    dtype = numpy.dtype(dtype)
    if dtype.kind == "f":
        return rng.choice((0.0, -1.5, float("nan"), float("inf"), float("-inf")))
    if dtype.kind == "c":
        return rng.choice((0j, 1.5 - 2j, complex(float("nan"), float("inf"))))
    if dtype.kind == "b":
        return rng.random() < 0.5
    if dtype.kind in "iu":
        return rng.randint(0, 100)
    if dtype.kind == "U":
        return rng.choice(("", "né"))
    if dtype.kind == "S":
        return rng.choice((b"", b"x\xff"))
    return None


def fill_part(rng, target, source, may_miss=True):
    """Writes all, or only a part, so that chunks are missing."""
    if not source.shape or not may_miss or rng.random() < 0.6:
        target[...] = source
        return
    part = tuple(slice(rng.randint(0, length // 2), length) for length in source.shape)
    target[part] = source[part]


def write_2(rng, path):
    import numcodecs
    dtype = rng.choice(PLAIN + BIG + ([] if IS_3 else [[("a", ">i4"), ("b", "<f8", (2,))]]))
    (shape, chunks), order = shapes(rng), rng.choice("CCF")
    compressor = rng.choice([None, numcodecs.Zlib(), numcodecs.GZip(), numcodecs.Zstd(), numcodecs.LZ4()] + [
        numcodecs.Blosc(cname, rng.randint(1, 9), shuffle)
        for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd") for shuffle in (0, 1, 2)])
    separator = rng.choice("./")
    data = elements(rng, dtype, shape)
    fill = fill_of(rng, dtype)
    if IS_3:
        array = zarr.create_array(path, shape=shape, chunks=chunks, dtype=data.dtype, compressors=compressor, order=order,
                                  fill_value=fill, zarr_format=2, attributes={"n": 1.5},
                                  chunk_key_encoding={"name": "v2", "separator": separator})
    else:
        array = zarr.create(store=zarr.DirectoryStore(path), shape=shape, chunks=chunks or None, dtype=data.dtype,
                            compressor=compressor, order=order, fill_value=fill, dimension_separator=separator)
    # Without a fill value, version 2 of zarr-python reads anything where nothing was written, and so does 3.1 in fields.
    fill_part(rng, array, data, fill is not None or (IS_3 and data.dtype.kind in "mM"))
    return numpy.asarray(array[...], data.dtype), (dtype, shape, chunks, order, str(compressor), separator, fill)


def write_3(rng, path):
    from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec
    is_big = rng.random() < 0.3
    dtype = rng.choice([dtype for dtype in PLAIN if not (is_big and isinstance(dtype, list))])
    shape, chunks = shapes(rng)
    data = elements(rng, dtype, shape)
    compressors = [rng.choice([BloscCodec(cname=rng.choice(("blosclz", "lz4", "lz4hc", "zlib", "zstd")), clevel=rng.randint(1, 9),
                                          shuffle=rng.choice(("noshuffle", "shuffle", "bitshuffle"))),
                               GzipCodec(level=rng.randint(1, 9)), ZstdCodec(level=rng.randint(1, 9), checksum=rng.random() < 0.5)])]
    compressors = rng.choice((compressors, compressors, []))
    compressors += rng.choice(([], [], [Crc32cCodec()]))
    order = list(range(len(shape)))
    rng.shuffle(order)
    filters = [TransposeCodec(order=tuple(order))] if len(shape) > 1 and rng.random() < 0.3 else []
    shards = None
    # zarr-python 3.1.6 cannot write fields or raw bytes into shards.
    if shape and data.dtype.kind != "V" and rng.random() < 0.4:
        shards = {"shape": tuple(length * rng.randint(1, 4) for length in chunks), "index_location": rng.choice(("start", "end"))}
    encoding = rng.choice(({"name": "default", "separator": "/"}, {"name": "default", "separator": "."},
                           {"name": "v2", "separator": "."}, {"name": "v2", "separator": "/"}))
    is_newest = not zarr.__version__.startswith("3.1")
    has_order = data.dtype.itemsize > 1 and (data.dtype.kind not in "SV" or bool(data.dtype.names) and is_newest)
    serializer = BytesCodec(endian=("big" if is_big else "little") if has_order else None)
    fill = fill_of(rng, dtype)
    array = zarr.create_array(path, shape=shape, chunks=chunks, shards=shards, dtype=data.dtype, filters=filters,
                              compressors=compressors, serializer=serializer, fill_value=fill, zarr_format=3,
                              chunk_key_encoding=encoding, attributes={"n": 1.5},
                              dimension_names=["d%d" % axis for axis in order] if rng.random() < 0.5 else None)
    fill_part(rng, array, data)
    return numpy.asarray(array[...], data.dtype), (dtype, shape, chunks, shards, filters, compressors, encoding, is_big, fill)


def without_quotes(path):
    """Spells a fill value such as "NaN" as Python's json does by default, which zarr-python reads, too."""
    name = next(os.path.join(path, name) for name in (".zarray", "zarr.json") if os.path.exists(os.path.join(path, name)))
    with open(name) as file:
        text = file.read()
    bare = re.sub(r'("fill_value": )"(NaN|-?Infinity)"', r"\1\2", text)
    with open(name, "w") as file:
        file.write(bare)
    return bare != text


def write(folder, count, seed, version):
    for number in range(int(count)):
        rng = random.Random("%s %s %d" % (seed, version, number))
        path = os.path.join(folder, "%d.zarr" % number)
        data, facts = (write_2 if version == "2" else write_3)(rng, path)
        if rng.random() < 0.5 and without_quotes(path):
            data = numpy.asarray(zarr.open(path, mode="r")[...], data.dtype)
        numpy.save(os.path.join(folder, "%d.npy" % number), data)
        with open(os.path.join(folder, "%d.txt" % number), "w") as file:
            file.write(repr(facts))


def opened(reader, path):
    """The elements as this program reads them; None if it does not know their type."""
    if reader == "tensorstore":
        import tensorstore
        driver = "zarr3" if os.path.exists(os.path.join(path, "zarr.json")) else "zarr"
        try:
            store = tensorstore.open({"driver": driver, "kvstore": {"driver": "file", "path": path}}).result()
        except (ValueError, NotImplementedError) as error:
            if any(text in str(error) for text in ("data_type", "data type", "dtype", "Unsupported", "Must specify a \"field\"")):
                return None
            raise
        array = numpy.asarray(store.read().result())
        # It has raw bytes as elements without any in NumPy.
        return array if array.dtype.itemsize else None
    if reader == "zarrs":
        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
        # It swaps the two numbers of big-endian complex ones, also in what zarr-python writes.
        with open(os.path.join(path, "zarr.json")) if os.path.exists(os.path.join(path, "zarr.json")) else io.StringIO() as file:
            metadata = file.read()
        if '"complex' in metadata and '"big"' in metadata:
            return None
    try:
        return zarr.open(path, mode="r")[...]
    except (RuntimeError, ValueError) as error:
        refusals = ("Non-native byte order", "must be a C contiguous array")
        if reader == "zarrs" and any(text in str(error) for text in refusals):
            return None
        raise


def difference(found, wanted):
    found, wanted = numpy.asarray(found), numpy.asarray(wanted)
    if found.shape != wanted.shape:
        return "shape %s, expected %s" % (found.shape, wanted.shape)
    if found.dtype.newbyteorder("=") != wanted.dtype.newbyteorder("="):
        # Programs without dates, times or fields have their bytes.
        if found.dtype.itemsize != wanted.dtype.itemsize and found.dtype.itemsize * found.size != wanted.dtype.itemsize * wanted.size:
            return "dtype %s, expected %s" % (found.dtype, wanted.dtype)
    native = lambda array: numpy.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))).tobytes()
    return None if native(found) == native(wanted) else "other elements"


def read(reader):
    for line in sys.stdin:
        path, npy = line.split()
        try:
            array = opened(reader, path)
            said = "unknown type" if array is None else difference(array, numpy.load(npy)) or "ok"
        except Exception as error:
            said = "%s: %s" % (type(error).__name__, str(error).replace("\n", " ")[:300])
        print(said, flush=True)


def tables():
    import xarray
    for line in sys.stdin:
        path, folder = line.split()
        try:
            said = table(xarray, path, folder)
        except Exception as error:
            said = "%s: %s" % (type(error).__name__, str(error).replace("\n", " ")[:300])
        print(said, flush=True)


def table(xarray, path, folder):
    group = zarr.open(path, mode="r")
    names = sorted(name for name, _ in group.arrays())
    wanted = sorted(name[:-4] for name in os.listdir(folder))
    if names != wanted:
        return "columns %s, expected %s" % (names, wanted)
    for name in names:
        wrong = difference(group[name][...], numpy.load(os.path.join(folder, name + ".npy")))
        if wrong:
            return "%s: %s" % (name, wrong)
    with xarray.open_zarr(path, decode_cf=False) as dataset:
        for name in names:
            if dataset[name].dims[0] != "row":
                return "%s: dimensions %s" % (name, dataset[name].dims)
            wrong = difference(dataset[name].values, numpy.load(os.path.join(folder, name + ".npy")))
            if wrong:
                return "xarray: %s: %s" % (name, wrong)
    return "ok"


def references():
    import xarray
    for line in sys.stdin:
        path, name, shape, digest = json.loads(line)
        try:
            files = fsspec.filesystem("reference", fo=path, remote_protocol="file", asynchronous=True)
            group = zarr.open_group(zarr.storage.FsspecStore(files, read_only=True), mode="r")
            said = unlike(group[name][...], shape, digest)
            # xarray reads big-endian text in the other order.
            is_swapped = group[name].dtype.kind == "U" and group[name].dtype.byteorder == ">"
            if not said and not group[name].dtype.names and not is_swapped:
                with xarray.open_dataset(path, engine="kerchunk", chunks=None, decode_cf=False, concat_characters=False) as dataset:
                    said = unlike(dataset[name].values, shape, digest, "xarray: ")
        except Exception as error:
            said = "%s: %s" % (type(error).__name__, str(error).replace("\n", " ")[:300])
        print(said or "ok", flush=True)


def unlike(found, shape, digest, who=""):
    if list(found.shape) != shape:
        return "%sshape %s, expected %s" % (who, found.shape, shape)
    ordered = found if found.dtype.names else found.astype(found.dtype.newbyteorder("<"))
    if hashlib.sha256(numpy.ascontiguousarray(ordered).tobytes()).hexdigest() != digest:
        return "%sother elements of %s" % (who, found.dtype)
    return None


if __name__ == "__main__":
    {"write": write, "read": read, "tables": tables, "references": references}[sys.argv[1]](*sys.argv[2:])
