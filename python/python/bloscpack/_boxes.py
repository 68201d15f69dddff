"""NumPy's indexing, for arrays that are read in boxes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np


def _expand(key: Any, shape: Sequence[int]) -> list[Any]:
    """An index for each axis, and `None` for each new axis."""
    items = list(key) if isinstance(key, tuple) else [key]
    items = [np.asarray(item) if isinstance(item, list) else item for item in items]
    flat: list[Any] = []
    for item in items:
        if isinstance(item, np.ndarray) and item.dtype == bool and item.ndim:
            here = sum(entry is not None and entry is not Ellipsis for entry in flat)
            if Ellipsis not in [entry for entry in flat if entry is Ellipsis] and item.shape != tuple(
                shape[here : here + item.ndim]
            ):
                raise IndexError(f"a mask of the shape {item.shape} for axes of the shape {tuple(shape[here:here + item.ndim])}")
            flat.extend(np.nonzero(item))
        else:
            flat.append(item)
    used = sum(item is not None and item is not Ellipsis for item in flat)
    if used > len(shape):
        raise IndexError(f"{used} indices for an array with {len(shape)} axes")
    gap = [slice(None)] * (len(shape) - used)
    places = [place for place, item in enumerate(flat) if item is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if places:
        return flat[: places[0]] + gap + flat[places[0] + 1 :]
    return flat + gap


def box_of(key: Any, shape: Sequence[int]) -> tuple[list[int], list[int], tuple[Any, ...] | None]:
    """The corners of the smallest box that contains the selection of an index, and the index within the box; `None` for the
    whole box.

    >>> box_of((3, slice(1, 8, 3)), (10, 10))
    ([3, 1], [4, 8], (0, slice(None, None, 3)))
    >>> box_of(slice(2, 5), (10, 10))
    ([2, 0], [5, 10], None)
    """
    start: list[int] = []
    stop: list[int] = []
    within: list[Any] = []
    for item in _expand(key, shape):
        if item is None:
            within.append(None)
            continue
        axis = len(start)
        first, end, inner = _of_axis(item, shape[axis], axis)
        start.append(first)
        stop.append(end)
        within.append(inner)
    if all(isinstance(inner, slice) and inner == slice(None) for inner in within):
        return start, stop, None
    return start, stop, tuple(within)


def _of_axis(item: Any, length: int, axis: int) -> tuple[int, int, Any]:
    if isinstance(item, slice):
        first, end, step = item.indices(length)
        count = len(range(first, end, step))
        if not count:
            return 0, 0, slice(None)
        if step > 0:
            return first, min(end, length), slice(None) if step == 1 else slice(None, None, step)
        return first + (count - 1) * step, first + 1, slice(None, None, step)
    if isinstance(item, np.ndarray) and item.ndim:
        return _of_positions(item, length, axis)
    if isinstance(item, (bool, np.bool_)):
        raise IndexError("a single bool is not an index here")
    try:
        number = operator.index(item)
    except TypeError:
        raise IndexError(
            "only integers, slices, ellipsis, None, and arrays of integers or bools are valid indices"
        ) from None
    place = number + length if number < 0 else number
    if not 0 <= place < length:
        raise IndexError(f"index {number} is out of bounds for axis {axis} with size {length}")
    return place, place + 1, 0


def _of_positions(item: np.ndarray, length: int, axis: int) -> tuple[int, int, Any]:
    if not item.size:
        return 0, 0, item.astype(np.intp)
    if item.dtype.kind not in "iu":
        raise IndexError("arrays that are used as indices must be of integers or bools")
    low, high = int(item.min()), int(item.max())
    if high >= length or low < -length:
        wrong = high if high >= length else low
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {length}")
    places = np.where(item < 0, item + length, item) if low < 0 else item
    low, high = int(places.min()), int(places.max())
    return low, high + 1, places - low
