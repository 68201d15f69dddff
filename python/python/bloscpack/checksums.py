"""The checksums of the format."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .exceptions import NoSuchChecksum


@dataclass(frozen=True)
class Hash:
    """A checksum: its name, the length of a digest, and a function from bytes to a digest."""

    name: str
    size: int
    function: Callable[[Any], bytes]

    def __call__(self, data: Any) -> bytes:
        return self.function(data)


def zlib_hash(function: Callable[[Any], int]) -> tuple[int, Callable[[Any], bytes]]:
    """The digest length and the function of a checksum in `zlib`."""
    return 4, lambda data: function(data).to_bytes(4, "little")


def hashlib_hash(function: Callable[..., Any]) -> tuple[int, Callable[[Any], bytes]]:
    """The digest length and the function of a checksum in `hashlib`."""
    return function().digest_size, lambda data: function(data).digest()


CHECKSUMS = [
    Hash("None", 0, lambda _: b""),
    Hash("adler32", *zlib_hash(zlib.adler32)),
    Hash("crc32", *zlib_hash(zlib.crc32)),
    *(Hash(name, *hashlib_hash(getattr(hashlib, name))) for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")),
]
CHECKSUMS_AVAIL = [checksum.name for checksum in CHECKSUMS]
CHECKSUMS_LOOKUP = {checksum.name: checksum for checksum in CHECKSUMS}


def check_valid_checksum(checksum: str) -> None:
    """Raises an exception for an unknown name."""
    if checksum not in CHECKSUMS_LOOKUP:
        raise NoSuchChecksum(f"no checksum {checksum!r} (checksums: {', '.join(CHECKSUMS_AVAIL)})")
