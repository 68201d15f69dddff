"""Where arrays and tables are: in memory, or in a directory that is locked only while there are changes.

Old programs open a directory several times, for appending, too. So nothing is locked before the first change, and nothing
after a flush.
"""

from __future__ import annotations

import json
import weakref
from typing import Any

from .. import _native
from .._buffers import Bytes, threads

_changed: weakref.WeakSet[Any] = weakref.WeakSet()


def flush_all() -> None:
    """Writes the changes of everything that is still open; called when the interpreter ends."""
    for storage in list(_changed):
        storage.flush()


class Storage:
    """An array or a table of the native half. `kind` is its class."""

    kind: Any = None

    def __init__(self, native: Any, rootdir: str | None, mode: str) -> None:
        self._native = native
        self._writable = rootdir is None or native is not None
        self.rootdir = rootdir
        self.mode = mode

    @classmethod
    def opened(cls, rootdir: str, mode: str) -> Any:
        """The one in a directory."""
        storage = cls(None, rootdir, mode)
        storage._native = cls.kind.open(rootdir, False, threads())
        storage._writable = False
        return storage

    @property
    def reader(self) -> Any:
        """To be read."""
        return self._native

    @property
    def editor(self) -> Any:
        """To be changed."""
        if self.mode == "r":
            raise OSError("cannot modify data because mode is 'r'")
        if not self._writable:
            # A reader would hold up the writer.
            self._native = None
            self._native = self.kind.open(self.rootdir, True, threads())
            self._writable = True
        if self.rootdir is not None:
            _changed.add(self)
        return self._native

    def flush(self) -> None:
        """Makes changes permanent, and unlocks the directory."""
        _changed.discard(self)
        if self.rootdir is None or not self._writable:
            return
        self._native.flush()
        self._native = None
        self._native = self.kind.open(self.rootdir, False, threads())
        self._writable = False

    def __del__(self) -> None:
        if getattr(self, "_writable", False) and self.rootdir is not None and self._native is not None:
            self._native.flush()


class ArrayStorage(Storage):
    """An array of its own."""

    kind = _native.Array

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
        self._native.read(start, stop, out)

    def write(self, start: list[int], stop: list[int], data: Bytes) -> None:
        self.editor.write(start, stop, data)

    def append(self, data: Bytes) -> None:
        self.editor.append(data)

    def resize(self, rows: int) -> None:
        self.editor.resize(rows)

    def attributes(self) -> dict[str, Any]:
        return json.loads(self.reader.attributes())

    def set_attribute(self, key: str, value: Any) -> None:
        self.editor.set_attribute(key, json.dumps(value))

    def remove_attribute(self, key: str) -> None:
        self.editor.remove_attribute(key)


class TableStorage(Storage):
    """A table, whose columns change together."""

    kind = _native.Table

    @classmethod
    def created(cls, rootdir: str, columns: list[tuple[str, dict[str, Any]]]) -> TableStorage:
        """A new one, without rows."""
        storage = cls(_native.Table.create(rootdir, columns, False, threads()), rootdir, "w")
        _changed.add(storage)
        return storage

    def attributes(self) -> dict[str, Any]:
        return json.loads(self.reader.attributes(None))

    def set_attribute(self, key: str, value: Any) -> None:
        self.editor.set_attribute(None, key, json.dumps(value))

    def remove_attribute(self, key: str) -> None:
        self.editor.remove_attribute(None, key)


class ColumnStorage:
    """A column of a table."""

    def __init__(self, table: TableStorage, name: str) -> None:
        self.table = table
        self.name = name
        self.rootdir = f"{table.rootdir}/{name}"

    @property
    def mode(self) -> str:
        return self.table.mode

    def facts(self) -> dict[str, Any]:
        return self.table.reader.facts(self.name)

    def read(self, start: list[int], stop: list[int], out: Bytes) -> None:
        self.table.reader.read(self.name, start, stop, out)

    def write(self, start: list[int], stop: list[int], data: Bytes) -> None:
        self.table.editor.write(self.name, start, stop, data)

    def append(self, data: Bytes) -> None:
        raise TypeError("a column has as many rows as its table: append to the table")

    def resize(self, rows: int) -> None:
        raise TypeError("a column has as many rows as its table: resize the table")

    def flush(self) -> None:
        self.table.flush()

    def attributes(self) -> dict[str, Any]:
        return json.loads(self.table.reader.attributes(self.name))

    def set_attribute(self, key: str, value: Any) -> None:
        self.table.editor.set_attribute(self.name, key, json.dumps(value))

    def remove_attribute(self, key: str) -> None:
        self.table.editor.remove_attribute(self.name, key)
