"""Compressed tables on disk: ctables of bcolz and BLZ, and arrays of structured elements.

>>> import tempfile, bloscpack
>>> folder = tempfile.mkdtemp() + "/prices"
>>> bloscpack.write_table({"day": np.arange(4), "price": np.arange(4) / 2}, folder)
4
>>> table = bloscpack.open_table(folder)
>>> table
<bloscpack.Table bcolz, 4 rows: day int64, price float64>
>>> table["price"][1:3]
array([0.5, 1. ])
>>> table[2]
np.void((2, 1.0), dtype=[('day', '<i8'), ('price', '<f8')])

pyarrow, Polars, DuckDB and pandas read a table through the Arrow PyCapsule interface, in batches that are decoded on
demand: ``pyarrow.table(table)``, ``polars.DataFrame(table)``, ``duckdb.from_arrow(table)``,
``pandas.DataFrame.from_arrow(table)``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Union

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _native, _pictures, files
from ._boxes import box_of
from ._buffers import Bytes, of_array, threads
from .arrays import Array, dtype_of
from .errors import UsageError

#: Rows that are read at once.
_BLOCK = 8 << 20


class ArrowStream(Protocol):
    """Any object that exports rows through Arrow: a table of pyarrow, Polars or pandas, a result of DuckDB, ..."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Rows = Union[ArrowStream, Mapping[str, Any], NDArray[Any]]


class _Column:
    """A column of a native table, with the interface that `Array` needs."""

    def __init__(self, table: _native.Table, name: str) -> None:
        self._table = table
        self._name = name

    def facts(self) -> dict[str, Any]:
        return self._table.facts(self._name)

    def read(self, start: list[int], stop: list[int], out: Bytes) -> None:
        self._table.read(self._name, start, stop, out)

    def attributes(self) -> str:
        return self._table.attributes(self._name)

    def arrow_schema(self, names: None, as_table: bool) -> object:
        return self._table.arrow_schema([self._name], as_table)

    def arrow_stream(self, names: None, as_table: bool, rows: tuple[int, int], requested: object) -> object:
        return self._table.arrow_stream([self._name], as_table, rows, requested)

    def arrow_array(self, names: None, rows: int, requested: object) -> object:
        return self._table.arrow_array([self._name], rows, requested)


class _Field:
    """A field of the elements of an array, with the interface that `Array` needs."""

    def __init__(self, array: _native.Array, name: str) -> None:
        self._array = array
        self._name = name

    def facts(self) -> dict[str, Any]:
        facts = self._array.facts()
        dtype = dtype_of(facts["dtype"])[self._name]
        facts["dtype"] = repr(np.lib.format.dtype_to_descr(dtype.base))
        facts["shape"] += dtype.shape
        facts["chunks"] += dtype.shape
        return facts

    def read(self, start: list[int], stop: list[int], out: Bytes) -> None:
        dtype = dtype_of(self._array.facts()["dtype"])
        rows = np.empty(stop[0] - start[0], dtype)
        self._array.read(start[:1], stop[:1], rows.view(np.uint8))
        within = tuple(slice(first, end) for first, end in zip(start[1:], stop[1:]))
        out[:] = of_array(rows[self._name][(slice(None), *within)])

    def attributes(self) -> str:
        return "{}"

    def arrow_schema(self, names: None, as_table: bool) -> object:
        return self._array.arrow_schema([self._name], as_table)

    def arrow_stream(self, names: None, as_table: bool, rows: tuple[int, int], requested: object) -> object:
        return self._array.arrow_stream([self._name], as_table, rows, requested)

    def arrow_array(self, names: None, rows: int, requested: object) -> object:
        return self._array.arrow_array([self._name], rows, requested)


