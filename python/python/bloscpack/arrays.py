"""Compressed arrays on disk: carrays of bcolz and BLZ, Caterva, and ``b2nd``.

>>> import tempfile
>>> from bloscpack import bcolz, open_array
>>> folder = tempfile.mkdtemp() + "/squares"
>>> _ = bcolz.carray(np.arange(1000) ** 2, rootdir=folder, chunklen=256)
>>> array = open_array(folder)
>>> array
<bloscpack.Array bcolz, int64, shape (1000,), chunks (256,)>
>>> array[3:6]
array([ 9, 16, 25])
"""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _native, _pictures, files
from ._boxes import box_of
from ._buffers import into_array, threads
from .errors import UsageError


@functools.lru_cache(1000)
def dtype_of(descr: str) -> np.dtype[Any]:
    """The dtype that a Python literal describes.

    >>> dtype_of("[('a', '<i4'), ('b', '|S3')]")
    dtype([('a', '<i4'), ('b', 'S3')])
    """
    if descr.startswith("'"):
        return np.dtype(descr.strip("'"))
    return np.lib.format.descr_to_dtype(ast.literal_eval(descr))


class Array:
    """An array that is decompressed as it is read; made by `open_array`.

    NumPy, dask and xarray can use it, through ``shape``, ``dtype``, ``ndim``, ``size``, ``chunks``, indexing, and
    ``__array__``. pyarrow and Polars can use it through ``__arrow_c_stream__`` (batches, decoded as they are read) and
    ``__arrow_c_array__`` (all rows in one piece). For Arrow, rows of several elements are fixed-size lists, and elements
    with fields are structs.
    """

    def __init__(self, native: Any) -> None:
        self._native = native
        facts = native.facts()
        self.dtype = dtype_of(facts["dtype"])
        #: The number of elements along each axis.
        self.shape: tuple[int, ...] = tuple(facts["shape"])
        #: The number of elements in a chunk along each axis.
        self.chunks: tuple[int, ...] = tuple(facts["chunks"])
        #: The name of the layout: ``bcolz``, ``blz``, ``caterva`` or ``b2nd``, for example.
        self.layout: str = facts["layout"]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """The uncompressed size of all elements in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def attrs(self) -> dict[str, Any]:
        """The user's attributes."""
        return json.loads(self._native.attributes())

    def read_into(self, start: list[int], stop: list[int], out: NDArray[Any]) -> None:
        """Decompresses the box between two corners into a contiguous array with the box's shape and this array's dtype."""
        if out.shape != tuple(b - a for a, b in zip(start, stop)) or out.dtype != self.dtype:
            raise UsageError(f"an array of the shape {out.shape} and {out.dtype} does not fit the box")
        self._native.read(list(start), list(stop), into_array(out))

    def __getitem__(self, key: Any) -> Any:
        fields = key if isinstance(key, str) else None
        if fields is not None:
            return self[...][fields]
        start, stop, within = box_of(key, self.shape)
        out = np.empty([end - first for first, end in zip(start, stop)], self.dtype)
        if out.nbytes:
            self._native.read(start, stop, into_array(out))
        return out if within is None else out[within]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a compressed array cannot be used without a copy")
        array = self[...]
        return array if dtype is None else array.astype(dtype, copy=False)

    def _arrow_rows(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no rows to pass on")
        return self.shape[0]

    def __arrow_c_schema__(self) -> object:
        """The type of the elements, for the Arrow PyCapsule interface."""
        self._arrow_rows()
        return self._native.arrow_schema(None, False)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All rows, for the Arrow PyCapsule interface, in batches of about 16 MiB, decoded as they are read."""
        return self._native.arrow_stream(None, False, (0, self._arrow_rows()), requested_schema)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """All rows, for the Arrow PyCapsule interface, in one piece."""
        return self._native.arrow_array(None, self._arrow_rows(), requested_schema)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        step = max(self.chunks[0], 1) if self.chunks else 1
        for start in range(0, len(self), step):
            yield from self[start : start + step]

    def __repr__(self) -> str:
        return f"<bloscpack.Array {self.layout}, {self.dtype}, shape {self.shape}, chunks {self.chunks}>"

    def _repr_html_(self) -> str:
        facts = {"layout": self.layout, "dtype": self.dtype, "shape": self.shape, "chunks": self.chunks}
        return _pictures.array({**facts, "bytes": f"{self.nbytes:,}"}, self)


def open_array(source: files.Source) -> Array:
    """Opens an array for reading: a carray, a Blosc2 frame, a Zarr array, a Bloscpack file with an array, or a ``.npy`` file.

    The source is a path, bytes, a seekable file object, or a URL. A directory may be inside a ZIP archive, which is given in
    the same ways; a path may continue inside it (``"data.zip"``, ``"data.zip/eeg"``).
    """
    instead = {"ctable": "open_table", "records": "open_records"}.get(_native.kind(source))
    if instead:
        raise UsageError(f"{source!r} is not an array: use {instead}")
    return Array(_native.Array.open(source, False, threads()))
