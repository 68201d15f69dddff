"""Appends to files, and changes their metadata, as Bloscpack 0.16 does.

A crash during a call damages the file. `bloscpack.append_bytes` and `bloscpack.append_records` are atomic.
"""

from __future__ import annotations

import builtins
import os
from typing import Any, BinaryIO

from .abstract_io import _compress_chunk_str, decompress_chunk
from .args import BLOSC_ARGS, METADATA_ARGS, MetadataArgs, _check_blosc_args, calculate_nchunks
from .checksums import CHECKSUMS_LOOKUP, check_valid_checksum
from .constants import BLOSCPACK_HEADER_LENGTH, MAX_CLEVEL, METADATA_HEADER_LENGTH
from .defaults import DEFAULT_CLEVEL, DEFAULT_CNAME, DEFAULT_META_CODEC, DEFAULT_META_LEVEL, DEFAULT_SHUFFLE
from .exceptions import (
    ChecksumLengthMismatch,
    ChecksumMismatch,
    NoChangeInMetadata,
    NoMetadataFound,
    NonUniformTypesize,
    NotEnoughSpace,
)
from .file_io import (
    _read_beginning,
    _read_bloscpack_header,
    _read_compressed_chunk_fp,
    _read_metadata,
    _write_compressed_chunk,
    _write_metadata,
    _write_offsets,
)
from .headers import BloscpackHeader, check_range
from .metacodecs import check_valid_codec
from .serializers import check_valid_serializer


def _complete(blosc_args: Any, header: BloscpackHeader) -> dict[str, Any]:
    """The arguments; each `None` is replaced by the value from the file or by a default."""
    if header.typesize == -1:
        raise NonUniformTypesize("the chunks of the file have different typesizes")
    defaults = (header.typesize, DEFAULT_CLEVEL, DEFAULT_SHUFFLE, DEFAULT_CNAME)
    given = dict(blosc_args or dict.fromkeys(BLOSC_ARGS))
    _check_blosc_args(given)
    return {name: default if given[name] is None else given[name] for name, default in zip(BLOSC_ARGS, defaults)}


def append_fp(original_fp: BinaryIO, new_content_fp: BinaryIO, new_size: int, blosc_args: Any = None) -> int:
    """Appends ``new_size`` bytes of a file object to a Bloscpack file, and returns the number of new chunks."""
    header, metadata, metadata_header, offsets = _read_beginning(original_fp)
    if not offsets:
        raise RuntimeError("the file has no table of offsets: nothing can be appended")
    args = _complete(blosc_args, header)
    checksum = header.checksum_impl

    original_fp.seek(offsets[-1])
    compressed, _, digest = _read_compressed_chunk_fp(original_fp, checksum)
    if digest and digest != checksum(compressed):
        raise ChecksumMismatch("the last chunk of the file does not match its digest")
    last = decompress_chunk(compressed)
    fill = min(new_size, header.chunk_size - len(last))
    last += new_content_fp.read(fill)
    left = new_size - fill
    nchunks, _, last_chunk = calculate_nchunks(left, header.chunk_size) if left > 0 else (0, 0, len(last))
    if nchunks > header.max_app_chunks:
        raise NotEnoughSpace(f"{nchunks} more chunks are needed, but there is room for {header.max_app_chunks}")

    original_fp.seek(offsets[-1])
    for number in range(nchunks + 1):
        if number:
            offsets.append(original_fp.tell())
            last = new_content_fp.read(min(left, header.chunk_size))
            left -= header.chunk_size
            last_chunk = len(last)
        chunk = _compress_chunk_str(last, args)
        _write_compressed_chunk(original_fp, chunk, checksum(chunk))
    original_fp.truncate()

    header.last_chunk = last_chunk
    header.nchunks += nchunks
    header.max_app_chunks -= nchunks
    original_fp.seek(0)
    original_fp.write(header.encode())
    section = 0
    if metadata_header is not None:
        digest_len = CHECKSUMS_LOOKUP[metadata_header.meta_checksum].size
        section = METADATA_HEADER_LENGTH + metadata_header.max_meta_size + digest_len
    original_fp.seek(BLOSCPACK_HEADER_LENGTH + section)
    _write_offsets(original_fp, offsets)
    return nchunks


def append(orig_file: str, new_file: str, blosc_args: Any = None) -> None:
    """Appends the bytes of a file to the content of a Bloscpack file."""
    with builtins.open(orig_file, "r+b") as original_fp, builtins.open(new_file, "rb") as new_fp:
        append_fp(original_fp, new_fp, os.path.getsize(new_file), blosc_args)


def _seek_to_metadata(target_fp: BinaryIO) -> int:
    """Moves a file object to the metadata, and returns that position."""
    if not _read_bloscpack_header(target_fp).metadata:
        raise NoMetadataFound("the file has no metadata")
    return target_fp.tell()


def _rewrite_metadata_fp(
    target_fp: BinaryIO,
    new_metadata: Any,
    magic_format: bytes | None = None,
    checksum: str | None = None,
    codec: str | None = DEFAULT_META_CODEC,
    level: int | None = DEFAULT_META_LEVEL,
) -> None:
    """Replaces the metadata at the position of a file object, within its reserved space."""
    start = target_fp.tell()
    metadata, header = _read_metadata(target_fp)
    if metadata == new_metadata:
        raise NoChangeInMetadata("the new metadata is equal to the old")
    args = _recreate_metadata(header, new_metadata, magic_format, checksum, codec, level)
    target_fp.seek(start)
    _write_metadata(target_fp, new_metadata, args)


def _recreate_metadata(
    old_metadata_header: Any,
    new_metadata: Any,
    magic_format: bytes | None = None,
    checksum: str | None = None,
    codec: str | None = DEFAULT_META_CODEC,
    level: int | None = DEFAULT_META_LEVEL,
) -> MetadataArgs:
    """The arguments for new metadata in the space of the old; by default, the values of the old header."""
    args = MetadataArgs(**{name: old_metadata_header[name] for name in METADATA_ARGS})
    if magic_format is not None:
        check_valid_serializer(magic_format)
        args.magic_format = magic_format
    if checksum is not None:
        check_valid_checksum(checksum)
        if CHECKSUMS_LOOKUP[checksum].size != CHECKSUMS_LOOKUP[args.meta_checksum].size:
            raise ChecksumLengthMismatch(f"digests of {checksum} and {args.meta_checksum} have different lengths")
        args.meta_checksum = checksum
    if codec is not None:
        check_valid_codec(codec)
        args.meta_codec = codec
    if level is not None:
        check_range("meta_level", level, 0, MAX_CLEVEL)
        args.meta_level = level
    return args
