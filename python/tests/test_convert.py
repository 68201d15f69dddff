"""What `convert`, `write` and `open` make of each other's files, as others read them."""

import os
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bloscpack
from bloscpack import bcolz
from bloscpack.errors import Error, UsageError

CUBE = np.arange(24, dtype="<f4").reshape(2, 3, 4)


@pytest.mark.parametrize("ending", ["b2nd", "zarr", "bcolz", "blp", "b2d", "b2z"])
def test_arrays_go_through_every_format(tmp_path, ending):
    made, back = tmp_path / f"cube.{ending}", tmp_path / "cube.npy"
    bloscpack.write(CUBE, made, cname="zstd")
    source = f"{made}/array" if ending in ("b2d", "b2z") else made
    bloscpack.convert(source, back)
    assert np.array_equal(np.load(back), CUBE)
    opened = bloscpack.open(source)
    if ending == "blp":
        assert opened.read() == CUBE.tobytes()
    else:
        assert np.array_equal(opened[1], CUBE[1])


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, dict])
def test_tables_become_text_that_pandas_reads(tmp_path, make):
    columns = {"day": np.arange(3), "price": np.array([0.5, 1.5, 2.5])}
    bloscpack.write(make(columns), tmp_path / "t.csv")
    assert pd.read_csv(tmp_path / "t.csv").equals(pd.DataFrame(columns))
    bloscpack.convert(tmp_path / "t.csv", tmp_path / "t.bcolz", columns=["price"], rows=slice(1, None))
    assert bcolz.open(str(tmp_path / "t.bcolz"))["price"][:].tolist() == [1.5, 2.5]
    bloscpack.convert(tmp_path / "t.csv", tmp_path / "price.b2nd", column="price")
    assert bloscpack.open(tmp_path / "price.b2nd")[:].tolist() == [0.5, 1.5, 2.5]
    bloscpack.convert(tmp_path / "t.csv", tmp_path / "r.blp", to="records")
    assert [bytes(record) for record in bloscpack.open(tmp_path / "r.blp")][0] == b'{"day":0,"price":0.5}'


def test_missing_values_stay_missing_where_there_is_a_place(tmp_path):
    (tmp_path / "t.csv").write_text("n,x\n1,\n,2.5\n")
    bloscpack.convert(tmp_path / "t.csv", tmp_path / "t.b2z")
    table = pa.table(bloscpack.open(tmp_path / "t.b2z"))
    assert table.to_pydict() == {"n": [1, None], "x": [None, 2.5]}


def test_what_is_there_is_replaced_only_if_asked(tmp_path):
    for name in ("a.npy", "a.bcolz", "a.b2nd"):
        bloscpack.write(CUBE, tmp_path / name)
        with pytest.raises(FileExistsError):
            bloscpack.write(CUBE + 1, tmp_path / name)
        assert np.array_equal(np.asarray(bloscpack.open(tmp_path / name)), CUBE)
        bloscpack.write(CUBE + 1, tmp_path / name, replace=True)
        assert np.array_equal(np.asarray(bloscpack.open(tmp_path / name)), CUBE + 1)
    bloscpack.write(CUBE, tmp_path / "a.zarr")
    with pytest.raises(FileExistsError):
        bloscpack.write(CUBE, tmp_path / "a.zarr", replace=True)


def test_failures_leave_nothing(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    before = os.listdir(tmp_path)
    for out, given in [
        ("x.b2nd", {}),
        ("x.h5", {}),
        ("x.foo", {}),
        ("x.b2nd", {"column": "c"}),
        ("x.npy", {"cname": "zstd"}),
        ("x.zarr", {"checksum": "md5"}),
        ("x.bcolz", {"to": "b2nd"}),
        ("x", {"to": "hdf5"}),
    ]:
        with pytest.raises(UsageError):
            bloscpack.convert(tmp_path / "t.csv", tmp_path / out, **given)
    with pytest.raises(OSError):
        bloscpack.convert(tmp_path / "t.csv", tmp_path / "no" / "x.npy")
    damaged = bytearray(bloscpack.pack_ndarray_to_bytes(np.arange(1000)))
    damaged[-20] ^= 1
    with pytest.raises(Error):
        bloscpack.convert(bytes(damaged), tmp_path / "x.npy")
    assert os.listdir(tmp_path) == before


def test_what_is_dropped_is_a_warning(tmp_path):
    bloscpack.write(np.array(5.0), tmp_path / "a.npy")
    with pytest.warns(UserWarning, match=r"its shape \(\) becomes \(1,\)"):
        bloscpack.convert(tmp_path / "a.npy", tmp_path / "a.bcolz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bloscpack.convert(tmp_path / "a.npy", tmp_path / "a.zarr")


def test_trees_are_opened_by_a_path_within(tmp_path):
    bloscpack.write(CUBE, tmp_path / "t.b2d")
    with pytest.raises(UsageError, match="tree"):
        bloscpack.open(tmp_path / "t.b2d")
