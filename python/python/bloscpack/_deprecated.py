"""Functions under deprecated names."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def deprecated(function: Callable[P, T], name: str) -> Callable[P, T]:
    """The same function under an old name, which warns."""

    @functools.wraps(function)
    def old(*args: P.args, **kwargs: P.kwargs) -> T:
        warnings.warn(f"{name} is deprecated: use {function.__name__}", DeprecationWarning, stacklevel=2)
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = name
    old.__doc__ = f"Deprecated: use `{function.__name__}`."
    return old
