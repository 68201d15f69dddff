"""Markdown tables: of comparisons, and of whole commands."""

from statistics import geometric_mean

from . import figures
from .data import KINDS
from .measure import SPREAD, is_wide
from .peers import AUTO, OURS, OURS_ZSTD
from .places import threads_of, told

BOTH = ("compress", "decompress")
LIKE_LZ4 = ("python blpk", "python-blosc2", AUTO, "lz4 -1", "cp")
LIKE_ZSTD = ("zstd -1", "zstd -3", "pigz")
# The results that the tables of a cell divide by.
BASES = {"compress": (OURS, OURS_ZSTD), "decompress": (OURS, OURS_ZSTD), "null": ("blpk d",), "threads": ("2 threads",),
         "start": ("true",), "disk": ("blpk c", "blpk d")}


def table(heads, rows):
    rows = [[str(one) for one in row] for row in rows]
    # Words are aligned left, numbers right.
    words = [not number or any(row[number][:1].isalpha() or row[number][:1] == "`" for row in rows) for number in range(len(heads))]
    return ["| " + " | ".join(heads) + " |", "|" + "|".join("---" if one else "--:" for one in words) + "|",
            *("| " + " | ".join(row) + " |" for row in rows)]


MARK = "†"
NOTE = (f"{MARK} The slowest round of a program took more than {SPREAD:g} times as long as its fastest, also when the row was measured "
        "again: do not trust this row.")


def marked(cell, words):
    return f"{words} {MARK}" if is_wide(cell.get("results", {})) else words


def noted(cells):
    """What the mark means, if a row has it."""
    return ["", NOTE] if any(is_wide(cell.get("results", {})) for cell in cells) else []


def compared(cells, unit="s", extra=()):
    """A row for each program of each cell; the first program of a cell is ours. `extra` are pairs of a head and a function of a cell
    and the name of a program."""
    factor = {"s": 1, "ms": 1e3, "µs": 1e6}[unit]
    rows = []
    for cell in cells:
        ours = next(iter(cell["results"]))
        for name in cell["results"]:
            times = [f"{factor * figures.middle(cell, name, what):.4g}" for what in ("wall", "cpu")]
            ratios = ["", ""] if name == ours else [figures.ratio(cell, name, ours, what) for what in ("wall", "cpu")]
            rows.append([marked(cell, cell["task"]) if name == ours else "", name, *times, f"{figures.middle(cell, name, 'faults'):.0f}",
                         *(value(cell, name) for _, value in extra), *ratios])
    heads = ["task", "program", unit, f"CPU {unit}", "faults", *(head for head, _ in extra), "time / ours", "CPU / ours"]
    return [*table(heads, rows), *noted(cells)]


def means(cells, groups, head):
    """Geometric means of the ratios of CPU time, their lowest and its cell, for groups of cells by name."""
    rows = []
    for name, wanted in groups.items():
        of = [(ratio.middle, cell["task"]) for cell in cells if wanted(cell) for other in list(cell["results"])[1:]
              if (ratio := figures.ratio(cell, other, next(iter(cell["results"])), "cpu"))]
        if of:
            rows.append([name, f"{geometric_mean(one for one, _ in of):.2f}", len(of), f"{min(of)[0]:.2f} ({min(of)[1]})"])
    return table([head, "mean", "cells", "lowest"], rows)


def detailed(cell):
    """All measurements of a cell."""
    bases = [base for base in BASES[cell["kind"]] if base in cell["results"]]
    words = [marked(cell, cell["kind"]), cell.get("data"), cell.get("codec"), told(cell["bytes"]) if "bytes" in cell else None]
    heads = ["", "s", "CPU s", "faults", *(f"time / {base}" for base in bases), *(f"CPU / {base}" for base in bases)]
    files, counts = "lengths" in cell, cell.get("instructions")
    rows = []
    for name in cell["results"]:
        seconds = [f"{figures.middle(cell, name, what):.{4 if cell['kind'] == 'start' else 3}f}" for what in ("wall", "cpu")]
        rows.append([name, *seconds, f"{figures.middle(cell, name, 'faults'):.0f}", *(figures.ratio(cell, name, base) for base in bases),
                     *(figures.ratio(cell, name, base, "cpu") for base in bases),
                     *((f"{figures.peak(cell, name) / 1024:.0f}", cell["lengths"][name]) if files else ()), *((counts[name],) if counts else ())])
    heads += (["peak MiB", "bytes"] if files else []) + (["instructions"] if counts else [])
    return [", ".join(word for word in words if word) + ":", "", *table(heads, rows)]


def summary(found):
    """The generated part of the page."""
    lines = [*slower(found), *sizes_of_files(found)]
    for size in reversed(figures.sizes(found)):
        for which in BOTH:
            lines += of_size(figures.select(found, which, bytes=size), which, size, size == max(figures.sizes(found)))
    lines += ["### Peak memory", "", *memory(found), ""]
    lines += start_and_disk(found)
    return [*lines, "### Commands", "", *commands(found), *noted(found["cells"])]


def names_of(cells):
    return list(dict.fromkeys(name for cell in cells for name in cell["results"]))


def grid(cells, names, value, first=()):
    """A table with a row for each kind of data and a column for each peer."""
    names = [name for name in names if name in names_of(cells)]
    rows = [[marked(cell, cell["data"]), *(more(cell) for _, more in first),
             *(value(cell, name) if name in cell["results"] else "" for name in names)] for cell in cells]
    return table(["data", *(head for head, _ in first), *names], rows)


