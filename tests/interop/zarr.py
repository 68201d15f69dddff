"""Zarr: zarr-python 3.4, 3.1 and 2.18, zarrs, TensorStore and xarray read what `blpk convert` writes, without recompressing whole
chunks, and `blpk` reads what zarr-python writes.

BLPK_ZARR_ARRAYS sets how many random arrays there are each way (60; 300 for all). The corpus is in BLPK_CORPUS, by default
target/corpus; parts of it that are not there are left out."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import bcolz
import blosc2
import bloscpack
import numpy

from common import Failure, Place, equal, expect

ARRAYS = int(os.environ.get("BLPK_ZARR_ARRAYS", "60"))
CASES = 2 * ARRAYS + 4
HERE = Path(__file__).resolve().parent
CORPUS = Path(os.environ.get("BLPK_CORPUS", HERE.parent.parent / "target" / "corpus"))
PEER = HERE / "zarr_peer" / "peer.py"
DTYPES = ["?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16", "S5", "<U3",
          "<M8[ns]", "<m8[s]", ">i4", ">f8", ">c8", [("a", "<i4"), ("b", "<f8"), ("c", "S3")], [("a", ">i4"), ("b", "<f8")]]
CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
# What TensorStore and zarrs say of what they do not read: dates, times and fields, and in version 2 big-endian numbers and order F.
UNKNOWN = "unknown type"


def run(tally, blpk, reference, place):
    pythons = {name: os.environ.get("BLPK_%s" % name.upper()) for name in ("zarr34", "zarr3", "zarr2")}
    expect(pythons["zarr3"] and pythons["zarr2"], "the environments of Zarr are missing: use run.sh")
    if not pythons["zarr34"]:
        print("zarr: ZARR 3.4 IS MISSING: it needs Python 3.12; arrays with fields are read by nothing but blpk", file=sys.stderr, flush=True)
    theirs(tally, blpk, pythons)
    ours(tally, blpk, pythons)
    odd(tally, blpk, pythons)
    corpus(tally, blpk, pythons)
    if pythons["zarr34"]:
        references(tally, blpk, pythons["zarr34"])


def peer(python, *arguments, lines=None):
    """Runs a program of Zarr, and returns the lines it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([python, str(PEER), *map(str, arguments)], env=environment, timeout=1800,
                          input="".join(line + "\n" for line in lines or []), text=True, capture_output=True)
    if done.returncode:
        raise Failure("%s: %s" % (arguments, done.stderr[-2000:]))
    return done.stdout.splitlines()


# Written by zarr-python -------------------------------------------------------

def theirs(tally, blpk, pythons):
    with_two = ARRAYS // 5
    for python, version, count in (("zarr2", "2", with_two), ("zarr3", "2", with_two), ("zarr34", "2", with_two),
                                   ("zarr3", "3", with_two), ("zarr34", "3", ARRAYS - 4 * with_two)):
        if not pythons[python]:
            continue
        place = Place()
        folder = place.root
        peer(pythons[python], "write", folder, count, python, version)
        for number in range(count):
            name = "read %s v%s %d" % (python, version, number)
            tally.case(name, read_theirs, blpk, folder, number)


def read_theirs(blpk, folder, number):
    path, wanted = folder / ("%d.zarr" % number), numpy.load(folder / ("%d.npy" % number))
    facts = (folder / ("%d.txt" % number)).read_text()
    try:
        same(exported(blpk, path, folder / "ours.npy"), wanted)
        blpk.ok("verify", path)
        outline = json.loads(blpk.ok("info", "--json", path))
        equal(tuple(outline["shape"]), wanted.shape, "shape")
        # And back: into a frame, a dataset, and a file.
        if wanted.size and wanted.ndim and number % 3 == 0:
            for name in ("back.b2nd", "back", "back.blp"):
                out = folder / ("%d-%s" % (number, name))
                blpk.ok("convert", path, out)
                same(exported(blpk, out, folder / "back.npy"), wanted)
    except Failure as failure:
        raise Failure("%s\n  %s" % (failure, facts)) from failure


def exported(blpk, path, npy, column=None):
    """The elements of an array, or of a column, as blpk exports them."""
    npy.unlink(missing_ok=True)
    blpk.ok("export", path, npy, *(["--columns", column] if column else []))
    return numpy.load(npy)[column] if column else numpy.load(npy)