class Table:
    """A table that is decompressed as it is read; made by `open_table`.

    ``table["a"]`` is a column, an `Array`; ``table[["a", "b"]]`` is a table of these columns. Rows, selected by number, slice,
    mask or list of numbers, are structured NumPy arrays. ``len(table)`` is the number of rows.
    """

    def __init__(
        self, native: _native.Table | _native.Array, names: Sequence[str] | None = None, path: files.Path | None = None
    ) -> None:
        self._native = native
        self._path = path
        facts: dict[str, Any] = {}
        if isinstance(native, _native.Table):
            self._rows = native.rows()
            every = native.names()
        else:
            facts = native.facts()
            self._rows = facts["shape"][0]
            every = list(dtype_of(facts["dtype"]).names or ())
        #: The names of the columns.
        self.names: list[str] = list(every if names is None else names)
        unknown = [name for name in self.names if name not in every]
        if unknown:
            raise KeyError(f"no column {unknown[0]!r} (columns: {', '.join(every)})")
        self._columns = {name: Array(self._source(name)) for name in self.names}
        first = next(iter(self._columns.values()), None)
        #: The name of the layout, such as ``bcolz``.
        self.layout: str = facts.get("layout") or (first.layout if first is not None else "bcolz")

    def _source(self, name: str) -> Any:
        native = self._native
        return _Column(native, name) if isinstance(native, _native.Table) else _Field(native, name)

    @property
    def dtypes(self) -> dict[str, np.dtype[Any]]:
        """The dtype of each column, with a shape if a row has several elements."""
        return {name: _row_dtype(column) for name, column in self._columns.items()}

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a row."""
        return np.dtype([(name, dtype) for name, dtype in self.dtypes.items()])

    @property
    def shape(self) -> tuple[int]:
        """The number of rows."""
        return (self._rows,)

    @property
    def nbytes(self) -> int:
        """The uncompressed size of all columns in bytes."""
        return sum(column.nbytes for column in self._columns.values())

    @property
    def attrs(self) -> dict[str, Any]:
        """The user's attributes."""
        native = self._native
        return json.loads(native.attributes(None) if isinstance(native, _native.Table) else native.attributes())

    @property
    def columns(self) -> list[str]:
        """The names of the columns, under pandas' name for them."""
        return self.names

    def append(self, rows: Rows) -> int:
        """Appends all or none of these rows to a bcolz or BLZ table that was opened by its path. Returns its new number of rows.

        ``rows`` is anything that `write_table` takes: all columns of the table, in any order, with the table's types.

        >>> import bloscpack, numpy as np, tempfile
        >>> folder = tempfile.mkdtemp() + "/prices"
        >>> bloscpack.write_table({"day": [1, 2], "price": [0.5, 0.75]}, folder)
        2
        >>> bloscpack.open_table(folder).append({"day": [3], "price": [1.0]})
        3
        """
        if self._path is None or len(self.names) != len(self._every()):
            raise UsageError("only a whole table that was opened by its path is appended to")
        if hasattr(rows, "__arrow_c_stream__"):
            import pyarrow

            given = pyarrow.table(rows)
            rows = {name: given[name].to_numpy(zero_copy_only=False) for name in given.column_names}
        columns = _columns_of(rows, {})
        if set(columns) != set(self.names):
            raise UsageError(f"the columns {', '.join(sorted(columns))} are not those of the table: {', '.join(self.names)}")
        columns = {name: _fitting(name, column, self.dtypes[name].base) for name, column in columns.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) != 1:
            raise UsageError(f"the columns must have the same length, not {lengths}")
        table = _native.Table.open(os.fspath(self._path), True, threads())
        table.append([of_array(np.ascontiguousarray(columns[name])) for name in self.names])
        table.flush()
        self.__init__(_native.Table.open(os.fspath(self._path), False, threads()), None, self._path)  # type: ignore[misc]
        return len(self)

    def zones(self, name: str) -> tuple[int, NDArray[Any], NDArray[Any], NDArray[np.bool_]] | None:
        """What the index of a column of numbers knows: the rows of a zone, the least and the greatest value of each zone, and
        whether they are known: the zone has not changed since, and no missing value. `None` without an index.

        >>> import bloscpack, numpy as np, tempfile
        >>> folder = tempfile.mkdtemp() + "/prices"
        >>> bloscpack.write({"day": np.arange(8)}, folder, to="bcolz", chunklen=4, index=True)
        >>> bloscpack.open_table(folder).zones("day")
        (4, array([0, 4]), array([3, 7]), array([ True,  True]))
        """
        column, native = self[name], self._native
        if not isinstance(native, _native.Table) or column.dtype.kind not in "iuf" or column.ndim != 1:
            return None
        zones = native.zones(name)
        if zones is None:
            return None
        rows, bounds, known = zones
        least, greatest = np.frombuffer(bounds, column.dtype).reshape(-1, 2).T
        return rows, least, greatest, np.array(known, bool)

    def _every(self) -> list[str]:
        native = self._native
        return native.names() if isinstance(native, _native.Table) else self.names

    def to_pandas(self) -> Any:
        """All rows as a ``pandas.DataFrame``. Missing values of the table are kept if pyarrow is installed."""
        import pandas

        try:
            import pyarrow
        except ImportError:
            return pandas.DataFrame({name: list(column[:]) if column.ndim > 1 else column[:] for name, column in self._columns.items()})
        return pyarrow.table(self).to_pandas()

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._columns:
                raise KeyError(f"no column {key!r} (columns: {', '.join(self.names)})")
            return self._columns[key]
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return Table(self._native, key)
        start, stop, within = box_of(key, self.shape)
        rows = np.empty(stop[0] - start[0], self.dtype)
        if len(rows):
            for name in self.names:
                rows[name] = self._columns[name][start[0] : stop[0]]
        return rows if within is None else rows[within]

    def __iter__(self) -> Iterator[np.void]:
        step = max(_BLOCK // max(self.dtype.itemsize, 1), 1)
        for start in range(0, len(self), step):
            yield from self[start : start + step]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a compressed table cannot be used without a copy")
        rows = self[:]
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def __arrow_c_schema__(self) -> object:
        """The schema, for the Arrow PyCapsule interface."""
        return self._native.arrow_schema(self.names, True)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All rows, for the Arrow PyCapsule interface, in batches of about 16 MiB, decoded as they are read."""
        return self._native.arrow_stream(self.names, True, (0, len(self)), requested_schema)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {_spelled(dtype)}" for name, dtype in self.dtypes.items())
        return f"<bloscpack.Table {self.layout}, {len(self):,} row{'s' * (len(self) != 1)}: {columns}>"

    def _repr_html_(self) -> str:
        return _pictures.table(self)


def _row_dtype(column: Array) -> np.dtype[Any]:
    row = column.shape[1:]
    return np.dtype((column.dtype, row)) if row else column.dtype


def _spelled(dtype: np.dtype[Any]) -> str:
    return f"{dtype.base}{list(dtype.shape) if dtype.shape else ''}"


def open_table(source: files.Source) -> Table:
    """Opens a table for reading: a ctable, a Zarr group of arrays of equal length, ``.npz``, or an array of structured elements.

    The source is a path, bytes, a seekable file object, or a URL. A directory may be inside a ZIP archive, which is given in
    the same ways; a path may continue inside it (``"data.zip"``, ``"data.zip/eeg"``). `open_rows` opens tables whose columns
    are not arrays, such as CSV.
    """
    path = source if isinstance(source, (str, os.PathLike)) else None
    if _native.is_table(source):
        return Table(_native.Table.open(source, False, threads()), None, path)
    opened = _native.Array.open(source, False, threads())
    facts = opened.facts()
    if dtype_of(facts["dtype"]).names and len(facts["shape"]) == 1:
        return Table(opened)
    raise UsageError(f"{source!r} is an array, not a table: use open_array")


class RowStream:
    """Rows for programs that use Arrow; made by `open_rows`."""

    def __init__(self, native: _native.RowReader, rows: range) -> None:
        self._native = native
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rows: slice) -> RowStream:
        """A range of rows, such as ``rows[1000:2000]``."""
        if not isinstance(rows, slice):
            raise TypeError(f"rows are chosen by a slice, not by {rows!r}")
        chosen = self._rows[rows]
        if chosen.step != 1:
            raise UsageError(f"rows that follow one another, not with a step of {chosen.step}")
        return RowStream(self._native, chosen)

    def __arrow_c_schema__(self) -> object:
        """The schema, for the Arrow PyCapsule interface."""
        return self._native.arrow_schema()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, for the Arrow PyCapsule interface, in batches of about 16 MiB, decoded as they are read."""
        return self._native.arrow_stream((self._rows.start, self._rows.stop), requested_schema)

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``; needs pyarrow."""
        import pyarrow

        return pyarrow.table(self).to_pandas()

    def __repr__(self) -> str:
        return f"<bloscpack.RowStream, {len(self):,} row{'s' * (len(self) != 1)}>"


def open_rows(source: files.Source, columns: Sequence[str] | None = None) -> RowStream:
    """Opens the rows of an input for pyarrow, Polars, DuckDB and pandas: anything that `open_table` opens, a table in a
    python-blosc2 store (``"data.b2z"``, ``"tree.b2d/prices"``), an array, or a Bloscpack file of an array.

    >>> import bloscpack, numpy as np, tempfile
    >>> folder = tempfile.mkdtemp() + "/prices"
    >>> bloscpack.write_table({"day": np.arange(4), "price": np.arange(4) / 2}, folder)
    4
    >>> rows = open_rows(folder, ["price"])
    >>> rows
    <bloscpack.RowStream, 4 rows>

    ``pyarrow.table(rows[1:3])`` is then a table of two rows.
    """
    names = None if columns is None else list(columns)
    native = _native.RowReader.open(source, names, threads())
    return RowStream(native, range(native.count()))


def write_table(
    source: Rows,
    path: files.Path,
    *,
    cname: str = "lz4",
    clevel: int = 5,
    shuffle: int = 1,
    dtypes: Mapping[str, DTypeLike] | None = None,
    fill: Mapping[str, Any] | None = None,
    replace: bool = False,
) -> int:
    """Writes a table as a bcolz ctable, and returns the number of rows. After a crash, the table is complete or does not exist.

    The source is any object with ``__arrow_c_stream__`` (a table of pyarrow, Polars or pandas, a result of DuckDB, a
    `Table`), a mapping of names to arrays, or a structured array.

    Text gets the fixed length of the longest value, so all batches are kept in memory until the last has arrived.
    ``dtypes`` gives text columns another dtype, such as ``"S20"``. Missing values become NaN and NaT, which Arrow consumers
    see as missing again, or empty text; other columns need a value in ``fill``.

    Names of files, such as ``t.parquet`` or ``t.csv``, are refused, because a ctable is a directory. With ``replace``, an
    existing dataset of that name stays until the new one is complete.

    >>> import tempfile
    >>> write_table({"a": [1, 2, 3], "b": ["x", "y", "zz"]}, tempfile.mkdtemp() + "/t")
    3
    """
    path = os.fspath(path)
    if (ending := _native.ending(path)) is not None:
        raise UsageError(
            f"the name of {path!r} is that of {ending}: write_table makes the directory of a ctable; choose another name, "
            "or write the file with pyarrow, Polars or pandas"
        )
    given = {"cname": cname, "clevel": clevel, "shuffle": int(shuffle), "replace": replace, "threads": threads()}
    if hasattr(source, "__arrow_c_stream__"):
        spelled = {name: np.dtype(dtype).str for name, dtype in (dtypes or {}).items()}
        filled = {name: _as_text(value) for name, value in (fill or {}).items()}
        return _native.write_stream(source, path, {**given, "dtypes": spelled, "fill": filled})
    if fill:
        raise UsageError("fill is for sources of Arrow: arrays of NumPy have no missing values")
    columns = _columns_of(source, dtypes or {})
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1:
        raise UsageError(f"the columns must have the same length, not {lengths}")
    rows = next(iter(lengths.values()))
    options = [(name, _column_options(column, given)) for name, column in columns.items()]
    table = _native.Table.create(path, options, replace, threads())
    width = sum(column[:1].nbytes for column in columns.values())
    step = max(4 * _BLOCK // max(width, 1), 1)
    for at in range(0, rows, step):
        table.append([of_array(column[at : at + step]) for column in columns.values()])
    table.flush()
    return rows


def _fitting(name: str, column: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts a column to this dtype. Values that are too long or too large raise an exception."""
    fitting = column.astype(dtype)
    if not np.array_equal(fitting, column, equal_nan=column.dtype.kind in "fcmM" and dtype.kind in "fcmM"):
        raise UsageError(f"column {name!r} has values that do not fit its type, {dtype}")
    return fitting


def _as_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, (bool, np.bool_)) else str(value)


