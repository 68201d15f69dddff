"""Prints the messages of Bloscpack 0.16's functions on standard output."""

import sys
from typing import NoReturn

NORMAL, VERBOSE, DEBUG = VERBOSITY_LEVELS = ("NORMAL", "VERBOSE", "DEBUG")
LEVEL = NORMAL
PREFIX = "bloscpack.py"


def set_prefix(prefix: str) -> None:
    """Sets the prefix of messages."""
    global PREFIX
    PREFIX = prefix


def set_level(level: str) -> None:
    """Sets which messages are printed: up to ``NORMAL``, ``VERBOSE`` or ``DEBUG``."""
    global LEVEL
    if level not in VERBOSITY_LEVELS:
        raise ValueError(f"the level must be one of {', '.join(VERBOSITY_LEVELS)}, not {level}")
    LEVEL = level


def _print(message: str, kind: str = "") -> None:
    for line in filter(None, message.split("\n")):
        print(f"{PREFIX}: {kind}{line}")


def verbose(message: str, level: str = VERBOSE) -> None:
    """Prints a message if its level is enabled."""
    if level not in VERBOSITY_LEVELS:
        raise TypeError(f"the level must be one of {', '.join(VERBOSITY_LEVELS)}, not {level}")
    if VERBOSITY_LEVELS.index(level) <= VERBOSITY_LEVELS.index(LEVEL):
        _print(message)


def debug(message: str) -> None:
    """Prints a message if all levels are enabled."""
    verbose(message, DEBUG)


def normal(message: str) -> None:
    """Prints a message."""
    verbose(message, NORMAL)


def error(message: str, exit_code: int = 1) -> "NoReturn":
    """Prints a message and ends the process."""
    _print(message, "error: ")
    sys.exit(exit_code)
