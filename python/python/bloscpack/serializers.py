"""The serializers of metadata: JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .exceptions import NoSuchSerializer


@dataclass(frozen=True)
class Serializer:
    """A serializer: its name in files, and functions from an object to text and back."""

    name: bytes
    dumps: Callable[[Any], str]
    loads: Callable[[Any], Any]


SERIALIZERS = [Serializer(b"JSON", lambda value: json.dumps(value, separators=(",", ":")), json.loads)]
SERIALIZERS_AVAIL = [serializer.name for serializer in SERIALIZERS]
SERIALIZERS_LOOKUP = {serializer.name: serializer for serializer in SERIALIZERS}


def check_valid_serializer(serializer: bytes) -> None:
    """Raises an exception for an unknown name."""
    if serializer not in SERIALIZERS_LOOKUP:
        raise NoSuchSerializer(f"no serializer {serializer!r}")
