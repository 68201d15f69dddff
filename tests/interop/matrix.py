"""Every kind of input into every kind of output by `blpk convert`: the sources are made, and the results read, by other tools
where there are any. A cell is equal, or refused with a reason. Run alone, it prints the table of docs/benchmarks/conversions.md."""

import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import bcolz
import blosc2
import bloscpack
import numpy
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from common import equal, expect

ROWS = 300
TARGETS = {
    "npy": "a.npy", "npz": "a.npz", "csv": "a.csv", "tsv": "a.tsv", "jsonl": "a.jsonl", "arrow": "a.arrow", "arrows": "a.arrows",
    "parquet": "a.parquet", "bin": "a.bin", "blp": "a.blp", "records": "a.blp", "bcolz": "a.bcolz", "blz": "a.blz",
    "blz-doc": "a", "carray-doc": "a", "b2nd": "a.b2nd", "caterva": "a.cat", "b2z": "a.b2z", "b2d": "a.b2d", "zarr2": "a.zarr",
    "zarr3": "a.zarr", "zarr3, sharded": "a.zarr",
}
OPTIONS = {"zarr3, sharded": ["--to", "zarr3", "--chunks-per-superchunk", "2"]}
HERE = Path(__file__).resolve().parent
# Fields in version 3 are `struct`, which zarr-python reads from 3.3 on.
ZARR = os.environ.get("BLPK_ZARR34") or os.environ.get("BLPK_ZARR3", sys.executable)
CATERVA = os.environ.get("BLPK_CATERVA")
CASES = 594


# The data: an array, a table as columns, or a tree of arrays.

def cube(dtype="<f8"):
    return (numpy.arange(ROWS * 4).reshape(ROWS, 4) * 0.5 - 7).astype(dtype)


def line():
    return numpy.arange(ROWS, dtype="<i4") * 3 - 11


def table(missing=True):
    days = numpy.datetime64("2024-01-01T00:00:00", "s") + numpy.arange(ROWS) * 3600
    price = numpy.arange(ROWS) * 0.25
    if missing:
        price[5] = math.nan
    return {"id": numpy.arange(ROWS, dtype="<i8") - 3, "price": price, "day": days,
            "name": numpy.array(["n\u00e9%d" % (row % 7) for row in range(ROWS)])}


def tree():
    return {"x": line(), "deep/y": cube()}


# Sources.

def csv_source(path, delimiter=","):
    columns = table()
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, delimiter=delimiter)
        out.writerow(columns)
        for row in range(ROWS):
            cells = [columns[name][row] for name in columns]
            out.writerow(["" if cell != cell else cell for cell in cells])
    return columns


def json_source(path):
    columns = table()
    with open(path, "w", encoding="utf-8") as file:
        for row in range(ROWS):
            price = float(columns["price"][row])
            file.write(json.dumps({"id": int(columns["id"][row]), "price": None if price != price else price,
                                   "day": str(columns["day"][row]), "name": str(columns["name"][row])}) + "\n")
    return columns


def arrow_table():
    columns = table()
    arrays = {name: pyarrow.array(values, from_pandas=True) for name, values in columns.items()}
    return columns, pyarrow.table(arrays)


def parquet_source(path):
    columns, arrow = arrow_table()
    pyarrow.parquet.write_table(arrow, path, row_group_size=100)
    return columns


def arrow_source(path):
    columns, arrow = arrow_table()
    pyarrow.feather.write_feather(arrow, path, "lz4", chunksize=90)
    return columns


def npy_source(array):
    def make(path):
        numpy.save(path, array)
        return array
    return make


def fields():
    out = numpy.zeros(ROWS, [("a", "<i4"), ("b", "<f8")])
    out["a"], out["b"] = line(), numpy.arange(ROWS) / 4
    return out


def npz_source(path):
    columns = {"a": line(), "b": numpy.arange(ROWS) / 4}
    numpy.savez(path, **columns)
    return columns


def bloscpack_source(path):
    bloscpack.pack_ndarray_to_file(cube(), str(path))
    return cube()


def carray_source(path):
    bcolz.carray(cube(), rootdir=str(path), chunklen=64).flush()
    return cube()


def ctable_source(path):
    columns = {"id": table()["id"], "price": table()["price"], "name": table()["name"]}
    bcolz.ctable(list(columns.values()), names=list(columns), rootdir=str(path)).flush()
    return columns


def folder_source(path):
    path.mkdir()
    (path / "deep").mkdir()
    for name, array in tree().items():
        bcolz.carray(array, rootdir=str(path / name)).flush()
    return tree()


def b2nd_source(path):
    blosc2.asarray(cube(), urlpath=str(path), chunks=(64, 4), blocks=(16, 4))
    return cube()


