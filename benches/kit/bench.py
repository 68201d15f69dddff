"""A bench: what it measures, and the tables of a page that it makes of that."""

from collections.abc import Callable
from dataclasses import dataclass

from .report import compared


@dataclass(frozen=True)
class Bench:
    """`measured` gets a Setting and returns cells; `summary` makes lines of `{"cells": cells}`. They go between the marks of this
    name in `page`, a path below docs/. `more` are other pages with marks: `(page, name, summary)`; `draw` writes pictures."""
    name: str
    page: str
    measured: Callable
    summary: Callable = lambda found: compared(found["cells"])
    more: tuple = ()
    draw: Callable = lambda found: None
