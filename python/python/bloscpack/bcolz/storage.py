"""The storage of arrays and tables: in memory, or in a directory that is locked only while it has unflushed changes.

Existing programs open a directory several times, also for appending. So the lock is taken at the first change, and released
by a flush.

Unflushed changes belong to the process that made them. A forked child does not inherit them.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .. import _native
from .._buffers import Bytes, of_bytes, threads
from ..errors import UsageError

#: The size of single rows in bytes that are collected before they are appended.
COLLECTED = 1 << 16

# Reasons why a storage is no longer usable.
_REPLACED = "was removed or replaced: open it again"
_INHERITED = "had changes that were not flushed when this process was forked: flush them before, or open it again here"

# A plain set, because other threads may change it while it is copied.
_open: set[weakref.ref[Storage]] = set()


def _all() -> Iterator[Storage]:
    """All open storages."""
    return (storage for reference in list(_open) if (storage := reference()) is not None)


def flush_all() -> None:
    """Flushes all open storages. Called when the interpreter exits."""
    for storage in _all():
        storage.flush()


def forget_place(rootdir: str) -> None:
    """Discards the changes of storages in a directory that is being removed or replaced."""
    place = os.path.realpath(rootdir)
    for storage in _all():
        # On other systems, readers do not keep the old content, and would block the writer.
        is_in_the_way = storage.has_changes or sys.platform != "linux"
        if is_in_the_way and storage.rootdir is not None and os.path.realpath(storage.rootdir) == place:
            storage.forget()


def _leave_to_parent() -> None:
    """Discards the parent's unflushed changes in a forked child. The parent keeps them."""
    for storage in _all():
        # Another thread of the parent may hold the old lock; it does not exist in the child.
        storage.lock = threading.RLock()
        if storage.has_changes:
            storage.forget(_INHERITED)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


@contextlib.contextmanager
def all_or_nothing(storage: Any, flush: Callable[[], None] | None) -> Iterator[None]:
    """Flushes all changes of the ``with`` block, or discards them after an exception."""
    try:
        yield
        if flush is not None:
            flush()
    except BaseException:
        storage.forget()
        raise


class Storage:
    """A native array or table; `kind` is its class."""

    kind: Any = None

    def __init__(self, native: Any, rootdir: str | None, mode: str) -> None:
        # Held while the directory is reopened, and while rows are appended.
        self.lock = threading.RLock()
        self._native = native
        self._writable = rootdir is None or native is not None
        self.rootdir = rootdir
        self.mode = mode
        # The reason why the storage is no longer usable.
        self._gone: str | None = None
        _open.add(weakref.ref(self, _open.discard))

    @classmethod
    def opened(cls, rootdir: str, mode: str) -> Any:
        """Opens the storage in a directory."""
        storage = cls(None, rootdir, mode)
        storage._reopen(False)
        return storage

    def _reopen(self, writable: bool) -> None:
        """Closes and reopens the directory. A reader that stays open would block the writer."""
        if self._gone is not None:
            raise UsageError(f"{self.rootdir!r} {self._gone}")
        self._native = None
        self._writable = False
        self._native = self.kind.open(self.rootdir, writable, threads())
        self._writable = writable

    @property
    def reader(self) -> Any:
        """The native object for reading."""
        native = self._native
        if native is None:
            with self.lock:
                if self._native is None:
                    # An attempt to open it for a change has failed.
                    self._reopen(False)
                native = self._native
        return native

    @property
    def editor(self) -> Any:
        """The native object for changes. The caller must hold `lock`."""
        if self.mode == "r":
            raise OSError("cannot modify data because mode is 'r'")
        if not self._writable:
            self._reopen(True)
        return self._native

    def change(self, name: str, *arguments: Any) -> Any:
        """Calls a method of the native object that makes a change."""
        with self.lock:
            return getattr(self.editor, name)(*arguments)

    def flush(self) -> None:
        """Makes changes permanent, and unlocks the directory."""
        with self.lock:
            if self.rootdir is not None and self._writable:
                self._native.flush()
                self._reopen(False)

    @property
    def has_changes(self) -> bool:
        """Whether the directory may have unflushed changes."""
        return self.rootdir is not None and self._writable and self._native is not None

    def forget(self, why: str = _REPLACED) -> None:
        """Discards all changes, and releases the directory."""
        if self.rootdir is not None:
            self._gone = why
            self._writable = False
            self._native = None

    def __del__(self) -> None:
        if getattr(self, "_native", None) is not None and self.has_changes:
            self._native.flush()


