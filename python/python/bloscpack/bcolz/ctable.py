"""`ctable`: compressed columns of the same length, in memory or in a directory."""

from __future__ import annotations

import contextlib
import os
import re
from collections import namedtuple
from collections.abc import Iterator, Mapping
from itertools import islice
from keyword import iskeyword
from typing import Any

import numpy as np

from .. import _pictures
from .._buffers import of_array
from .._new_file import NewFile
from .attrs import attrs
from .carray import _positions, _text, array_options, carray
from .convert import exists as is_there
from .convert import check_copy, human_readable_size, in_place, quantized, to_rows
from .evaluate import caller, evaluate, names_in
from .params import cparams as Cparams
from .storage import ColumnStorage, TableStorage, all_or_nothing

_NROW = "nrow__"


class _MemoryAttributes:
    """The attributes of a table in memory."""

    rootdir = None
    mode = "a"

    def attributes(self) -> dict[str, Any]:
        return {}

    def set_attribute(self, key: str, value: Any) -> None:
        """Does nothing: `attrs` keeps the value."""

    def remove_attribute(self, key: str) -> None:
        """Does nothing."""

    def flush(self) -> None:
        """Does nothing."""


class cols:
    """The columns of a table, by name."""

    def __init__(self, table: ctable) -> None:
        self._table = table
        self._cols: dict[str, carray] = {}
        self.names: list[str] = []

    @property
    def rootdir(self) -> str | None:
        return self._table.rootdir

    @property
    def mode(self) -> str:
        return self._table.mode

    def __getitem__(self, name: str) -> carray:
        return self._cols[name]

    def __setitem__(self, name: str, column: Any) -> None:
        self._table._set_column(name, column)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cols)

    def __contains__(self, name: object) -> bool:
        return name in self._cols

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        return "".join(f"{name} : {self._cols[name]}" for name in self.names)

    def __repr__(self) -> str:
        return "".join(f"{name} : {self._cols[name]!r}\n" for name in self.names)


def validate_names(columns: Any, keyword: str = "names") -> list[str]:
    """Raises an exception for names that are not Python identifiers."""
    for name in columns:
        if not re.match(r"[^\d\W]\w*\Z", str(name)) or iskeyword(str(name)):
            raise ValueError(f"column {keyword} must be valid Python identifiers, not {name!r}")
    return [str(name) for name in columns]


