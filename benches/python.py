"""Times the Python module against Bloscpack, python-blosc2, bcolz-zipline and numcodecs: each task by all in turn.

Each package has a process of its own. A first run of each task makes the data and does not count. All packages must read the same
values. The module is built and unpacked for this, so the interpreters need no copy of it."""

import os
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from kit import figures
from kit.bench import Bench
from kit.measure import Failed, in_turn, peer, say
from kit.places import BASE, ROOT, Missing
from kit.report import compared, table

CODE = Path(__file__).with_name("kit") / "python_peer.py"
PACKAGES = {"bloscpack": "bloscpack 0.16", "bcolz": "bcolz-zipline", "blosc2": "blosc2", "numcodecs": "numcodecs"}
# Tasks that take longer run at most three rounds.
SLOW = 20


@dataclass(frozen=True)
class Task:
    """`name` and `kind` as in kit/python_peer.py; `aims` are the target ratios by peer."""

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
    yield Task("slices", "sequential", "10,000 slices of 10 rows from 400,000 vectors of 50 float32, in order", {"bcolz": 20.0})
    yield Task("slices", "random", "10,000 slices of them, at random positions", {"bcolz": 20.0})
    yield Task("slices", "larger", "10,000 slices, at random positions of an array larger than our cache", {"bcolz": 20.0})
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


def module():
    """The folder of our module, newly built; or that of the wheel BENCH_WHEEL."""
    wheel, folder = os.environ.get("BENCH_WHEEL"), BASE / "module"
    if not wheel:
        subprocess.run([ROOT / "contrib" / "wheels.sh", "plain"], stdout=subprocess.DEVNULL, check=True)
        [wheel] = (ROOT / "target" / "wheels").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    return str(folder)


def measured(setting):
    ours, small = {"PYTHONPATH": module()}, setting.size({}, {"BENCH_SMALL": "1"})
    site = {"PYTHONPATH": str(ROOT / "tests" / "interop" / "site")}
    code, cells = CODE.read_text(), []
    with tempfile.TemporaryDirectory(dir=setting.folder) as folder:
        peers = {"ours": peer(setting.python("numpy", "pandas", "numexpr"), code, "ours", folder, env=ours | small)}
        for name, package in PACKAGES.items():
            try:
                peers[name] = peer(setting.python(package, "numpy"), code, name, folder, env=(site if name == "bloscpack" else {}) | small)
            except Missing as why:
                say(f"left out: {why}")
        if "blosc2" in peers:
            peers["blosc2"]("run", "field", "-", 1)
        for task in tasks():
            chosen = [name for name in peers if name == "ours" or name in task.aims]
            for threads in (1, 2) if len(chosen) > 1 else ():
                say(f"{task.words}, {threads}")
                steps = {name: lambda _, ask=peers[name]: ask("run", task.name, task.kind, threads) for name in chosen}
                try:
                    results = in_turn(steps, setting.rounds, SLOW)
                except Failed as why:
                    say(f"left out: {why}")
                    continue
                cells.append({"task": f"{task.words}, {threads} thread{'s'[:threads - 1]}", "aims": task.aims, "results": results})
        for process in peers.values():
            process.close()
    return cells


def summary(found):
    missed = [(cell["task"], name, figures.ratio(cell, name, "ours"), aim) for cell in found["cells"] for name, aim in cell["aims"].items()
              if name in cell["results"] and figures.ratio(cell, name, "ours").middle < aim]
    count = sum(len(cell["results"]) - 1 for cell in found["cells"])
    lines = [f"{count - len(missed)} of {count} targets are met." + (" Not met:" if missed else ""), ""]
    if missed:
        lines += [*table(["task", "program", "time / ours", "target"], missed), ""]
    return [*lines, *compared(found["cells"])]


BENCHES = [Bench("python", "benchmarks/python.md", measured, summary)]