def same(found, wanted):
    if found.shape == (1,) and wanted.shape == ():
        found = found.reshape(())
    equal(found.shape, wanted.shape, "shape")
    equal(found.dtype.newbyteorder("="), wanted.dtype.newbyteorder("="), "dtype")
    native = [array.astype(array.dtype.newbyteorder("=")).tobytes() for array in (found, wanted)]
    expect(native[0] == native[1], "other elements")


# Written by blpk --------------------------------------------------------------

def ours(tally, blpk, pythons):
    place, lists = Place(), {}
    root = place.root
    for number in range(ARRAYS):
        folder = root / str(number)
        folder.mkdir(parents=True)
        kind = (array_of_bcolz, array_of_bcolz, table_of_bcolz, file_of_bloscpack, array_of_blosc2)[number % 5]
        tally.case("write %s %d" % (kind.__name__, number), kind, blpk, folder, random.Random(number), lists)
    check_all(tally, pythons, lists)


def check_all(tally, pythons, lists):
    """Lets each program read all arrays and tables; one run for each, since it takes a while to start."""
    by_two = lists.get("arrays2", [])
    for python, arguments, lines in (
            ("zarr34", ("read", "zarr"), by_two + lists.get("arrays3", []) + lists.get("fields3", [])),
            ("zarr34", ("tables",), lists.get("tables2", []) + lists.get("tables3", [])),
            ("zarr3", ("read", "zarr"), by_two + lists.get("arrays3", [])),
            ("zarr3", ("read", "zarrs"), by_two + lists.get("arrays3", [])),
            ("zarr3", ("read", "tensorstore"), by_two + lists.get("arrays3", [])),
            ("zarr2", ("read", "zarr"), by_two),
            ("zarr3", ("tables",), lists.get("tables2", []) + lists.get("tables3", [])),
            ("zarr2", ("tables",), lists.get("tables2", []))):
        if not pythons[python]:
            continue
        said = peer(pythons[python], *arguments, lines=lines)
        unknown = 0
        for line, result in zip(lines, said):
            if result == UNKNOWN and arguments[1:] in (("tensorstore",), ("zarrs",)):
                unknown += 1
            else:
                tally.case("%s %s %s" % (python, " ".join(arguments), line), expect, result == "ok", result)
        tally.case("%s %s: all" % (python, arguments), equal, len(said), len(lines), "results")
        print("  %s %s: %d read, %d of unknown types" % (python, " ".join(arguments), len(said) - unknown, unknown), flush=True)


def data_of(rng, shape):
    dtype = numpy.dtype(rng.choice(DTYPES))
    count = int(numpy.prod(shape, dtype=int))
    if dtype.kind == "b":
        return numpy.array([rng.random() < 0.5 for _ in range(count)]).reshape(shape)
    if dtype.kind == "U":
        return numpy.array([rng.choice(("", "né", "日本語")) for _ in range(count)], dtype).reshape(shape)
    if dtype.kind == "S":
        return numpy.array([rng.choice((b"", b"ab", b"\xffxyzw")) for _ in range(count)], dtype).reshape(shape)
    if dtype.names:
        array = numpy.zeros(shape, dtype)
        for name in dtype.names:
            array[name] = (numpy.arange(count) % 91).astype(dtype[name]).reshape(shape)
        return array
    if rng.random() < 0.5:
        return (numpy.arange(count) * 3 % 1009).astype("<i8").astype(dtype, casting="unsafe").reshape(shape)
    return numpy.frombuffer(rng.randbytes(count * dtype.itemsize), dtype).reshape(shape)


def add(lists, kind, line, data=None):
    """Fields in version 3 are `struct`, which only zarr-python from 3.3 on reads."""
    kind = "fields3" if kind == "arrays3" and data is not None and data.dtype.names else kind
    lists.setdefault(kind, []).append(line)


def converted(blpk, source, out, version, *options):
    """Converts, and returns the report."""
    return json.loads(blpk.ok("convert", source, out, "--layout", "zarr" + version, "--json", *options))