class ctable:
    """Compressed columns of the same length.

    >>> table = ctable([np.arange(3), np.array([1.5, 2.5, 3.5])], names=["day", "price"])
    >>> table.append((3, 4.5))
    >>> table["price > 2"]["day"]
    array([1, 2, 3])
    """

    def __init__(self, columns: Any = None, names: Any = None, **kwargs: Any) -> None:
        rootdir = kwargs.pop("rootdir", None)
        self.rootdir: str | None = None if rootdir is None else os.fspath(rootdir)
        self.auto_flush = kwargs.pop("auto_flush", True) and self.rootdir is not None
        self._cparams = kwargs.get("cparams") or Cparams()
        self._table: TableStorage | None = None
        self.len = 0
        exists = self.rootdir is not None and is_there(self.rootdir)
        self.mode: str = kwargs.pop("mode", "a" if exists else "w")
        if self.mode not in ("r", "w", "a"):
            raise ValueError(f"mode should be 'r', 'w' or 'a', not {self.mode!r}")
        self.cols = cols(self)
        if columns is not None:
            if exists and self.mode == "a":
                raise ValueError(f"{self.rootdir!r} exists: columns cannot be passed in the mode 'a'")
            if self.mode == "r":
                raise ValueError("columns cannot be passed in the mode 'r'")
            self._create(columns, names, kwargs)
        elif self.rootdir is None:
            raise ValueError("you should pass `columns` or a `rootdir` at the very least")
        elif self.mode == "w":
            raise ValueError("a ctable cannot be opened in the mode 'w' without `columns`")
        else:
            self._open()
        self.attrs = attrs(self._table or _MemoryAttributes())

    # Creation.

    def _open(self) -> None:
        if not is_there(self.rootdir or ""):
            raise KeyError(f"Disk-based ctable opened with `r`ead mode yet `rootdir='{self.rootdir}'` does not exist")
        self._table = TableStorage.opened(self.rootdir or "", self.mode)
        self._load()

    def _load(self) -> None:
        """Loads the columns of the directory."""
        assert self._table is not None
        self.cols.names = list(self._table.reader.names())
        self.cols._cols = {name: carray._of(ColumnStorage(self._table, name), self.mode) for name in self.cols.names}
        self.len = self._table.rows = self._table.reader.rows()

    def _create(self, columns: Any, names: Any, kwargs: dict[str, Any]) -> None:
        arrays, found = _columns_of(columns)
        names = _names_of(names, found, len(arrays))
        for column in arrays:
            if isinstance(column, np.ndarray) and column.dtype == np.void:
                raise ValueError("`columns` elements cannot be of type void")
        kwargs.pop("cparams", None) if kwargs.get("cparams") is None else None
        made = [c if isinstance(c, carray) and self.rootdir is None else _made(c, kwargs) for c in arrays]
        if len({len(column) for column in made}) > 1:
            raise ValueError("all `columns` must have the same length")
        if self.rootdir is None:
            self.cols.names = names
            self.cols._cols = dict(zip(names, made))
            self.len = len(made[0]) if made else 0
            return
        rootdir, options = self.rootdir, [(name, _options(column, kwargs)) for name, column in zip(names, made)]
        self._table = in_place(rootdir, self.mode, lambda replace: TableStorage.created(rootdir, options, replace))
        self._table.mode = self.mode
        with all_or_nothing(self._table, self.flush if self.auto_flush else None):
            self._load()
            for name, column in zip(names, made):
                self.cols[name]._cparams = kwargs.get("cparams") or column.cparams
            self._append_blocks(made)

    def _append_blocks(self, columns: list[Any]) -> None:
        """Appends columns block by block."""
        total = len(columns[0]) if columns else 0
        width = sum(column.dtype.itemsize * int(np.prod(column.shape[1:])) for column in columns)
        step = max((64 << 20) // max(width, 1), 1)
        for at in range(0, total, step):
            self._append_rows([np.asarray(column[at : at + step]) for column in columns])

    # Properties.

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self.cols.names

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a row."""
        return np.dtype([_field(name, self.cols[name]) for name in self.names])

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.len,)

    @property
    def ndim(self) -> int:
        return 1

    @property
    def size(self) -> int:
        return self.len

    @property
    def cparams(self) -> Cparams:
        """The compression parameters of new columns."""
        return self._cparams

    @property
    def nbytes(self) -> int:
        """The uncompressed size of all columns in bytes."""
        return sum(self.cols[name].nbytes for name in self.names)

    @property
    def cbytes(self) -> int:
        """The compressed size of all columns in bytes."""
        return sum(self.cols[name].cbytes for name in self.names)

    def __len__(self) -> int:
        return self.len

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.cbytes

    # Changing.

    def _check_mode(self) -> None:
        if self.rootdir is not None and self.mode == "r":
            raise OSError("cannot modify data because mode is 'r'")

    def append(self, cols: Any) -> None:
        """Appends rows, given as columns, a structured array, another table, or the values of one row."""
        self._check_mode()
        self._append_rows(self._rows_of(cols))
        if self.auto_flush:
            self.flush()

    def _rows_of(self, rows: Any) -> list[np.ndarray]:
        """Converts rows into an array for each column."""
        if isinstance(rows, ctable):
            values = [rows[name][:] for name in self.names]
        elif isinstance(rows, (np.ndarray, np.void)) and rows.dtype.names:
            values = [rows[name] for name in self.names]
        elif isinstance(rows, (list, tuple)):
            values = list(rows)
        else:
            raise ValueError(f"`cols` of the type {type(rows).__name__} are not supported")
        if len(values) != len(self.names):
            raise ValueError(f"{len(values)} values for {len(self.names)} columns")
        columns = [self.cols[name] for name in self.names]
        made = [to_rows(value, column.dtype, column._row) for value, column in zip(values, columns)]
        if len({len(column) for column in made}) > 1:
            raise ValueError("all cols in `cols` must have the same length")
        return made

    def _append_rows(self, rows: list[np.ndarray]) -> None:
        columns = [self.cols[name] for name in self.names]
        if self._table is None:
            for column, values in zip(columns, rows):
                column.append(values)
        else:
            pairs = zip(columns, rows)
            self._table.change("append", 
                [of_array(quantized(to_rows(values, column.dtype, column._row), column.cparams.quantize)) for column, values in pairs]
            )
        added = len(rows[0]) if rows else 0
        self._set_length(self.len + added)

    def _set_length(self, rows: int) -> None:
        self.len = rows
        if self._table is not None:
            self._table.rows = rows

    def trim(self, nitems: int) -> None:
        """Removes the last ``nitems`` rows."""
        if nitems > self.len:
            raise ValueError("`nitems` must be less than total length")
        self.resize(self.len - nitems)

    def resize(self, nitems: int) -> None:
        """Changes the number of rows to ``nitems``: cuts rows off, or appends rows with default values."""
        self._check_mode()
        if self._table is not None:
            self._table.change("resize", nitems)
        else:
            for name in self.names:
                self.cols[name].resize(nitems)
        self._set_length(nitems)
        if self.auto_flush:
            self.flush()

    def addcol(self, newcol: Any, name: str | None = None, pos: int | None = None, move: bool = False, **kwargs: Any) -> None:
        """Adds a column, at a position."""
        self._check_mode()
        pos = len(self.names) if pos is None else pos
        if type(pos) is not int or not 0 <= pos <= len(self.names):
            raise ValueError("`pos` must be an int from 0 to the number of columns")
        name = f"f{pos}" if name is None else name
        if not isinstance(name, str):
            raise ValueError("`name` must be a string")
        if name in self.names:
            raise ValueError(f"{name!r} column already exists")
        if self.names and len(newcol) != self.len:
            raise ValueError("`newcol` must have the same length as the ctable")
        if not isinstance(newcol, (carray, np.ndarray, list, tuple)):
            raise ValueError(f"`newcol` of the type {type(newcol).__name__} is not supported")
        kwargs.setdefault("cparams", self.cparams)
        self._insert(name, newcol, pos, kwargs)
        if move and isinstance(newcol, carray) and newcol.rootdir:
            newcol.purge()
        if self.auto_flush:
            self.flush()

    def _insert(self, name: str, column: Any, pos: int, kwargs: dict[str, Any]) -> None:
        if self._table is None:
            self.cols._cols[name] = column if isinstance(column, carray) else carray(column, **kwargs)
            self.cols.names.insert(pos, name)
            self.len = len(column)
            return
        made = _made(column, kwargs)
        self._table.change("add_column", name, _options(made, kwargs), of_array(made[:]), pos)
        self._flush()
        self._load()

    def _set_column(self, name: str, column: Any) -> None:
        if self.names and len(column) != self.len:
            raise ValueError("new column length is inconsistent with ctable")
        if name not in self.names:
            self._insert(name, column, len(self.names), {"cparams": self.cparams})
            return
        kept = self.cols[name]
        if isinstance(column, carray) and self._table is None:
            self.cols._cols[name] = column
            return
        try:
            kept[:] = np.asarray(column[:] if isinstance(column, carray) else column, kept.dtype)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{column!r} cannot be converted into a column of the dtype {kept.dtype}") from error

    def delcol(self, name: str | None = None, pos: int | None = None, keep: bool = False) -> carray:
        """Removes a column by name or position, and returns it. With ``keep``, its directory stays."""
        self._check_mode()
        if name is None and pos is None:
            raise ValueError("specify either a `name` or a `pos`")
        if name is not None and pos is not None and self.names[pos : pos + 1] != [name]:
            raise ValueError("specify `name` or `pos`, unless they agree")
        if name is None:
            if pos is None or not 0 <= pos < len(self.names):
                raise ValueError("`pos` must be >= 0 and < len(self.cols)")
            name = self.names[pos]
        if name not in self.names:
            raise ValueError(f"{name!r} column does not exist")
        column = self.cols[name]
        if self._table is not None:
            if not keep:
                column = column.copy()
            self._table.change("delete_column", name, keep)
            self._flush()
            self._load()
        else:
            self.cols.names.remove(name)
            del self.cols._cols[name]
        if self.auto_flush:
            self.flush()
        return column

    def copy(self, **kwargs: Any) -> ctable:
        """A copy in memory or, with ``rootdir``, in a directory. Given parameters replace the ones of the table."""
        kwargs.setdefault("expectedlen", self.len)
        rootdir = kwargs.pop("rootdir", None)
        if rootdir is not None:
            check_copy(self.rootdir, rootdir)
            columns = [self.cols[name] for name in self.names]
            kwargs.setdefault("cparams", self.cparams)
            return ctable(columns, list(self.names), rootdir=rootdir, mode=kwargs.pop("mode", "w"), **kwargs)
        return ctable([self.cols[name].copy(**kwargs) for name in self.names], list(self.names))

    def _flush(self) -> None:
        if self._table is not None:
            self._table.flush()

    def flush(self) -> None:
        """Makes changes of all columns permanent, or of none after a crash."""
        if self.mode != "r":
            self._flush()

    def free_cachemem(self) -> None:
        """Does nothing: memory is freed automatically."""

    # Rows and conditions.

    def _check_outcols(self, outcols: Any) -> list[str]:
        if outcols is None:
            return list(self.names)
        if isinstance(outcols, str):
            outcols = outcols.replace(",", " ").split()
        if not isinstance(outcols, (list, tuple)):
            raise ValueError("only list/str is supported for outcols")
        for name in outcols:
            if name not in self.names and name != _NROW:
                raise ValueError(f"not all outcols are real column names: {name!r}")
        return list(outcols)

    def _dtype_of(self, outcols: list[str]) -> np.dtype[Any]:
        return np.dtype([(name, np.int_) if name == _NROW else _field(name, self.cols[name]) for name in outcols])

    def _mask_blocks(self, expression: Any, names: Mapping[str, Any], vm: str | None) -> Iterator[tuple[int, np.ndarray]]:
        """Finds the rows that satisfy a condition, block by block."""
        if hasattr(expression, "dtype"):
            if expression.dtype != np.bool_ or len(expression) != self.len:
                raise ValueError("the condition must be a string, or an array of booleans with a value for each row")
            step = self._block()
            for at in range(0, self.len, step):
                yield at, np.flatnonzero(expression[at : at + step]) + at
            return
        if not isinstance(expression, str):
            raise ValueError(f"the condition must be a string or an array of booleans, not {type(expression).__name__}")
        used = [name for name in names_in(expression) if name in self.names]
        if not used:
            mask = evaluate(expression, names, vm, "numpy")
            if getattr(mask, "dtype", None) != np.bool_:
                raise ValueError(f"{expression!r} is not a condition")
            yield 0, np.flatnonzero(np.broadcast_to(mask, self.len))
            return
        step = self._block()
        for at in range(0, self.len, step):
            block = {name: self.cols[name][at : at + step] for name in used}
            others = {k: _part(v, at, step, self.len) for k, v in names.items() if k in names_in(expression)}
            mask = evaluate(expression, {**others, **block}, vm, "numpy")
            if getattr(mask, "dtype", None) != np.bool_:
                raise ValueError(f"{expression!r} is not a condition")
            yield at, np.flatnonzero(mask) + at

    def _block(self) -> int:
        longest = max((self.cols[name].chunklen for name in self.names), default=1)
        return max(longest, 1 << 16)

    def _selected(
        self, expression: Any, outcols: list[str], limit: int | None, skip: int, names: Mapping[str, Any], vm: str | None
    ) -> Iterator[np.ndarray]:
        """Reads the rows that satisfy a condition, in blocks."""
        dtype = self._dtype_of(outcols)
        end = None if limit is None else skip + limit
        seen = 0
        for _, rows in self._mask_blocks(expression, names, vm):
            first, stop = max(skip - seen, 0), None if end is None else max(end - seen, 0)
            seen += len(rows)
            rows = rows[first:stop]
            if len(rows):
                out = np.empty(len(rows), dtype)
                for name in outcols:
                    out[name] = rows if name == _NROW else self.cols[name][rows]
                yield out
            if end is not None and seen >= end:
                return

    def where(
        self,
        expression: Any,
        outcols: Any = None,
        limit: int | None = None,
        skip: int = 0,
        out_flavor: Any = namedtuple,
        user_dict: Mapping[str, Any] | None = None,
        vm: str | None = None,
    ) -> Iterator[Any]:
        """Iterates over the rows that satisfy a condition."""
        names = {**caller(2), **(user_dict or {})}
        outcols = self._check_outcols(outcols)
        if isinstance(expression, str):
            for name in names_in(expression):
                if name not in self.names and name not in names:
                    raise NameError(f"variable name ``{name}`` not found")
        blocks = self._selected(expression, outcols, limit, skip, names, vm)
        return _one_by_one(_started(blocks), outcols, out_flavor)

    def whereblocks(
        self,
        expression: Any,
        blen: int | None = None,
        outcols: Any = None,
        limit: int | None = None,
        skip: int = 0,
        user_dict: Mapping[str, Any] | None = None,
        vm: str | None = None,
    ) -> Iterator[np.ndarray]:
        """Iterates over the rows that satisfy a condition, as structured arrays of ``blen`` rows."""
        names = {**caller(2), **(user_dict or {})}
        outcols = self._check_outcols(outcols)
        blen = blen or min(self.cols[name].chunklen for name in self.names)
        return _of_length(self._selected(expression, outcols, limit, skip, names, vm), blen)

    def fetchwhere(
        self,
        expression: Any,
        outcols: Any = None,
        limit: int | None = None,
        skip: int = 0,
        out_flavor: str | None = None,
        user_dict: Mapping[str, Any] | None = None,
        vm: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """The rows that satisfy a condition, as a new table or a structured array."""
        from .params import defaults

        flavor = out_flavor or defaults.out_flavor
        if flavor not in ("numpy", "bcolz", "carray"):
            raise ValueError("`out_flavor` can only take 'bcolz' or 'numpy' values")
        names = {**caller(2), **(user_dict or {})}
        outcols = self._check_outcols(outcols)
        blocks = list(self._selected(expression, outcols, limit, skip, names, vm))
        rows = np.concatenate(blocks) if blocks else np.empty(0, self._dtype_of(outcols))
        return rows if flavor == "numpy" else ctable(rows, **kwargs)

    def eval(self, expression: str, **kwargs: Any) -> Any:
        """The value of an expression over the columns."""
        names = {**caller(2), **self.cols._cols, **(kwargs.pop("user_dict", None) or {})}
        return evaluate(expression, names, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.iter()

    def iter(
        self,
        start: int = 0,
        stop: int | None = None,
        step: int = 1,
        outcols: Any = None,
        limit: int | None = None,
        skip: int = 0,
        out_flavor: Any = namedtuple,
    ) -> Iterator[Any]:
        """Iterates over the rows of a slice: at most ``limit`` rows, after the first ``skip``."""
        if step <= 0:
            raise NotImplementedError("step param can only be positive")
        outcols = self._check_outcols(outcols)
        wanted = range(*slice(start, stop, step).indices(self.len))[skip:]
        wanted = wanted if limit is None else wanted[:limit]
        return _one_by_one(self._row_blocks(wanted, outcols), outcols, out_flavor)

    def _row_blocks(self, wanted: range, outcols: list[str]) -> Iterator[np.ndarray]:
        step = self._block()
        dtype = self._dtype_of(outcols)
        for at in range(0, len(wanted), step):
            part = wanted[at : at + step]
            out = np.empty(len(part), dtype)
            for name in outcols:
                out[name] = part if name == _NROW else self.cols[name][part.start : part[-1] + 1 : part.step]
            yield out

    # Indexing.

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.cols[key] if key in self.names else self._condition(key)
        if not self.names:
            raise KeyError("cannot retrieve data from a ctable with no columns")
        if isinstance(key, tuple):
            if len(key) != 1:
                raise IndexError("multidimensional keys are not supported")
            key = key[0]
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return ctable([self.cols[name].copy() if self.rootdir else self.cols[name] for name in key], list(key))
        if isinstance(key, (int, np.integer)):
            return self._rows(key)[()]
        if isinstance(key, carray):
            key = key[:]
        if isinstance(key, (list, np.ndarray)):
            key = _positions(key, self.len)
        elif not isinstance(key, slice):
            raise NotImplementedError(f"key not supported: {key!r}")
        elif key.step is not None and key.step <= 0:
            raise NotImplementedError("step in slice can only be positive")
        return self._rows(key)

    def _rows(self, key: Any) -> np.ndarray:
        values = [self.cols[name][key] for name in self.names]
        if isinstance(key, (int, np.integer)):
            out = np.empty((), self.dtype)
        else:
            out = np.empty(len(values[0]), self.dtype)
        for name, value in zip(self.names, values):
            out[name] = value
        return out

    def _condition(self, expression: str) -> np.ndarray:
        names = {**caller(3), **self.cols._cols}
        mask = evaluate(expression, names, out_flavor="numpy")
        if getattr(mask, "dtype", None) != np.bool_:
            raise IndexError(f"{expression!r} is not a column, nor a condition")
        return self._rows(np.flatnonzero(mask))

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.names:
            raise KeyError("cannot assign to ctable with no columns")
        self._check_mode()
        if isinstance(key, str) and key in self.names:
            self.cols[key] = value
            return
        if isinstance(key, str):
            names = {**caller(2), **self.cols._cols}
            key = np.flatnonzero(evaluate(key, names, out_flavor="numpy"))
        value = np.asarray(value, self.dtype) if not isinstance(value, np.void) else value
        for name in self.names:
            self.cols[name][key] = value[name]

    # Other packages.

    @staticmethod
    def fromdataframe(df: Any, **kwargs: Any) -> ctable:
        """Makes a table with the columns of a DataFrame. Text gets a fixed length."""
        columns, names = [], []
        for name in df.columns:
            column = np.asarray(df[name])
            if column.dtype == object or column.dtype.kind in "T":
                values = column.tolist()
                has_bytes = bool(values) and all(isinstance(value, bytes) for value in values)
                column = np.array(values, "S") if has_bytes else np.array([str(value) for value in values], "U")
            columns.append(column)
            names.append(str(name))
        return ctable(columns, names, **kwargs)

    def todataframe(self, columns: Any = None, orient: str = "columns") -> Any:
        """A DataFrame with the columns of the table."""
        import pandas

        data = {name: self.cols[name][:] for name in self.names}
        data = {name: list(values) if values.ndim > 1 else _as_text(values) for name, values in data.items()}
        if orient == "index":
            return pandas.DataFrame.from_dict(data, orient="index", columns=columns)
        return pandas.DataFrame(data, columns=columns)

    def tohdf5(
        self, filepath: Any, nodepath: str = "/ctable", mode: str = "w", cparams: Any = None, cname: str | None = None
    ) -> None:
        """Writes the table as a PyTables table. Requires PyTables.

        The node gets the table's compressor and attributes, with the shuffle and the level of ``cparams``.
        """
        import tables

        params = cparams or self.cparams
        filters = tables.Filters(
            complevel=min(params.clevel, 9), shuffle=bool(params.shuffle), complib="blosc:" + (cname or params.cname)
        )
        where, _, name = nodepath.rpartition("/")
        with contextlib.ExitStack() as stack:
            new = stack.enter_context(NewFile(filepath, lock=False)) if mode == "w" else None
            file = stack.enter_context(tables.open_file(filepath if new is None else new.path, mode=mode))
            node = file.create_table(
                where or "/", name, self.dtype, filters=filters, expectedrows=len(self), createparents=True
            )
            step = max((64 << 20) // max(self.dtype.itemsize, 1), 1)
            for at in range(0, len(self), step):
                node.append(self[at : at + step])
            for key, value in self.attrs:
                node.attrs[key] = value

    @staticmethod
    def fromhdf5(filepath: Any, nodepath: str = "/ctable", **kwargs: Any) -> ctable:
        """Makes a table with the rows and the attributes of a PyTables table. Requires PyTables."""
        import tables

        with tables.open_file(filepath, mode="r") as file:
            node = file.get_node(nodepath)
            if not isinstance(node, tables.Table):
                raise ValueError(f"{nodepath!r} is not a table of PyTables, but of the class {type(node).__name__}")
            kwargs.setdefault("expectedlen", node.nrows)
            with filled(ctable, node[:0], kwargs) as made:
                step = max((64 << 20) // max(node.dtype.itemsize, 1), 1)
                for at in range(0, node.nrows, step):
                    made.append(node[at : at + step])
            for key in node.attrs._f_list("user"):
                value = node.attrs[key]
                made.attrs[key] = value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        if self.rootdir is not None:
            self.flush()
            return _build, (None, None, self.rootdir)
        return _build, ([self.cols[name] for name in self.names], list(self.names), None)

    def __enter__(self) -> ctable:
        return self

    def __exit__(self, *_: Any) -> None:
        self.flush()

    def __str__(self) -> str:
        return _text(self) if self.names else ""

    def __repr__(self) -> str:
        ratio = self.nbytes / self.cbytes if self.cbytes else float("nan")
        lines = [
            f"ctable({self.shape}, {self.dtype})",
            f"  nbytes: {human_readable_size(self.nbytes)}; cbytes: {human_readable_size(self.cbytes)}; ratio: {ratio:.2f}",
            f"  cparams := {self.cparams!r}",
        ]
        if self.rootdir:
            lines.append(f"  rootdir := '{self.rootdir}'")
        return "\n".join([*lines, str(self)])

    def _repr_html_(self) -> str:
        return _pictures.table(self)


@contextlib.contextmanager
def filled(make: Any, empty: np.ndarray, kwargs: dict[str, Any]) -> Iterator[Any]:
    """A new array or table that the ``with`` block fills. It becomes permanent at the end, or is discarded after an error."""
    if make is carray:
        array = carray(empty, _flush=False, **kwargs)
        with all_or_nothing(array._storage, array.flush):
            yield array
        return
    flushes = kwargs.get("auto_flush", True) and kwargs.get("rootdir") is not None
    made = ctable(empty, **{**kwargs, "auto_flush": False})
    with contextlib.nullcontext() if made._table is None else all_or_nothing(made._table, made.flush):
        yield made
    made.auto_flush = flushes


def _build(columns: Any, names: Any, rootdir: str | None) -> ctable:
    return ctable(columns, names) if rootdir is None else ctable(rootdir=rootdir)


def _field(name: str, column: carray) -> tuple[Any, ...]:
    return (name, column.dtype, column._row) if column._row else (name, column.dtype)


def _columns_of(columns: Any) -> tuple[list[Any], list[str]]:
    """The columns of a structured array, list or tuple, and their names: the fields, or ``f0``, ``f1``, ..."""
    if isinstance(columns, np.ndarray):
        if columns.dtype.names is None:
            raise ValueError("`columns` as an array must be structured")
        if columns.ndim != 1:
            raise ValueError("only unidimensional shapes supported")
        return [columns[name] for name in columns.dtype.names], list(columns.dtype.names)
    if isinstance(columns, (list, tuple)):
        return list(columns), [f"f{i}" for i in range(len(columns))]
    raise ValueError(f"`columns` of the type {type(columns).__name__} are not supported")


def _names_of(names: Any, found: list[str], count: int) -> list[str]:
    if names is None:
        return validate_names(found)
    if not isinstance(names, (list, tuple)):
        raise ValueError("`names` can only be a list or tuple")
    if len(names) != count:
        raise ValueError("`columns` and `names` must have the same length")
    return validate_names(names)


def _made(column: Any, kwargs: dict[str, Any]) -> carray:
    return column if isinstance(column, carray) else carray(column, **kwargs)


def _options(column: carray, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The options of a column in a directory."""
    chunklen = kwargs.get("chunklen") or (column.chunklen if "expectedlen" not in kwargs else None)
    params = kwargs.get("cparams") or column.cparams
    expected = kwargs.get("expectedlen") or len(column)
    return array_options(column.dtype, column._row, params, column.dflt, expected, chunklen)


def _part(value: Any, at: int, step: int, rows: int) -> Any:
    is_column = hasattr(value, "dtype") and bool(getattr(value, "shape", ())) and len(value) == rows
    return value[at : at + step] if is_column else value


def _as_text(values: np.ndarray) -> Any:
    return values


def _started(blocks: Iterator[Any]) -> Iterator[Any]:
    """The same blocks. Reads the first one immediately, so its errors are raised by this call."""
    first = next(blocks, None)

    def every() -> Iterator[Any]:
        if first is not None:
            yield first
            yield from blocks

    return every()


def _one_by_one(blocks: Iterator[np.ndarray], outcols: list[str], flavor: Any) -> Iterator[Any]:
    if flavor is namedtuple or flavor == "namedtuple":
        row = namedtuple("row", outcols)  # type: ignore[misc]
        return (row._make(values) for block in blocks for values in _values(block))
    if flavor is np.ndarray or flavor == "ndarray":
        return (block[i : i + 1].copy() for block in blocks for i in range(len(block)))
    return (values for block in blocks for values in _values(block))


def _values(block: np.ndarray) -> Iterator[tuple[Any, ...]]:
    columns = [block[name] for name in block.dtype.names or ()]
    return zip(*(column if column.ndim > 1 or column.dtype.names else column.tolist() for column in columns))


def _of_length(blocks: Iterator[np.ndarray], length: int) -> Iterator[np.ndarray]:
    """The same rows, in blocks of this length."""
    waiting: list[np.ndarray] = []
    count = 0
    for block in blocks:
        waiting.append(block)
        count += len(block)
        if count >= length:
            rows = np.concatenate(waiting)
            whole = len(rows) // length * length
            yield from (rows[at : at + length] for at in range(0, whole, length))
            waiting, count = [rows[whole:]], len(rows) - whole
    if count:
        yield np.concatenate(waiting)
