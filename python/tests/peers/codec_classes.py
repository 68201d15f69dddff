"""The codec classes within Zarr 3 and numcodecs: what each library writes with ours, the other reads with its own, and back."""

from __future__ import annotations

import itertools

import numcodecs
import numpy as np
import pytest
import zarr
from bloscpack.numcodecs import Blosc, register
from zarr.registry import get_codec_class

DTYPES = ("<i4", "<f8", "|u1", "<c16", "<M8[ns]")
THEIRS = numcodecs.Blosc
CNAMES = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")


def values(dtype: str) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 99, (301, 17)).astype(np.dtype(dtype).str if "M8" not in dtype else "i8").view(dtype)


@pytest.fixture
def _ours():
    """Zarr and numcodecs use our codec."""
    register()
    yield
    back()


def back():
    """Zarr and numcodecs use their own."""
    numcodecs.register_codec(THEIRS)
    zarr.config.set({"codecs.blosc": "zarr.codecs.blosc.BloscCodec"})


@pytest.mark.parametrize(("dtype", "cname", "shuffle"), list(itertools.product(DTYPES, CNAMES, range(3))))
def test_chunks(dtype, cname, shuffle):
    array = values(dtype)
    ours, theirs = (made(cname=cname, clevel=5, shuffle=shuffle) for made in (Blosc, THEIRS))
    assert bytes(theirs.decode(ours.encode(array.view("u1") if "M8" in dtype else array))) == array.tobytes()
    assert bytes(ours.decode(theirs.encode(array.view("u1") if "M8" in dtype else array))) == array.tobytes()


@pytest.mark.parametrize(("dtype", "zarr_format"), list(itertools.product(DTYPES, (2, 3))))
@pytest.mark.usefixtures("_ours")
def test_arrays(dtype, zarr_format, tmp_path):
    array = values(dtype)
    if zarr_format == 3:
        compressors = get_codec_class("blosc")(cname="zstd", clevel=3, shuffle="bitshuffle")
        assert type(compressors).__module__ == "bloscpack.numcodecs"
    else:
        compressors = Blosc(cname="zstd", clevel=3, shuffle=2)
    made = zarr.create_array(tmp_path, shape=array.shape, chunks=(100, 9), dtype=array.dtype, compressors=compressors, zarr_format=zarr_format)
    made[:] = array
    assert (zarr.open_array(tmp_path, mode="r")[:] == array).all()
    back()
    assert zarr_format == 2 or get_codec_class("blosc").__module__ == "zarr.codecs.blosc"
    assert (zarr.open_array(tmp_path, mode="r")[:] == array).all()
