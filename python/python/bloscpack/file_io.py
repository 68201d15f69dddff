"""Files and file objects as sources and sinks, and the functions of Bloscpack 0.16 for files and bytes."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from . import _native, files, log
from ._buffers import of_bytes
from ._deprecated import deprecated
from ._new_file import NewFile
from .abstract_io import CompressedSink, CompressedSource, PlainSink, PlainSource, decompress_chunk, pack, unpack
from .args import (
    BloscArgs,
    BloscpackArgs,
    MetadataArgs,
    _check_metadata_arguments,
    _handle_max_apps,
    calculate_nchunks,
)
from .checksums import CHECKSUMS_LOOKUP, Hash
from .constants import BLOSC_HEADER_LENGTH, BLOSCPACK_HEADER_LENGTH, FORMAT_VERSION, METADATA_HEADER_LENGTH
from .defaults import DEFAULT_CHUNK_SIZE
from .exceptions import ChecksumMismatch, FormatVersionMismatch, MetadataSectionTooSmall
from .headers import BloscpackHeader, MetadataHeader, decode_blosc_header, encode_int64
from .metacodecs import CODECS_LOOKUP
from .pretty import double_pretty_size
from .serializers import SERIALIZERS_LOOKUP


def _read_exactly(fp: BinaryIO, size: int, what: str) -> bytes:
    data = fp.read(size)
    if len(data) != size:
        raise ValueError(f"cut short: {len(data)} of {size} bytes of {what}")
    return data


def _write_metadata(output_fp: BinaryIO, metadata: Any, metadata_args: MetadataArgs) -> int:
    """Writes the metadata section at the position of a file object, and returns its length."""
    _check_metadata_arguments(metadata_args)
    raw = SERIALIZERS_LOOKUP[metadata_args.magic_format].dumps(metadata).encode()
    stored = metadata_args.meta_codec_impl.compress(raw, metadata_args.meta_level)
    if metadata_args.should_compress and len(stored) > len(raw):
        metadata_args.nullify_codec()
        stored = raw
    room = metadata_args.effective_max_meta_size(len(raw))
    if len(stored) > room:
        raise MetadataSectionTooSmall(f"the metadata takes {len(stored)} bytes, but there is room for {room}")
    header = MetadataHeader(
        magic_format=metadata_args.magic_format,
        meta_checksum=metadata_args.meta_checksum,
        meta_codec=metadata_args.meta_codec_name,
        meta_level=metadata_args.meta_level,
        meta_size=len(raw),
        max_meta_size=room,
        meta_comp_size=len(stored),
    )
    digest = CHECKSUMS_LOOKUP[metadata_args.meta_checksum](stored)
    section = header.encode() + stored.ljust(room, b"\0") + digest
    output_fp.write(section)
    return len(section)


def _read_bloscpack_header(input_fp: BinaryIO) -> BloscpackHeader:
    """Reads the header at the position of a file object."""
    header = BloscpackHeader.decode(input_fp.read(BLOSCPACK_HEADER_LENGTH))
    if header.format_version != FORMAT_VERSION:
        raise FormatVersionMismatch(f"the file has version {header.format_version}, expected {FORMAT_VERSION}")
    return header


def _read_metadata(input_fp: BinaryIO) -> tuple[Any, MetadataHeader]:
    """Reads the metadata section at the position of a file object."""
    header = MetadataHeader.decode(input_fp.read(METADATA_HEADER_LENGTH))
    stored = _read_exactly(input_fp, header.meta_comp_size, "metadata")
    input_fp.seek(header.max_meta_size - header.meta_comp_size, 1)
    checksum = CHECKSUMS_LOOKUP[header.meta_checksum]
    digest, computed = input_fp.read(checksum.size), checksum(stored)
    if digest != computed:
        raise ChecksumMismatch(f"metadata: the file has the digest {digest!r}, the data gives {computed!r}")
    raw = CODECS_LOOKUP[header.meta_codec].decompress(stored)
    return SERIALIZERS_LOOKUP[header.magic_format].loads(raw), header


def _read_offsets(input_fp: BinaryIO, bloscpack_header: BloscpackHeader) -> list[int]:
    """Reads the offset table at the position of a file object, and returns the used entries."""
    entries = bloscpack_header.total_prospective_chunks
    if not bloscpack_header.offsets or entries is None:
        return []
    used = _read_exactly(input_fp, 8 * bloscpack_header.nchunks, "offsets")
    input_fp.seek(8 * bloscpack_header.max_app_chunks, 1)
    return [int.from_bytes(used[at : at + 8], "little", signed=True) for at in range(0, len(used), 8)]


def _read_beginning(input_fp: BinaryIO) -> tuple[BloscpackHeader, Any, MetadataHeader | None, list[int]]:
    """Reads everything before the first chunk: header, metadata, metadata header, and offsets."""
    header = _read_bloscpack_header(input_fp)
    metadata, metadata_header = _read_metadata(input_fp) if header.metadata else (None, None)
    return header, metadata, metadata_header, _read_offsets(input_fp, header)


def _write_offsets(output_fp: BinaryIO, offsets: list[int]) -> None:
    output_fp.write(b"".join(map(encode_int64, offsets)))


def _read_compressed_chunk_fp(input_fp: BinaryIO, checksum_impl: Hash) -> tuple[bytes, Any, bytes | None]:
    """Reads a chunk at the position of a file object: the chunk, its header, and its digest."""
    start = _read_exactly(input_fp, BLOSC_HEADER_LENGTH, "the header of a chunk")
    header = decode_blosc_header(start)
    compressed = start + _read_exactly(input_fp, max(header["ctbytes"] - len(start), 0), "a chunk")
    digest = _read_exactly(input_fp, checksum_impl.size, "a digest") if checksum_impl.size else None
    return compressed, header, digest


def _write_compressed_chunk(output_fp: BinaryIO, compressed: bytes, digest: bytes) -> None:
    output_fp.write(compressed)
    output_fp.write(digest)


class PlainFPSource(PlainSource):
    """The content of a file object, from its position on."""

    def __init__(self, input_fp: BinaryIO) -> None:
        self.input_fp = input_fp

    def __iter__(self) -> Iterator[bytes]:
        for number in range(self.nchunks):
            yield self.input_fp.read(self.last_chunk if number == self.nchunks - 1 else self.chunk_size)


class CompressedFPSource(CompressedSource):
    """The chunks of a Bloscpack file, from the position of a file object on."""

    def __init__(self, input_fp: BinaryIO) -> None:
        self.input_fp = input_fp
        self.bloscpack_header, self.metadata, self.metadata_header, self.offsets = _read_beginning(input_fp)
        self.checksum_impl = self.bloscpack_header.checksum_impl
        self.nchunks = self.bloscpack_header.nchunks

    def __iter__(self) -> Iterator[tuple[bytes, bytes | None]]:
        for _ in range(self.nchunks or 0):
            compressed, _header, digest = _read_compressed_chunk_fp(self.input_fp, self.checksum_impl)
            yield compressed, digest


class PlainFPSink(PlainSink):
    """Writes the content of chunks to a file object."""

    def __init__(self, output_fp: BinaryIO, nchunks: int | None = None) -> None:
        self.output_fp = output_fp
        self.nchunks = nchunks

    def put(self, compressed: bytes) -> int:
        data = decompress_chunk(compressed)
        self.output_fp.write(data)
        return len(data)


class CompressedFPSink(CompressedSink):
    """Writes a Bloscpack file to a file object."""

    def __init__(self, output_fp: BinaryIO) -> None:
        self.output_fp = output_fp
        self.meta_total = 0

    def write_bloscpack_header(self) -> None:
        self.output_fp.write(self.bloscpack_header.encode())

    def write_metadata(self, metadata: Any, metadata_args: MetadataArgs) -> None:
        self.meta_total += _write_metadata(self.output_fp, metadata, metadata_args)

    def init_offsets(self) -> None:
        if self.offsets:
            self.offset_storage = [-1] * self.bloscpack_header.nchunks
            self.output_fp.write(encode_int64(-1) * (self.bloscpack_header.total_prospective_chunks or 0))

    def finalize(self) -> None:
        if self.offsets:
            self.output_fp.seek(BLOSCPACK_HEADER_LENGTH + self.meta_total, 0)
            _write_offsets(self.output_fp, self.offset_storage)

    def put(self, i: int, compressed: bytes) -> tuple[int, bytes, bytes]:
        offset = self.output_fp.tell()
        digest = self.do_checksum(compressed)
        _write_compressed_chunk(self.output_fp, compressed, digest)
        if self.offsets:
            self.offset_storage[i] = offset
        return offset, compressed, digest


def _pack_quickly(
    target: Any,
    data: Any,
    chunking: tuple[int, int, int],
    metadata: Any,
    blosc_args: BloscArgs | None,
    bloscpack_args: BloscpackArgs | None,
) -> None:
    """Compresses bytes on several threads, with the default arguments for metadata."""
    blosc, container = blosc_args or BloscArgs(), bloscpack_args or BloscpackArgs()
    spare = _handle_max_apps(container.offsets, chunking[0], container.max_app_chunks)
    given = {name: blosc[name] for name in ("typesize", "clevel", "shuffle", "cname")}
    with files.Writer(
        target,
        **given,
        chunk_size=chunking[1],
        checksum=container.checksum,
        offsets=container.offsets,
        max_app_chunks=spare if container.offsets else None,
        metadata=metadata,
        size=len(data),
    ) as writer:
        writer.write(data)


def _is_quick(metadata: Any, bloscpack_args: BloscpackArgs | None, metadata_args: MetadataArgs | None) -> bool:
    """Whether the native writer can store the metadata with these arguments."""
    checksum = (bloscpack_args or BloscpackArgs()).checksum
    return metadata is None or (metadata_args is None and checksum == "adler32")


def _pack(
    data: Any,
    target: Any,
    chunk_size: int | str | None,
    metadata: Any,
    blosc_args: BloscArgs | None,
    bloscpack_args: BloscpackArgs | None,
    metadata_args: MetadataArgs | None,
) -> None:
    """Compresses bytes into an empty file object."""
    raw = of_bytes(data)
    chunking = calculate_nchunks(len(raw), DEFAULT_CHUNK_SIZE if chunk_size is None else chunk_size)
    if len(raw) and _is_quick(metadata, bloscpack_args, metadata_args):
        _pack_quickly(target, raw, chunking, metadata, blosc_args, bloscpack_args)
    else:
        source = PlainFPSource(io.BytesIO(raw.tobytes()))
        sink = CompressedFPSink(target)
        pack(source, sink, *chunking, metadata, blosc_args, bloscpack_args, metadata_args)
    size = target.tell()
    log.verbose(f"input size: {double_pretty_size(len(raw))}, output size: {double_pretty_size(size)}")


def _unpack(source: Any) -> tuple[files.File, Any]:
    """The content and the metadata of a path or a file object. Checks the version."""
    if isinstance(source, io.BytesIO):
        source.seek(0)
        _read_bloscpack_header(source)
        source = source.getvalue()
    elif not _native.is_url(source):
        with builtins.open(source, "rb") as fp:
            _read_bloscpack_header(fp)
    file = files.File(source)
    return file, file.metadata


def pack_file_to_file(
    in_file: files.Path,
    out_file: files.Path,
    chunk_size: int | str | None = DEFAULT_CHUNK_SIZE,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Compresses a file into another, which appears when it is complete."""
    size = os.path.getsize(in_file)
    chunking = calculate_nchunks(size, DEFAULT_CHUNK_SIZE if chunk_size is None else chunk_size)
    with builtins.open(in_file, "rb") as input_fp, NewFile(out_file) as new, new.open() as output_fp:
        if not size or not _is_quick(metadata, bloscpack_args, metadata_args):
            source, sink = PlainFPSource(input_fp), CompressedFPSink(output_fp)
            pack(source, sink, *chunking, metadata, blosc_args, bloscpack_args, metadata_args)
            return
        import mmap

        with mmap.mmap(input_fp.fileno(), 0, access=mmap.ACCESS_READ) as data:
            raw = of_bytes(data)
            try:
                _pack_quickly(output_fp, raw, chunking, metadata, blosc_args, bloscpack_args)
            finally:
                del raw


