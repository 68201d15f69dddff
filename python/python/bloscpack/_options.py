"""Options of encoders, checked and complete, as the native half takes them."""

from __future__ import annotations

import json
from typing import Any

from ._buffers import threads

#: The names of compressors and checksums.
COMPRESSORS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
CHECKSUMS = ("None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")

_NAMES = (
    "cname clevel shuffle typesize chunk_size checksum offsets metadata max_app_chunks size threads packed interactive".split()
)


def options(**given: Any) -> dict[str, Any]:
    """All options, with `None` for those that are not given.

    >>> options(cname="zstd", metadata={"a": 1})["metadata"]
    '{"a":1}'
    """
    unknown = given.keys() - set(_NAMES)
    if unknown:
        raise TypeError(f"unknown option {sorted(unknown)[0]!r} (options: {', '.join(_NAMES)})")
    every = dict.fromkeys(_NAMES) | given
    if every["metadata"] is not None:
        every["metadata"] = json.dumps(every["metadata"], separators=(",", ":"))
    if every["checksum"] is not None:
        every["checksum"] = str(every["checksum"]).lower()
    if every["shuffle"] is not None:
        every["shuffle"] = int(every["shuffle"])
    every["threads"] = every["threads"] or threads()
    return every
