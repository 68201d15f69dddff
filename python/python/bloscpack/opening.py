"""Opens inputs of every kind."""

from __future__ import annotations

import os
from errno import EISDIR
from typing import Any

from . import _native, files
from .arrays import open_array
from .errors import UnsupportedError, UsageError
from .records import open_records
from .tables import open_rows, open_table


def open(
    source: files.Source,
    mode: str = "rb",
    *,
    cache: int | None = None,
    allow_unterminated: bool = False,
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
) -> Any:
    """Opens an input of any kind: a path, the bytes of a file, a seekable file object, or a URL.

    ``"rb"`` returns a `File` with random access to the content of a Bloscpack file, `Records`, an `Array`, a `Table`, or a
    `RowStream` for a text file or a table in a python-blosc2 store. ``cache`` is the size of the cache of decompressed chunks
    for a file or records. ``allow_unterminated`` accepts a stream without an end mark, and reads its complete chunks. From a
    URL (``https://``, ``s3://``, ``gs://``, ``az://``), only the needed ranges are read; if the file changes meanwhile, an
    `OSError` is raised.

    ``"wb"`` returns a `Writer`, which takes ``cname`` and the options after it.
    """
    if mode in ("r", "rb"):
        try:
            role = _native.role(source)
        except UnsupportedError:
            if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
                raise IsADirectoryError(EISDIR, "this is a directory, and no dataset", os.fspath(source)) from None
            raise
        kept = files.CACHE if cache is None else cache
        if role == "records":
            return open_records(source, cache=kept, allow_unterminated=allow_unterminated)
        if role == "file" or cache is not None or allow_unterminated:
            return files.File(source, cache=kept, allow_unterminated=allow_unterminated)
        if role == "tree":
            raise UsageError(f"{source!r} is a tree of arrays and tables: add the path of one of them")
        if role == "table":
            return open_table(source)
        return open_rows(source) if role == "rows" else open_array(source)
    if mode in ("w", "wb"):
        return files.Writer(
            source,  # type: ignore[arg-type]
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
    raise UsageError(f"mode must be 'rb' or 'wb', not {mode!r}")
