"""The functions of bcolz."""

from __future__ import annotations

import builtins
import os
import platform
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from .. import _buffers, _native
from .._options import COMPRESSORS
from ..errors import Error, UsageError
from ..version import __version__
from .carray import carray
from .ctable import ctable, filled
from .params import numexpr_here


def open(rootdir: Any, mode: str = "a") -> carray | ctable:
    """Opens the array or the table in a directory or, for reading only, in a ZIP archive."""
    if os.path.isfile(rootdir) and _kind(rootdir) not in (None, "carray", "ctable"):
        raise UsageError(f"{rootdir!r} is a file, and no array or table of bcolz: bloscpack.open opens it")
    if _is_table(rootdir):
        return ctable(rootdir=rootdir, mode=mode)
    return carray(rootdir=rootdir, mode=mode)


def _is_table(rootdir: Any) -> bool:
    if os.path.isdir(rootdir):
        return os.path.exists(os.path.join(rootdir, "__rootdirs__"))
    return _kind(rootdir) == "ctable"


def _kind(rootdir: Any) -> str | None:
    try:
        return _native.kind(os.fspath(rootdir))
    except Error:
        return None  # Opening it reports the error.


def fromiter(iterable: Iterable[Any], dtype: Any, count: int, **kwargs: Any) -> carray | ctable:
    """An array or a table with ``count`` values of an iterable, or with all of them if ``count`` is -1.

    >>> fromiter((i * i for i in range(4)), dtype="i4", count=4)[:]
    array([0, 1, 4, 9], dtype=int32)
    """
    dtype = np.dtype(dtype)
    values = iter(iterable)
    if count != -1:
        values = islice(values, count)
    kwargs.setdefault("expectedlen", max(count, 0) or getattr(iterable, "__length_hint__", lambda: 0)() or 1000)
    with filled(ctable if dtype.names else carray, np.empty(0, dtype), kwargs) as made:
        while len(block := np.fromiter(islice(values, 1 << 16), dtype)):
            made.append(block)
    return made


def fill(shape: Any, dflt: Any = None, dtype: Any = float, **kwargs: Any) -> carray | ctable:
    """An array or a table of this shape, filled with one value."""
    shape = (int(shape),) if isinstance(shape, (int, float, np.integer)) else tuple(map(int, shape))
    dtype = np.dtype(dtype)
    length, row = shape[0], shape[1:] + dtype.shape
    kwargs.setdefault("expectedlen", length)
    is_table = bool(dtype.names) and not row
    empty = np.empty(0, dtype) if is_table else np.empty((0, *row), dtype.base)
    with filled(ctable if is_table else carray, empty, kwargs if is_table else {**kwargs, "dflt": dflt}) as made:
        made.resize(length)
    return made


def zeros(shape: Any, dtype: Any = float, **kwargs: Any) -> carray | ctable:
    """An array of zeros.

    >>> zeros((2, 3), dtype="i4")[:]
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    dtype = np.dtype(dtype)
    return fill(shape, None, dtype, **kwargs)


def ones(shape: Any, dtype: Any = float, **kwargs: Any) -> carray | ctable:
    """An array of ones."""
    dtype = np.dtype(dtype)
    return fill(shape, np.ones((), dtype.base), dtype, **kwargs)


def arange(start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, **kwargs: Any) -> carray:
    """An array of evenly spaced values.

    >>> arange(2, 11, 4)[:]
    array([ 2,  6, 10])
    """
    if start is None and stop is None:
        raise ValueError("you must pass a `stop` value at least")
    start, stop = (0, start) if stop is None else (start or 0, stop)
    step = 1 if step is None else step
    dtype = np.arange(start, start + step, step).dtype if dtype is None else np.dtype(dtype)
    if dtype.names:
        raise ValueError("arange does not support ctables")
    count = max(-int(-(stop - start) // step), 0)
    kwargs.setdefault("expectedlen", count)
    with filled(carray, np.empty(0, dtype), kwargs) as made:
        for at in range(0, count, 1 << 20):
            block = np.arange(at, min(at + (1 << 20), count))
            made.append((start + block * step).astype(dtype))
    return made


def iterblocks(cobj: Any, blen: int | None = None, start: int = 0, stop: int | None = None) -> Iterator[np.ndarray]:
    """Iterates over the rows of an array or a table, in blocks."""
    stop = len(cobj) if stop is None else min(stop, len(cobj))
    if blen is None:
        blen = min(cobj[name].chunklen for name in cobj.names) if isinstance(cobj, ctable) else cobj.chunklen
    for at in range(start, stop, blen):
        block = cobj[at : min(at + blen, stop)]
        yield block[0] if blen == 1 and isinstance(cobj, carray) else block


def walk(dir: Any, classname: str | None = None, mode: str = "a") -> Iterator[carray | ctable]:
    """Iterates over the arrays and tables below a directory."""
    for path, layout, is_table in sorted(_native.walk(os.fspath(dir))):
        kind = "ctable" if is_table else "carray"
        if layout in ("bcolz", "blz") and classname in (None, "", kind):
            yield open(os.path.join(dir, path), mode)


def detect_number_of_cores() -> int:
    """The number of processors."""
    return os.cpu_count() or 1


def blosc_set_nthreads(nthreads: int) -> int:
    """Sets the number of threads that compress and decompress, and returns the old number."""
    if nthreads < 1:
        raise ValueError("the number of threads must be positive")
    return _buffers.set_threads(nthreads)


def set_nthreads(nthreads: int) -> int:
    """As `blosc_set_nthreads`, and also sets the number for numexpr."""
    if numexpr_here:
        import numexpr

        numexpr.set_num_threads(nthreads)
    return blosc_set_nthreads(nthreads)


def blosc_version() -> tuple[str, str]:
    """The version of C-Blosc whose format is written, and a date."""
    return "1.21.6", f"bloscpack {__version__}"


def blosc_compressor_list() -> list[str]:
    """The names of the compressors for writing. Snappy is only read, because few builds of bcolz support it."""
    return [name for name in COMPRESSORS if name != "snappy"]


def print_versions() -> None:
    """Prints the versions of this package, NumPy, Python and the platform."""
    print(f"bloscpack {__version__}, NumPy {np.__version__}, Python {platform.python_version()}, {platform.platform()}")


def array2string(array: Any, *_: Any, **__: Any) -> str:
    """An array or a table as text."""
    return str(array)


set_printoptions, get_printoptions = np.set_printoptions, np.get_printoptions
__all__ = [name for name in builtins.dir() if not name.startswith("_")]
