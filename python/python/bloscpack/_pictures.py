"""Arrays and tables as HTML, with small pictures, for notebooks."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

#: The size of a picture, and the number of columns of its line.
_WIDTH, _HEIGHT, _POINTS = 240, 40, 60
#: The number of elements that are read for a picture.
_MOST = 1 << 18
#: The number of rows that are shown at each end of a table.
_ROWS = 5
#: The maximum number of chunks along an axis of a map.
_CHUNKS = 24
_STYLE = "font-variant-numeric: tabular-nums"
_COLOR = "#4477aa"


def line(low: Any, high: Any, title: str) -> str:
    """The least and the greatest value of each part of a series, as a picture.

    >>> line([0, 1], [1, 2], "a < b").startswith('<svg width="240"')
    True
    """
    bounds = np.array([low, high], float)
    known = np.isfinite(bounds).all(axis=0)
    if not known.any():
        return ""
    least, greatest = bounds[:, known].min(), bounds[:, known].max()
    scale = (_HEIGHT - 4) / ((greatest - least) or 1)
    step = _WIDTH / bounds.shape[1]
    marks = []
    for place in np.flatnonzero(known):
        bottom, top = (_HEIGHT - 2 - (bounds[:, place] - least) * scale).tolist()
        marks.append(f"M{(place + 0.5) * step:.1f} {bottom + 0.5:.1f}V{top - 0.5:.1f}")
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img"><title>{html.escape(title)}</title>'
        f'<path d="{"".join(marks)}" stroke="{_COLOR}" stroke-width="{step * 0.8:.1f}" fill="none"/></svg>'
    )


def _extremes(values: Any) -> tuple[Any, Any]:
    values = values[np.isfinite(values)]
    return (values.min(), values.max()) if values.size else (np.nan, np.nan)


def of_series(array: Any) -> str:
    """A picture of a one-dimensional array of numbers; empty for other arrays. Only parts of a long array are read."""
    if len(array.shape) != 1 or array.dtype.kind not in "iufb" or not array.shape[0]:
        return ""
    rows = array.shape[0]
    parts = min(rows, _POINTS)
    edges = [rows * part // parts for part in range(parts + 1)]
    read = max(_MOST // parts, 1)
    ends = [_extremes(np.asarray(array[a : min(b, a + read)]).astype(float)) for a, b in zip(edges, edges[1:])]
    low, high = zip(*ends)
    whole = "" if rows <= _MOST else ", from parts of it"
    least, greatest = np.nanmin([np.nan, *low]), np.nanmax([np.nan, *high])
    return line(low, high, f"{least:g} to {greatest:g}{whole}") if np.isfinite(least) else ""


def of_chunks(shape: tuple[int, ...], chunks: tuple[int, ...]) -> str:
    """A map of the chunks along the last two axes.

    >>> of_chunks((4, 6), (2, 3)).count("<rect")
    4
    """
    if len(shape) < 2 or len(chunks) != len(shape) or not all(shape) or not all(chunks):
        return ""
    counts = [min(-(-length // chunk), _CHUNKS) for length, chunk in zip(shape[-2:], chunks[-2:])]
    size = 8
    boxes = "".join(
        f'<rect x="{column * size + 1}" y="{row * size + 1}" width="{size - 1}" height="{size - 1}"/>'
        for row in range(counts[0])
        for column in range(counts[1])
    )
    number = int(np.prod([-(-length // chunk) for length, chunk in zip(shape, chunks)], dtype=object))
    return (
        f'<svg width="{counts[1] * size + 1}" height="{counts[0] * size + 1}" fill="{_COLOR}" fill-opacity="0.6" role="img">'
        f"<title>{number:,} chunks</title>{boxes}</svg>"
    )


def array(facts: dict[str, Any], values: Any) -> str:
    """The properties of an array, and a picture of it."""
    picture = _safely(values)
    cells = "".join(f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in facts.items())
    return f'<table style="{_STYLE}">{cells}</table>{picture}'


def _safely(values: Any) -> str:
    """A picture, or none if the array is damaged."""
    try:
        chunks = getattr(values, "chunks", None)
        return of_series(values) or of_chunks(values.shape, chunks if isinstance(chunks, tuple) else ())
    except (ValueError, OSError) as error:
        return f"<p>{html.escape(str(error))}</p>"


def table(shown: Any) -> str:
    """The first and the last rows of a table, with a picture of each column of numbers."""
    rows = len(shown)
    split = rows > 2 * _ROWS
    names = list(shown.names)
    head = "".join(f"<th>{html.escape(name)}<br><small>{html.escape(str(shown[name].dtype))}</small></th>" for name in names)
    pictures = "".join(f"<td>{_safely(shown[name])}</td>" for name in names)
    try:
        blocks = [(0, shown[:_ROWS]), (rows - _ROWS, shown[rows - _ROWS :])] if split else [(0, shown[:])]
        gap = f'<tr><td colspan="{len(names) + 1}">...</td></tr>'
        body = gap.join(_body(start, block, names) for start, block in blocks)
    except (ValueError, OSError) as error:
        body = f'<tr><td colspan="{len(names) + 1}">{html.escape(str(error))}</td></tr>'
    return (
        f'<table style="{_STYLE}"><tr><th></th>{head}</tr><tr><td></td>{pictures}</tr>{body}</table>'
        f"<p>{rows:,} rows, {shown.nbytes:,} bytes</p>"
    )


def _body(start: int, block: Any, names: list[str]) -> str:
    cells = ("".join(f"<td>{html.escape(str(row[name]))}</td>" for name in names) for row in block)
    return "".join(f"<tr><th>{start + place}</th>{row}</tr>" for place, row in enumerate(cells))
