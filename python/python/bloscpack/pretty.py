"""Human-readable sizes."""

from collections.abc import Iterable

from .constants import SUFFIXES


def pretty_size(size_in_bytes: int) -> str:
    """A size with a suffix.

    >>> pretty_size(0), pretty_size(1536)
    ('0B', '1.5K')
    """
    if not size_in_bytes:
        return "0B"
    suffix, unit = next((pair for pair in reversed(SUFFIXES.items()) if size_in_bytes >= pair[1]), ("B", 1))
    return f"{round(size_in_bytes / unit, 2)}{suffix}"


def double_pretty_size(size_in_bytes: int) -> str:
    """A size with a suffix, followed by the number of bytes.

    >>> double_pretty_size(1536)
    '1.5K (1536B)'
    """
    return f"{pretty_size(size_in_bytes)} ({size_in_bytes}B)"


def reverse_pretty(readable: str) -> int:
    """The bytes of a size with a suffix.

    >>> reverse_pretty("1.5K")
    1536
    """
    unit = SUFFIXES.get(readable[-1:])
    if unit is None:
        raise ValueError(f"{readable!r} does not end in one of the suffixes {', '.join(SUFFIXES)}")
    return int(float(readable[:-1]) * unit)


def join_with_eol(items: Iterable[str]) -> str:
    """Joins words with commas to a line."""
    return ", ".join(items) + "\n"
