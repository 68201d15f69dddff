"""Measures how the cost of the command grows with the work: bytes, chunks, records, and random access."""

import os
import random
import re
import statistics
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from . import measure
from .data import make
from .measure import Results, Run, in_turn, say, turns
from .places import MIB, Setting, told

LINE = 38
RANGE = 100
TASKS = ("compress", "decompress", "compress, 1 thread", "decompress, 1 thread", "info")
FORMS = {"default": (), "--packed": ("--packed",), "--quick": ("--quick",), "--small": ("--small",)}


@dataclass(frozen=True)
class Plan:
    """How much work of each kind."""
    totals: tuple = (64 * MIB, 512 * MIB, 4096 * MIB)
    # The numbers of chunks for the same bytes; the largest number gives chunks of 1 KiB.
    chunks: tuple = (10, 10**4, 10**5, 10**6)
    records: tuple = (10**3, 10**4, 10**5, 10**6)
    places: int = 20
    memory: int = 1024 * MIB
    threads: tuple = (1, 2, 8)


QUICK = Plan((16 * MIB, 64 * MIB, 256 * MIB), (10, 10**3, 10**4), (10**3, 10**4, 10**5), 5, 128 * MIB)


def pieces(setting: Setting):
    """64 MiB of a float64 walk, repeated for longer inputs; each chunk is compressed on its own, so repetition gains nothing."""
    path = os.path.join(setting.folder, "pieces")
    make(setting, "ticks", 64 * MIB, path)
    return path


class Pipe:
    """A generator piped through a chain of commands."""

    def __init__(self, path, count):
        script = os.path.join(os.path.dirname(__file__), "repeat.py")
        self.argv = (sys.executable, "-I", "-S", script, path, str(count))

    def into(self, *commands, stdout=os.devnull, watch=False):
        """Returns a run for each command, and the seconds of the whole pipe."""
        begun, source, running = time.perf_counter(), os.devnull, []
        for argv in (self.argv, *commands):
            there, here = os.pipe() if argv is not commands[-1] else (None, stdout)
            pid = measure.started(argv, here, stdin=source)
            # Copies left open in this program would keep the pipe open.
            for one in (source, here):
                if isinstance(one, int):
                    os.close(one)
            source = there
            running.append((pid, argv, measure.Peak(pid) if watch and argv is not self.argv else None))
        runs = [measure.ended(pid, argv, begun, look) for pid, argv, look in running]
        return runs[1:], max(run.wall for run in runs)


def by_bytes(setting, plan, rounds):
    """generator | blpk c | blpk d > /dev/null."""
    path, found = pieces(setting), {total: Results() for total in plan.totals}
    for number, total in turns(plan.totals, rounds):
        say(f"pipe: {told(total)}, round {number}")
        there, back = setting.ours("c"), setting.ours("d")
        runs, wall = Pipe(path, total).into(there, back, watch=not number)
        for name, run in zip(("blpk c", "blpk d"), runs, strict=True):
            run.wall = wall
            found[total].add(number, name, run)
    os.remove(path)
    return [{"kind": "pipe", "bytes": total, "results": results} for total, results in found.items()]


def memory(setting, plan, _):
    """Peak memory at the defaults, through a pipe and from file to file."""
    path, cells = os.path.join(setting.folder, "raw"), []
    make(setting, "walk", 64 * MIB, path)
    whole = os.path.join(setting.folder, "whole")
    Pipe(path, plan.memory).into((setting.tools["cat"],), stdout=whole)
    packed, back = whole + ".blp", whole + ".back"
    for threads in plan.threads:
        ours = partial(setting.ours, threads=threads)
        runs, _ = Pipe(path, plan.memory).into(ours("c"), ours("d"), watch=True)
        runs.append(measure.run(ours("c", whole, packed), watch=True))
        runs.append(measure.run(ours("d", packed, back), watch=True))
        os.remove(packed)
        os.remove(back)
        names = ("pipe, c", "pipe, d", "file, c", "file, d")
        peaks = {name: run.peak for name, run in zip(names, runs, strict=True)}
        cells.append({"kind": "memory", "bytes": plan.memory, "threads": threads, "peaks": peaks})
    os.remove(path)
    os.remove(whole)
    return cells


