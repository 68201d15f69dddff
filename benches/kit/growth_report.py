"""Tables of how the cost of the command grows with the work, and whether that is linear or constant."""

from . import figures
from .aims import Aims
from .growth import LINE, TASKS
from .places import MIB, threads_of, told
from .report import marked, noted, table

GIB = 1024 * MIB
MEMORY_LIMIT = 64 * 1024
# Allowed growth, for noise: of the cost of a unit of work at the next step, and of a small read in a larger file.
LINEAR, CONSTANT = 1.25, 1.5


def summary(found):
    parts = [pipe, memory, chunks, ranges, records, gets]
    lines = ["### Linear, constant, bounded?", "", *verdicts(found).table(), ""]
    for part in parts:
        lines += [*part(found), ""]
    return [*lines[:-1], *noted(found["cells"])]


def verdicts(found):
    aims = Aims()
    pipes = figures.select(found, "pipe")
    for name in ("blpk c", "blpk d"):
        grown(aims, f"`{name}` in a pipe, CPU seconds per byte", pipes, "bytes", name)
    many = figures.select(found, "chunks")
    for name in TASKS:
        by_chunk(aims, name, many)
    for form in forms(found):
        cells = figures.select(found, "records", form=form)
        for name in ("pack", "unpack"):
            grown(aims, f"`records {name}` {form}, CPU seconds per record", cells, "records", name)
    constant(aims, "100 bytes from a file, by file length", figures.select(found, "range of bytes"))
    # The first file is left out: its chunks are so large that a single chunk is most of what is read.
    constant(aims, "100 bytes from a file, by number of chunks", figures.select(found, "range of chunks")[1:])
    for form in forms(found):
        cells = figures.select(found, "get of records", form=form)
        # Smaller files do not fill one chunk of --small, so there is less to read and unpack.
        constant(aims, f"one record, {form}", [cell for cell in cells if cell["size"] * LINE >= 2 * MIB])
    for cell in figures.select(found, "memory"):
        most = max(cell["peaks"].values())
        aims.add(f"peak memory, {told(cell['bytes'])}, {threads_of(cell)}", "below 64 MiB", f"{most / 1024:.1f} MiB",
                 most < MEMORY_LIMIT)
    for cell in many[-1:]:
        # With default chunks, a file needs a thousand times the length to have such a table of offsets.
        most = max(figures.peak(cell, name) for name in TASKS)
        aims.add(f"peak memory, {short(cell['chunks'])} chunks ({told(cell['chunks'] * MIB)} with default chunks)",
                 "below 64 MiB", f"{most / 1024:.1f} MiB", most < MEMORY_LIMIT)
    return aims


def forms(found):
    return dict.fromkeys(cell["form"] for cell in figures.select(found, "records"))


def short(count):
    """`10^6` for a power of ten, otherwise as a number of bytes."""
    power = len(str(count)) - 1
    return f"10^{power}" if count == 10**power else told(count)


def grown(aims, what, cells, unit, name):
    """Whether a unit of work costs the same at the last step as at the step before."""
    before, last = cells[-2:]
    costs = [figures.middle(cell, name, "cpu") / cell[unit] for cell in (before, last)]
    ratio = costs[1] / costs[0]
    aims.add(f"{what}: {short(last[unit])} / {short(before[unit])}", f"at most {LINEAR}", f"{ratio:.2f}", ratio <= LINEAR)


def by_chunk(aims, name, cells):
    """The cost of an additional chunk, with many chunks and with very many."""
    if len(cells) < 4:
        return
    cpu = [figures.middle(cell, name, "cpu") for cell in cells]
    steps = [(cpu[at] - cpu[at - 1]) / (cells[at]["chunks"] - cells[at - 1]["chunks"]) for at in (-2, -1)]
    figure = f"{steps[1] * 1e6:.2f} µs per chunk, {steps[0] * 1e6:.2f} in the step before"
    counts = [short(cell["chunks"]) for cell in cells[-3:]]
    # Costs below a tenth of a microsecond are too small to compare.
    aims.add(f"`{name}`, CPU seconds per additional chunk: {counts[1]} to {counts[2]} / {counts[0]} to {counts[1]}",
             f"at most {LINEAR}", figure, steps[1] <= LINEAR * max(steps[0], 1e-7))