class ArrayStorage(Storage):
    """The storage of an array that is not a column.

    A native call takes longer than copying a row. `carray.append` therefore adds the bytes of short rows to `waiting`,
    without a lock, and calls `settle` once `room` rows wait. `collector` is the array that does so.
    """

    kind = _native.Array

    def __init__(self, native: Any, rootdir: str | None, mode: str) -> None:
        super().__init__(native, rootdir, mode)
        self.waiting: list[bytes] = []
        self.collector: Callable[[], Any] = lambda: None
        self._rows = 0
        self._row_bytes = 1

    def measure(self, rows: int, row_bytes: int) -> None:
        """Stores the number of rows and their length in bytes."""
        self._rows, self._row_bytes = rows, row_bytes

    @property
    def room(self) -> int:
        """The number of rows that may wait; 0 or 1 for long rows."""
        return COLLECTED // self._row_bytes

    def settle(self) -> None:
        """Appends the waiting rows."""
        with self.lock:
            if count := len(self.waiting):
                rows = of_bytes(b"".join(self.waiting[:count]))
                super().editor.append(rows)
                del self.waiting[:count]
                self._rows += len(rows) // self._row_bytes

    @property
    def rows(self) -> int:
        """The number of rows."""
        if self.waiting:
            self.settle()
        return self._rows

    @property
    def reader(self) -> Any:
        if self.waiting:
            self.settle()
        return super().reader

    @property
    def editor(self) -> Any:
        if self.waiting:
            self.settle()
        return super().editor

    def flush(self) -> None:
        with self.lock:
            self.settle()
            super().flush()

    @property
    def has_changes(self) -> bool:
        return super().has_changes or (self.rootdir is not None and bool(self.waiting))

    def forget(self, why: str = _REPLACED) -> None:
        super().forget(why)
        self.waiting.clear()
        collector = self.collector()
        if collector is not None:
            collector._waiting = None

    def __del__(self) -> None:
        if getattr(self, "waiting", None):
            self.settle()
        super().__del__()

    @classmethod
    def created(cls, rootdir: str | None, options: dict[str, Any], replace: bool = False) -> ArrayStorage:
        """A new storage without rows. A dataset that it replaces stays until the first flush."""
        return cls(_native.Array.create(rootdir, options, replace, threads()), rootdir, "w")

    def facts(self) -> dict[str, Any]:
        return self.reader.facts()

    def read(self, start: list[int], stop: list[int], out: Bytes) -> None:
        self.reader.read(start, stop, out)

    def write(self, start: list[int], stop: list[int], data: Bytes) -> None:
        self.change("write", start, stop, data)

    def append(self, data: Bytes) -> None:
        with self.lock:
            self.editor.append(data)
            self._rows += len(data) // self._row_bytes

    def resize(self, rows: int) -> None:
        with self.lock:
            self.editor.resize(rows)
            self._rows = rows

    def attributes(self) -> dict[str, Any]:
        return json.loads(self.reader.attributes())

    def set_attribute(self, key: str, value: Any) -> None:
        self.change("set_attribute", key, json.dumps(value))

    def remove_attribute(self, key: str) -> None:
        self.change("remove_attribute", key)


class TableStorage(Storage):
    """The storage of a table, whose columns change together."""

    kind = _native.Table
    rows = 0

    @classmethod
    def created(cls, rootdir: str, columns: list[tuple[str, dict[str, Any]]], replace: bool) -> TableStorage:
        """A new storage without rows. A dataset that it replaces stays until the first flush."""
        return cls(_native.Table.create(rootdir, columns, replace, threads()), rootdir, "w")

    def attributes(self) -> dict[str, Any]:
        return json.loads(self.reader.attributes(None))

    def set_attribute(self, key: str, value: Any) -> None:
        self.change("set_attribute", None, key, json.dumps(value))

    def remove_attribute(self, key: str) -> None:
        self.change("remove_attribute", None, key)


class ColumnStorage:
    """The storage of a column, which is part of its table's."""

    def __init__(self, table: TableStorage, name: str) -> None:
        self.table = table
        self.name = name
        self.rootdir = f"{table.rootdir}/{name}"

    def measure(self, rows: int, row_bytes: int) -> None:
        """Does nothing: the table counts its rows."""

    @property
    def rows(self) -> int:
        return self.table.rows

    @property
    def mode(self) -> str:
        return self.table.mode

    @property
    def reader(self) -> Any:
        return self.table.reader

    def facts(self) -> dict[str, Any]:
        return self.table.reader.facts(self.name)

    def read(self, start: list[int], stop: list[int], out: Bytes) -> None:
        self.table.reader.read(self.name, start, stop, out)

    def write(self, start: list[int], stop: list[int], data: Bytes) -> None:
        self.table.change("write", self.name, start, stop, data)

    def append(self, data: Bytes) -> None:
        raise TypeError("a column has as many rows as its table: append to the table")

    def resize(self, rows: int) -> None:
        raise TypeError("a column has as many rows as its table: resize the table")

    def forget(self, why: str = "") -> None:
        """Does nothing: changes belong to the table."""

    def flush(self) -> None:
        self.table.flush()

    def attributes(self) -> dict[str, Any]:
        return json.loads(self.table.reader.attributes(self.name))

    def set_attribute(self, key: str, value: Any) -> None:
        self.table.change("set_attribute", self.name, key, json.dumps(value))

    def remove_attribute(self, key: str) -> None:
        self.table.change("remove_attribute", self.name, key)
