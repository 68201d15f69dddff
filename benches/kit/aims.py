"""The performance targets that whole commands can check: what was measured, and whether the target is met."""

from . import figures
from .peers import AUTO, OURS, OURS_ZSTD
from .places import threads_of, told


class Aims:
    """The rows of a table."""

    def __init__(self):
        self.rows = []

    def add(self, what, aim, figure, met):
        self.rows.append(f"| {what} | {aim} | {figure} | {'met' if met else '**not met**'} |")

    def at_least(self, what, ratio, aim):
        self.add(what, f"at least {aim}", ratio, ratio.middle >= aim)

    def table(self):
        return ["| measurement | target | measured | |", "|---|---|---|---|", *self.rows]


def table(found):
    aims = Aims()
    files(aims, found)
    disk(aims, found)
    others(aims, found)
    targets = [row for row in aims.rows if not row.endswith("| |")]
    met = sum(row.endswith("| met |") for row in targets)
    return [f"{met} of {len(targets)} targets are met.", "", *aims.table()] if aims.rows else []


def files(aims, found):
    """Targets against peers, on float64 data."""
    for which in ("compress", "decompress"):
        for cell in figures.largest(figures.select(found, which, data="walk")):
            there = f"{which} {told(cell['bytes'])} of float64 (walk), {threads_of(cell)}"
            for peer, aim in (("python blpk", 3), ("python-blosc2", 1.5), (AUTO, 1.5)):
                if peer in cell["results"]:
                    aims.at_least(f"{there}, LZ4: {peer} / ours", figures.ratio(cell, peer, OURS), aim)
    for data in ("walk", "ticks"):
        for which, aim in (("compress", 2), ("decompress", 3)):
            for cell in figures.largest(figures.select(found, which, data=data)):
                if "zstd -3" not in cell["results"]:
                    continue
                part = cell["lengths"][OURS_ZSTD] / cell["lengths"]["zstd -3"]
                what = (f"{which} {told(cell['bytes'])} of float64 ({data}), Zstd level {cell['zstd_level']}, "
                        f"{part:.2f} times the file size of zstd -3: zstd -3 / ours")
                aims.at_least(what, figures.ratio(cell, "zstd -3", OURS_ZSTD), aim)


def disk(aims, found):
    for cell in figures.largest(figures.select(found, "disk")):
        for ours in ("blpk c", "blpk d"):
            for peer in ("cp", "cp, synced"):
                ratio = figures.ratio(cell, ours, peer)
                factor = cell["bytes"] / cell["length"]
                what = f"`{ours}` on a disk, {told(cell['bytes'])} of {cell['data']} ({factor:.1f} : 1): ours (synced) / {peer}"
                if peer == "cp":
                    aims.add(what, "at most 1", ratio, ratio.middle <= 1)
                else:
                    aims.rows.append(f"| {what} | | {ratio} | |")


def others(aims, found):
    for cell in figures.largest(figures.select(found, "null")):
        what = f"`blpk d` of {cell['data']} to /dev/null: speed / speed of a memory copy"
        aims.at_least(what, figures.ratio(cell, "memory copy", "blpk d"), 0.7)
    for cell in figures.select(found, "threads"):
        faster = figures.ratio(cell, "1 thread", "2 threads")
        ceiling = figures.ratio(cell, "1 thread", "1 thread, twice at once", factor=2)
        what = f"`blpk c -c {cell['codec']}`, 2 threads against 1 (two processes at once: {ceiling})"
        aims.at_least(what, faster, 1.8)
    for cell in figures.select(found, "start"):
        more = 1000 * (figures.middle(cell, "blpk --version") - figures.middle(cell, "true"))
        aims.add("startup: `blpk --version` minus `true`", "below 5 ms", f"{more:.1f} ms", more < 5)
