"""Values as arrays of NumPy."""

from __future__ import annotations

import os
import pathlib
import shutil
from typing import Any

import numpy as np

from .storage import forget_place


def human_readable_size(size: float) -> str:
    """A size for people.

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
    """Whether there is something at a path, which may lead into an archive."""
    return os.path.exists(path) or any(parent.is_file() for parent in pathlib.Path(path).parents)


def make_place(rootdir: str, mode: str) -> None:
    """Makes room for a new directory: removes what is there if the mode is ``w``."""
    if not os.path.lexists(rootdir):
        return
    if mode != "w":
        raise OSError(f"{rootdir!r} exists, and the mode is {mode!r}: the mode 'w' replaces it, open() opens it")
    forget_place(rootdir)
    if os.path.isdir(rootdir) and not os.path.islink(rootdir):
        shutil.rmtree(rootdir)
    else:
        os.remove(rootdir)


def to_rows(value: Any, dtype: np.dtype[Any] | None, row_shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Values as an array of at least one axis; of this dtype if it is given. A single row becomes an array of one."""
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
    """Floats with fewer significant digits after the point, which compress better."""
    if not digits:
        return array
    if array.dtype.kind != "f":
        raise TypeError(f"elements of the dtype {array.dtype} cannot be quantized: only floats can")
    exponent = np.floor(np.log10(float(10**-digits)))
    scale = 2.0 ** np.ceil(np.log2(10.0**-exponent))
    return (np.around(scale * array) / scale).astype(array.dtype)
