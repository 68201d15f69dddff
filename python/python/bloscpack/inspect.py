"""Describes, checks and recovers inputs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from . import _native
from ._buffers import threads
from ._new_file import NewFile
from .errors import Error
from .files import Path, Source


def info(source: Source) -> dict[str, Any]:
    """Describes a file, a directory or a frame. Reads only headers.

    >>> import bloscpack
    >>> facts = info(bloscpack.compress(bytes(5000)))
    >>> facts["kind"], facts["uncompressed_bytes"]
    ('bloscpack', 5000)
    """
    return json.loads(_native.info(source))


@dataclass(frozen=True)
class Report:
    """The result of `verify`."""

    chunks: int
    bytes: int
    records: int
    damage_count: int
    #: An exception for each damage, with byte and chunk.
    damages: list[Error] = field(repr=False)
    warnings: list[str] = field(default_factory=list, repr=False)

    def __bool__(self) -> bool:
        """Whether the input is sound."""
        return self.damage_count == 0


def verify(source: Source) -> Report:
    """Checks and decompresses every chunk of a file, a directory or a frame.

    >>> import bloscpack
    >>> file = bytearray(bloscpack.compress(bytes(range(256)) * 20, chunk_size=1000))
    >>> bool(verify(bytes(file)))
    True
    >>> file[-10] ^= 1
    >>> report = verify(bytes(file))
    >>> report.damage_count, report.damages[0].chunk
    (1, 5)
    """
    return Report(**_native.verify(source, threads()))


def recover(source: Source, target: Path, *, fill: bool = False) -> dict[str, Any]:
    """Writes a new file with all sound content of a damaged input, and returns a report.

    With ``fill``, zeros replace lost content, so later content keeps its position. The target must not exist.
    """
    with NewFile(target, replace=False) as new:
        return _native.recover(source, new.path, fill, threads())