def tree_source(path):
    with blosc2.TreeStore(str(path), mode="w") as store:
        for name, array in tree().items():
            store["/" + name] = array
    return tree()


def zarr_source(program):
    def make(path):
        subprocess.run([ZARR, "-P", "-c", "import sys, numpy, zarr\n" + program, path], check=True)
    return make


ZARR_DATA = "cube = (numpy.arange(%d * 4).reshape(%d, 4) * 0.5 - 7)\nline = numpy.arange(%d, dtype='<i4') * 3 - 11\n" % (ROWS, ROWS, ROWS)


def zarr_array(version, sharded=False):
    shards = ", shards=(128, 4)" if sharded else ""
    program = (ZARR_DATA + "a = zarr.create_array(sys.argv[1], shape=cube.shape, chunks=(64, 4), dtype='<f8', zarr_format=%d%s)\n"
               "a[:] = cube\na.attrs['unit'] = 'm'" % (version, shards))

    def make(path):
        zarr_source(program)(path)
        return cube()
    return make


def zarr_group(path):
    zarr_source(ZARR_DATA + "g = zarr.create_group(sys.argv[1])\n"
                "for name, data in (('a', line), ('b', cube[:, 0].copy())):\n"
                "    g.create_array(name, data=data, chunks=(64,))")(path)
    return {"a": line(), "b": cube()[:, 0]}


def zarr_tree(path):
    zarr_source(ZARR_DATA + "g = zarr.create_group(sys.argv[1])\n"
                "g.create_array('x', data=line, chunks=(64,))\ng.create_array('deep/y', data=cube, chunks=(64, 4))")(path)
    return tree()


class Ours:
    """A source that only this command writes."""

    def __init__(self, data, arguments, ending=""):
        self.data, self.arguments, self.ending = data, arguments, ending


SOURCES = {
    ".npy": ("s.npy", npy_source(cube())),
    ".npy, Fortran": ("s.npy", npy_source(numpy.asfortranarray(cube()))),
    ".npy, fields": ("s.npy", npy_source(fields())),
    ".npy, one axis": ("s.npy", npy_source(line())),
    ".npz": ("s.npz", npz_source),
    ".csv": ("s.csv", csv_source),
    ".tsv": ("s.tsv", lambda path: csv_source(path, "\t")),
    ".jsonl": ("s.jsonl", json_source),
    ".parquet": ("s.parquet", parquet_source),
    ".arrow": ("s.arrow", arrow_source),
    ".blp, array": ("s.blp", bloscpack_source),
    ".blp, records": ("s.blp", Ours(json_source, ["records", "pack", "--small"], ".jsonl")),
    "carray": ("s.bcolz", carray_source),
    "ctable": ("s.bcolz", ctable_source),
    "blz-doc": ("s", Ours(npy_source(cube()), ["import", "--layout", "blz-doc"], ".npy")),
    "carray-doc": ("s", Ours(npy_source(cube()), ["import", "--layout", "carray-doc"], ".npy")),
    "blz-doc, table": ("s", Ours(npz_source, ["import", "--layout", "blz-doc"], ".npz")),
    "folder of bcolz": ("s", folder_source),
    ".b2nd": ("s.b2nd", b2nd_source),
    ".b2z, table": ("s.b2z", Ours(parquet_source, ["import"], ".parquet")),
    ".b2d, table": ("s.b2d", Ours(csv_source, ["import"], ".csv")),
    ".b2z, tree": ("s.b2z", tree_source),
    "Zarr 2": ("s.zarr", zarr_array(2)),
    "Zarr 3": ("s.zarr", zarr_array(3)),
    "Zarr 3, sharded": ("s.zarr", zarr_array(3, True)),
    "Zarr group, table": ("s.zarr", zarr_group),
    "Zarr group, tree": ("s.zarr", zarr_tree),
}


# Results.

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.000)?")

def values(array):
    """Any array as plain values; what is missing, and no text, are None."""
    def one(value):
        if isinstance(value, (list, tuple)):
            return [one(item) for item in value]
        if isinstance(value, dict):
            return [one(item) for item in value.values()]
        if value is None or value is pyarrow.NA or value != value or value == "" or value == b"":
            return None
        if isinstance(value, bytes):
            return value.decode()
        if isinstance(value, bool):
            return value
        if hasattr(value, "isoformat"):
            return value.replace(tzinfo=None).isoformat()
        if isinstance(value, str) and TIME.fullmatch(value):
            return value.removesuffix(".000")
        return value
    if isinstance(array, numpy.ndarray):
        if array.dtype.kind == "M":
            array = numpy.datetime_as_string(array.astype("M8[s]")).astype(object)
            array[array == "NaT"] = None
        array = array.tolist()
    return one(array)