def by_chunks(setting, plan, rounds):
    """The same bytes in few and in many chunks: compressing and decompressing all of it, and reading 100 bytes."""
    total = max(plan.chunks) * 1024
    raw, back = (os.path.join(setting.folder, name) for name in ("raw", "back"))
    make(setting, "ticks", total, raw)
    steps, kept = {}, {}
    for count in plan.chunks:
        kept[count] = os.path.join(setting.folder, f"chunks{count}.blp")
        for more, threads in (("", None), (", 1 thread", 1)):
            ours = partial(setting.ours, threads=threads)
            there = ours("c", "-z", str(total // count), raw, kept[count])
            steps[f"compress{more} {count}"] = partial(made_anew, there, kept[count])
            steps[f"decompress{more} {count}"] = partial(made_anew, ours("d", kept[count], back), back)
        steps[f"info {count}"] = partial(once, setting.ours("info", kept[count]))
    say("chunks")
    results = in_turn(steps, rounds)
    cells = [{"kind": "chunks", "bytes": total, "chunks": count,
              "threads": setting.threads, "length": os.path.getsize(kept[count]),
              "results": {name: results[f"{name} {count}"] for name in TASKS}} for count in plan.chunks]
    os.remove(raw)
    os.remove(back)
    cells += at_places(setting, plan, rounds, "range of chunks", kept,
                       lambda count: (total, lambda at: ("cat", "--range", f"{at}..{at + RANGE}", kept[count])))
    for path in kept.values():
        os.remove(path)
    return cells


def once(argv, number):
    return measure.run(argv, watch=not number)


def made_anew(argv, out, number):
    with suppress(FileNotFoundError):
        os.remove(out)
    return once(argv, number)


def by_ranges(setting, plan, rounds):
    """100 bytes from files of different lengths."""
    path, kept = pieces(setting), {}
    for total in plan.totals:
        say(f"range: {told(total)}")
        kept[total] = os.path.join(setting.folder, f"range{total}.blp")
        Pipe(path, total).into(setting.ours("c", "-", kept[total]))
    cells = at_places(setting, plan, rounds, "range of bytes", kept,
                      lambda total: (total, lambda at: ("cat", "--range", f"{at}..{at + RANGE}", kept[total])))
    for one in (path, *kept.values()):
        os.remove(one)
    return cells


def at_places(setting, plan, rounds, kind, kept, asked):
    """Small reads at random positions of each file, each by a process of its own, and the bytes it reads from the file."""
    cells, places = [], {}
    for size in kept:
        total, words = asked(size)
        rng = random.Random(size)
        places[size] = [setting.ours(*words(rng.randrange(total - RANGE if total > RANGE else total))) for _ in range(plan.places)]

    def small_reads(size, _):
        runs = [measure.run(argv) for argv in places[size]]
        middle = {field: statistics.median(getattr(run, field) for run in runs) for field in ("wall", "cpu", "faults")}
        return Run(**middle, peak=max(run.peak for run in runs))

    found = in_turn({size: partial(small_reads, size) for size in kept}, rounds)
    for size, runs in found.items():
        read = [count for argv in places[size][:5] if (count := bytes_read(setting, argv, kept[size])) is not None]
        cells.append({"kind": kind, "size": size, "instructions": measure.instructions(places[size][0]), "read": statistics.median(read) if read else None,
                      "length": os.path.getsize(kept[size]), "results": {"get": runs}})
    return cells


def bytes_read(setting, argv, path):
    """The bytes that a command reads from a file, by strace; None without strace or without permission to trace."""
    if "strace" not in setting.tools:
        return None
    log = os.path.join(setting.folder, "strace")
    names = "trace=read,pread64,readv,preadv"
    try:
        measure.run((setting.tools["strace"], "-f", "-y", "-qq", "-o", log, "-e", names, *argv))
    except measure.Failed:
        return None
    with open(log) as file:
        text = file.read()
    os.remove(log)
    calls = re.findall(r"^\d+ +\w+\(\d+<([^>]*)>.* = (\d+)$", text, re.MULTILINE)
    return sum(int(count) for name, count in calls if name == os.path.realpath(path))


def by_records(setting, plan, rounds):
    """Lines packed in each form, all of them unpacked, and single records fetched."""
    cells = []
    for form, options in FORMS.items():
        say(f"records {form}")
        steps, kept = {}, {}
        for count in plan.records:
            raw = os.path.join(setting.folder, f"lines{count}")
            if not os.path.exists(raw):
                make(setting, "lines", LINE * count, raw)
            kept[count] = os.path.join(setting.folder, f"records{count}.blp")
            steps[f"pack {count}"] = partial(made_anew, setting.ours("records", "pack", *options, raw, kept[count]), kept[count])
            steps[f"unpack {count}"] = partial(once, setting.ours("records", "unpack", kept[count], "-"))
        results = in_turn(steps, rounds)
        cells += [{"kind": "records", "form": form, "records": count, "length": os.path.getsize(kept[count]),
                   "results": {name: results[f"{name} {count}"] for name in ("pack", "unpack")}} for count in plan.records]
        got = at_places(setting, plan, rounds, "get of records", kept,
                        lambda count, kept=kept: (count, lambda at: ("records", "get", kept[count], str(at))))
        cells += [{**cell, "form": form} for cell in got]
        for path in kept.values():
            os.remove(path)
    for count in plan.records:
        os.remove(os.path.join(setting.folder, f"lines{count}"))
    return cells
