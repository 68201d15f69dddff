"""The other measurements of whole commands: to /dev/null, by threads, startup, on a disk."""

import os
import time
from functools import partial

from . import measure, places
from .measure import Run, in_turn, say

# At their default levels these are bound by the processor, not by memory.
CODECS = ("zstd", "zlib", "lz4hc", "blosclz")

COPY = """
import numpy as np
source, target = np.ones(int(ARGUMENTS[0]), "u1"), np.ones(int(ARGUMENTS[0]), "u1")
def copy():
    took(lambda: np.copyto(target, source))
"""


def cell(kind, results, **more):
    return {"kind": kind, **more, "results": results}


def to_null(setting, kind, raw, rounds):
    """Decompression without writing a file, against a memory copy of the same number of bytes."""
    packed, count = os.path.join(setting.folder, "null.blp"), os.path.getsize(raw)
    measure.run(setting.ours("-f", "c", "-t", str(kind.typesize), raw, packed))
    with measure.peer(setting.python("numpy"), COPY, str(count)) as copy:
        results = in_turn({"blpk d": lambda _: measure.run(setting.ours("d", packed, "-")), "memory copy": lambda _: copy("copy")}, rounds)
    length = os.path.getsize(packed)
    os.remove(packed)
    return cell("null", results, data=kind.name, bytes=count, length=length, threads=setting.threads)


def pair(argv):
    """The same command twice at the same time: the best that the processors give to two threads that share nothing."""
    begun = time.perf_counter()
    pids = [measure.started(argv) for _ in range(2)]
    runs = [measure.ended(pid, argv, begun) for pid in pids]
    return Run(max(run.wall for run in runs), sum(run.cpu for run in runs), sum(run.faults for run in runs), max(run.peak for run in runs))


def by_threads(setting, kind, raw, rounds):
    """Each processor-bound codec with one thread and with two, to /dev/null."""
    cells = []
    for codec in CODECS:
        say(f"threads: {codec}")
        argv = {n: setting.ours("c", "-t", str(kind.typesize), "-c", codec, raw, "-", threads=n) for n in (1, 2)}
        steps = {
            "1 thread": lambda _, argv=argv: measure.run(argv[1]),
            "2 threads": lambda _, argv=argv: measure.run(argv[2]),
            "1 thread, twice at once": lambda _, argv=argv: pair(argv[1]),
        }
        cells.append(cell("threads", in_turn(steps, rounds), data=kind.name, bytes=os.path.getsize(raw), codec=codec))
    return cells


def at_start(setting, rounds=50):
    steps = {
        "blpk --version": lambda _: measure.run((setting.command, "--version")),
        "true": lambda _: measure.run((setting.tools["true"],)),
    }
    # Their page faults and instructions hardly vary, whatever else the machine does.
    counts = {name: measure.instructions(argv) for name, argv in (("blpk --version", (setting.command, "--version")), ("true", ("true",)))}
    return cell("start", in_turn(steps, rounds), instructions=counts)


def on_disk(setting, kind, raw, disk, rounds):
    """Files on a disk, against `cp` of the raw file without a sync, and with the sync that `blpk` always does."""
    here = {name: os.path.join(disk, name) for name in ("raw", "packed.blp", "out", "out.blp")}
    measure.run((setting.tools["cp"], raw, here["raw"]))
    measure.run(setting.ours("-f", "c", "-t", str(kind.typesize), here["raw"], here["packed.blp"]))
    copy = (setting.tools["cp"], here["raw"], here["out"])
    synced = (setting.tools["sh"], "-c", 'cp "$0" "$1" && sync "$1"', here["raw"], here["out"])
    commands = {
        "blpk c": (setting.ours("c", "-t", str(kind.typesize), here["raw"], here["out.blp"]), here["out.blp"]),
        "blpk d": (setting.ours("d", here["packed.blp"], here["out"]), here["out"]),
        "cp": (copy, here["out"]),
        "cp, synced": (synced, here["out"]),
    }
    # The files are on the disk now, and in the page cache.
    os.sync()
    for name in ("raw", "packed.blp"):
        measure.run((setting.tools["cp"], here[name], os.devnull))
    steps = {name: partial(disk_step, *command) for name, command in commands.items()}
    results = in_turn(steps, rounds)
    length = os.path.getsize(here["packed.blp"])
    for name in ("raw", "packed.blp"):
        os.remove(here[name])
    return cell("disk", results, data=kind.name, bytes=os.path.getsize(raw), length=length, threads=setting.threads,
                filesystem=places.filesystem(disk))


def disk_step(argv, out, _):
    done = measure.run(argv)
    os.remove(out)
    # Nothing is left to be written when the next run begins.
    os.sync()
    return done
