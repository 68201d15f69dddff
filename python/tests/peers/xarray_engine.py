"""The engine of xarray selects what xarray selects from the same array in memory."""

from __future__ import annotations

import itertools
from pathlib import Path

import bloscpack
import numpy as np
import pytest
import xarray

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
