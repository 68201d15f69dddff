"""Where arrays and tables are: in memory, or in a directory that is locked only while there are changes.

Old programs open a directory several times, for appending, too. So nothing is locked before the first change, and nothing
after a flush.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from typing import Any

from .. import _native
from .._buffers import Bytes, of_bytes, threads

#: The bytes of single rows that are collected before they are appended.
COLLECTED = 1 << 16

_changed: weakref.WeakSet[Any] = weakref.WeakSet()


def flush_all() -> None:
    """Writes the changes of everything that is still open; called when the interpreter ends."""
    for storage in list(_changed):
        storage.flush()


def forget_place(rootdir: str) -> None:
    """Forgets the changes of what is in a directory that is removed."""
    place = os.path.realpath(rootdir)
    for storage in list(_changed):
        if os.path.realpath(storage.rootdir) == place:
            storage.forget()


class Storage:
    """An array or a table of the native half. `kind` is its class."""

    kind: Any = None

    def __init__(self, native: Any, rootdir: str | None, mode: str) -> None:
        # Held while the directory is opened again, and while rows are appended.
        self.lock = threading.RLock()
        self._native = native
        self._writable = rootdir is None or native is not None
        self.rootdir = rootdir
        self.mode = mode

    @classmethod
    def opened(cls, rootdir: str, mode: str) -> Any:
        """The one in a directory."""
        storage = cls(None, rootdir, mode)
        storage._reopen(False)
        return storage

    def _reopen(self, writable: bool) -> None:
        """Opens the directory again. It is closed before, since a reader would hold up the writer."""
        self._native = None
        self._writable = False
        self._native = self.kind.open(self.rootdir, writable, threads())
        self._writable = writable

    @property
    def reader(self) -> Any:
        """To be read."""
        native = self._native
        if native is None:
            with self.lock:
                if self._native is None:
                    # It could not be opened for a change.
                    self._reopen(False)
                native = self._native
        return native

    @property
    def editor(self) -> Any:
        """To be changed, while `lock` is held."""
        if self.mode == "r":
            raise OSError("cannot modify data because mode is 'r'")
        if not self._writable:
            self._reopen(True)
            _changed.add(self)
        return self._native

    def change(self, name: str, *arguments: Any) -> Any:
        """Calls a method of the native half that changes something."""
        with self.lock:
            return getattr(self.editor, name)(*arguments)

    def flush(self) -> None:
        """Makes changes permanent, and unlocks the directory."""
        with self.lock:
            _changed.discard(self)
            if self.rootdir is not None and self._writable:
                self._native.flush()
                self._reopen(False)

    def forget(self) -> None:
        """Writes nothing any more, since the directory is removed."""
        _changed.discard(self)
        self._writable = False

    def __del__(self) -> None:
        if getattr(self, "_writable", False) and self.rootdir is not None and self._native is not None:
            self._native.flush()


class ArrayStorage(Storage):
    """An array of its own.

    Since a call of the native half takes longer than to copy a row, `carray.append` puts the bytes of short rows into
    `waiting`, without a lock, and calls `settle` when there are `room` of them.
    """

    kind = _native.Array

    def __init__(self, native: Any, rootdir: str | None, mode: str) -> None:
        super().__init__(native, rootdir, mode)
        self.waiting: list[bytes] = []
        self._rows = 0
        self._row_bytes = 1

    def measure(self, rows: int, row_bytes: int) -> None:
        """Takes note of the number and the length of the rows."""
        self._rows, self._row_bytes = rows, row_bytes

    @property
    def room(self) -> int:
        """How many rows may wait; fewer than two of long ones."""
        return COLLECTED // self._row_bytes

    def settle(self) -> None:
        """Appends the rows that wait."""
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

    def forget(self) -> None:
        self.waiting.clear()
        super().forget()

    def __del__(self) -> None:
        if getattr(self, "waiting", None):
            self.settle()
        super().__del__()

    @classmethod
    def created(cls, rootdir: str | None, options: dict[str, Any]) -> ArrayStorage:
        """A new one, without rows."""
        storage = cls(_native.Array.create(rootdir, options, False, threads()), rootdir, "w")
        if rootdir is not None:
            _changed.add(storage)
        return storage

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
    """A table, whose columns change together."""

    kind = _native.Table
    rows = 0

    @classmethod
    def created(cls, rootdir: str, columns: list[tuple[str, dict[str, Any]]]) -> TableStorage:
        """A new one, without rows."""
        storage = cls(_native.Table.create(rootdir, columns, False, threads()), rootdir, "w")
        _changed.add(storage)
        return storage

    def attributes(self) -> dict[str, Any]:
        return json.loads(self.reader.attributes(None))

    def set_attribute(self, key: str, value: Any) -> None:
        self.change("set_attribute", None, key, json.dumps(value))

    def remove_attribute(self, key: str) -> None:
        self.change("remove_attribute", None, key)


class ColumnStorage:
    """A column of a table."""

    def __init__(self, table: TableStorage, name: str) -> None:
        self.table = table
        self.name = name
        self.rootdir = f"{table.rootdir}/{name}"

    def measure(self, rows: int, row_bytes: int) -> None:
        """Does nothing: the table has the number of its rows."""

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

    def forget(self) -> None:
        """Does nothing: the table is written."""

    def flush(self) -> None:
        self.table.flush()

    def attributes(self) -> dict[str, Any]:
        return json.loads(self.table.reader.attributes(self.name))

    def set_attribute(self, key: str, value: Any) -> None:
        self.table.change("set_attribute", self.name, key, json.dumps(value))

    def remove_attribute(self, key: str) -> None:
        self.table.change("remove_attribute", self.name, key)