def of_bcolz(rng, shape):
    """Elements that bcolz can store: in the order of this machine, and whose default is JSON."""
    while True:
        data = data_of(rng, shape)
        if data.dtype.kind not in "cmSV" or (data.dtype.names and "S" not in str(data.dtype)):
            return data.astype(data.dtype.newbyteorder("<"))


def array_of_bcolz(blpk, folder, rng, lists):
    shape = (rng.randint(0, 5000),) + rng.choice(((), (), (3,), (2, 2)))
    data = of_bcolz(rng, shape)
    chunk = rng.randint(1, 900)
    params = bcolz.cparams(rng.randint(0, 9), rng.choice((0, 1, 2)), rng.choice(CODECS))
    array = bcolz.carray(data, rootdir=str(folder / "a"), mode="w", cparams=params, chunklen=chunk)
    array.attrs["unit"] = "m"
    array.attrs["of"] = [1, {"b": None}]
    array.flush()
    rows = data.shape[0]
    numpy.save(folder / "a.npy", data)
    for version in "23":
        out = folder / ("a%s.zarr" % version)
        report = converted(blpk, folder / "a", out, version)
        whole, all_chunks = rows // chunk, -(-rows // chunk)
        equal((report["chunks_taken"], report["chunks"]), (whole, all_chunks), "chunks")
        for number in range(whole):
            stored = (folder / "a" / "data" / ("__%d.blp" % number)).read_bytes()[16:]
            zeros = [0] * (len(shape) - 1)
            name = (".".join(map(str, [number] + zeros)) if version == "2" else "c/" + "/".join(map(str, [number] + zeros)))
            expect((out / name).read_bytes() == stored, "chunk", number, "was changed")
        add(lists, "arrays" + version, "%s %s" % (out, folder / "a.npy"), data)
        attributes = json.loads((out / (".zattrs" if version == "2" else "zarr.json")).read_text())
        equal((attributes if version == "2" else attributes["attributes"])["of"], [1, {"b": None}], "attributes")
    if data.dtype.names:
        blpk.status(2, "convert", folder / "a", folder / "s.zarr", "--layout", "zarr3", "--chunks-per-superchunk", "3")
    elif rng.random() < 0.5:
        out = folder / "s.zarr"
        report = converted(blpk, folder / "a", out, "3", "--chunks-per-superchunk", "3")
        equal(report["chunks_taken"], whole, "chunks taken into shards")
        add(lists, "arrays3", "%s %s" % (out, folder / "a.npy"), data)
    # And from one version into the other.
    report = converted(blpk, folder / "a2.zarr", folder / "t.zarr", "3")
    equal(report["chunks_taken"], whole, "chunks taken from version 2")
    add(lists, "arrays3", "%s %s" % (folder / "t.zarr", folder / "a.npy"), data)