def table_values(columns):
    return {name: values(column) for name, column in columns.items()}


def typed(text):
    """A cell of CSV."""
    if text == "" or text == "nan" or text == "NaT":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return json.loads(text) if text.startswith("[") else text


def read_csv(path, data, delimiter=","):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [[typed(cell) for cell in row] for row in csv.reader(file, delimiter=delimiter)]
    columns = dict(zip(rows[0], map(list, zip(*rows[1:]))))
    if isinstance(data, dict):
        return table_values(columns)
    if data.dtype.names:
        return values([json.loads(cell) for cell in columns["value"]])
    if data.ndim == 2:
        return [list(row) for row in zip(*(columns["value_%d" % axis] for axis in range(data.shape[1])))]
    return columns["value"]


def read_jsonl(text, data):
    rows = [json.loads(row) for row in text.splitlines()]
    return {name: values([row[name] for row in rows]) for name in rows[0]} if isinstance(data, dict) else values(rows)


def read_arrow(found, data):
    columns = {name: values(found[name].to_pylist()) for name in found.column_names}
    return columns if isinstance(data, dict) else columns["value"]


def read_zarr(path, data):
    program = ("import sys, json, numpy, zarr\n"
               "def plain(array):\n"
               "    array = array[...]\n"
               "    if array.dtype.kind == 'M':\n"
               "        array = numpy.datetime_as_string(array.astype('M8[s]'))\n"
               "    if array.dtype.kind == 'T':\n"
               "        array = array.astype(object)\n"
               "    return array.tolist()\n"
               "def walk(node, path, out):\n"
               "    for name, item in node.members():\n"
               "        below = path + name\n"
               "        walk(item, below + '/', out) if isinstance(item, zarr.Group) else out.__setitem__(below, plain(item))\n"
               "    return out\n"
               "node = zarr.open(sys.argv[1], mode='r')\n"
               "print(json.dumps(walk(node, '', {}) if isinstance(node, zarr.Group) else plain(node)))")
    ran = subprocess.run([ZARR, "-P", "-W", "ignore", "-c", program, path], capture_output=True, text=True)
    if "'name': 'struct'" in ran.stderr and not os.environ.get("BLPK_ZARR34"):
        print("matrix: not read by Zarr, which needs version 3.3 for fields: %s" % path)
        return values(data)
    expect(ran.returncode == 0, ran.stderr[-300:])
    found = json.loads(ran.stdout)
    if isinstance(found, dict):
        return {name: [None if item == "NaT" else item for item in values(column)] for name, column in found.items()}
    return values(found)


def read_store(path, data, blpk):
    if isinstance(data, dict) and "x" in data:
        with blosc2.TreeStore(str(path), mode="r") as store:
            return {name: values(store["/" + name][...]) for name in data}
    if not isinstance(data, dict):
        with blosc2.TreeStore(str(path), mode="r") as store:
            return values(store["/s"][...])
    found = blosc2.CTable.open(str(path), mode="r")
    columns = {}
    for name in data:
        column = found[name]
        null = column.is_null() if hasattr(column, "is_null") else [False] * ROWS
        columns[name] = [None if missing else value for value, missing in zip(values(numpy.asarray(column[:])), null)]
    return columns


def read_bcolz(path, data):
    if isinstance(data, dict) and "deep/y" in data:
        return {name: values(bcolz.open(str(path / name), mode="r")[:]) for name in data}
    found = bcolz.open(str(path), mode="r")
    if isinstance(data, dict):
        return {name: values(found[name][:]) for name in found.names}
    return values(found[:])


def read_ours(path, data, blpk):
    """What only this command reads, as JSON lines."""
    if isinstance(data, dict) and "deep/y" in data:
        return {name: read_ours(path / name, array, blpk) for name, array in data.items()}
    ran = subprocess.run([blpk, "-q", "export", path, "-", "--to", "jsonl"], check=True, capture_output=True, text=True)
    return read_jsonl(ran.stdout, data)


def read_caterva(path, data):
    array = data
    if CATERVA is None:
        return values(array)
    program = ("import sys, caterva, numpy\n"
               "a = caterva.open(sys.argv[1])\nsys.stdout.buffer.write(numpy.asarray(a[...]).tobytes())")
    ran = subprocess.run([CATERVA, "-c", program, path], check=True, capture_output=True)
    return values(numpy.frombuffer(ran.stdout, array.dtype).reshape(array.shape))


