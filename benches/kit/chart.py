"""An SVG chart of the speeds: bars on a logarithmic scale, on a background of its own."""

import math
from html import escape

from . import figures
from .peers import AUTO, OURS, OURS_ZSTD
from .places import threads_of, told

COLOURS = {OURS: "#c2410c", OURS_ZSTD: "#f59e0b", "python blpk": "#1d4ed8", "python-blosc2": "#60a5fa", AUTO: "#a5b4fc",
           "lz4 -1": "#047857", "zstd -1": "#4d7c0f", "zstd -3": "#84cc16", "pigz": "#7e22ce", "cp": "#9ca3af"}
BAR, GAP, TOP, LEFT, PANEL, BETWEEN = 8, 14, 104, 70, 400, 60
STYLE = "font-family: system-ui, sans-serif; font-size: 12px; fill: #111827"


class Scale:
    """MB/s to pixels: logarithmic, between two round numbers (1, 2, 5, 10 ...)."""

    def __init__(self, values):
        round_ones = [step * 10.0 ** power for power in range(-3, 7) for step in (1, 2, 5)]
        low = max(one for one in round_ones if one <= min(values))
        high = min(one for one in round_ones if one > max(values))
        self.ticks = [one for one in round_ones if low <= one <= high]

    def __call__(self, value):
        low, high = self.ticks[0], self.ticks[-1]
        return PANEL * math.log(value / low) / math.log(high / low)


def drawn(found):
    cells = {which: figures.largest(figures.select(found, which)) for which in ("compress", "decompress")}
    every = [(cell, name) for which in cells for cell in cells[which] for name in cell["results"]]
    if not every:
        return ""
    names = [name for name in COLOURS if any(name == other for _, other in every)]
    scale = Scale([figures.speed(cell, name) for cell, name in every])
    rows = len(cells["compress"])
    height = TOP + rows * (len(names) * BAR + GAP) + 30
    width = LEFT + 2 * PANEL + BETWEEN + 60
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             f'role="img" style="{STYLE}">',
             f'<title>Speed of compression and decompression, MB/s</title>'
             f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>']
    size = told(cells["compress"][0]["bytes"])
    parts.append(text(LEFT, 24, f"MB of data per second, {size} files, {threads_of(cells['compress'][0])}, logarithmic scale; "
                                "longer is faster", "font-weight: bold; font-size: 14px"))
    parts += legend(names)
    for number, which in enumerate(cells):
        parts += panel(cells[which], which, names, scale, LEFT + number * (PANEL + BETWEEN), height - 30)
    return "\n".join([*parts, "</svg>", ""])


def text(x, y, words, style="", anchor="start"):
    more = f' style="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def legend(names):
    for number, name in enumerate(names):
        x, y = LEFT + number % 5 * 170, 42 + number // 5 * 18
        yield f'<rect x="{x}" y="{y}" width="12" height="10" fill="{COLOURS[name]}"/>'
        yield text(x + 17, y + 9, name)


def panel(cells, which, names, scale, left, bottom):
    yield text(left, TOP - 12, which, "font-weight: bold")
    for tick in scale.ticks:
        x = left + scale(tick)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{bottom}" stroke="#e5e7eb"/>'
        yield text(x, bottom + 16, f"{tick:g}", anchor="middle")
    for row, cell in enumerate(cells):
        top = TOP + row * (len(names) * BAR + GAP)
        if which == "compress":
            yield text(left - 8, top + len(names) * BAR / 2 + 4, cell["data"], anchor="end")
        for number, name in enumerate(names):
            if name in cell["results"]:
                yield bar(cell, name, scale, left, top + number * BAR)


def bar(cell, name, scale, x, y):
    speed = figures.speed(cell, name)
    return (f'<rect x="{x}" y="{y}" width="{scale(speed):.1f}" height="{BAR - 1}" fill="{COLOURS[name]}">'
            f'<title>{escape(name)}, {cell["data"]}: {speed:.0f} MB/s</title></rect>')
