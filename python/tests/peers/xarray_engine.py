"""The engine of xarray selects what xarray selects from the same array in memory, and a dataset that was written comes back."""

from __future__ import annotations

import itertools
from pathlib import Path

import blosc2
import bloscpack
import numpy as np
import pytest
import xarray
from bloscpack.xarray import write

# One axis is as long as another, so that swapped axes would not show in the shape.
DATA = np.arange(7 * 5 * 5).reshape(7, 5, 5)
KEYS = (2, -1, slice(None), slice(4, 0, -2), slice(1, 1), [3, 1, 3], np.array([0]))


@pytest.mark.parametrize("name", ["cube.b2nd", "cube.bcolz"])
def test_every_mixture_of_indices(tmp_path: Path, name: str) -> None:
    bloscpack.write(DATA, tmp_path / name)
    lazy = xarray.open_dataset(tmp_path / name, engine="bloscpack").cube
    whole = xarray.DataArray(DATA, dims=lazy.dims)
    for keys in itertools.product(KEYS, repeat=3):
        chosen = dict(zip(lazy.dims, keys))
        np.testing.assert_array_equal(lazy.isel(chosen).values, whole.isel(chosen).values, str(keys))
        again = lazy.isel(chosen).isel({dim: slice(None, None, -1) for dim in lazy.isel(chosen).dims})
        np.testing.assert_array_equal(again.values, whole.isel(chosen).values[tuple(np.s_[::-1] for _ in again.dims)], str(keys))


def _weather() -> xarray.Dataset:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4, 6, 5)).astype("f4")
    values[0, 0] = np.nan
    return xarray.Dataset(
        {
            "t2m": (("time", "lat", "lon"), values, {"units": "K", "flags": [1, 2]}),
            "station": ("time", np.array(["Wien", "Graz", "Linz", ""])),
            "cloudy": ("time", np.array([True, False, True, True])),
            "runs": ((), 7),
        },
        {
            "time": np.datetime64("2020-02-28", "ns") + np.arange(4) * np.timedelta64(36, "h"),
            "lat": np.linspace(46, 49, 6),
            "lon": np.linspace(9, 17, 5),
            "height": ((), 2.0, {"units": "m"}),
        },
        {"title": "weather", "version": 3, "source": {"name": "a"}},
    )


@pytest.mark.parametrize("name", ["w.b2z", "w.b2d", "w.zarr", "w.bcolz"])
def test_a_dataset_comes_back(tmp_path: Path, name: str) -> None:
    dataset = _weather()
    dataset.t2m.encoding["chunks"] = (1, 6, 5)
    if name == "w.bcolz":
        # It has neither scalars nor attributes of a folder.
        dataset = dataset.drop_vars(["runs", "height"])
        with pytest.warns(UserWarning, match="attributes of the tree"):
            write(dataset, tmp_path / name)
        dataset.attrs.clear()
    else:
        write(dataset, tmp_path / name)
    back = xarray.open_dataset(tmp_path / name)
    xarray.testing.assert_identical(back.load(), dataset)
    assert name == "w.bcolz" or back.t2m.encoding["chunks"] == (1, 6, 5)
    assert not (name.endswith(("b2z", "b2d")) and blosc2.TreeStore(str(tmp_path / name), mode="r").vlmeta["title"] != "weather")
    with pytest.raises(FileExistsError, match=f"(?s){name}.*(replace|remove)"):
        write(dataset, tmp_path / name)
    if name == "w.b2z":
        write(dataset[["lat"]], tmp_path / name, replace=True)
        assert "t2m" not in xarray.open_dataset(tmp_path / name)


def test_columns_of_a_group_are_a_table_unless_they_stay_arrays(tmp_path: Path) -> None:
    group = xarray.Dataset({"a": ("n", np.arange(9), {"units": "m"}), "b": ("n", np.arange(9) / 2)}, attrs={"by": "me"})
    group.to_zarr(tmp_path / "g.zarr", zarr_format=2, consolidated=False)
    with pytest.warns(UserWarning, match="column a"):
        bloscpack.convert(tmp_path / "g.zarr", tmp_path / "table.b2z")
    bloscpack.convert(tmp_path / "g.zarr", tmp_path / "arrays.b2z", arrays=True)
    xarray.testing.assert_identical(xarray.open_dataset(tmp_path / "arrays.b2z").load(), group)
    with pytest.raises(bloscpack.Error, match="Zarr group"):
        bloscpack.convert(tmp_path / "table.b2z", tmp_path / "again.b2z", arrays=True)


def test_opening_reads_metadata_only(tmp_path: Path) -> None:
    bloscpack.write(np.random.default_rng(1).random((100, 500, 500)), tmp_path / "cube.b2nd", cname="lz4", clevel=1)
    assert (tmp_path / "cube.b2nd").stat().st_size > 150_000_000
    read = lambda: int(Path("/proc/self/io").read_text().split()[1])  # noqa: E731
    xarray.open_dataset(tmp_path / "cube.b2nd")  # Imports what it needs.
    before = read()
    cube = xarray.open_dataset(tmp_path / "cube.b2nd").cube
    assert read() - before < 1_000_000
    assert cube[50, 250, 250].values < 1
    assert read() - before < 5_000_000
