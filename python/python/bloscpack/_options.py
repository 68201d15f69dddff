"""Checks and completes the options of encoders for the native half."""

from __future__ import annotations

import json
from typing import Any

from . import _buffers

#: The names of compressors and checksums.
COMPRESSORS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
CHECKSUMS = ("None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")


def options(
    *,
    cname: str | None = None,
    clevel: int | None = None,
    shuffle: int | None = None,
    typesize: int | None = None,
    chunk_size: int | None = None,
    checksum: str | None = None,
    offsets: bool | None = None,
    metadata: Any = None,
    max_app_chunks: int | None = None,
    size: int | None = None,
    threads: int | None = None,
    packed: int | None = None,
    interactive: bool | None = None,
) -> dict[str, Any]:
    """All options, with `None` for each that is not set.

    >>> options(cname="zstd", metadata={"a": 1})["metadata"]
    '{"a":1}'
    """
    return {
        "cname": cname,
        "clevel": clevel,
        "shuffle": None if shuffle is None else int(shuffle),
        "typesize": typesize,
        "chunk_size": chunk_size,
        "checksum": None if checksum is None else str(checksum).lower(),
        "offsets": offsets,
        "metadata": None if metadata is None else json.dumps(metadata, separators=(",", ":")),
        "max_app_chunks": max_app_chunks,
        "size": size,
        "threads": threads or _buffers.threads(),
        "packed": packed,
        "interactive": interactive,
    }
