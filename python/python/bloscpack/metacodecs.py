"""The codecs of metadata."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .exceptions import NoSuchCodec


@dataclass(frozen=True)
class MetaCodec:
    """A codec: its name, a function that compresses data with a level, and a function that decompresses."""

    name: str
    compress: Callable[[Any, int], bytes]
    decompress: Callable[[Any], bytes]


CODECS = [
    MetaCodec("None", lambda data, _: data, lambda data: data),
    MetaCodec("zlib", zlib.compress, zlib.decompress),
]
CODECS_AVAIL = [codec.name for codec in CODECS]
CODECS_LOOKUP = {codec.name: codec for codec in CODECS}


def check_valid_codec(codec: str) -> None:
    """Raises an exception for an unknown name."""
    if codec not in CODECS_LOOKUP:
        raise NoSuchCodec(f"no codec {codec!r} (codecs: {', '.join(CODECS_AVAIL)})")
