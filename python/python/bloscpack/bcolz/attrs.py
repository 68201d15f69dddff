"""The attributes of an array or a table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from .storage import ArrayStorage, TableStorage


class attrs:
    """A dictionary of JSON values. Each change is permanent at once.

    Existing programs construct it from a directory and a mode.
    """

    def __init__(self, storage: Any, mode: str = "a") -> None:
        if isinstance(storage, (str, os.PathLike)):
            is_table = os.path.exists(os.path.join(storage, "__rootdirs__"))
            storage = (TableStorage if is_table else ArrayStorage).opened(os.fspath(storage), mode)
        self._storage = storage
        self.attrs: dict[str, Any] = storage.attributes()

    @property
    def rootdir(self) -> str | None:
        return self._storage.rootdir

    @property
    def mode(self) -> str:
        return self._storage.mode

    def getall(self) -> dict[str, Any]:
        """A copy as a plain dictionary."""
        return self.attrs.copy()

    def _change(self, change: Any, *arguments: Any) -> None:
        if self.rootdir is not None and self.mode == "r":
            raise OSError("cannot modify an attribute because mode is 'r'")
        change(*arguments)
        self._storage.flush()

    def __getitem__(self, name: str) -> Any:
        return self.attrs[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._change(self._storage.set_attribute, name, value)
        self.attrs[name] = value

    def __delitem__(self, name: str) -> None:
        self.attrs[name]
        self._change(self._storage.remove_attribute, name)
        del self.attrs[name]

    def __contains__(self, name: str) -> bool:
        return name in self.attrs

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an attribute, or a default."""
        return self.attrs.get(name, default)

    def update(self, other: dict[str, Any]) -> None:
        """Sets several attributes."""
        for name, value in other.items():
            self[name] = value

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self.attrs.items())

    def __len__(self) -> int:
        return len(self.attrs)

    def __str__(self) -> str:
        return "".join(f"{name} : {value}" for name, value in self.attrs.items()) or "*no attrs*"

    def __repr__(self) -> str:
        return "".join(f"{name} : {value!r}\n" for name, value in self.attrs.items()) or str(self)