def constant(aims, what, cells):
    if len(cells) < 2:
        return
    first, last = cells[0], cells[-1]
    ratio = figures.middle(last, "get") / figures.middle(first, "get")
    figure = f"{ratio:.2f}"
    if first["read"] and last["read"]:
        figure += f"; reads {first['read']:.0f} and {last['read']:.0f} bytes"
    aims.add(f"{what}: time at {short(last['size'])} / at {short(first['size'])}", f"at most {CONSTANT}", figure, ratio <= CONSTANT)


def pipe(found):
    rows = []
    for cell in figures.select(found, "pipe"):
        gib = cell["bytes"] / GIB
        for name in cell["results"]:
            rows.append([marked(cell, told(cell["bytes"])), name, f"{figures.middle(cell, name, 'cpu') / gib:.3f}",
                         f"{figures.middle(cell, name) / gib:.3f}", f"{figures.peak(cell, name) / 1024:.1f}"])
    return ["### `generator | blpk c | blpk d > /dev/null`", "",
            *table(["length", "command", "CPU s per GiB", "s per GiB, whole pipe", "peak MiB"], rows)]


def memory(found):
    cells = figures.select(found, "memory")
    names = cells[0]["peaks"] if cells else []
    rows = [[cell["threads"], *(f"{cell['peaks'][name] / 1024:.1f}" for name in names)] for cell in cells]
    return ["### Peak memory at the defaults, MiB", "", *table(["threads", *names], rows)]


def chunks(found):
    rows = []
    for cell in figures.select(found, "chunks"):
        both = [f"{figures.middle(cell, name):.3f} / {figures.middle(cell, name, 'cpu'):.3f}" for name in cell["results"]]
        peaks = [f"{figures.peak(cell, name) / 1024:.0f}" for name in ("compress", "decompress")]
        rows.append([marked(cell, short(cell["chunks"])), told(cell["bytes"] // cell["chunks"]), *both, " / ".join(peaks), cell["length"]])
    cells = figures.select(found, "chunks")
    size = told(cells[0]["bytes"]) if cells else ""
    threads = f", {threads_of(cells[0])}" if cells else ""
    return [f"### {size} in few and in many chunks{threads}: s / CPU s", "",
            *table(["chunks", "chunk size", *TASKS, "peak MiB, c / d", "file bytes"], rows)]


def gotten(cell):
    read = "" if cell["read"] is None else f"{cell['read']:.0f}"
    return [f"{1000 * figures.middle(cell, 'get'):.2f}", f"{1000 * figures.middle(cell, 'get', 'cpu'):.2f}", read, f"{figures.middle(cell, 'get', 'faults'):.0f}", cell["instructions"], cell["length"]]


def ranges(found):
    rows = [["length" if cell["kind"] == "range of bytes" else "chunks", marked(cell, short(cell["size"])), *gotten(cell)]
            for kind in ("range of bytes", "range of chunks") for cell in figures.select(found, kind)]
    return ["### `blpk cat --range A..A+100` at random positions, one process each", "",
            *table(["by", "", "ms", "CPU ms", "bytes read", "faults", "instructions", "file bytes"], rows)]


def records(found):
    rows = []
    for cell in figures.select(found, "records"):
        unit = [f"{1e9 * figures.middle(cell, name, 'cpu') / cell['records']:.0f}" for name in ("pack", "unpack")]
        seconds = [f"{figures.middle(cell, name):.3f}" for name in ("pack", "unpack")]
        rows.append([marked(cell, cell["form"]), short(cell["records"]), *seconds, *unit, f"{cell['length'] / cell['records']:.1f}"])
    return ["### Records: lines of 38 bytes", "",
            *table(["form", "records", "pack s", "unpack s", "pack, CPU ns per record", "unpack, CPU ns per record",
                    "bytes per record"], rows)]


def gets(found):
    rows = [[cell["form"], marked(cell, short(cell["size"])), *gotten(cell)] for cell in figures.select(found, "get of records")]
    return ["### `blpk records get` of one random record, one process each", "",
            *table(["form", "records", "ms", "CPU ms", "bytes read", "faults", "instructions", "file bytes"], rows)]
