#!/usr/bin/env python3
"""Draws the pictures of the documentation: docs/pictures/*.svg.

    contrib/pictures.py

`shuffle.svg` shows real float64 values; `ratio.svg` shows the table of docs/defaults.md.
"""

import pathlib
import re
import struct

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
STYLE = """<style>
text { font: 13px sans-serif; fill: #24292f } .small { font-size: 11px } .mono { font: 12px monospace }
.line { stroke: #8c959f; fill: none } .cell { stroke: #fff }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .cell { stroke: #0d1117 } }
</style>"""
COLOURS = ["#0969da", "#1a7f37", "#9a6700", "#bc4c00", "#cf222e", "#8250df"]


def svg(width, height, title, parts):
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">\n'
            f"<title>{title}</title>\n{STYLE}\n{body}\n</svg>\n")


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def byte_rows(top, rows):
    """A grid of bytes; equal bytes have the same colour."""
    cell, parts = 30, []
    for i, row in enumerate(rows):
        for j, byte in enumerate(row):
            x, y = 130 + j * cell, top + i * cell
            # All hues are light enough for black digits.
            colour = f"hsl({byte * 47 % 360} 60% {88 if byte else 96}%)"
            parts.append(f'<rect x="{x}" y="{y}" width="{cell}" height="{cell}" class="cell" fill="{colour}"/>')
            parts.append(f'<text x="{x + 15}" y="{y + 20}" class="mono" text-anchor="middle" '
                         f'style="fill:#24292f">{byte:02x}</text>')
    return parts


def shuffle():
    values = [20.5 + i / 8 for i in range(8)]
    rows = [struct.pack("<d", value) for value in values]
    planes = [bytes(row[i] for row in rows) for i in range(8)]
    parts = [text(130, 20, "Eight float64 values, a row each"), text(130, 300, "After shuffle: first bytes, second, …")]
    parts += byte_rows(30, rows) + byte_rows(310, planes)
    parts += [text(120, 50 + 30 * i, f"{value}", "mono", "end") for i, value in enumerate(values)]
    parts += [text(120, 330 + 30 * i, f"bytes {i}", "small", "end") for i in range(8)]
    return svg(400, 560, "Eight float64 values before and after shuffle", parts)


def ratio():
    table = (DOCS / "defaults.md").read_text(encoding="utf-8")
    points = [(name, int(level), float(size), int(encode), int(decode)) for name, level, size, encode, decode in
              re.findall(r"^\| \**(\w+)\** \| \**(\d+)\** \| \**([\d.]+)\** \| \**(\d+)\** \| \**(\d+)\** \|", table, re.M)]
    names = list(dict.fromkeys(point[0] for point in points))
    left, bottom, width, height = 60, 330, 480, 290
    x_of = lambda size: left + (size - 2.4) / 3.2 * width
    y_of = lambda speed: bottom - speed / 7500 * height
    parts = [f'<path class="line" d="M{left} {bottom - height}V{bottom}H{left + width}"/>',
             text(left + width, bottom + 36, "times smaller →", "", "end"),
             text(left + 8, bottom - height + 4, "MB/s a thread: ○ compress, ● decompress")]
    parts += [text(x_of(size), bottom + 18, size, "small", "middle") for size in (3, 4, 5)]
    parts += [text(left - 8, y_of(speed) + 4, speed, "small", "end") for speed in range(0, 7000, 2000)]
    for name, level, size, encode, decode in points:
        colour, x = COLOURS[names.index(name)], x_of(size)
        parts.append(f'<path d="M{x:.1f} {y_of(encode):.1f}V{y_of(decode):.1f}" stroke="{colour}" opacity="0.3"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y_of(encode):.1f}" r="4" fill="none" stroke="{colour}" '
                     f'stroke-width="2"><title>{name} {level}</title></circle>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y_of(decode):.1f}" r="4.5" fill="{colour}">'
                     f"<title>{name} {level}</title></circle>")
    for i, name in enumerate(names):
        y = bottom - height + 30 + 20 * i
        parts.append(f'<circle cx="{left + width - 80}" cy="{y}" r="4.5" fill="{COLOURS[i]}"/>')
        parts.append(text(left + width - 68, y + 4, name))
    return svg(560, 380, "Ratio against speed of each compressor and level, over five kinds of data", parts)


def file_layout():
    def box(x, width, words, below="", colour="#ddf4ff"):
        parts = [f'<rect x="{x}" y="30" width="{width}" height="44" fill="{colour}" stroke="#8c959f"/>',
                 f'<text x="{x + width / 2:g}" y="57" text-anchor="middle" style="fill:#24292f">{words}</text>']
        return parts + [text(x + width / 2, 92, below, "small", "middle")]

    sum_colour, chunk_colour = "#fff8c5", "#dafbe1"
    parts = (box(10, 74, "header", "32 bytes") + box(84, 96, "metadata", "JSON, optional")
             + box(180, 96, "offsets", "8 bytes each") + box(276, 110, "chunk 0", "", chunk_colour)
             + box(386, 34, "✓", "", sum_colour) + box(420, 90, "chunk 1", "", chunk_colour)
             + box(510, 34, "✓", "", sum_colour) + box(544, 50, "…", "", chunk_colour))
    parts += [text(403, 20, "a digest after each chunk", "small", "middle"),
              '<path class="line" d="M268 74v34h14v-30" marker-end="url(#tip)"/>',
              '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="4" refY="4" orient="auto">'
              '<path d="M0 0L8 4L0 8z" fill="#8c959f"/></marker></defs>',
              text(292, 110, "where each chunk begins", "small")]
    return svg(604, 124, "A Bloscpack file: header, metadata, offsets, and chunks with their digests", parts)


def main():
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    for name, picture in (("shuffle", shuffle()), ("ratio", ratio()), ("file", file_layout())):
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
