"""`carray`: a compressed array in memory or in a directory."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from .. import _pictures
from .._boxes import box_of
from .._buffers import into_array, of_array
from ..arrays import dtype_of
from .attrs import attrs
from .convert import check_copy, human_readable_size, in_place, quantized, to_rows
from .params import cparams as Cparams
from .storage import COLLECTED, ArrayStorage, ColumnStorage, all_or_nothing

_ndarray = np.ndarray


class carray:
    """A compressed array, to which rows can be appended.

    >>> a = carray([1, 2, 3])
    >>> a.append([4, 5])
    >>> a[1:4], a.sum()
    (array([2, 3, 4]), np.int64(15))

    With ``rootdir``, the array is stored in a directory. ``mode`` is ``"r"`` to read it, ``"a"`` to change it, and ``"w"`` to
    replace it.
    """

    def __init__(
        self,
        array: Any = None,
        cparams: Cparams | None = None,
        dtype: Any = None,
        dflt: Any = None,
        expectedlen: int | None = None,
        chunklen: int | None = None,
        rootdir: str | None = None,
        safe: bool = True,
        mode: str = "a",
        _flush: bool = True,
    ) -> None:
        if mode not in ("r", "w", "a"):
            raise ValueError(f"mode should be 'r', 'w' or 'a', not {mode!r}")
        rootdir = None if rootdir is None else os.fspath(rootdir)
        self._mode = mode
        self.safe = safe
        self._iterator: Iterator[Any] | None = None
        if array is not None:
            self._create(array, cparams, dtype, dflt, expectedlen, chunklen, rootdir, _flush)
        elif rootdir is None:
            raise ValueError("you need to pass an array or a rootdir, or both")
        else:
            self._open(ArrayStorage.opened(rootdir, "a" if mode == "w" else mode))
            if mode == "w":
                self.resize(0)

    def _open(self, storage: ArrayStorage | ColumnStorage, cparams: Cparams | None = None) -> None:
        """Initializes the array from a storage."""
        self._storage = storage
        facts = storage.facts()
        self._base = dtype_of(facts["dtype"])
        rows, *row = facts["shape"]
        self._row = tuple(row)
        storage.measure(rows, self.atomsize)
        # Buffer for single appended rows.
        self._waiting: list[bytes] | None = None
        self._room = 0
        # The number of rows visible through this object, once it has a view.
        self._own_rows: int | None = None
        self._chunklen: int = facts["chunks"][0]
        self._cparams = cparams or _stored_cparams(storage.rootdir)
        default = facts["default"]
        self._dflt = np.zeros((), self._base) if default is None else np.frombuffer(default, self._base)[:1].reshape(())
        self._attrs = attrs(storage)

    @classmethod
    def _of(cls, storage: ArrayStorage | ColumnStorage, mode: str) -> carray:
        self = cls.__new__(cls)
        self._mode, self.safe, self._iterator = mode, True, None
        self._open(storage)
        return self

    def _create(
        self,
        array: Any,
        cparams: Cparams | None,
        dtype: Any,
        dflt: Any,
        expectedlen: int | None,
        chunklen: int | None,
        rootdir: str | None,
        flush: bool,
    ) -> None:
        if cparams is not None and not isinstance(cparams, Cparams):
            raise ValueError(f"`cparams` must be a cparams, not {type(cparams).__name__}")
        wanted = None if dtype is None else np.dtype(dtype)
        array = to_rows(array, None if wanted is None else wanted.base)
        if not array.ndim:
            raise NotImplementedError("a carray cannot be created from a scalar")
        if chunklen is not None and (not isinstance(chunklen, int) or chunklen < 1):
            raise ValueError(f"`chunklen` must be a positive integer, not {chunklen!r}")
        row = array.shape[1:]
        if wanted is not None and wanted.shape and not array.size:
            row = wanted.shape
            array = array.reshape((0, *row))
        self._mode = self._mode if rootdir is None else self._mode
        options = array_options(array.dtype, row, cparams, dflt, expectedlen or len(array), chunklen)
        if rootdir is None:
            storage = ArrayStorage.created(None, options)
        else:
            storage = in_place(rootdir, self._mode, lambda replace: ArrayStorage.created(rootdir, options, replace))
        with all_or_nothing(storage, storage.flush if flush else None):
            self._open(storage, cparams or Cparams())
            self._dflt = np.frombuffer(options["default"], self._base).reshape(())
            if len(array):
                self.append(array)

    # Properties.

    @property
    def attrs(self) -> attrs:
        """The user's attributes."""
        return self._attrs

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an element."""
        return self._base

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        return (self._rows, *self._row)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return 1 + len(self._row)

    @property
    def len(self) -> int:
        """The number of rows."""
        return self._rows

    @property
    def _rows(self) -> int:
        return self._storage.rows if self._own_rows is None else self._own_rows

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self._base.itemsize

    @property
    def atomsize(self) -> int:
        """The size of a row in bytes."""
        return self._base.itemsize * int(np.prod(self._row, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """The uncompressed size of all elements in bytes."""
        return self._rows * self.atomsize

    @property
    def cbytes(self) -> int:
        """The compressed size of all chunks in bytes. The rows after the last full chunk count as a whole chunk."""
        if self.rootdir is None:
            # In memory, a flush writes nothing, but updates the sizes.
            self._storage.reader.flush()
        return max(int(self._storage.facts()["cbytes"]), 0) + self._chunklen * self.atomsize

    @property
    def chunklen(self) -> int:
        """The number of rows in a chunk."""
        return self._chunklen

    @property
    def nchunks(self) -> int:
        """The number of full chunks."""
        return self._rows // self._chunklen

    @property
    def nleftover(self) -> int:
        """The number of rows after the last full chunk."""
        return self._rows % self._chunklen

    leftover_elements = nleftover

    @property
    def leftover_bytes(self) -> int:
        """The size of the rows after the last full chunk in bytes."""
        return self.nleftover * self.atomsize

    @property
    def leftover_array(self) -> np.ndarray:
        """The rows after the last full chunk."""
        return self[self._rows - self.nleftover :]

    @property
    def cparams(self) -> Cparams:
        """The compression parameters of chunks."""
        return self._cparams

    @property
    def dflt(self) -> np.ndarray:
        """The value of rows that `resize` adds."""
        return self._dflt

    @property
    def mode(self) -> str:
        """``"r"``, ``"a"`` or ``"w"``."""
        return self._mode

    @property
    def rootdir(self) -> str | None:
        """The directory, or `None`."""
        return self._storage.rootdir

    @property
    def partitions(self) -> list[tuple[int, int]]:
        """The first row of each chunk, and the row after its last."""
        return [(at, min(at + self._chunklen, self._rows)) for at in range(0, self._rows, self._chunklen)]

    @property
    def _as_numpy(self) -> np.ndarray:
        return self[:]

    def __len__(self) -> int:
        return self._rows

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.cbytes

    # Reading.

    def _read(self, first: int, end: int) -> np.ndarray:
        """Reads these rows."""
        out = np.empty((end - first, *self._row), self._base)
        if out.nbytes:
            zeros = [0] * len(self._row)
            self._storage.read([first, *zeros], [end, *self._row], into_array(out))
        return out

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            first, end, step = self._bounds(key)
            rows = self._read(first, max(first, end))
            return rows if step == 1 else rows[::step]
        if isinstance(key, str):
            return self._selected(key)
        if isinstance(key, carray):
            key = key[:]
        if isinstance(key, (list, np.ndarray)):
            return self._picked(_positions(key, self._rows))
        _check_steps(key)
        start, stop, within = box_of(key, self.shape)
        out = np.empty([end - first for first, end in zip(start, stop)], self._base)
        if out.nbytes:
            self._storage.read(start, stop, into_array(out))
        if isinstance(key, (int, np.integer)) and not self._row and self._base.names is None:
            return out.item()
        return out if within is None else out[within]

    def _bounds(self, key: slice) -> tuple[int, int, int]:
        _check_steps(key)
        return key.indices(self._rows)

    def _selected(self, expression: str) -> np.ndarray:
        return self[self._mask_of(expression, 4)]

    def _mask_of(self, expression: str, depth: int = 3) -> np.ndarray:
        """The mask of a condition over the caller's variables."""
        from .evaluate import caller, evaluate

        mask = evaluate(expression, caller(depth), out_flavor="numpy")
        if getattr(mask, "dtype", None) != np.bool_:
            raise IndexError(f"{expression!r} is not a condition")
        return mask

    def _picked(self, positions: np.ndarray) -> np.ndarray:
        """The rows at these positions. Only the chunks that contain them are decompressed."""
        out = np.empty((len(positions), *self._row), self._base)
        chunks = positions // self._chunklen
        for chunk in np.unique(chunks):
            here = chunks == chunk
            wanted = positions[here]
            first = int(wanted.min())
            out[here] = self._read(first, int(wanted.max()) + 1)[wanted - first]
        return out

    def _getrange(self, start: int, blen: int, out: np.ndarray) -> None:
        rows = self._read(start, min(start + blen, self._rows))
        out[: len(rows)] = rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self[:]
        return array if dtype is None else array.astype(dtype, copy=False)

    def sum(self, dtype: Any = None) -> Any:
        """The sum of all elements, chunk by chunk."""
        if self._base.kind in "SUV":
            raise TypeError(f"elements of the dtype {self._base} cannot be added")
        kind = np.zeros(0, self._base).sum(dtype=dtype).dtype
        total = kind.type(0)
        for block in self._blocks(0, self._rows):
            total = total + block.sum(dtype=dtype)
        return kind.type(total)

    def _blocks(self, first: int, end: int) -> Iterator[np.ndarray]:
        """Iterates over blocks of rows that end at the ends of chunks."""
        while first < end:
            to = min((first // self._chunklen + 1) * self._chunklen, end)
            yield self._read(first, to)
            first = to

    def iter(self, start: int = 0, stop: int | None = None, step: int = 1, limit: int | None = None, skip: int = 0) -> Iterator[Any]:
        """Iterates over the rows of a slice: at most ``limit`` rows, after the first ``skip``."""
        if step <= 0:
            raise NotImplementedError("step param can only be positive")
        first, end, step = slice(start, stop, step).indices(self._rows)
        return islice(self._items(first, end, step), skip, None if limit is None else skip + limit)

    def _items(self, first: int, end: int, step: int) -> Iterator[Any]:
        at = first
        while at < end:
            to = min((at // self._chunklen + 1) * self._chunklen, end)
            rows = self._read(at, to)[::step]
            yield from rows if self._row else rows.tolist() if self._base.names is None else map(_row_of, rows)
            at += len(rows) * step

    def __iter__(self) -> Iterator[Any]:
        return self.iter()

    def __next__(self) -> Any:
        if self._iterator is None:
            self._iterator = self.iter()
        return next(self._iterator)

    def wheretrue(self, limit: int | None = None, skip: int = 0) -> Iterator[int]:
        """Iterates over the positions at which this array of bools is true."""
        if self._base != np.bool_:
            raise ValueError("`self` is not an array of booleans")
        if self._row:
            raise NotImplementedError("`self` is not unidimensional")
        return islice(self._true_positions(), skip, None if limit is None else skip + limit)

    def _true_positions(self) -> Iterator[int]:
        at = 0
        for block in self._blocks(0, self._rows):
            yield from (np.flatnonzero(block) + at).tolist()
            at += len(block)

    def where(self, boolarr: Any, limit: int | None = None, skip: int = 0) -> Iterator[Any]:
        """Iterates over the rows at which an array of bools is true."""
        if self._row:
            raise NotImplementedError("`self` is not unidimensional")
        if getattr(boolarr, "dtype", None) != np.bool_:
            raise ValueError("`boolarr` is not an array of booleans")
        if len(boolarr) != self._rows:
            raise ValueError(f"`boolarr` has {len(boolarr)} rows, expected {self._rows}")
        return islice(self._where(boolarr), skip, None if limit is None else skip + limit)

    def _where(self, boolarr: Any) -> Iterator[Any]:
        for at in range(0, self._rows, self._chunklen):
            mask = np.asarray(boolarr[at : at + self._chunklen])
            if mask.any():
                rows = self._read(at, at + len(mask))[mask]
                yield from rows.tolist() if self._base.names is None else map(_row_of, rows)

    # Changing.

    def _check_mode(self) -> None:
        if self._mode == "r":
            raise OSError("cannot modify data because mode is 'r'")

    def append(self, array: Any) -> None:
        """Appends one or several rows."""
        waiting = self._waiting
        if waiting is not None and type(array) is _ndarray and array.dtype == self._base:
            shape = array.shape
            if shape == self._row or (shape[1:] == self._row and array.nbytes < COLLECTED):
                waiting.append(array.tobytes())
                if len(waiting) >= self._room:
                    self._storage.settle()  # type: ignore[union-attr]
                return
        self._check_mode()
        rows = to_rows(array, self._base, self._row)
        if self._base.kind in "iub" and np.asarray(array).dtype.kind == "V":
            raise TypeError("the dtype of the rows does not fit")
        storage = self._storage
        storage.append(of_array(quantized(rows, self._cparams.quantize)))
        if self._own_rows is not None:
            self._own_rows += len(rows)
        elif isinstance(storage, ArrayStorage) and storage.room > 1 and not self._cparams.quantize:
            self._waiting, self._room = storage.waiting, storage.room
            storage.collector = weakref.ref(self)

    def trim(self, nitems: int) -> None:
        """Removes the last ``nitems`` rows."""
        self._check_mode()
        nitems = _count(nitems)
        if nitems > self._rows:
            raise ValueError("`nitems` must be less than total length")
        self.resize(self._rows - nitems)

    def resize(self, nitems: int) -> None:
        """Changes the number of rows to ``nitems``: cuts rows off, or appends rows with the default value."""
        self._check_mode()
        nitems = _count(nitems)
        if nitems < 0:
            raise ValueError("`nitems` cannot be negative")
        self._storage.resize(nitems)
        if self._own_rows is not None:
            self._own_rows = nitems

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_mode()
        if isinstance(key, str):
            key = self._mask_of(key)
        if isinstance(key, carray):
            key = key[:]
        if isinstance(key, (list, np.ndarray)):
            self._put(_positions(key, self._rows), value)
            return
        _check_steps(key)
        start, stop, within = box_of(key, self.shape)
        shape = [end - first for first, end in zip(start, stop)]
        if within is None:
            box = np.empty(shape, self._base)
            box[...] = value[:] if isinstance(value, carray) else value
        else:
            box = np.empty(shape, self._base)
            self._storage.read(start, stop, into_array(box))
            box[within] = value
        if box.nbytes:
            self._storage.write(start, stop, of_array(box))

    def _put(self, positions: np.ndarray, value: Any) -> None:
        values = np.empty((len(positions), *self._row), self._base)
        values[...] = value[:] if isinstance(value, carray) else value
        chunks = positions // self._chunklen
        zeros = [0] * len(self._row)
        for chunk in np.unique(chunks):
            here = chunks == chunk
            wanted = positions[here]
            first, end = int(wanted.min()), int(wanted.max()) + 1
            rows = self._read(first, end)
            rows[wanted - first] = values[here]
            self._storage.write([first, *zeros], [end, *self._row], of_array(rows))

    def reshape(self, newshape: Any) -> carray:
        """The array with another shape: a new array in memory, or the same directory with its shape changed."""
        shape = (newshape,) if isinstance(newshape, int) else tuple(newshape)
        if self.rootdir is None:
            return carray(self[:].reshape(shape), cparams=self._cparams)
        self._check_mode()
        return carray(self[:].reshape(shape), cparams=self._cparams, dflt=self._dflt, rootdir=self.rootdir, mode="w")

    def copy(self, **kwargs: Any) -> carray:
        """A copy in memory or, with ``rootdir``, in a directory. The parameters are the given ones or the defaults."""
        kwargs.setdefault("expectedlen", self._rows)
        if kwargs.get("rootdir") is not None:
            check_copy(self.rootdir, kwargs["rootdir"])
            kwargs.setdefault("mode", "w")
        copied = carray(self._read(0, 0), dtype=np.dtype((self._base, self._row)), dflt=self._dflt, _flush=False, **kwargs)
        with all_or_nothing(copied._storage, copied.flush):
            for block in self._blocks(0, self._rows):
                copied.append(block)
        return copied

    def view(self) -> carray:
        """Another object for the same array. Afterwards, each object sees only the rows that were appended through itself."""
        self._own_rows, self._waiting = self._rows, None
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__, _iterator=None)
        return twin

    def flush(self) -> None:
        """Makes changes permanent."""
        if self.rootdir is not None and self._mode != "r":
            self._storage.flush()

    def purge(self) -> None:
        """Removes the directory."""
        if self.rootdir:
            self._mode, self._waiting = "r", None
            self._storage.forget()
            shutil.rmtree(self.rootdir)

    def free_cachemem(self) -> None:
        """Does nothing: memory is freed automatically."""

    def __reduce__(self) -> tuple[Any, ...]:
        if self.rootdir is not None:
            self.flush()
            return _build, (None, self.rootdir)
        return _build, (self[:], None)

    def __enter__(self) -> carray:
        return self

    def __exit__(self, *_: Any) -> None:
        self.flush()

    def __str__(self) -> str:
        return _text(self)

    def __repr__(self) -> str:
        ratio = self.nbytes / self.cbytes if self.cbytes else float("nan")
        lines = [
            f"carray({self.shape}, {self.dtype})",
            f"  nbytes := {human_readable_size(self.nbytes)}; cbytes := {human_readable_size(self.cbytes)}; ratio: {ratio:.2f}",
            f"  cparams := {self.cparams!r}",
            f"  chunklen := {self.chunklen}; chunksize: {self.chunklen * self.atomsize}; blocksize: 0",
        ]
        if self.rootdir:
            lines += [f"  rootdir := '{self.rootdir}'", f"  mode    := '{self.mode}'"]
        return "\n".join([*lines, str(self)])

    def _repr_html_(self) -> str:
        facts = {"dtype": self.dtype, "shape": self.shape, "chunklen": self.chunklen, "cparams": self.cparams}
        return _pictures.array({**facts, "bytes": f"{self.nbytes:,}", "compressed": f"{self.cbytes:,}"}, self)


def array_options(
    dtype: np.dtype[Any],
    row: tuple[int, ...],
    cparams: Cparams | None,
    dflt: Any,
    expectedlen: int,
    chunklen: int | None,
) -> dict[str, Any]:
    """The options of a new array for the native half."""
    if dtype.hasobject:
        raise TypeError(f"{dtype!r} is not supported: objects would be stored as pickles, which run code when they are read")
    if not dtype.itemsize or 0 in row:
        raise TypeError("the size of a row cannot be zero")
    default = np.zeros((), dtype)
    if dflt is not None:
        default[()] = dflt
    params = cparams or Cparams()
    return {
        "dtype": repr(np.lib.format.dtype_to_descr(dtype)),
        "row_shape": list(row),
        "chunk_rows": chunklen,
        "expected_rows": int(expectedlen),
        "default": default.tobytes(),
        "cname": params.cname,
        "clevel": min(params.clevel, 9),
        "shuffle": int(params.shuffle),
    }


def _stored_cparams(rootdir: str | None) -> Cparams:
    """The compression parameters in the directory of an array."""
    import json

    try:
        with open(os.path.join(rootdir or "", "meta", "storage"), "rb") as file:
            stored = json.loads(file.read())["cparams"]
        return Cparams(stored["clevel"], int(stored["shuffle"]), stored.get("cname", "blosclz"), stored.get("quantize"))
    except (OSError, KeyError, ValueError):
        return Cparams()


def _count(value: Any) -> int:
    """A number of rows, which may be a float, as in existing programs."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return int(value)
    if not isinstance(value, (int, np.integer)):
        raise TypeError(f"`nitems` must be an integer, not {value!r}")
    return int(value)


def _check_steps(key: Any) -> None:
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, slice) and item.step is not None and item.step <= 0:
            raise NotImplementedError("step in slice can only be positive")


def _positions(key: Any, rows: int) -> np.ndarray:
    """Positions of rows, from a mask or a list of positions, which may be floats."""
    is_list = isinstance(key, list)
    key = np.asarray(key)
    if is_list and key.dtype.kind == "f":
        key = key.astype(np.intp)
    if not key.size and key.dtype != np.bool_:
        return np.empty(0, np.intp)
    if key.dtype == np.bool_:
        if key.shape != (rows,):
            raise IndexError(f"a mask of the shape {key.shape} for {rows} rows")
        return np.flatnonzero(key)
    if key.dtype.kind not in "iu" or key.ndim != 1:
        raise IndexError("arrays used as indices must be integer (or boolean)")
    if key.max() >= rows or key.min() < -rows:
        raise IndexError(f"index out of range of {rows} rows")
    return np.where(key < 0, key + rows, key).astype(np.intp)


def _row_of(row: Any) -> Any:
    return row


def _text(data: Any) -> str:
    """The first and last rows as text, in NumPy's format."""
    if len(data) <= 1000:
        return str(data[:])
    shown = np.concatenate([data[:3], data[-3:]])
    return str(shown).replace("\n", "\n ...\n", 1) if shown.ndim > 1 else f"[{str(shown[:3])[1:-1]} ... {str(shown[3:])[1:-1]}]"


def _build(array: Any, rootdir: str | None) -> carray:
    return carray(array) if rootdir is None else carray(rootdir=rootdir)