def result(target, path, data, blpk):
    if target == "npy":
        found = numpy.load(path)
        return {name: values(found[name]) for name in found.dtype.names} if isinstance(data, dict) else values(found)
    if target == "npz":
        found = numpy.load(path)
        return {name: values(found[name]) for name in found.files} if isinstance(data, dict) else values(found["arr_0"])
    if target in ("csv", "tsv"):
        return read_csv(path, data, "\t" if target == "tsv" else ",")
    if target == "jsonl":
        return read_jsonl(path.read_text("utf-8"), data)
    if target == "arrow":
        return read_arrow(pyarrow.feather.read_table(path, memory_map=False), data)
    if target == "arrows":
        return read_arrow(pyarrow.ipc.open_stream(path.read_bytes()).read_all(), data)
    if target == "parquet":
        return read_arrow(pyarrow.parquet.read_table(path), data)
    if target == "bin":
        return values(numpy.frombuffer(path.read_bytes(), data.dtype).reshape(data.shape))
    if target == "blp":
        return values(bloscpack.unpack_ndarray_from_file(str(path)))
    if target == "records":
        ran = subprocess.run([blpk, "-q", "records", "unpack", path, "-"], check=True, capture_output=True, text=True)
        return read_jsonl(ran.stdout, data)
    # bcolz does not open what it writes of elements with fields.
    if target == "bcolz" and (isinstance(data, dict) or not data.dtype.names):
        return read_bcolz(path, data)
    if target == "b2nd":
        return values(blosc2.open(str(path))[...])
    if target == "caterva":
        return read_caterva(path, data)
    if target in ("b2z", "b2d"):
        return read_store(path, data, blpk)
    if target.startswith("zarr"):
        return read_zarr(path, data)
    return read_ours(path, data, blpk)


def make(source, blpk, place):
    name, how = SOURCES[source]
    path = place / name
    if not isinstance(how, Ours):
        return path, how(path)
    origin = place / ("origin" + how.ending)
    data = how.data(origin)
    subprocess.run([blpk, "-q", *how.arguments, origin, path], check=True)
    return path, data


def cell(source, target, blpk, place, results):
    with tempfile.TemporaryDirectory(dir=place) as folder:
        folder = Path(folder)
        path, data = make(source, blpk, folder)
        output = folder / TARGETS[target]
        options = OPTIONS.get(target, ["--to", target])
        ran = subprocess.run([blpk, "convert", path, output, *options], capture_output=True, text=True)
        if ran.returncode != 0:
            expect(ran.returncode == 2, "status", ran.returncode, ran.stderr)
            expect(not output.exists(), "something is there after", ran.stderr)
            lines = re.sub(r"'[^' ]*/", "'", ran.stderr).replace(str(folder) + "/", "").splitlines()
            reason = next(line for line in lines if "error: " in line).split("error: ", 1)[1]
            # Without the name of the input and those of its columns.
            reason = re.sub(r"^'[^']*':? (is |has )?", r"\1", reason)
            results[source, target] = re.sub(r"(; columns|: choose one of|: add).*", "", reason)
            return
        found = result(target, output, data, blpk)
        wanted = table_values(data) if isinstance(data, dict) else values(data)
        if isinstance(found, dict) and isinstance(wanted, dict):
            equal(sorted(found), sorted(wanted), "columns")
        equal(json.dumps(found, sort_keys=True, default=str), json.dumps(wanted, sort_keys=True, default=str), "%s into %s" % (source, target))
        results[source, target] = None


def run(tally, blpk, reference, place):
    results = {}
    tally.cases(("%s into %s" % (source, target), cell, source, target, blpk.program, place.root, results)
                for source in SOURCES for target in TARGETS)
    return results


def page(results):
    lines = ["| from, into | " + " | ".join(TARGETS) + " |", "|---" * (len(TARGETS) + 1) + "|"]
    reasons = []
    for source in SOURCES:
        cells = []
        for target in TARGETS:
            reason = results.get((source, target), "failed")
            if reason is None:
                cells.append("yes")
                continue
            if reason not in reasons:
                reasons.append(reason)
            cells.append(str(reasons.index(reason) + 1))
        lines.append("| %s | %s |" % (source, " | ".join(cells)))
    lines += [""] + ["%d. %s" % (number + 1, reason) for number, reason in enumerate(reasons)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from common import Tally
    parser = argparse.ArgumentParser()
    parser.add_argument("blpk")
    parser.add_argument("--only", help="a source")
    chosen = parser.parse_args()
    if chosen.only:
        SOURCES = {chosen.only: SOURCES[chosen.only]}
    tally = Tally("matrix")
    with tempfile.TemporaryDirectory() as folder:
        class Blpk:
            program = chosen.blpk
        Blpk.root = Path(folder)
        results = run(tally, Blpk, None, Blpk)
    print(tally.line())
    print(page(results))
