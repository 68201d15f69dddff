"""Records: objects of any length, accessed by number.

>>> import io
>>> from bloscpack import RecordWriter, open_records
>>> file = io.BytesIO()
>>> with RecordWriter(file) as writer:
...     for word in (b"one", b"", b"three"):
...         writer.push(word)
>>> records = open_records(file.getvalue())
>>> len(records), records[-1], records[:2]
(3, b'three', [b'one', b''])
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO, overload

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._buffers import threads
from ._options import options
from .errors import UsageError
from .files import CACHE, Output, Path, Source, _is_path


class Records(Sequence[bytes]):
    """The records of a file; made by `open_records`."""

    def __init__(self, source: Source, *, cache: int = CACHE, allow_unterminated: bool = False) -> None:
        self._file = _native.RecordFile(source, threads(), cache, allow_unterminated)
        self._again = partial(open_records, source, cache=cache, allow_unterminated=allow_unterminated)
        self.name = os.fspath(source) if _is_path(source) else None  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._file)

    @overload
    def __getitem__(self, number: int) -> bytes: ...
    @overload
    def __getitem__(self, number: slice) -> list[bytes]: ...
    def __getitem__(self, number: int | slice) -> bytes | list[bytes]:
        if isinstance(number, slice):
            start, stop, step = number.indices(len(self))
            if step == 1:
                return self._file.range(start, max(start, stop))
            return self.get_many(range(start, stop, step))
        index = number + len(self) if number < 0 else number
        if not 0 <= index < len(self):
            raise IndexError(f"record {number} of {len(self)}")
        return self._file.get(index)

    def get_many(self, numbers: Iterable[int] | NDArray[np.integer[Any]]) -> list[bytes]:
        """Records by their numbers, in the order of the numbers: read in the order of the file, each chunk once, by several
        threads. Negative numbers count from the end.

        >>> from bloscpack import open_records
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/words.blp"
        >>> with RecordWriter(path) as writer:
        ...     writer.extend([b"one", b"two", b"three"])
        >>> open_records(path).get_many([2, 0, -1])
        [b'three', b'one', b'three']
        """
        chosen = np.asarray(numbers if hasattr(numbers, "__len__") else list(numbers))
        if chosen.ndim != 1 or chosen.size and chosen.dtype.kind not in "iu":
            raise TypeError(f"numbers of records expected, not {chosen.dtype} with {chosen.ndim} axes")
        absent = (chosen >= len(self)) | (chosen < -len(self))
        if absent.any():
            raise IndexError(f"record {chosen[absent][0]} of {len(self)}")
        return self._file.get_many((chosen.astype(np.int64) % max(len(self), 1)).astype(np.uint64))

    #: What PyTorch's `DataLoader` calls for the records of a batch.
    __getitems__ = get_many

    def __iter__(self) -> Iterator[bytes]:
        for records in self._file.batches():
            yield from records

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again, ()

    @property
    def metadata(self) -> Any:
        """The metadata, or `None`."""
        text = self._file.metadata
        return None if text is None else json.loads(text)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        count, chunks = len(self), self._file.chunks
        return f"<bloscpack.Records{name}, {count} record{'s' * (count != 1)} in {chunks} chunk{'s' * (chunks != 1)}>"


class RecordWriter:
    """Writes records to a path or a file object. `close`, or the end of a ``with`` block, completes the file.

    A new file at a path appears only then; after an exception, an existing file stays.

    ``packed=BYTES`` packs small records into chunks of this size. Other options as for `Writer`.
    """

    def __init__(
        self,
        target: Path | BinaryIO,
        *,
        packed: int | None = None,
        cname: str | None = None,
        clevel: int | None = None,
        shuffle: int | None = None,
        typesize: int | None = None,
        checksum: str | None = None,
        metadata: Any = None,
        max_app_chunks: int | None = None,
        threads: int | None = None,
    ) -> None:
        self._output: Output | None = None
        self.name = os.fspath(target) if _is_path(target) else getattr(target, "name", None)  # type: ignore[arg-type]
        every = options(
            packed=packed,
            cname=cname,
            clevel=clevel,
            shuffle=shuffle,
            typesize=typesize,
            checksum=checksum,
            metadata=metadata,
            max_app_chunks=max_app_chunks,
            threads=threads,
        )
        self._output = Output(_native.RecordSink, target, every)

    def _open(self) -> Any:
        if self._output is None:
            raise UsageError("write to a closed RecordWriter: a file is complete once it is closed; append_records adds to it")
        return self._output.native

    def push(self, record: bytes | bytearray | memoryview) -> None:
        """Writes a record."""
        self._open().push(record)

    def extend(self, records: Iterable[bytes]) -> None:
        """Writes records."""
        self._open().extend(records)

    def flush(self) -> None:
        """Writes the buffered records."""
        self._open().flush()

    def close(self) -> None:
        """Completes the file."""
        output, self._output = self._output, None
        if output is not None:
            output.finish()

    def abandon(self) -> None:
        """Closes and discards the new file; an existing file of its name stays. A file object is left unfinished."""
        output, self._output = self._output, None
        if output is not None:
            output.abandon()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def __del__(self) -> None:
        if self._output is not None:
            self._output.collected(self)

    def __repr__(self) -> str:
        state = "closed" if self._output is None else "open"
        return f"<bloscpack.RecordWriter {self.name!r}, {state}>"


def open_records(source: Source, *, cache: int = CACHE, allow_unterminated: bool = False) -> Records:
    """Opens a file of records for access by number. The source is a path, bytes, or a seekable file object."""
    return Records(source, cache=cache, allow_unterminated=allow_unterminated)


def read_records(source: BinaryIO, *, allow_unterminated: bool = False) -> Iterator[bytes]:
    """The records of a stream, in order.

    >>> import io
    >>> file = io.BytesIO()
    >>> with RecordWriter(file) as writer:
    ...     writer.extend([b"a", b"b"])
    >>> list(read_records(io.BytesIO(file.getvalue())))
    [b'a', b'b']
    """
    return iter(_native.RecordStream(source, threads(), allow_unterminated))


def append_records(
    path: Path,
    records: Iterable[bytes],
    *,
    cname: str | None = None,
    clevel: int | None = None,
    max_app_chunks: int | None = None,
    threads: int | None = None,
) -> int:
    """Appends all or none of these records to a file, and returns its new number of records. Options as for `RecordWriter`."""
    if isinstance(records, (str, bytes)):
        raise TypeError(f"several records expected, not {type(records).__name__}: append_records(path, [record])")
    every = options(cname=cname, clevel=clevel, max_app_chunks=max_app_chunks, threads=threads)
    return _native.append_records(os.fspath(path), records, every)
