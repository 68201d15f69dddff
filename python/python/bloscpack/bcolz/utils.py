"""Helper functions of bcolz that other packages import."""

from __future__ import annotations

from typing import Any

import numpy as np

from .convert import human_readable_size as human_readable_size


def to_ndarray(array: Any, dtype: Any = None, arrlen: int | None = None, safe: bool = True) -> np.ndarray:
    """Converts values into a NumPy array with at least one axis."""
    base = None if dtype is None else np.dtype(dtype).base
    made = np.asarray(array[:] if hasattr(array, "chunklen") else array, base)
    if made.shape == () and arrlen is not None:
        made = np.broadcast_to(made, (arrlen,)).copy()
    return np.ascontiguousarray(made if made.ndim else made.reshape(1))
