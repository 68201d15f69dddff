"""Opens anything."""

from __future__ import annotations

import os
from errno import EISDIR
from typing import Any

from . import _native, _urls, files
from .arrays import open_array
from .errors import UnsupportedError, UsageError
from .records import open_records
from .tables import open_rows, open_table


def open(source: files.Source, mode: str = "rb", **given: Any) -> Any:
    """Opens anything: a path, the bytes of a file, a file object that can seek, or the URL of a file.

    ``"rb"`` returns a `File` with random access to the content of a Bloscpack file, its `Records`, an `Array`, a `Table`, or the
    `RowStream` of a table in a file of text or a store of python-blosc2; ``"wb"`` returns a `Writer`. Of a file behind ``http://`` or
    ``https://`` only what is needed is read, in ranges; an `OSError` reports a change of the file meanwhile.
    """
    if mode in ("r", "rb"):
        source = _urls.opened(source)
        try:
            role = _native.role(source)
        except UnsupportedError:
            if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
                raise IsADirectoryError(EISDIR, "this is a directory, and no dataset", os.fspath(source)) from None
            raise
        if role == "file" or given:
            return files.File(source, **given)
        if role == "tree":
            raise UsageError(f"{source!r} is a tree of arrays and tables: add the path of one of them")
        if role == "records":
            return open_records(source)
        if role == "table":
            return open_table(source)
        return open_rows(source) if role == "rows" else open_array(source)
    if mode in ("w", "wb"):
        return files.Writer(source, **given)  # type: ignore[arg-type]
    raise UsageError(f"mode must be 'rb' or 'wb', not {mode!r}")
