#!/usr/bin/env python3
"""Times the Python module against Bloscpack, python-blosc2, bcolz-zipline and numcodecs: each task by all in turn.

    benches/python.py WHEEL [ROUNDS] [TASK...]

Installs the wheel and the peers from PyPI into environments in target/bench-python, and runs each package in a process of its own.
A first run of each task makes the data and does not count, unless it takes more than 20 seconds: then it is the only one. All
packages must read the same values, which their digests show.
A ratio is the median of the peer's time divided by ours in the same round: above 1, ours is faster. The tables go to
docs/benchmarks/python.md if all tasks were run."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from kit import docs, machine

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "target" / "bench-python"
NEW = ["numpy==2.4.6", "pandas==3.1.1", "numexpr==2.14.2", "bcolz-zipline==1.13.0", "blosc2==4.14.1", "numcodecs==0.16.6"]
# Bloscpack was written for NumPy 1.
OLD = ["numpy==1.26.4", "blosc==1.11.4", "setuptools<80", "wheel"]
SLOW = 20


@dataclass(frozen=True)
class Task:
    """`name` and `kind` as in python_peer.py; `aims` are the target ratios by peer."""

    name: str
    kind: str
    words: str
    aims: dict


def tasks():
    both = {"bloscpack": 1.0, "blosc2": 1.0}
    for kind, how in (("lz4", "LZ4 level 5"), ("defaults", "each with its defaults")):
        yield Task("pack_file", kind, f"pack an array of 256 MiB to a file, {how}", both)
        yield Task("unpack_file", kind, f"unpack it, {how}", both | {"bloscpack": 2.5})
        yield Task("pack_bytes", kind, f"pack it to bytes, {how}", both)
        yield Task("unpack_bytes", kind, f"unpack it from bytes, {how}", both | {"bloscpack": 2.5})
    yield Task("read", "-", "`carray[:]` of 256 MiB", {"bcolz": 1.0})
    yield Task("slices", "sequential", "100,000 slices of 10 rows from 400,000 vectors of 50 float32, in order", {"bcolz": 20.0})
    yield Task("slices", "random", "100,000 slices of them, at random positions", {"bcolz": 20.0})
    yield Task("slices", "larger", "100,000 slices, at random positions of an array larger than our cache", {"bcolz": 20.0})
    yield Task("append", "memory", "`append` of 400,000 single rows, in memory", {"bcolz": 3.0})
    yield Task("append", "directory", "`append` of 400,000 single rows, in a directory", {"bcolz": 3.0})
    yield Task("where", "few", "`where`, 20 million rows, 1 in 1,250 found", {"bcolz": 1.0})
    yield Task("where", "many", "`whereblocks`, 20 million rows, half of them found", {"bcolz": 1.0})
    yield Task("dataframe", "-", "`todataframe`, 20 million rows", {"bcolz": 1.0})
    yield Task("boxes", "whole", "read a whole array of 300 x 300 x 278", {"blosc2": 1.0})
    yield Task("boxes", "planes", "read 20 planes of it", {"blosc2": 1.0})
    yield Task("boxes", "boxes", "read 1,000 boxes of 10 x 10 x 10 from it", {"blosc2": 1.0})
    yield Task("encode", "-", "`encode` of 64 chunks of 4 MiB, each by one Python thread", {"numcodecs": 1.0})
    yield Task("decode", "-", "`decode` of them to new `bytes`", {"numcodecs": 1.0})
    yield Task("decode_into", "-", "`decode` of them into an array", {"numcodecs": 1.0})
    yield Task("encode_one", "-", "`encode` of 256 MiB in one call", {"numcodecs": 1.0})
    yield Task("decode_one", "-", "`decode` of it", {"numcodecs": 1.0})


def environment(name, packages, *later):
    """The interpreter of a new or existing environment with these packages."""
    python = HERE / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", HERE / name], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *packages], check=True)
    for words in later:
        subprocess.run([*pip, *words], check=True)
    return python


class Peer:
    """A process that works with one package."""

    def __init__(self, name, python, folder):
        script = ROOT / "benches" / "kit" / "python_peer.py"
        env = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "interop" / "site")} if name == "bloscpack" else None
        self.name = name
        self.process = subprocess.Popen([python, script, name, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def run(self, task, kind, threads):
        """Seconds with CPU seconds, and a digest of what was read."""
        print(task, kind, threads, file=self.process.stdin, flush=True)
        words = self.process.stdout.readline().split()
        if not words:
            sys.exit(f"{self.name} failed at {task} {kind}")
        return (float(words[0]), float(words[1])), words[2]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measure(peers, task, threads, rounds):
    """The seconds of each peer, round by round."""
    found = {peer.name: [] for peer in peers}
    for number in range(rounds + 1):
        seen = set()
        first = number % len(peers)
        for peer in peers[first:] + peers[:first]:
            took, digest = peer.run(task.name, task.kind, threads)
            seen.add(digest)
            found[peer.name].append(took)
        if len(seen) > 1:
            sys.exit(f"{task.name} {task.kind}: the packages read different values: {seen}")
        if not number and max(times[0][0] for times in found.values()) > SLOW:
            return found
        if not number:
            found = {peer.name: [] for peer in peers}
    return found


def row(task, threads, found):
    """A row of the table, and whether all aims are met."""
    ours, cells, met = found["ours"], [], True
    for peer, aim in task.aims.items():
        wall, cpu = ([theirs[which] / max(mine[which], 1e-9) for theirs, mine in zip(found[peer], ours)] for which in (0, 1))
        middle = statistics.median(wall)
        met &= middle >= aim
        mark = "" if middle >= aim else ", **not met**"
        spread = f" ({min(wall):.2f} to {max(wall):.2f})" if len(wall) > 1 else ""
        cells.append((peer, f"{seconds(found[peer])}", f"**{middle:.2f}**{spread}", f"{statistics.median(cpu):.2f}", f"{aim:g}{mark}"))
    return f"| {task.words} | {threads} | {seconds(ours)} | " + " | ".join(map("<br>".join, zip(*cells))) + " |", met


def seconds(times):
    return f"{statistics.median(wall for wall, _ in times):.3f}"


def measured(wheel, rounds, wanted):
    """The table, and how many of its rows met all aims."""
    python = environment("new", NEW, ["--force-reinstall", "--no-deps", wheel])
    old = environment("old", OLD, ["--no-build-isolation", "bloscpack==0.16.0"])
    lines = ["| task | threads | ours, s | peer | peer, s | ratio | CPU ratio | target |", "|---|--:|--:|---|---|---|---|---|"]
    count = met = 0
    with tempfile.TemporaryDirectory(prefix="python", dir=HERE) as folder:
        peers = [Peer(name, old if name == "bloscpack" else python, folder) for name in ("ours", "bloscpack", "bcolz", "blosc2", "numcodecs")]
        next(peer for peer in peers if peer.name == "blosc2").run("field", "-", 1)
        for task in tasks():
            if wanted and task.name not in wanted:
                continue
            for threads in (1, 2):
                chosen = [peer for peer in peers if peer.name == "ours" or peer.name in task.aims]
                line, good = row(task, threads, measure(chosen, task, threads, rounds))
                print(line, flush=True)
                lines.append(line)
                count, met = count + 1, met + good
        for peer in peers:
            peer.close()
    return lines, f"{met} of {count} rows meet their targets."


def main():
    wheel, *words = sys.argv[1:]
    rounds = int(words.pop(0)) if words and words[0].isdigit() else 5
    HERE.mkdir(parents=True, exist_ok=True)
    begun = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    load = os.getloadavg()[0]
    lines, summary = measured(wheel, rounds, words)
    facts = f"{begun}, {machine.cpu()}, {len(os.sched_getaffinity(0))} cores, load {load:.1f} at the start, {rounds} rounds. {summary}"
    print(facts)
    if not words:
        docs.write(ROOT / "docs" / "benchmarks" / "python.md", "python", [facts, "", *lines])


if __name__ == "__main__":
    main()
