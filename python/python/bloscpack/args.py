"""The arguments of the functions of Bloscpack 0.16.

>>> args = BloscArgs(cname="zstd")
>>> args.clevel = 9
>>> dict(args)
{'typesize': 8, 'clevel': 9, 'shuffle': True, 'cname': 'zstd'}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Union

from . import log
from .abstract_objects import MutableMappingObject
from .constants import MAX_BUFFERSIZE, MAX_CHUNKS
from .defaults import (
    DEFAULT_CHECKSUM,
    DEFAULT_CHUNK_SIZE,
    DEFAULT_CLEVEL,
    DEFAULT_CNAME,
    DEFAULT_MAGIC_FORMAT,
    DEFAULT_MAX_APP_CHUNKS,
    DEFAULT_MAX_META_SIZE,
    DEFAULT_META_CHECKSUM,
    DEFAULT_META_CODEC,
    DEFAULT_META_LEVEL,
    DEFAULT_OFFSETS,
    DEFAULT_SHUFFLE,
    DEFAULT_TYPESIZE,
)
from .exceptions import ChunkingException
from .headers import check_range
from .metacodecs import CODECS_LOOKUP, MetaCodec
from .pretty import double_pretty_size, reverse_pretty

Count = Union[int, Callable[[int], int]]

DEFAULT_BLOSC_ARGS = {
    "typesize": DEFAULT_TYPESIZE,
    "clevel": DEFAULT_CLEVEL,
    "shuffle": DEFAULT_SHUFFLE,
    "cname": DEFAULT_CNAME,
}
BLOSC_ARGS = tuple(DEFAULT_BLOSC_ARGS)

DEFAULT_BLOSCPACK_ARGS = {
    "offsets": DEFAULT_OFFSETS,
    "checksum": DEFAULT_CHECKSUM,
    "max_app_chunks": DEFAULT_MAX_APP_CHUNKS,
}
BLOSCPACK_ARGS = tuple(DEFAULT_BLOSCPACK_ARGS)

DEFAULT_METADATA_ARGS = {
    "magic_format": DEFAULT_MAGIC_FORMAT,
    "meta_checksum": DEFAULT_META_CHECKSUM,
    "meta_codec": DEFAULT_META_CODEC,
    "meta_level": DEFAULT_META_LEVEL,
    "max_meta_size": DEFAULT_MAX_META_SIZE,
}
METADATA_ARGS = tuple(DEFAULT_METADATA_ARGS)


def _check_names(kind: str, received: Mapping[str, Any], expected: tuple[str, ...]) -> None:
    if missing := set(expected) - set(received):
        raise ValueError(f"{kind} arguments are missing: {', '.join(sorted(missing))}")
    if extra := set(received) - set(expected):
        raise ValueError(f"unknown {kind} arguments: {', '.join(sorted(extra))}")


def _check_blosc_args(blosc_args: Mapping[str, Any]) -> None:
    _check_names("blosc", blosc_args, BLOSC_ARGS)


def _check_bloscpack_args(bloscpack_args: Mapping[str, Any]) -> None:
    _check_names("bloscpack", bloscpack_args, BLOSCPACK_ARGS)


def _check_metadata_arguments(metadata_args: Mapping[str, Any]) -> None:
    _check_names("metadata", metadata_args, METADATA_ARGS)


def calculate_nchunks(in_file_size: int, chunk_size: int | str | None = DEFAULT_CHUNK_SIZE) -> tuple[int, int, int]:
    """The number of chunks, their size, and the size of the last one.

    >>> calculate_nchunks(9, chunk_size=4)
    (3, 4, 1)
    """
    if in_file_size < 0:
        raise ValueError(f"'in_file_size' must be positive, not {in_file_size}")
    if in_file_size == 0:
        return 1, 0, 0
    if isinstance(chunk_size, str):
        chunk_size = reverse_pretty(chunk_size)
    if chunk_size is None:
        raise TypeError("'chunk_size' must be a number of bytes, or text such as '1M'")
    check_range("chunk_size", chunk_size, 1, MAX_BUFFERSIZE)
    chunk_size = min(chunk_size, in_file_size)
    nchunks = -(-in_file_size // chunk_size)
    if nchunks > MAX_CHUNKS:
        raise ChunkingException(f"{nchunks} chunks are more than {MAX_CHUNKS}")
    last_chunk = in_file_size - (nchunks - 1) * chunk_size
    log.verbose(
        f"nchunks: {nchunks}, chunk_size: {double_pretty_size(chunk_size)}, "
        f"last_chunk_size: {double_pretty_size(last_chunk)}"
    )
    return nchunks, chunk_size, last_chunk


def _handle_max_apps(offsets: bool, nchunks: int, max_app_chunks: Count | None) -> int:
    """The number of spare entries in the offset table: 0 without a table, and within the limit of the format."""
    check_range("nchunks", nchunks, -1, MAX_CHUNKS)
    if not offsets or nchunks == -1:
        return 0
    if callable(max_app_chunks):
        max_app_chunks = max_app_chunks(nchunks)
        if not isinstance(max_app_chunks, int) or max_app_chunks < 0:
            raise ValueError(f"'max_app_chunks' returned {max_app_chunks!r}, expected an integer from 0 on")
    elif isinstance(max_app_chunks, int):
        check_range("max_app_chunks", max_app_chunks, 0, MAX_CHUNKS)
    else:
        raise TypeError(f"'max_app_chunks' must be an integer or a function, not {max_app_chunks!r}")
    return min(max_app_chunks, MAX_CHUNKS - nchunks)


class BloscArgs(MutableMappingObject):
    """How chunks are compressed: ``typesize``, ``clevel`` (0 to 9), ``shuffle``, ``cname``."""

    def __init__(
        self,
        typesize: int | None = DEFAULT_TYPESIZE,
        clevel: int | None = DEFAULT_CLEVEL,
        shuffle: bool | int | None = DEFAULT_SHUFFLE,
        cname: str | None = DEFAULT_CNAME,
    ) -> None:
        self.typesize = typesize
        self.clevel = clevel
        self.shuffle = shuffle
        self.cname = cname

    @property
    def attributes(self) -> list[str]:
        return list(BLOSC_ARGS)


class BloscpackArgs(MutableMappingObject):
    """Whether the file has an offset table, with how many spare entries, and the checksum of chunks."""

    def __init__(
        self,
        offsets: bool = DEFAULT_OFFSETS,
        checksum: str | None = DEFAULT_CHECKSUM,
        max_app_chunks: Count = DEFAULT_MAX_APP_CHUNKS,
    ) -> None:
        self.offsets = offsets
        self.checksum = "None" if checksum is None else checksum
        self.max_app_chunks = max_app_chunks

    @property
    def attributes(self) -> list[str]:
        return list(BLOSCPACK_ARGS)


class MetadataArgs(MutableMappingObject):
    """How metadata is stored: its format, checksum, codec and level, and the space reserved for it."""

    def __init__(
        self,
        magic_format: bytes = DEFAULT_MAGIC_FORMAT,
        meta_checksum: str = DEFAULT_META_CHECKSUM,
        meta_codec: str = DEFAULT_META_CODEC,
        meta_level: int = DEFAULT_META_LEVEL,
        max_meta_size: Count = DEFAULT_MAX_META_SIZE,
    ) -> None:
        self.magic_format = magic_format
        self.meta_checksum = meta_checksum
        self.meta_codec = meta_codec
        self.meta_level = meta_level
        self.max_meta_size = max_meta_size

    @property
    def attributes(self) -> list[str]:
        return list(METADATA_ARGS)

    @property
    def should_compress(self) -> bool:
        """Whether the metadata is compressed."""
        return self.meta_codec != "None"

    def nullify_codec(self) -> None:
        """Disables compression of the metadata."""
        self.meta_codec = "None"

    @property
    def meta_codec_impl(self) -> MetaCodec:
        """The codec."""
        return CODECS_LOOKUP[self.meta_codec]

    @property
    def meta_codec_name(self) -> str:
        """The name of the codec."""
        return self.meta_codec_impl.name

    def effective_max_meta_size(self, meta_size: int) -> int:
        """The number of bytes to reserve for ``meta_size`` bytes of metadata."""
        return self.max_meta_size(meta_size) if callable(self.max_meta_size) else self.max_meta_size
