"""Sources and sinks of chunks, and functions that move chunks from a source to a sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import _native, log
from ._buffers import new_bytes, of_bytes, threads
from .args import BloscArgs, BloscpackArgs, MetadataArgs, _handle_max_apps
from .exceptions import ChecksumMismatch
from .headers import BloscpackHeader


def _compress_chunk_str(chunk: Any, blosc_args: Any) -> bytes:
    """Compresses bytes into a chunk."""
    typesize, clevel, shuffle, cname = (blosc_args[name] for name in ("typesize", "clevel", "shuffle", "cname"))
    return _native.compress_chunk(of_bytes(chunk), typesize, clevel, int(shuffle), cname, None, threads())


def decompress_chunk(chunk: Any) -> bytes:
    """The content of a chunk."""
    data = of_bytes(chunk)
    size = _native.chunk_header(data)["nbytes"]
    return new_bytes(size, lambda memory: _native.decompress_chunk_into(data, None, memory, threads()))


class PlainSource:
    """A source of uncompressed chunks."""

    def configure(self, chunk_size: int, last_chunk: int, nchunks: int) -> None:
        """Sets the sizes and the number of the chunks."""
        self.chunk_size, self.last_chunk, self.nchunks = chunk_size, last_chunk, nchunks

    @property
    def compress_func(self) -> Callable[[Any, Any], bytes]:
        """The function that compresses a chunk."""
        return _compress_chunk_str

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class CompressedSource:
    """A source of compressed chunks with their digests."""

    nchunks: int | None
    checksum_impl: Any

    def __iter__(self) -> Iterator[tuple[bytes, bytes | None]]:
        raise NotImplementedError


class PlainSink:
    """A sink that decompresses chunks and keeps their content."""

    def put(self, compressed: bytes) -> int:
        """Takes a compressed chunk, and returns the number of bytes of its content."""
        raise NotImplementedError


class CompressedSink:
    """A sink that keeps compressed chunks."""

    def configure(self, blosc_args: Any, bloscpack_header: BloscpackHeader) -> None:
        """Sets the compression arguments and the header."""
        self.blosc_args = blosc_args
        self.bloscpack_header = bloscpack_header
        self.checksum_impl = bloscpack_header.checksum_impl
        self.offsets = bloscpack_header.offsets

    def write_bloscpack_header(self) -> None:
        """Takes the header."""

    def write_metadata(self, metadata: Any, metadata_args: MetadataArgs) -> None:
        """Takes the metadata."""

    def init_offsets(self) -> None:
        """Reserves space for the offset table."""

    def finalize(self) -> None:
        """Fills in the offset table."""

    def put(self, i: int, compressed: bytes) -> Any:
        """Takes the chunk with this number."""
        raise NotImplementedError

    def do_checksum(self, compressed: bytes) -> bytes:
        """The digest of a chunk."""
        return self.checksum_impl(compressed)


def pack(
    source: PlainSource,
    sink: CompressedSink,
    nchunks: int,
    chunk_size: int,
    last_chunk: int,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Compresses all chunks of a source into a sink."""
    if not isinstance(source, PlainSource):
        raise TypeError(f"expected a PlainSource, not {type(source).__name__}")
    if not isinstance(sink, CompressedSink):
        raise TypeError(f"expected a CompressedSink, not {type(sink).__name__}")
    blosc_args = blosc_args or BloscArgs()
    bloscpack_args = bloscpack_args or BloscpackArgs()
    header = BloscpackHeader(
        offsets=bloscpack_args.offsets,
        metadata=metadata is not None,
        checksum=bloscpack_args.checksum,
        typesize=blosc_args.typesize,  # type: ignore[arg-type]
        chunk_size=chunk_size,
        last_chunk=last_chunk,
        nchunks=nchunks,
        max_app_chunks=_handle_max_apps(bloscpack_args.offsets, nchunks, bloscpack_args.max_app_chunks),
    )
    log.debug(blosc_args.pformat())
    log.debug(header.pformat())
    source.configure(chunk_size, last_chunk, nchunks)
    sink.configure(blosc_args, header)
    sink.write_bloscpack_header()
    if metadata is not None:
        sink.write_metadata(metadata, metadata_args or MetadataArgs())
    sink.init_offsets()
    for number, chunk in enumerate(source):
        sink.put(number, source.compress_func(chunk, blosc_args))
    sink.finalize()


def unpack(source: CompressedSource, sink: PlainSink) -> None:
    """Decompresses all chunks of a source into a sink."""
    if not isinstance(source, CompressedSource):
        raise TypeError(f"expected a CompressedSource, not {type(source).__name__}")
    if not isinstance(sink, PlainSink):
        raise TypeError(f"expected a PlainSink, not {type(sink).__name__}")
    for number, (compressed, digest) in enumerate(source):
        if digest and digest != (computed := source.checksum_impl(compressed)):
            raise ChecksumMismatch(f"chunk {number}: the file has the digest {digest!r}, the data gives {computed!r}")
        sink.put(compressed)
