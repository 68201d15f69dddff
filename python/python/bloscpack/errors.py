"""The exceptions of this package.

All of them derive from `Error`, which is a `ValueError`. Some also derive from the exceptions of Bloscpack 0.16 or from
`OSError`, so that existing ``except`` clauses match.

>>> import bloscpack
>>> try:
...     bloscpack.decompress(b"blpk" + bytes(28))
... except bloscpack.Error as error:
...     print(type(error).__name__, error.category)
UnsupportedError unsupported
"""

from __future__ import annotations

import os
from typing import Any

from . import exceptions as old

__all__ = [
    "Error",
    "DamagedError",
    "ChecksumError",
    "CommittedError",
    "CutShortError",
    "UnsupportedError",
    "LimitError",
    "UsageError",
    "IOFailure",
    "InternalError",
]


class Error(ValueError):
    """An error of this package.

    Attributes are `None` where they are unknown or do not apply:

    * ``code``, ``category``: what happened (such as ``"digest"``; docs/errors.md lists all codes), and how to react
      (``"damaged"``, ``"cut short"``, ``"unsupported"``, ``"over limit"``, ``"usage"``, ``"committed"`` or ``"failed"``);
    * ``byte``, ``chunk``, ``member``, ``section``: where in the input, counted from 0;
    * ``path``, ``side``: the file, and whether it is the ``"source"`` or the ``"target"``;
    * ``limit``, ``hint``: the limit that was exceeded, and advice on what to do;
    * ``damaged_bytes``, ``lost_content``, ``lost_records``: in the reports of `verify` and `recover`, the begin and the end
      of the damaged bytes of the input, and of the lost content or records.
    """

    code: str = "usage"
    category: str = "usage"
    byte: int | None = None
    chunk: int | None = None
    member: int | None = None
    section: str | None = None
    path: str | None = None
    side: str | None = None
    limit: str | None = None
    hint: str | None = None
    damaged_bytes: tuple[int, int] | None = None
    lost_content: tuple[int, int] | None = None
    lost_records: tuple[int, int] | None = None


class UsageError(Error):
    """A call with wrong arguments, or at the wrong moment."""


class DamagedError(Error):
    """The input is damaged: its bytes differ from the ones that were written."""


class ChecksumError(DamagedError, old.ChecksumMismatch):
    """A chunk, or metadata, that does not match its checksum."""


class CutShortError(DamagedError):
    """An input that ends too early, or that its writer did not finish."""


class UnsupportedError(Error, old.FormatVersionMismatch):
    """A format, or a feature of a format, that this version does not read."""


class LimitError(Error):
    """An input that demands more memory or work than allowed."""


class InternalError(Error, RuntimeError):
    """A bug of this package. Please report it, with the input."""


class IOFailure(Error, OSError):
    """Reading or writing failed. `errno` is set if the system returned an error number."""


class CommittedError(Error, OSError):
    """A change is committed, but could not be completed. Do not repeat it: the next writer completes it."""


_OF_CATEGORY: dict[str, type[Error]] = {
    "usage": UsageError,
    "damaged": DamagedError,
    "cut short": CutShortError,
    "unsupported": UnsupportedError,
    "over limit": LimitError,
    "committed": CommittedError,
    "failed": InternalError,
}

_OF_IO: dict[str, type[OSError]] = {
    "NotFound": FileNotFoundError,
    "AlreadyExists": FileExistsError,
    "PermissionDenied": PermissionError,
    "IsADirectory": IsADirectoryError,
    "NotADirectory": NotADirectoryError,
    "BrokenPipe": BrokenPipeError,
    "TimedOut": TimeoutError,
}

_io_classes: dict[str, type[Error]] = {
    name: type(f"IO{parent.__name__}", (IOFailure, parent), {"__doc__": f"An `IOFailure` that is a `{parent.__name__}`."})
    for name, parent in _OF_IO.items()
}


def of_os_error(error: OSError, path: Any) -> Error:
    """The exception for an `OSError` about a file that is being written."""
    classes = (cls for name, cls in _io_classes.items() if isinstance(error, _OF_IO[name]))
    made = next(classes, IOFailure)(f"{os.fsdecode(path)}: {error.strerror or error}")
    made.code, made.category, made.side, made.path = "io", "failed", "target", path
    made.errno = error.errno  # type: ignore[attr-defined]
    return made


def _class_of(facts: dict[str, Any]) -> type[Error]:
    code = facts["code"]
    if code == "io":
        return _io_classes.get(facts.get("io", ""), IOFailure)
    if code == "digest":
        return ChecksumError
    if code in ("wrong-size", "wrong-count", "record-value"):
        return UsageError
    return _OF_CATEGORY.get(facts["category"], Error)


def of_facts(facts: dict[str, Any]) -> Error:
    """The exception for an error of the native half, which calls this function."""
    error = _class_of(facts)(facts["message"])
    for name in ("code", "category", "byte", "chunk", "member", "section", "side", "limit", "hint"):
        setattr(error, name, facts[name])
    if facts["path"] is not None:
        error.path = os.fspath(facts["path"])
    if isinstance(error, OSError):
        error.errno = facts.get("errno")
    if error.hint:
        error.add_note(f"hint: {error.hint}")
    return error