def unpack_file_from_file(in_file: files.Path, out_file: files.Path) -> Any:
    """Decompresses a file into another, which appears when it is complete. Returns the metadata."""
    content, metadata = _unpack(in_file)
    with NewFile(out_file) as new, new.open("wb") as output_fp:
        while piece := content.read(64 << 20):
            output_fp.write(piece)
        return metadata


def pack_bytes_to_file(
    bytes_: Any,
    out_file: files.Path,
    chunk_size: int | str | None = DEFAULT_CHUNK_SIZE,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Compresses bytes into a file, which appears when it is complete."""
    with NewFile(out_file) as new, new.open() as output_fp:
        _pack(bytes_, output_fp, chunk_size, metadata, blosc_args, bloscpack_args, metadata_args)


def unpack_bytes_from_file(compressed_file: files.Path) -> tuple[bytes, Any]:
    """The content of a file, and its metadata."""
    content, metadata = _unpack(compressed_file)
    return content.read(), metadata


def pack_bytes_to_bytes(
    bytes_: Any,
    chunk_size: int | str | None = DEFAULT_CHUNK_SIZE,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> bytes:
    """Compresses bytes into the bytes of a file."""
    target = io.BytesIO()
    _pack(bytes_, target, chunk_size, metadata, blosc_args, bloscpack_args, metadata_args)
    return target.getvalue()


def unpack_bytes_from_bytes(bytes_: Any) -> tuple[bytes, Any]:
    """The content and the metadata of a file, given as bytes.

    >>> unpack_bytes_from_bytes(pack_bytes_to_bytes(b"content", metadata={"a": 1}))
    (b'content', {'a': 1})
    """
    content, metadata = _unpack(io.BytesIO(bytes_))
    return content.read(), metadata


pack_file = deprecated(pack_file_to_file, "pack_file")
unpack_file = deprecated(unpack_file_from_file, "unpack_file")
pack_bytes_file = deprecated(pack_bytes_to_file, "pack_bytes_file")
unpack_bytes_file = deprecated(unpack_bytes_from_file, "unpack_bytes_file")
