"""Converts bytes and arrays for the native half: into one-dimensional arrays of `uint8`, without a copy where possible."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import errors

Bytes = NDArray[np.uint8]
_threads: int | None = None


def new_bytes(size: int, fill: Callable[[Bytes], object]) -> bytes:
    """New bytes that ``fill`` writes in their place: zeroed by the system only, and not copied.

    >>> new_bytes(2, lambda memory: memory.fill(97))
    b'aa'
    """
    room = io.BytesIO(bytes(size))
    fill(of_bytes(room.getbuffer()))
    return room.getvalue()


def of_bytes(data: Any) -> Bytes:
    """The bytes of any object with a buffer, in C order.

    >>> of_bytes(b"ab").tolist()
    [97, 98]
    """
    if isinstance(data, np.ndarray):
        return of_array(data)
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError(f"a bytes-like object is required, not {type(data).__name__!r}") from None
    if not view.nbytes:
        return np.empty(0, np.uint8)
    if not view.contiguous:
        view = memoryview(view.tobytes())
    return np.frombuffer(view, np.uint8)


def of_array(array: NDArray[Any]) -> Bytes:
    """The bytes of an array's elements in C order; a view of its memory if that is contiguous."""
    if array.dtype.hasobject:
        raise TypeError("arrays of Python objects cannot be stored: convert them to numbers or fixed-length text")
    array = np.ascontiguousarray(array)
    return array.reshape(-1).view(np.uint8) if array.size and array.itemsize else np.empty(0, np.uint8)


def into_array(array: NDArray[Any]) -> Bytes:
    """The memory of a contiguous array, for writing."""
    if not array.size or not array.itemsize:
        return np.empty(0, np.uint8)
    flat = array.reshape(-1, order="C" if array.flags.c_contiguous else "F")
    if not np.shares_memory(flat, array) or not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise errors.UsageError("the array is not contiguous")
    return flat.view(np.uint8)


def threads() -> int:
    """The number of threads that compress and decompress."""
    return _threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _threads or os.cpu_count() or 1


def set_threads(count: int | None) -> int:
    """Sets the number of threads that compress and decompress; `None`: one per processor. Returns the old number.

    >>> old = set_threads(1)
    >>> set_threads(None)
    1
    """
    global _threads
    if count is not None and count < 1:
        raise errors.UsageError(f"the number of threads must be positive, not {count}")
    before, _threads = threads(), count
    return before
