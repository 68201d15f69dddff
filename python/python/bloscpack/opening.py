"""Opens anything."""

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
    """Opens anything: a path, the bytes of a file, a file object that can seek, or the URL of a file.

    ``"rb"`` returns a `File` with random access to the content of a Bloscpack file, its `Records`, an `Array`, a `Table`, or the
    `RowStream` of a table in a file of text or a store of python-blosc2. ``cache`` is how many bytes of decompressed chunks a file or
    its records keep, and ``allow_unterminated`` reads what is there of a stream without an end. Of what is behind a URL
    (``https://``, ``s3://``, ``gs://``, ``az://``) only what is needed is read, in ranges; an `OSError` reports a change of a file
    meanwhile.

    ``"wb"`` returns a `Writer`, and the options from ``cname`` on are those of that.
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