def of_size(cells, which, size, whole):
    if not cells:
        return []
    level = ("level", lambda cell: f"{cell['zstd_level']}{', larger' if cell['zstd_small_enough'] is False else ''}")
    lines = [f"### {which.capitalize()} {told(size)}, {threads_of(cells[0])}", "",
             "The peer's time divided by the time of `blpk` with LZ4; above 1, `blpk` is faster:", "",
             *grid(cells, LIKE_LZ4, lambda cell, name: figures.ratio(cell, name, OURS)), "",
             "The peer's time divided by the time of `blpk` with Zstd, at the lowest level whose file is no larger than the file "
             "of `zstd -3`:", "",
             *grid(cells, LIKE_ZSTD, lambda cell, name: figures.ratio(cell, name, OURS_ZSTD), [level]), ""]
    if whole:
        lines += ["Speed, MB of raw data per second:", "",
                  *grid(cells, names_of(cells), lambda cell, name: f"{figures.speed(cell, name):.0f}"), "",
                  "CPU seconds relative to `blpk` with LZ4:", "",
                  *grid(cells, [name for name in names_of(cells) if name != OURS],
                        lambda cell, name: f"{figures.ratio(cell, name, OURS, 'cpu').middle:.2f}"), "",
                  "Page faults, in thousands:", "",
                  *grid(cells, names_of(cells), lambda cell, name: f"{figures.middle(cell, name, 'faults') / 1e3:.1f}"), ""]
    return lines


def slower(found):
    """Where a peer is faster, at the largest size."""
    lines = []
    for which in BOTH:
        for ours, peers in ((OURS, LIKE_LZ4), (OURS_ZSTD, LIKE_ZSTD)):
            for cell in figures.largest(figures.select(found, which)):
                ratios = {name: figures.ratio(cell, name, ours) for name in peers if name in cell["results"]}
                told_of = ", ".join(f"{name} {ratio}" for name, ratio in ratios.items() if ratio.middle < 1)
                if told_of:
                    lines.append(f"- {which} {cell['data']}, against {ours}: {told_of}")
    return ["### Where a peer is faster", "", *lines, ""] if lines else []


def headline(found):
    """The table of the front page: the range of the medians over the kinds of numbers, at the smallest size."""
    lines = []
    for ours, peers, with_what in ((OURS, LIKE_LZ4, "LZ4"), (OURS_ZSTD, LIKE_ZSTD, "Zstd, files no larger than with `zstd -3`")):
        rows, names = [], []
        for which in BOTH:
            cells = [cell for cell in figures.select(found, which, bytes=min(figures.sizes(found))) if cell["data"] not in ("text", "noise")]
            names = [name for name in peers if name in names_of(cells)]
            middles = [[figures.ratio(cell, name, ours).middle for cell in cells if name in cell["results"]] for name in names]
            rows.append([which, *(f"{min(one):.2f} to {max(one):.2f}" for one in middles)])
        lines += [*table([f"with {with_what}", *names], rows), ""]
    threads = [figures.ratio(cell, "1 thread", "2 threads").middle for cell in figures.select(found, "threads")]
    peaks = [max(figures.peak(cell, name) for which in BOTH for cell in figures.select(found, which)) / 1024 for name in (OURS, OURS_ZSTD)]
    [start] = figures.select(found, "start")
    return [*lines, f"- Two threads compress {min(threads):.2f} to {max(threads):.2f} times as fast as one.",
            f"- `blpk` starts in {1000 * figures.middle(start, 'blpk --version'):.1f} ms and uses at most {peaks[0]:.0f} MiB of memory with "
            f"LZ4, {peaks[1]:.0f} MiB with Zstd."]


def sizes_of_files(found):
    cells = figures.largest(figures.select(found, "compress"))
    if not cells:
        return []
    kinds = [("description", lambda cell: KINDS[cell["data"]].about), ("element bytes", lambda cell: cell["typesize"])]
    return [f"### Data and compression ratios ({told(cells[0]['bytes'])})", "",
            *grid(cells, [name for name in names_of(cells) if name != "cp"],
                  lambda cell, name: f"{cell['bytes'] / cell['lengths'][name]:.2f}", kinds), ""]


def memory(found):
    cells = [cell for which in BOTH for cell in figures.select(found, which)]
    rows = []
    for name in names_of(cells):
        peaks = [max((figures.peak(cell, name) for cell in figures.select(found, which) if name in cell["results"]), default=0)
                 for which in BOTH]
        rows.append([name, *(f"{peak / 1024:.0f}" if peak else "" for peak in peaks)])
    return ["The maximum over all data and sizes, in MiB, including interpreters:", "",
            *table(["", "compress", "decompress"], rows)]


def start_and_disk(found):
    lines = []
    for kind, title in (("null", "To /dev/null, against a memory copy"), ("disk", "On a disk"), ("threads", "Threads"),
                        ("start", "Startup")):
        for number, cell in enumerate(figures.select(found, kind)):
            lines += [f"### {title}", ""] if not number else []
            lines += detailed(cell) + [""]
    return lines


def commands(found):
    """The commands for the first kind of data; only the typesize depends on the data."""
    cells = figures.select(found, "compress")[:1] + figures.select(found, "decompress")[:1]
    names = names_of(cells)
    rows = [[name, *(f"`{cell['commands'][name]}`" for cell in cells)] for name in names]
    return ["With the data *" + cells[0]["data"] + "*:", "", *table(["", "compress", "decompress"], rows)] if cells else []
