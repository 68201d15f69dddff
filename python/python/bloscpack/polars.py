"""Lazy frames of `Polars <https://docs.pola.rs>`_ that read tables as queries need them.

    from bloscpack.polars import scan

    scan("prices.bcolz").filter(pl.col("price") > 100).group_by("day").len().collect()

Of the columns, those that a query uses are read: first those of its filter, then the others where rows were found. Where a column
has an index (``blpk dataset index``), a comparison of it with a number skips the rows that cannot match.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from . import _native, files
from .tables import open_rows, open_table

#: Rows that are read at once, unless Polars says how many it wants.
_ROWS = 65_536

#: How a comparison excludes a zone, by its least and greatest value.
_EXCLUDES = {
    "Gt": lambda least, greatest, value: greatest <= value,
    "GtEq": lambda least, greatest, value: greatest < value,
    "Lt": lambda least, greatest, value: least >= value,
    "LtEq": lambda least, greatest, value: least > value,
    "Eq": lambda least, greatest, value: (greatest < value) | (least > value),
}
_MIRRORED = {"Gt": "Lt", "GtEq": "LtEq", "Lt": "Gt", "LtEq": "GtEq", "Eq": "Eq"}


def scan(source: files.Source) -> pl.LazyFrame:
    """A lazy frame of anything that `bloscpack.open_rows` opens. Each scan of a query opens the source again."""
    schema = pl.DataFrame(open_rows(source)[:0]).schema

    def read(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = list(schema) if with_columns is None else with_columns
        roots = set() if predicate is None else set(predicate.meta.root_names())
        tested = [name for name in schema if name in roots] or wanted[:1] or list(schema)[:1]
        first, second = open_rows(source, tested), [name for name in wanted if name not in tested]
        rest = open_rows(source, second) if second else None
        count, step = len(first) if n_rows is None else min(len(first), n_rows), batch_size or _ROWS
        number = max(schema, key=len, default="") + "#"
        excluded = [] if predicate is None else list(_excluded(source, predicate))
        for start in range(0, count, step):
            stop = min(start + step, count)
            if any(skips[start // rows : -(-stop // rows)].all() and stop <= rows * len(skips) for rows, skips in excluded):
                continue
            frame = pl.DataFrame(first[start:stop])
            if predicate is None:
                found = None
            else:
                frame = frame.with_row_index(number, start).filter(predicate)
                found = frame[number]
                if found.is_empty():
                    continue
            if rest is not None:
                begin, end = (start, stop) if found is None else (found[0], found[-1] + 1)
                others = pl.DataFrame(rest[begin:end])
                frame = frame.hstack(others if found is None else others[found - begin])
            yield frame.select(wanted)

    return register_io_source(read, schema=schema, is_pure=True, explain_name="bloscpack")


def _excluded(source: files.Source, predicate: pl.Expr) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """For each comparison with an indexed column that all rows must meet: the rows of a zone, and which zones have no such row."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except (ValueError, TypeError, pl.exceptions.PolarsError):
        return
    comparisons = list(_comparisons(tree))
    if not comparisons or _native.role(source) != "table":
        return
    table = open_table(source)
    for name, operation, value in comparisons:
        if name in table.names and (zones := table.zones(name)) is not None:
            rows, least, greatest, is_known = zones
            yield rows, is_known & _EXCLUDES[operation](least, greatest, value)


def _comparisons(tree: Any) -> Iterator[tuple[str, str, float]]:
    """The comparisons of a column with a number that are joined by "and" in an expression of Polars."""
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if not isinstance(binary, dict):
        return
    left, right, operation = binary["left"], binary["right"], str(binary["op"])
    if operation == "And":
        yield from _comparisons(left)
        yield from _comparisons(right)
        return
    if not (isinstance(left, dict) and isinstance(right, dict)):
        return
    if "Literal" in left:
        left, right, operation = right, left, _MIRRORED.get(operation, "")
    # {"Dyn": {"Int": 3}} or {"Scalar": {"Float64": 0.5}}
    for typed in right.get("Literal", {}).values():
        for kind, value in typed.items() if isinstance(typed, dict) else ():
            is_number = kind.rstrip("0123456789") in ("Int", "UInt", "Float") and isinstance(value, (int, float))
            if operation in _EXCLUDES and isinstance(left.get("Column"), str) and is_number:
                yield left["Column"], operation, value
