"""Times whole commands against python-bloscpack, python-blosc2, zstd, lz4, pigz and cp.

All programs run in turn on the same files, with warm caches, for several rounds. docs/benchmarks.md explains the figures."""

import os

from kit import aims, cells, chart, docs, peers, places, report
from kit.bench import Bench
from kit.data import KINDS, make
from kit.measure import say

# Programs slower than so many seconds run at most three rounds.
SLOW = 1
# The kinds of data of the largest size: more would show how a kind compresses, which the smaller size does.
LARGE = ("walk", "ticks", "ramp")


def measured(setting):
    raw = os.path.join(setting.folder, "raw")
    sizes = setting.size((256 * places.MIB, 1024 * places.MIB), (4 * places.MIB,))
    found = [cells.at_start(setting, setting.size(50, 5))]
    with places.on_disk() as disk:
        for size in sizes:
            kinds = [kind for kind in KINDS.values() if size == min(sizes) or kind.name in LARGE]
            for kind in setting.size(kinds, [KINDS["ticks"]]):
                say(f"{kind.name}, {places.told(size)}")
                make(setting, kind.name, size, raw)
                found += peers.compared(setting, kind, raw, setting.rounds, SLOW)
                if kind.name in ("ramp", "ticks"):
                    found.append(cells.to_null(setting, kind, raw, setting.rounds))
                    if places.filesystem(disk) not in ("tmpfs", "ramfs"):
                        found.append(cells.on_disk(setting, kind, raw, disk, setting.rounds))
                if kind.name == "ticks" and size == min(sizes):
                    found += cells.by_threads(setting, kind, raw, setting.rounds)
                os.remove(raw)
    return found


def picture(found):
    (docs.FOLDER / "benchmarks" / "commands.svg").write_text(chart.drawn(found))


BENCHES = [Bench("commands", "benchmarks/commands.md", measured, report.summary,
                 (("benchmarks/aims.md", "aims", aims.table), ("benchmarks.md", "headline", report.headline)), picture)]
