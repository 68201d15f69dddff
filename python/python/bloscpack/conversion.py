"""Anything into anything else.

>>> import bloscpack, numpy as np, tempfile
>>> folder = tempfile.mkdtemp()
>>> write(np.arange(6).reshape(2, 3), folder + "/cube.b2nd")
>>> convert(folder + "/cube.b2nd", folder + "/cube.zarr", cname="zstd")
>>> bloscpack.open(folder + "/cube.zarr")[1]
array([3, 4, 5])
"""

from __future__ import annotations

import io
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
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
    """Makes of a source what the ending of ``path`` says, as ``blpk convert`` does.

    The source is anything that `open` opens, and files of text. The endings are ``.npy``, ``.npz``, ``.csv``, ``.tsv``, ``.jsonl``,
    ``.bin``, ``.blp``, ``.b2nd``, ``.b2z``, ``.b2d``, ``.zarr``, ``.bcolz`` and ``.blz``; ``to`` says it where there is none, or the
    layout: ``"zarr2"``, ``"blz-doc"``, ``"caterva"``, ``"records"``, ... Settings that are not given are those of the source.

    ``column`` makes an array of a column; ``columns`` and ``rows``, such as ``slice(0, 1000)``, choose a part. ``table`` makes columns of
    the fields of an array, ``nan_as_null`` missing values of NaN, and ``dtype`` is that of a frame that does not store one. What the
    target has no place for is a warning. The target appears when it is complete; what has its name is an error, unless ``replace`` is
    given and it is a file or a dataset.
    """
    if rows is not None and rows.step not in (None, 1):
        raise UsageError(f"rows that follow one another, not with a step of {rows.step}")
    settings = {
        "to": to,
        "column": column,
        "columns": None if columns is None else list(columns),
        "rows": None if rows is None else (rows.start or 0, rows.stop),
        "table": table,
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
    """Writes an array or a table to a path whose ending says what it becomes; the options are those of `convert`.

    A table is anything of columns with ``__arrow_c_stream__`` (pyarrow, Polars, pandas, DuckDB), or a mapping of names to arrays;
    everything else is an array, as `numpy.asarray` makes it. `write_table` has options for the text and the missing values of tables.

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
