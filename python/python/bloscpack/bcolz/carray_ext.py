"""The names in bcolz's extension module."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from .._buffers import into_array, of_array, of_bytes, threads
from .carray import carray as carray
from .params import cparams as Cparams


class chunk:
    """A compressed chunk of rows."""

    def __init__(self, array: Any, atom: Any = None, cparams: Cparams | None = None, _memory: bool = True) -> None:
        array = np.asarray(array)
        self.dtype = np.dtype(atom) if atom is not None else array.dtype
        params = cparams or Cparams()
        typesize = self.dtype.base.itemsize if self.dtype.base.itemsize < 256 else 1
        self._bytes = _native.compress_chunk(
            of_array(array.astype(self.dtype.base, copy=False)),
            typesize,
            min(params.clevel, 9),
            int(params.shuffle),
            params.cname,
            None,
            threads(),
        )
        self._shape = array.shape

    def __len__(self) -> int:
        return self._shape[0]

    @property
    def nbytes(self) -> int:
        """The size of the rows in bytes."""
        return int(np.prod(self._shape)) * self.dtype.base.itemsize

    @property
    def cbytes(self) -> int:
        """The size of the chunk in bytes."""
        return len(self._bytes)

    def __getitem__(self, key: Any) -> Any:
        out = np.empty(self._shape, self.dtype.base)
        _native.decompress_chunk_into(of_bytes(self._bytes), None, into_array(out), threads())
        return out[key]
