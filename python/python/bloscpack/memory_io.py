"""Sources and sinks in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .abstract_io import CompressedSink, CompressedSource, PlainSink, PlainSource, decompress_chunk
from .args import MetadataArgs
from .headers import BloscpackHeader


class PlainMemorySource(PlainSource):
    """Uncompressed chunks from a list."""

    def __init__(self, chunks: Iterable[Any]) -> None:
        self.chunks = chunks

    def __iter__(self) -> Iterator[Any]:
        return iter(self.chunks)


class CompressedMemorySource(CompressedSource):
    """The chunks that a `CompressedMemorySink` keeps."""

    def __init__(self, compressed_memory_sink: CompressedMemorySink) -> None:
        self.compressed_memory_sink = compressed_memory_sink
        self.checksum_impl = compressed_memory_sink.checksum_impl
        self.checksum = compressed_memory_sink.checksum
        self.nchunks = compressed_memory_sink.nchunks
        self.chunks = compressed_memory_sink.chunks
        self.checksums = compressed_memory_sink.checksums

    @property
    def metadata(self) -> Any:
        """The metadata."""
        return self.compressed_memory_sink.metadata

    def __iter__(self) -> Iterator[tuple[bytes, bytes | None]]:
        return iter(zip(self.chunks, self.checksums))


class PlainMemorySink(PlainSink):
    """Keeps the content of chunks in a list."""

    def __init__(self, nchunks: int | None = None) -> None:
        self.chunks: list[bytes] = []

    def put(self, compressed: bytes) -> int:
        self.chunks.append(decompress_chunk(compressed))
        return len(self.chunks[-1])


class CompressedMemorySink(CompressedSink):
    """Keeps compressed chunks in a list."""

    def configure(self, blosc_args: Any, bloscpack_header: BloscpackHeader) -> None:
        super().configure(blosc_args, bloscpack_header)
        self.checksum = bloscpack_header.checksum
        self.nchunks = bloscpack_header.nchunks
        self.chunks: list[Any] = [None] * self.nchunks
        self.checksums: list[Any] = [None] * self.nchunks
        self.metadata: Any = None
        self.metadata_args: MetadataArgs | None = None

    def write_metadata(self, metadata: Any, metadata_args: MetadataArgs) -> None:
        self.metadata, self.metadata_args = metadata, metadata_args

    def put(self, i: int, compressed: bytes) -> None:
        self.chunks[i] = compressed
        self.checksums[i] = self.do_checksum(compressed)
