"""Bloscpack files and streams as file objects."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Iterator
from typing import Any, BinaryIO, Union

import numpy as np

from . import _native
from ._buffers import into_array, of_bytes, threads
from ._new_file import NewFile
from ._options import options
from .errors import UsageError

Path = Union[str, "os.PathLike[str]"]
Source = Union[Path, bytes, BinaryIO]

#: The size of a file's cache of decompressed chunks in bytes.
CACHE = 64 << 20


def _is_path(target: Any) -> bool:
    return isinstance(target, (str, os.PathLike))


def _can_seek(file: Any) -> bool:
    seekable = getattr(file, "seekable", None)
    return bool(seekable()) if seekable else hasattr(file, "seek")


def _readable(file: Any) -> bool:
    readable = getattr(file, "readable", None)
    return bool(readable()) if readable else hasattr(file, "read")


class Output:
    """A native encoder and its target: a new file at a path, or a file object."""

    def __init__(self, kind: Any, target: Path | BinaryIO, every: dict[str, Any]) -> None:
        self._process = os.getpid()
        self._file = NewFile(target) if _is_path(target) else None
        if self._file is not None:
            self.native = kind(self._file.path, True, every)
        else:
            self.native = kind(target, _can_seek(target) and _readable(target), every)

    def finish(self) -> None:
        """Completes the file, and gives it its final name."""
        try:
            self.native.finish()
            if self._file is not None:
                self._file.commit()
        finally:
            self._discard()

    def abandon(self) -> None:
        """Discards the new file. An existing file of its name stays."""
        self.native.abandon()
        self._discard()

    def _discard(self) -> None:
        if self._file is not None:
            self._file.discard()

    def collected(self, writer: Any) -> None:
        """As `abandon`. In the process that made the writer, also warns that it was not closed."""
        if os.getpid() == self._process:
            lost = "the file is unfinished" if self._file is None else "nothing was written under this name"
            warnings.warn(f"{writer!r} was never closed: {lost}", ResourceWarning, stacklevel=3, source=writer)
        self.abandon()


class Writer(io.RawIOBase):
    """A file object for writing that compresses its data into a Bloscpack file or stream.

    ``target`` is a path or a file object: a file, a pipe, a socket's file, ... If the target is readable and seekable, the
    file gets an offset table for random access. Only `close`, or leaving a ``with`` block without an exception, completes
    the file. A new file at a path appears only then; after an exception, an existing file stays. A file object is then left
    unfinished, and readers refuse it.

    >>> import io
    >>> target = io.BytesIO()
    >>> with Writer(target, cname="zstd", typesize=8, metadata={"unit": "mV"}) as writer:
    ...     _ = writer.write(bytes(80_000))
    >>> len(target.getvalue()) < 1000
    True

    Options: ``cname``, ``clevel``, ``shuffle`` (0, 1 or 2 for bits), ``typesize``, ``chunk_size``, ``checksum``,
    ``offsets``, ``metadata`` (any JSON value), ``max_app_chunks``, ``size`` (the number of bytes, if known), ``threads``, and
    ``interactive``: each flush reaches the reader of a pipe at once.
    """

    def __init__(
        self,
        target: Path | BinaryIO,
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
        interactive: bool | None = None,
    ) -> None:
        self._output: Output | None = None
        self.name = getattr(target, "name", None) if not isinstance(target, (str, os.PathLike)) else os.fspath(target)
        every = options(
            cname=cname,
            clevel=clevel,
            shuffle=shuffle,
            typesize=typesize,
            chunk_size=chunk_size,
            checksum=checksum,
            offsets=offsets,
            metadata=metadata,
            max_app_chunks=max_app_chunks,
            size=size,
            threads=threads,
            interactive=interactive,
        )
        self._output = Output(_native.Encoder, target, every)

    def write(self, data: Any) -> int:
        """Compresses these bytes. They may be buffered until `flush` or `close`."""
        if self._output is None:
            raise UsageError("write to a closed Writer: a file is complete once it is closed; append_bytes adds to it")
        bytes_ = of_bytes(data)
        self._output.native.write(bytes_)
        return len(bytes_)

    def flush(self) -> None:
        """Writes the buffered bytes that make whole chunks, or all of them if the writer is ``interactive``."""
        if self._output is not None:
            self._output.native.flush()

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """Completes the file. The file object in ``target`` stays open."""
        output, self._output = self._output, None
        if output is not None:
            output.finish()
        super().close()

    def abandon(self) -> None:
        """Closes and discards the new file; an existing file of its name stays. A file object is left unfinished."""
        output, self._output = self._output, None
        if output is not None:
            output.abandon()
        super().close()

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def __del__(self) -> None:
        if self._output is not None:
            self._output.collected(self)
            self._output = None
        super().close()

    def __repr__(self) -> str:
        state = "closed" if self._output is None else "open"
        return f"<bloscpack.Writer {self.name!r}, {state}>"


class Reader(io.RawIOBase):
    """Decompresses a stream, from the position of a file object to its end.

    >>> import io, bloscpack
    >>> stream = io.BytesIO(bloscpack.compress(b"one, two"))
    >>> Reader(stream).read()
    b'one, two'
    """

    def __init__(self, source: BinaryIO, *, threads: int | None = None, allow_unterminated: bool = False) -> None:
        from ._buffers import threads as default

        self._decoder = _native.Decoder(source, threads or default(), allow_unterminated)

    def readinto(self, buffer: Any) -> int:
        return self._decoder.readinto(into_array(np.frombuffer(buffer, np.uint8)))

    def readable(self) -> bool:
        return True

    @property
    def metadata(self) -> Any:
        """The metadata, or `None`."""
        text = self._decoder.metadata()
        return None if text is None else json.loads(text)


class File(io.RawIOBase):
    """The content of a Bloscpack file, with random access; made by `open`.

    >>> import bloscpack
    >>> file = bloscpack.open(bloscpack.compress(b"some content"))
    >>> file.seek(5)
    5
    >>> file.read()
    b'content'
    >>> file
    <bloscpack.File, 12 bytes in 1 chunk>
    """

    def __init__(self, source: Source, *, cache: int = CACHE, allow_unterminated: bool = False) -> None:
        self._file = _native.IndexedFile(source, threads(), cache, allow_unterminated)
        self._at = 0
        self.name = os.fspath(source) if _is_path(source) else getattr(source, "name", None)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self._file.size

    def readinto(self, buffer: Any) -> int:
        done = self.readinto_at(self._at, buffer)
        self._at += done
        return done

    def readinto_at(self, at: int, buffer: Any) -> int:
        """Fills a buffer from position ``at`` on, and returns the number of bytes. The file's position does not change."""
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if isinstance(buffer, np.ndarray):
            return self._file.read_at(at, into_array(buffer))
        view = memoryview(buffer).cast("B")
        return self._file.read_at(at, np.frombuffer(view, np.uint8)) if len(view) else 0

    def readall(self) -> bytes:
        return self.read_at(self._at, max(len(self) - self._at, 0), move=True)

    def read(self, size: int | None = -1) -> bytes:
        """Reads up to ``size`` bytes, by default to the end."""
        left = max(len(self) - self._at, 0)
        return self.read_at(self._at, left if size is None or size < 0 else min(size, left), move=True)

    def read_at(self, at: int, size: int, *, move: bool = False) -> bytes:
        """Reads up to ``size`` bytes from position ``at`` on."""
        out = np.empty(max(min(size, len(self) - at), 0), np.uint8)
        done = self.readinto_at(at, out)
        if move:
            self._at = at + done
        return out[:done].tobytes()

    def seek(self, offset: int, whence: int = 0) -> int:
        start = {0: 0, 1: self._at, 2: len(self)}.get(whence)
        if start is None:
            raise ValueError(f"whence must be 0, 1 or 2, not {whence}")
        if start + offset < 0:
            raise ValueError(f"negative seek position {start + offset}")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Raises `io.UnsupportedOperation`: the file is open for reading."""
        raise io.UnsupportedOperation("the file is open for reading: open(path, 'wb') writes a new one, append_bytes adds to it")

    def seekable(self) -> bool:
        return True

    @property
    def metadata(self) -> Any:
        """The metadata of the first member, or `None`."""
        text = self._file.metadata
        return None if text is None else json.loads(text)

    @property
    def header(self) -> dict[str, Any] | None:
        """The fields of the header of the first member."""
        return self._file.header

    @property
    def nchunks(self) -> int:
        """The number of chunks."""
        return self._file.chunks

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        chunks = self.nchunks
        return f"<bloscpack.File{name}, {len(self)} bytes in {chunks} chunk{'s' * (chunks != 1)}>"


def compress(
    data: Any,
    *,
    cname: str | None = None,
    clevel: int | None = None,
    shuffle: int | None = None,
    typesize: int | None = None,
    chunk_size: int | None = None,
    checksum: str | None = None,
    offsets: bool | None = None,
    metadata: Any = None,
    max_app_chunks: int = 0,
    threads: int | None = None,
) -> bytes:
    """Compresses bytes, or the elements of an array, into the bytes of a Bloscpack file. Options as for `Writer`.

    >>> len(compress(bytes(100_000))) < 1000
    True
    """
    bytes_ = of_bytes(data)
    target = io.BytesIO()
    if typesize is None and isinstance(data, np.ndarray):
        typesize = min(data.itemsize, 255)
    with Writer(
        target,
        cname=cname,
        clevel=clevel,
        shuffle=shuffle,
        typesize=typesize,
        chunk_size=chunk_size,
        checksum=checksum,
        offsets=offsets,
        metadata=metadata,
        max_app_chunks=max_app_chunks,
        size=len(bytes_),
        threads=threads,
    ) as writer:
        writer.write(bytes_)
    return target.getvalue()


def decompress(data: Any) -> bytes:
    """Decompresses the bytes of a Bloscpack file, or of several concatenated ones.

    >>> decompress(compress(b"one") + compress(b", two"))
    b'one, two'
    """
    return File(bytes(data)).read()


def append(
    path: Path,
    data: Any,
    *,
    cname: str | None = None,
    clevel: int | None = None,
    shuffle: int | None = None,
    metadata: Any = None,
    max_app_chunks: int | None = None,
    threads: int | None = None,
) -> int:
    """Appends bytes to the content of a file, and returns the number of chunks. Options as for `Writer`.

    After a crash at any moment, the file has its old or its new content.
    """
    every = options(
        cname=cname,
        clevel=clevel,
        shuffle=shuffle,
        metadata=metadata,
        max_app_chunks=max_app_chunks,
        threads=threads,
    )
    return _native.append_file(os.fspath(path), of_bytes(data), every)


def iterate(source: BinaryIO, size: int = 1 << 20) -> Iterator[bytes]:
    """The content of a stream, in pieces of up to ``size`` bytes."""
    reader = Reader(source)
    while piece := reader.read(size):
        yield piece