def _columns_of(source: Any, dtypes: Mapping[str, DTypeLike]) -> dict[str, NDArray[Any]]:
    if isinstance(source, np.ndarray):
        if source.dtype.names is None or source.ndim != 1:
            raise UsageError("an array must have fields and one axis to be written as a table")
        source = {name: source[name] for name in source.dtype.names}
    if not isinstance(source, Mapping):
        raise UsageError(
            f"a table cannot be made of {type(source).__name__!r}: pass an object with __arrow_c_stream__, "
            "a mapping of names to arrays, or a structured array"
        )
    if not source:
        raise UsageError("a table needs a column")
    columns = {str(name): np.asarray(column, dtypes.get(name)) for name, column in source.items()}
    for name, column in columns.items():
        if not column.ndim:
            raise UsageError(f"column {name!r} is a single value, not an array")
        if column.dtype.hasobject or column.dtype.kind == "T":
            raise UsageError(f"column {name!r} contains Python objects: give it a dtype, such as 'U20'")
    return columns


def _column_options(column: NDArray[Any], given: dict[str, Any]) -> dict[str, Any]:
    return {
        "dtype": repr(np.lib.format.dtype_to_descr(column.dtype)),
        "row_shape": list(column.shape[1:]),
        "chunk_rows": None,
        "expected_rows": len(column),
        "default": None,
        "cname": given["cname"],
        "clevel": given["clevel"],
        "shuffle": given["shuffle"],
    }
