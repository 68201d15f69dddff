"""Compression parameters and defaults."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from typing import Any

from .._options import COMPRESSORS

NOSHUFFLE, SHUFFLE, BITSHUFFLE = 0, 1, 2
filters = {NOSHUFFLE: "noshuffle", SHUFFLE: "shuffle", BITSHUFFLE: "bitshuffle"}

numexpr_here = importlib.util.find_spec("numexpr") is not None
dask_here = False
pandas_here = importlib.util.find_spec("pandas") is not None
tables_here = importlib.util.find_spec("tables") is not None

_ENTRIES = ("clevel", "shuffle", "cname", "quantize")


def _check(clevel: Any, shuffle: Any, cname: Any, quantize: Any) -> dict[str, Any]:
    for name, value in (("clevel", clevel), ("quantize", quantize)):
        if value is not None and (not isinstance(value, int) or value < 0):
            raise ValueError(f"`{name}` must be 0 or a positive integer, not {value!r}")
    if shuffle is not None and (not isinstance(shuffle, int) or shuffle not in filters):
        raise ValueError(f"`shuffle` must be NOSHUFFLE, SHUFFLE or BITSHUFFLE, not {shuffle!r}")
    if cname is not None and cname not in COMPRESSORS:
        raise ValueError(f"no compressor {cname!r} (compressors: {', '.join(COMPRESSORS)})")
    return dict(zip(_ENTRIES, (clevel, shuffle, cname, quantize)))


class cparams:
    """Compression parameters: ``clevel``, ``shuffle``, ``cname`` and ``quantize``, the number of significant digits to keep.

    >>> cparams(clevel=9, cname="zstd")
    cparams(clevel=9, shuffle=1, cname='zstd', quantize=0)
    """

    def __init__(
        self, clevel: int | None = None, shuffle: int | None = None, cname: str | None = None, quantize: int | None = None
    ) -> None:
        given = _check(clevel, shuffle, cname, quantize)
        every = {name: defaults.cparams[name] if value is None else value for name, value in given.items()}
        self.clevel: int = every["clevel"]
        self.shuffle: int = every["shuffle"]
        self.cname: str = every["cname"]
        self.quantize: int = every["quantize"]

    @staticmethod
    def setdefaults(
        clevel: int | None = None, shuffle: int | None = None, cname: str | None = None, quantize: int | None = None
    ) -> None:
        """Changes the defaults."""
        given = _check(clevel, shuffle, cname, quantize)
        defaults.cparams = defaults.cparams | {name: value for name, value in given.items() if value is not None}

    @staticmethod
    def _checkparams(clevel: Any, shuffle: Any, cname: Any, quantize: Any) -> tuple[Any, ...]:
        return tuple(_check(clevel, shuffle, cname, quantize).values())

    def __repr__(self) -> str:
        return (
            f"cparams(clevel={self.clevel:d}, shuffle={self.shuffle:d}, "
            f"cname={self.cname!r}, quantize={self.quantize})"
        )


class Defaults:
    """The defaults: ``cparams``, ``vm`` and ``out_flavor``."""

    choices = {"out_flavor": ("bcolz", "carray", "numpy"), "vm": ("numexpr", "python", "dask")}

    def __init__(self) -> None:
        self._cparams: dict[str, Any] = {"clevel": 5, "shuffle": SHUFFLE, "cname": "lz4", "quantize": 0}
        self._vm = "numexpr" if numexpr_here else "python"
        self._out_flavor = "bcolz"

    def check_choices(self, name: str, value: str) -> None:
        """Raises an exception unless the value is one of the choices."""
        if value not in self.choices[name]:
            raise ValueError(f"{name!r} must be one of {', '.join(self.choices[name])}, not {value!r}")

    @property
    def vm(self) -> str:
        """The evaluator of expressions: ``numexpr``, or ``python`` for the one in this package."""
        return self._vm

    @vm.setter
    def vm(self, value: str) -> None:
        self.check_choices("vm", value)
        if value == "dask" or (value == "numexpr" and not numexpr_here):
            raise ValueError(f"{value!r} cannot be used: it is not installed, or not supported here")
        self._vm = value

    eval_vm = vm

    @property
    def out_flavor(self) -> str:
        """The type of the results of `eval`: ``bcolz`` or ``numpy``."""
        return self._out_flavor

    @out_flavor.setter
    def out_flavor(self, value: str) -> None:
        self.check_choices("out_flavor", value)
        self._out_flavor = value

    eval_out_flavor = out_flavor

    @property
    def cparams(self) -> dict[str, Any]:
        """The compression parameters as a dictionary."""
        return self._cparams

    @cparams.setter
    def cparams(self, value: Any) -> None:
        if isinstance(value, cparams):
            value = {name: getattr(value, name) for name in _ENTRIES}
        if not isinstance(value, dict) or set(_ENTRIES) - set(value):
            raise ValueError(f"expected a cparams or a dictionary with {', '.join(_ENTRIES)}, not {value!r}")
        self._cparams = _check(**value)


defaults = Defaults()


@contextlib.contextmanager
def defaults_ctx(cparams: Any = None, vm: str | None = None, out_flavor: str | None = None) -> Iterator[None]:
    """Changes the defaults within a ``with`` block."""
    before = defaults.cparams, defaults.vm, defaults.out_flavor
    try:
        if cparams:
            defaults.cparams = cparams
        if vm:
            defaults.vm = vm
        if out_flavor:
            defaults.out_flavor = out_flavor
        yield
    finally:
        defaults.cparams, defaults.vm, defaults.out_flavor = before
