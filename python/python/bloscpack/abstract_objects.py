"""Objects whose attributes are also items."""

from __future__ import annotations

import copy
import pprint
from collections.abc import Iterator, MutableMapping
from typing import Any

from .pretty import double_pretty_size


class MutableMappingObject(MutableMapping[str, Any]):
    """An object that is also a mapping from the names of its attributes to their values."""

    @property
    def attributes(self) -> list[str]:
        """The names of the attributes."""
        raise NotImplementedError

    @property
    def bytes_attributes(self) -> list[str]:
        """The names of the attributes that are numbers of bytes."""
        return []

    def _check(self, key: str) -> None:
        if key not in self.attributes:
            raise KeyError(f"{key} not in {type(self).__name__}")

    def __getitem__(self, key: str) -> Any:
        self._check(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._check(key)
        setattr(self, key, value)

    def __delitem__(self, key: str) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not support __delitem__ or derivatives")

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.attributes)

    def __str__(self) -> str:
        return pprint.pformat(dict(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.items())})"

    def pformat(self, indent: int = 4) -> str:
        """A line for each attribute."""
        lines = [f"{type(self).__name__}:"]
        for key, value in self.items():
            is_size = key in self.bytes_attributes and value != -1
            lines.append(f"{key}: {double_pretty_size(value) if is_size else repr(value)}")
        return f"\n{' ' * indent}".join(lines)

    def copy(self) -> Any:
        """A copy."""
        return copy.copy(self)