def table_of_bcolz(blpk, folder, rng, lists):
    rows = rng.randint(1, 4000)
    columns, names = [], []
    for number in range(rng.randint(1, 4)):
        data = of_bcolz(rng, (rows,) + rng.choice(((), (), (2,))))
        columns.append(numpy.arange(rows) if data.dtype.names else data)
        names.append("c%d" % number)
    table = bcolz.ctable(columns, names, rootdir=str(folder / "t"), mode="w", chunklen=rng.randint(1, 900))
    table.attrs["source"] = "here"
    table.flush()
    (folder / "columns").mkdir()
    for name, data in zip(names, columns):
        numpy.save(folder / "columns" / (name + ".npy"), data)
    for version in "23":
        out = folder / ("t%s.zarr" % version)
        report = converted(blpk, folder / "t", out, version)
        wanted = sum(rows // table[name].chunklen for name in names)
        equal(report["chunks_taken"], wanted, "chunks taken")
        add(lists, "tables" + version, "%s %s" % (out, folder / "columns"))
        for name, data in zip(names, columns):
            same(exported(blpk, out, folder / "ours.npy", name), data)
        blpk.ok("convert", out, folder / ("back" + version))
        back = bcolz.open(str(folder / ("back" + version)), mode="r")
        for name, data in zip(names, columns):
            same(back[name][:], data)


def file_of_bloscpack(blpk, folder, rng, lists):
    shape = tuple(rng.randint(1, 40) for _ in range(rng.randint(1, 3)))
    data = data_of(rng, shape)
    if rng.random() < 0.4:
        data = numpy.asfortranarray(data)
    line = data.nbytes // (shape[0] if data.flags.c_contiguous else shape[-1])
    size = rng.choice((line, 3 * line, 7 * line, data.dtype.itemsize * 5))
    path = folder / "a.blp"
    bloscpack.pack_ndarray_to_file(data, str(path), chunk_size=size)
    numpy.save(folder / "a.npy", numpy.ascontiguousarray(data))
    for version in "23":
        out = folder / ("f%s.zarr" % version)
        report = converted(blpk, path, out, version)
        is_swapped = version == "3" and data.dtype.names and ">" in str(data.dtype)
        if size % line == 0 and not is_swapped:
            equal(report["chunks_taken"], data.nbytes // min(size, data.nbytes), "chunks taken")
        add(lists, "arrays" + version, "%s %s" % (out, folder / "a.npy"), data)


def array_of_blosc2(blpk, folder, rng, lists):
    shape = tuple(rng.randint(1, 30) for _ in range(rng.randint(1, 3)))
    data = data_of(rng, shape)
    path = folder / "a.b2nd"
    blosc2.asarray(numpy.ascontiguousarray(data), urlpath=str(path), mode="w")
    numpy.save(folder / "a.npy", data)
    for version in "23":
        out = folder / ("b%s.zarr" % version)
        equal(converted(blpk, path, out, version)["chunks_taken"], 0, "chunks taken")
        add(lists, "arrays" + version, "%s %s" % (out, folder / "a.npy"), data)

# What zarr-python and numcodecs read, and few write ---------------------------

ODD = {
    "gzip of two members, and zeros": (2, """
import gzip
a = zarr.open(path, mode="w", shape=(2000,), chunks=(1000,), dtype="<i4", compressor=numcodecs.GZip(1), zarr_version=2)
a[:] = data
raw = data[:1000].tobytes()
open(path + "/0", "wb").write(gzip.compress(raw[:1234]) + gzip.compress(raw[1234:]) + bytes(100))
"""),
    "bytes after a Blosc chunk": (2, """
a = zarr.open(path, mode="w", shape=(2000,), chunks=(1000,), dtype="<i4", compressor=numcodecs.Blosc("lz4"), zarr_version=2)
a[:] = data
open(path + "/1", "ab").write(b"more")
"""),
    "a number between quotes as the fill value": (2, """
a = zarr.open(path, mode="w", shape=(2000,), chunks=(1000,), dtype="<i4", fill_value=7, compressor=None, zarr_version=2)
a[:1000] = data[:1000]
text = open(path + "/.zarray").read()
assert '"fill_value": 7' in text
open(path + "/.zarray", "w").write(text.replace('"fill_value": 7', '"fill_value": "7"'))
"""),
    "names that occur again in a ZIP archive": (3, """
path += ".zip"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    store = zarr.storage.ZipStore(path, mode="w")
    a = zarr.create_array(store, shape=(2000,), chunks=(1000,), dtype="<i4")
    a[:] = data + 1
    a.attrs["unit"] = "m"
    a[:1000] = data[:1000]
    a.attrs["unit"] = "km"
    store.close()
import zipfile
names = zipfile.ZipFile(path).namelist()
assert len(names) > len(set(names)), names
"""),
}
ODD_PROGRAM = """
import json, sys, warnings, numpy, numcodecs, zarr
path = sys.argv[1]
data = numpy.arange(2000, dtype="<i4") * 3
%s
if path.endswith(".zip"):
    path = zarr.storage.ZipStore(path, mode="r")
a = zarr.open(path, mode="r")
print(json.dumps([a[:].tolist(), dict(a.attrs)]))
"""


def odd(tally, blpk, pythons):
    place = Place()
    for name, (version, program) in ODD.items():
        tally.case(name, one_odd, blpk, pythons["zarr%d" % version], place.folder() / "a.zarr", program)


def one_odd(blpk, python, path, program):
    program = ODD_PROGRAM % program
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run([python, "-P", "-c", program, path], env=environment, capture_output=True, text=True)
    expect(ran.returncode == 0, ran.stderr[-500:])
    values, attributes = json.loads(ran.stdout)
    if not path.exists():
        path = path.with_name(path.name + ".zip")
    rows = blpk.ok("export", path, "-", "--to", "jsonl").decode().split()
    equal([int(row) for row in rows], values, "elements")
    equal(blpk.info(path)["attributes"], attributes, "attributes")
    blpk.ok("verify", path)


# The corpus -------------------------------------------------------------------

def corpus(tally, blpk, pythons):
    place, lists, refused = Place(), {}, []
    root = place.root
    for part in ("bcolz", "bcolz-legacy", "blz", "carray05"):
        if not (CORPUS / part).is_dir():
            print("  corpus: %s is missing" % part, flush=True)
            continue
        found = blpk.run("ls", "--json", CORPUS / part)
        for number, one in enumerate(json.loads(found.stdout)["datasets"]):
            if one.get("kind") not in ("carray", "ctable"):
                continue
            folder = root / part / str(number)
            folder.mkdir(parents=True)
            tally.case("corpus %s" % one["path"], one_of_corpus, blpk, one, folder, lists, refused)
    for path, why in refused:
        print("  corpus: not converted: %s: %s" % (path, why), flush=True)
    check_all(tally, pythons, lists)


def one_of_corpus(blpk, one, folder, lists, refused):
    path, columns = one["path"], one.get("columns")
    if columns:
        (folder / "columns").mkdir()
    for version in "23":
        out = folder / ("z%s.zarr" % version)
        done = blpk.run("convert", path, out, "--layout", "zarr" + version, "--json")
        if done.returncode:
            expect(not out.exists(), "half an array at", out)
            refused.append((path, "zarr%s: status %d, %s" % (
                version, done.returncode, done.stderr.decode(errors="replace").splitlines()[0])))
            continue
        names = columns or [None]
        for name in names:
            npy = folder / "columns" / (name + ".npy") if name else folder / "a.npy"
            wanted = exported(blpk, path, npy, name)
            numpy.save(npy, wanted)
            same(exported(blpk, out, folder / "ours.npy", name), wanted)
        (folder / "ours.npy").unlink(missing_ok=True)
        kind, wanted = ("tables", folder / "columns") if columns else ("arrays", folder / "a.npy")
        add(lists, kind + version, "%s %s" % (out, wanted), None if columns else numpy.load(wanted))


# Read where they lie ----------------------------------------------------------

def references(tally, blpk, python):
    """zarr-python and xarray read the datasets of the corpus by references, as its manifests have them."""
    place, lines, names = Place(), [], []
    for part in ("bcolz", "bcolz-legacy", "blz", "carray05"):
        if not (CORPUS / part).is_dir():
            print("  references: %s is missing" % part, flush=True)
            continue
        for one in json.loads((CORPUS / part / "manifest.json").read_text())["datasets"]:
            arrays = one.get("columns") or [one]
            # Only NumPy reads objects, and only bcolz what its writer has left half made.
            if any("O" in str(array.get("dtype", "O")) or "sha256_le" not in array for array in arrays):
                continue
            folder = CORPUS / part / one["name"]
            out = place.root / part / ("%s.json" % one["name"].replace("/", " "))
            out.parent.mkdir(exist_ok=True)
            tally.case("references to %s" % folder, refer, blpk, folder, out)
            if not out.exists():
                continue
            for array in arrays:
                name = array["name"] if one.get("columns") else folder.stem
                names.append("%s %s" % (folder, name))
                lines.append(json.dumps([str(out), name, array["shape"], array["sha256_le"]]))
    for name, said in zip(names, peer(python, "references", lines=lines)):
        tally.case("by references %s" % name, equal, said, "ok", "zarr-python and xarray")


# Why Zarr has no array for a dataset.
NO_ZARR = ("by snappy, which readers of Zarr do not decode", "there are bytes between its fields, or its fields have titles")


def refer(blpk, folder, out):
    done = blpk.run("refs", folder, out)
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        expect(done.returncode == 2 and any(why in said for why in NO_ZARR), "status %d: %s" % (done.returncode, said))
        return
    bytes_of = lambda key, value: 0 if isinstance(value, list) or key.split("/")[-1].startswith(".") else len(value)
    copied = sum(bytes_of(*item) for item in json.loads(out.read_text())["refs"].items())
    expect(copied < 1 << 20, "%d bytes copied" % copied)
