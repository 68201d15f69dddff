"""The headers of a Bloscpack file and of its chunks.

>>> header = BloscpackHeader(offsets=True, chunk_size=1 << 20, last_chunk=100, nchunks=3)
>>> BloscpackHeader.decode(header.encode()) == header
True
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from .abstract_objects import MutableMappingObject
from .checksums import CHECKSUMS_AVAIL, CHECKSUMS_LOOKUP, Hash, check_valid_checksum
from .constants import (
    BLOSCPACK_HEADER_LENGTH,
    CNAME_MAPPING,
    FORMAT_VERSION,
    MAGIC,
    MAX_BUFFERSIZE,
    MAX_CHUNKS,
    MAX_CLEVEL,
    MAX_FORMAT_VERSION,
    MAX_META_SIZE,
    MAX_TYPESIZE,
    METADATA_HEADER_LENGTH,
)
from .defaults import DEFAULT_OFFSETS
from .metacodecs import CODECS_AVAIL, check_valid_codec

# magic, version, options, checksum, typesize, chunk size, last chunk, chunks, spare entries
_HEADER = struct.Struct("<4s4B2i2q")
# magic, options, checksum, codec, level, size, reserved space, stored size, user codec
_METADATA = struct.Struct("<8s4B3I8s")
_CHUNK = struct.Struct("<4B3I")


def check_range(name: str, value: int, min_: int, max_: int) -> None:
    """Raises an exception unless the value is an integer in this range."""
    if not isinstance(value, int):
        raise TypeError(f"{name!r} must be an 'int', not {type(value).__name__!r}")
    if not min_ <= value <= max_:
        raise ValueError(f"{name!r} must be from {min_} to {max_}, not {value}")


def _check_str(name: str, value: bytes, max_len: int) -> None:
    if not isinstance(value, bytes):
        raise TypeError(f"{name!r} must be 'bytes', not {type(value).__name__!r}")
    if len(value) > max_len:
        raise ValueError(f"{name!r} has {len(value)} bytes, the longest allowed is {max_len}")


def _pad_with_nulls(data: bytes, len_: int) -> bytes:
    return data.ljust(len_, b"\0")


def check_options(options: str) -> None:
    """Raises an exception unless the options are a string of eight zeros and ones."""
    if not isinstance(options, str):
        raise TypeError(f"'options' must be a 'str', not {type(options).__name__!r}")
    if len(options) != 8 or set(options) - {"0", "1"}:
        raise ValueError(f"'options' must be eight zeros and ones, not {options!r}")


def check_options_zero(options: str, indices: Iterable[int]) -> None:
    """Raises an exception if a bit at one of these positions is set."""
    for index in indices:
        if options[index] != "0":
            raise ValueError(f"bit {index} of the options {options!r} has no meaning")


def create_options(offsets: bool = DEFAULT_OFFSETS, metadata: bool = False) -> str:
    """The options of a header.

    >>> create_options(offsets=True, metadata=True)
    '00000011'
    """
    return f"000000{int(metadata)}{int(offsets)}"


def decode_options(options: str) -> dict[str, bool]:
    """Decodes the options of a header."""
    check_options(options)
    check_options_zero(options, range(6))
    return {"offsets": options[7] == "1", "metadata": options[6] == "1"}


def create_metadata_options() -> str:
    """The options of the metadata header."""
    return "00000000"


def decode_metadata_options(options: str) -> dict[str, bool]:
    """Decodes the options of the metadata header, all of which are unused."""
    check_options(options)
    check_options_zero(options, range(8))
    return {}


def decode_uint8(byte: int) -> int:
    return byte


def decode_uint32(fourbyte: bytes) -> int:
    return int.from_bytes(fourbyte, "little")


def decode_int32(fourbyte: bytes) -> int:
    return int.from_bytes(fourbyte, "little", signed=True)


def decode_int64(eightbyte: bytes) -> int:
    return int.from_bytes(eightbyte, "little", signed=True)


def decode_bitfield(byte: int) -> str:
    return f"{byte:08b}"


def decode_magic_string(str_: bytes) -> bytes:
    return str_.strip(b"\0")


def encode_uint8(value: int) -> bytes:
    return struct.pack("<B", value)


def encode_uint32(value: int) -> bytes:
    return struct.pack("<I", value)


def encode_int32(value: int) -> bytes:
    return struct.pack("<i", value)


def encode_int64(value: int) -> bytes:
    return struct.pack("<q", value)


def decode_blosc_header(buffer_: bytes) -> OrderedDict[str, int]:
    """The fields of the header of a chunk."""
    names = ("version", "versionlz", "flags", "typesize", "nbytes", "blocksize", "ctbytes")
    return OrderedDict(zip(names, _CHUNK.unpack_from(buffer_)))


def decode_blosc_flags(byte_: int) -> OrderedDict[str, Any]:
    """Decodes the flags of a chunk."""
    bits = {"byte_shuffle": 0, "pure_memcpy": 1, "bit_shuffle": 2, "split_blocks": 4}
    flags: OrderedDict[str, Any] = OrderedDict((name, bool(byte_ >> bit & 1)) for name, bit in bits.items())
    flags["codec"] = CNAME_MAPPING[byte_ >> 5 & 7]
    return flags


class BloscpackHeader(MutableMappingObject):
    """The header of a file. A size or count that is unknown is -1."""

    def __init__(
        self,
        format_version: int = FORMAT_VERSION,
        offsets: bool = False,
        metadata: bool = False,
        checksum: str = "None",
        typesize: int = 0,
        chunk_size: int = -1,
        last_chunk: int = -1,
        nchunks: int = -1,
        max_app_chunks: int = 0,
    ) -> None:
        check_range("format_version", format_version, 0, MAX_FORMAT_VERSION)
        check_valid_checksum(checksum)
        check_range("typesize", typesize, 0, MAX_TYPESIZE)
        check_range("chunk_size", chunk_size, -1, MAX_BUFFERSIZE)
        check_range("last_chunk", last_chunk, -1, MAX_BUFFERSIZE)
        check_range("nchunks", nchunks, -1, MAX_CHUNKS)
        check_range("max_app_chunks", max_app_chunks, 0, MAX_CHUNKS)
        if nchunks != -1:
            check_range("nchunks + max_app_chunks", nchunks + max_app_chunks, 0, MAX_CHUNKS)
        elif max_app_chunks:
            raise ValueError("'max_app_chunks' must be 0 if the number of chunks is unknown")
        if -1 != chunk_size < last_chunk:
            raise ValueError(f"'last_chunk' ({last_chunk}) is larger than 'chunk_size' ({chunk_size})")
        self.format_version = format_version
        self.offsets = offsets
        self.metadata = metadata
        self.checksum = checksum
        self.typesize = typesize
        self.chunk_size = chunk_size
        self.last_chunk = last_chunk
        self.nchunks = nchunks
        self.max_app_chunks = max_app_chunks

    @property
    def attributes(self) -> list[str]:
        return list(vars(self))

    @property
    def bytes_attributes(self) -> list[str]:
        return ["chunk_size", "last_chunk"]

    @property
    def checksum_impl(self) -> Hash:
        """The checksum of the chunks."""
        return CHECKSUMS_LOOKUP[self.checksum]

    @property
    def total_prospective_chunks(self) -> int | None:
        """The number of entries of the offset table, if known."""
        return self.nchunks + self.max_app_chunks if self.nchunks >= 0 else None

    def encode(self) -> bytes:
        """The 32 bytes of the header."""
        options = int(create_options(self.offsets, self.metadata), 2)
        checksum = CHECKSUMS_AVAIL.index(self.checksum)
        sizes = (self.chunk_size, self.last_chunk, self.nchunks, self.max_app_chunks)
        return _HEADER.pack(MAGIC, self.format_version, options, checksum, self.typesize, *sizes)

    @staticmethod
    def decode(buffer_: bytes) -> BloscpackHeader:
        """Decodes a header from 32 bytes."""
        if len(buffer_) != BLOSCPACK_HEADER_LENGTH:
            raise ValueError(f"the header has {len(buffer_)} bytes, expected {BLOSCPACK_HEADER_LENGTH}")
        magic, version, options, checksum, typesize, *sizes = _HEADER.unpack(buffer_)
        if magic != MAGIC:
            raise ValueError(f"not a Bloscpack file: it begins with {magic!r}, expected {MAGIC!r}")
        if checksum >= len(CHECKSUMS_AVAIL):
            raise ValueError(f"unknown checksum {checksum}")
        flags = decode_options(decode_bitfield(options))
        return BloscpackHeader(
            version, flags["offsets"], flags["metadata"], CHECKSUMS_AVAIL[checksum], typesize, *sizes
        )


class MetadataHeader(MutableMappingObject):
    """The metadata header."""

    def __init__(
        self,
        magic_format: bytes = b"",
        meta_options: str = "00000000",
        meta_checksum: str = "None",
        meta_codec: str = "None",
        meta_level: int = 0,
        meta_size: int = 0,
        max_meta_size: int = 0,
        meta_comp_size: int = 0,
        user_codec: bytes = b"",
    ) -> None:
        _check_str("magic-format", magic_format, 8)
        check_options(meta_options)
        check_valid_checksum(meta_checksum)
        check_valid_codec(meta_codec)
        check_range("meta_level", meta_level, 0, MAX_CLEVEL)
        check_range("meta_size", meta_size, 0, MAX_META_SIZE)
        check_range("max_meta_size", max_meta_size, 0, MAX_META_SIZE)
        check_range("meta_comp_size", meta_comp_size, 0, MAX_META_SIZE)
        _check_str("user_codec", user_codec, 8)
        self.magic_format = magic_format
        self.meta_options = meta_options
        self.meta_checksum = meta_checksum
        self.meta_codec = meta_codec
        self.meta_level = meta_level
        self.meta_size = meta_size
        self.max_meta_size = max_meta_size
        self.meta_comp_size = meta_comp_size
        self.user_codec = user_codec

    @property
    def attributes(self) -> list[str]:
        return list(vars(self))

    @property
    def bytes_attributes(self) -> list[str]:
        return ["meta_size", "max_meta_size", "meta_comp_size"]

    def encode(self) -> bytes:
        """The 32 bytes of the header."""
        return _METADATA.pack(
            self.magic_format,
            int(self.meta_options, 2),
            CHECKSUMS_AVAIL.index(self.meta_checksum),
            CODECS_AVAIL.index(self.meta_codec),
            self.meta_level,
            self.meta_size,
            self.max_meta_size,
            self.meta_comp_size,
            self.user_codec,
        )

    @staticmethod
    def decode(buffer_: bytes) -> MetadataHeader:
        """Decodes a header from 32 bytes."""
        if len(buffer_) != METADATA_HEADER_LENGTH:
            raise ValueError(f"the header of metadata has {len(buffer_)} bytes, expected {METADATA_HEADER_LENGTH}")
        magic, options, checksum, codec, level, size, max_size, comp_size, user_codec = _METADATA.unpack(buffer_)
        if checksum >= len(CHECKSUMS_AVAIL) or codec >= len(CODECS_AVAIL):
            raise ValueError(f"unknown checksum {checksum} or codec {codec} of metadata")
        return MetadataHeader(
            decode_magic_string(magic),
            decode_bitfield(options),
            CHECKSUMS_AVAIL[checksum],
            CODECS_AVAIL[codec],
            level,
            size,
            max_size,
            comp_size,
            decode_magic_string(user_codec),
        )
