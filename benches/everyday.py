"""Compares what `blpk compress` does by default with `--auto=off`, zstd -3 and gzip, on twelve kinds of files.

All programs run in turn on the same files, with warm caches; times are those of whole processes."""

import os

from kit import everyday, figures
from kit.bench import Bench
from kit.measure import in_turn, run, say
from kit.places import MIB, told
from kit.report import marked, noted, table

# How much slower the default may be where it is not smaller.
SLOWER = 1.05


def programs(command, plain, packed):
    """Command lines by name. Each writes `packed` with an ending of its own, `gzip` by its standard output."""
    return {
        "`blpk c`": [command, "compress", "-f", plain, packed + ".blp"],
        "`--auto=off`": [command, "compress", "-f", "--auto=off", plain, packed + ".blp"],
        "`zstd -3`": ["zstd", "-3", "-q", "-f", plain, "-o", packed + ".zst"],
        "`gzip`": ["gzip", "-k", "-f", "-c", plain],
    }


def cell(setting, name):
    plain, packed = os.path.join(setting.folder, "plain"), os.path.join(setting.folder, "packed")
    size = everyday.make(name, setting.size(32 * MIB, MIB), setting.command, plain)
    lines, lengths = programs(setting.command, plain, packed), {}

    def step(which):
        def once(_):
            out = packed + ".gz" if which == "`gzip`" else lines[which][-1]
            done = run(lines[which], stdout=out if which == "`gzip`" else os.devnull)
            lengths[which] = os.path.getsize(out)
            return done
        return once

    say(name)
    return {"task": name, "bytes": size, "results": in_turn({which: step(which) for which in lines}, setting.rounds), "lengths": lengths}


def is_worse(one):
    default, off = list(one["lengths"])[:2]
    return one["lengths"][default] >= one["lengths"][off] and figures.ratio(one, default, off).middle > SLOWER


def summary(found):
    cells = found["cells"]
    names = list(cells[0]["lengths"])
    rows = [[marked(one, one["task"]), *(f"{100 * one['lengths'][name] / one['bytes']:.1f} %" for name in names),
             *(f"{1000 * figures.middle(one, name, what):.0f}" for what in ("wall", "cpu") for name in names),
             *(figures.ratio(one, names[0], names[1], what) for what in ("wall", "cpu"))] for one in cells]
    heads = ["data", *(f"{name}{unit}" for unit in (", size", ", ms", ", CPU ms") for name in names), "time of `blpk c` / off", "CPU"]
    worse = ", ".join(one["task"] for one in cells if is_worse(one)) or "none"
    return [*table(heads, rows), *noted(cells), "", f"Files of up to {told(max(one['bytes'] for one in cells))}. More than "
            f"{100 * SLOWER - 100:.0f} % slower than `--auto=off` without a smaller file: {worse}."]


BENCHES = [Bench("everyday", "benchmarks/everyday.md", lambda setting: [cell(setting, name) for name in everyday.KINDS], summary)]
