"""Converts and writes data in any supported format.

>>> import bloscpack, numpy as np, tempfile
>>> folder = tempfile.mkdtemp()
>>> write(np.arange(6).reshape(2, 3), folder + "/cube.b2nd")
>>> convert(folder + "/cube.b2nd", folder + "/cube.zarr", cname="zstd")
>>> bloscpack.open(folder + "/cube.zarr")[1]
array([3, 4, 5])
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from . import _native, files
from ._buffers import threads
from .arrays import Array
from .errors import UsageError
from .tables import write_table


def convert(
    source: files.Source,
    path: files.Path,
    *,
    to: str | None = None,
    column: str | None = None,
    columns: Sequence[str] | None = None,
    rows: slice | None = None,
    table: bool = False,
    arrays: bool = False,
    nan_as_null: bool = False,
    dtype: DTypeLike | None = None,
    index: bool = False,
    replace: bool = False,
    cname: str | None = None,
    clevel: int | None = None,
    shuffle: int | None = None,
    checksum: str | None = None,
    chunklen: int | None = None,
    chunkshape: Sequence[int] | None = None,
    blockshape: Sequence[int] | None = None,
    chunk_size: int | None = None,
    sparse: bool = False,
) -> None:
    """Converts a source into the format that the ending of ``path`` indicates, as ``blpk convert`` does.

    The source is anything that `open` opens, or a text file. The endings are ``.npy``, ``.npz``, ``.csv``, ``.tsv``, ``.jsonl``,
    ``.bin``, ``.blp``, ``.b2nd``, ``.b2z``, ``.b2d``, ``.zarr``, ``.bcolz`` and ``.blz``. For other names set ``to``, which can
    also select a variant: ``"zarr2"``, ``"blz-doc"``, ``"caterva"``, ``"records"``, ... Options that are not set are taken from
    the source.

    ``column`` converts one column into an array; ``columns`` and ``rows``, such as ``slice(0, 1000)``, select a part. ``table``
    makes the fields of an array into columns, ``arrays`` keeps the arrays of a Zarr group apart where they would become a table,
    ``nan_as_null`` makes NaN a missing value, and ``dtype`` is for frames that do not store one. A warning
    names properties that the target cannot store. The target appears when it is complete. An existing target is an error; with
    ``replace``, an existing file or dataset is replaced.
    """
    if rows is not None and rows.step not in (None, 1):
        raise UsageError(f"rows that follow one another, not with a step of {rows.step}")
    settings = {
        "to": to,
        "column": column,
        "columns": None if columns is None else list(columns),
        "rows": None if rows is None else (rows.start or 0, rows.stop),
        "table": table,
        "arrays": arrays,
        "nan_as_null": nan_as_null,
        "dtype": None if dtype is None else repr(np.lib.format.dtype_to_descr(np.dtype(dtype))),
        "index": index,
        "replace": replace,
        "cname": cname,
        "clevel": clevel,
        "shuffle": None if shuffle is None else int(shuffle),
        "checksum": None if checksum is None else checksum.lower(),
        "chunklen": chunklen,
        "chunkshape": None if chunkshape is None else list(chunkshape),
        "blockshape": None if blockshape is None else list(blockshape),
        "chunk_size": chunk_size,
        "sparse": sparse,
        "threads": threads(),
    }
    for text in _native.convert(source, os.fspath(path), settings):
        warnings.warn(text, stacklevel=2)


def refs(
    source: files.Path, root: str | None = None, *, columns: Sequence[str] | None = None, templates: bool = True
) -> dict[str, Any]:
    """References with which readers of Zarr read a dataset where it lies, as ``blpk refs`` writes them: Kerchunk's, version 1.

    ``source`` is a path or URL of a dataset of bcolz, BLZ or carray, of a folder of them, or of a Bloscpack file with a NumPy
    array. ``root`` is the URL or path that the references name for it, by default its own. Columns and arrays are the members
    of a group; ``columns`` selects some of a table. Chunks that are shorter than others are contained in the references. Without
    ``templates``, each reference has its whole URL, for programs that do not know templates.

    Other inputs, and chunks that readers of Zarr cannot decode, are a `UsageError`. Readers of references do not compare
    checksums.

    >>> import bloscpack, numpy as np, tempfile
    >>> path = tempfile.mkdtemp() + "/day"
    >>> write(np.arange(1000), path, to="bcolz", chunklen=400)
    >>> sorted(refs(path, "https://example.org/day")["refs"])
    ['.zgroup', '.zmetadata', 'day/.zarray', 'day/.zattrs', 'day/0', 'day/1', 'day/2']
    """
    name = Path(source).stem or "array"
    text, warned = _native.refs(source, root, name, None if columns is None else list(columns), threads())
    for warning in warned:
        warnings.warn(warning, stacklevel=2)
    found: dict[str, Any] = json.loads(text)
    if not templates and (known := found.pop("templates", None)):
        for place in found["refs"].values():
            if isinstance(place, list):
                place[0] = place[0].replace("{{u}}", known["u"])
    return found


def write(
    data: Any,
    path: files.Path,
    *,
    to: str | None = None,
    index: bool = False,
    replace: bool = False,
    cname: str | None = None,
    clevel: int | None = None,
    shuffle: int | None = None,
    checksum: str | None = None,
    chunklen: int | None = None,
    chunkshape: Sequence[int] | None = None,
    blockshape: Sequence[int] | None = None,
    chunk_size: int | None = None,
    sparse: bool = False,
) -> None:
    """Writes an array or a table in the format that the ending of ``path`` indicates. Options as for `convert`.

    A table is an object of columns with ``__arrow_c_stream__`` (pyarrow, Polars, pandas, DuckDB), or a mapping of names to
    arrays. Everything else becomes an array through `numpy.asarray`. `write_table` has options for text and missing values.

    >>> import bloscpack, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> write({"day": [1, 2], "price": [0.5, 0.75]}, folder + "/prices.csv")
    >>> print(open(folder + "/prices.csv").read(), end="")
    day,price
    1,0.5
    2,0.75
    """
    is_array = isinstance(data, (np.ndarray, Array)) or getattr(data, "ndim", None) == 1
    with tempfile.TemporaryDirectory() as folder:
        made: Any = os.path.join(folder, "table")
        if is_array or not (hasattr(data, "__arrow_c_stream__") or isinstance(data, Mapping)):
            file = io.BytesIO()
            np.save(file, np.asarray(data), allow_pickle=False)
            made = file.getvalue()
        else:
            write_table(data, made)
        convert(
            made,
            path,
            to=to,
            index=index,
            replace=replace,
            cname=cname,
            clevel=clevel,
            shuffle=shuffle,
            checksum=checksum,
            chunklen=chunklen,
            chunkshape=chunkshape,
            blockshape=blockshape,
            chunk_size=chunk_size,
            sparse=sparse,
        )
