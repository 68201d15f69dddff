"""Converts values into NumPy arrays, and makes datasets in directories."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
import warnings
from collections.abc import Callable
from errno import ENOTDIR
from typing import Any, TypeVar

import numpy as np

from .. import _native
from ..errors import UsageError
from .storage import forget_place


def human_readable_size(size: float) -> str:
    """A human-readable size.

    >>> human_readable_size(123), human_readable_size(123456)
    ('123', '120.56 KB')
    """
    if size < 1024:
        return f"{size:.0f}"
    for unit in ("KB", "MB", "GB"):
        size /= 1024
        if size < 1024 or unit == "GB":
            break
    return f"{size:.2f} {unit}"


def exists(path: str) -> bool:
    """Whether a path exists. It may lead into an archive."""
    return os.path.exists(path) or any(parent.is_file() for parent in pathlib.Path(path).parents)


def check_copy(rootdir: str | None, to: str) -> None:
    """Raises an exception if a directory would be copied onto itself."""
    if rootdir is not None and os.path.realpath(rootdir) == os.path.realpath(to):
        raise OSError(f"a copy cannot take the place of what it is copied from: {os.fspath(to)!r}")


_Made = TypeVar("_Made")


def in_place(rootdir: str, mode: str, make: Callable[[bool], _Made]) -> _Made:
    """Makes a dataset in a directory. The argument of ``make`` is whether it replaces a dataset.

    Mode ``w`` replaces an existing directory. A dataset stays until the first flush of the new one, and any other directory
    until the new one is made. A name such as ``t.csv`` is only a warning, because existing programs use any name.
    """
    if (ending := _native.ending(rootdir)) is not None:
        warnings.warn(f"the name of {rootdir!r} is that of {ending}, but it becomes a directory of bcolz", stacklevel=4)
    if not os.path.lexists(rootdir):
        return make(False)
    if mode != "w":
        raise OSError(f"{rootdir!r} exists, and the mode is {mode!r}: the mode 'w' replaces it, open() opens it")
    if not os.path.isdir(rootdir):
        raise NotADirectoryError(ENOTDIR, "this is a file, which no array or table replaces", rootdir)
    forget_place(rootdir)
    try:
        return make(True)
    except (FileExistsError, UsageError):
        # It is not a dataset, or is damaged.
        kept = tempfile.mkdtemp(prefix=".blpk-old-", dir=os.path.dirname(os.path.abspath(rootdir)))
    old = os.path.join(kept, "old")
    os.rename(rootdir, old)
    try:
        made = make(False)
    except BaseException:
        shutil.rmtree(rootdir, ignore_errors=True)
        os.rename(old, rootdir)
        os.rmdir(kept)
        raise
    shutil.rmtree(kept)
    return made


def to_rows(value: Any, dtype: np.dtype[Any] | None, row_shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Converts values into an array, of ``dtype`` if given. With ``row_shape``, a single row becomes an array of one row."""
    if hasattr(value, "_as_numpy"):
        value = value[:]
    try:
        array = np.asarray(value) if dtype is None else np.asarray(value, dtype=dtype)
    except ValueError as error:
        raise ValueError(f"the values cannot be converted to the dtype {dtype}: {error}") from error
    if row_shape is None:
        return array
    if array.shape == row_shape:
        return array[np.newaxis]
    if array.shape[1:] != row_shape:
        raise ValueError(f"rows of the shape {array.shape[1:]} do not fit an array with rows of {row_shape}")
    return array


def quantized(array: np.ndarray, digits: int) -> np.ndarray:
    """Rounds floats to fewer digits after the point, so that they compress better."""
    if not digits:
        return array
    if array.dtype.kind != "f":
        raise TypeError(f"elements of the dtype {array.dtype} cannot be quantized: only floats can")
    exponent = np.floor(np.log10(float(10**-digits)))
    scale = 2.0 ** np.ceil(np.log2(10.0**-exponent))
    return (np.around(scale * array) / scale).astype(array.dtype)
