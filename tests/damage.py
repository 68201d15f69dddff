#!/usr/bin/env python3
"""Reads damaged files: our containers, compared with others.

    tests/damage.py [--quick] [--flips N] [--cuts N] [--seed N] [--json FILE] [target/release/blpk]

Every container gets the same 20,000 integers. Then one random bit of it is flipped, or it is cut at a
random byte, and its own reader is asked for all of the content, with the type and shape of the elements
if the container stores these. There are four outcomes: the same content; other content without an error
(silently wrong); an error; or a crash of the reader's process. In a directory, a bit of any file is
flipped, or any of the files is cut, longer files more often.

Prints a table in Markdown, and writes JSON on request. Other formats are read with the packages pinned in
tests/damage/requirements.txt, in an environment below target/damage/ that is created when needed, and
with the commands zstd, lz4, gzip and xz if they are installed.

Fails if one of our containers with full checksums returns wrong content, if one that checks only its
chunks does so after damage to its chunks, or if the command crashes. `--quick` does only this check: our
containers only, with fewer flips and cuts.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
ELEMENTS = 20_000
LONGEST_RUN = 30  # seconds; a reader that hangs counts as crashed
SAME, WRONG, ERROR, CRASH = "same", "wrong", "error", "crash"
OUTCOMES = (SAME, WRONG, ERROR, CRASH)
SHOWN = 20  # silently wrong outcomes listed in the JSON, for each container
# The part of a container that its checksums cover: everything, only the chunks, or nothing.
ALL, CHUNKS, NONE = "all", "chunks", "none"


def numbers():
    """A random walk, as int32."""
    rng = random.Random(20_000)
    level, walk = 0, []
    for _ in range(ELEMENTS):
        level += rng.randrange(-300, 301)
        walk.append(level)
    return struct.pack(f"<{ELEMENTS}i", *walk)


def npy(data):
    told = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % (len(data) // 4)
    told = told.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(told)) + told.encode() + data


def lines(data):
    return b"".join(b"%d\n" % number for (number,) in struct.iter_unpack("<i", data))


class Container:
    """A file or directory, and its reader."""

    def __init__(self, name, write, reader, covers=NONE, ours=True):
        self.name, self.write, self.reader = name, write, reader
        self.covers, self.ours = covers, ours


class Command:
    """A reader that is started for each file and writes the content to standard output."""

    def __init__(self, *command):
        self.command = command

    def read(self, path):
        """Returns a digest of the content, ERROR or CRASH."""
        command = [path if word == "PATH" else word for word in self.command]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_RUN)
        except subprocess.TimeoutExpired:
            return CRASH
        # A panic ends with status 101.
        if done.returncode < 0 or done.returncode == 101:
            return CRASH
        return hashlib.sha256(done.stdout).hexdigest() if done.returncode == 0 else ERROR

    def close(self):
        pass


class Worker:
    """A reader process that serves many files; after a crash a new one takes over."""

    def __init__(self, *command):
        self.command, self.process = command, None

    def read(self, path):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        # A hanging reader is killed, and so counts as crashed.
        watch = threading.Timer(LONGEST_RUN, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write(path + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except OSError:
            answer = ""
        finally:
            watch.cancel()
        if not answer:
            self.close(kill=True)
            return CRASH
        return ERROR if answer.startswith("error") else answer

    def close(self, kill=False):
        if self.process is None:
            return
        if kill:
            self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.process = None


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, **options)
    if done.returncode != 0:
        sys.exit(f"damage.py: {' '.join(command)}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def ours(blpk, folder):
    """Our own containers, written and read by the command."""
    raw, array, text = (os.path.join(folder, name) for name in ("data", "data.npy", "data.txt"))
    quiet = [blpk, "-q", "-n", "1"]
    content, elements = Command(*quiet, "d", "-e", "PATH", "-"), Command(*quiet, "export", "PATH", "-", "--to", "npy")
    unpack = Command(*quiet, "records", "unpack", "PATH")

    def stream(path):
        with open(raw, "rb") as plain, open(path, "wb") as packed:
            subprocess.run([*quiet, "c", "-t", "4", "-z", "16K"], stdin=plain, stdout=packed, check=True)

    def file(*options):
        return lambda path: run(*quiet, "c", "-t", "4", "-z", "16K", *options, raw, path)

    def records(*options):
        return lambda path: run(*quiet, "records", "pack", *options, text, path)

    def dataset(layout, *options):
        return lambda path: run(*quiet, "import", array, path, "--layout", layout, *options)

    rows, grid = ("--chunklen", "4096"), ("--chunkshape", "4096", "--blockshape", "1024")
    return [
        Container("Bloscpack stream (V3, crc32, end mark)", stream, content, ALL),
        Container("Bloscpack file, V3, crc32 (default)", file(), content, ALL),
        Container("Bloscpack file, V3, sha256", file("-k", "sha256"), content, ALL),
        Container("Bloscpack file, V3, None", file("-k", "None"), content),
        Container("Bloscpack file, V2, crc32, sealed", file("--format", "2"), content, ALL),
        Container("records, one a chunk (V2, crc32, sealed)", records(), unpack, ALL),
        Container("records, packed (V2, crc32, sealed)", records("--packed", "-z", "16K"), unpack, ALL),
        Container("dataset, layout blz-doc, crc32", dataset("blz-doc", *rows, "-k", "crc32"), elements, CHUNKS),
        Container("dataset, layout carray-doc, crc32", dataset("carray-doc", *rows, "-k", "crc32"), elements, CHUNKS),
        Container("dataset, layout bcolz", dataset("bcolz", *rows), elements),
        Container("b2nd array, one file", dataset("b2nd", *grid), elements),
        Container("b2nd array, sparse (a directory)", dataset("b2nd", *grid, "--sparse"), elements),
    ]


def peers(blpk, folder):
    """The containers of others."""
    python, script = environment(), os.path.join(HERE, "damage", "peers.py")
    raw = os.path.join(folder, "data")

    def peer(name, key):
        def write(path):
            run(python, script, key, "write", raw, path)
        return Container(name, write, Worker(python, script, key, "read"), ours=False)

    def tool(name, *options):
        def write(path):
            with open(path, "wb") as packed:
                subprocess.run([name, "-c", *options, raw], stdout=packed, check=True)
        return Container(" ".join([name, *options]), write, Command(name, "-d", "-q", "-c", "PATH"), ours=False)

    reference = peer("", "bloscpack").write
    by_us = Command(blpk, "-q", "-n", "1", "d", "-e", "PATH", "-")
    there = [tool(*command) for command in (("zstd",), ("zstd", "--no-check"), ("lz4",), ("gzip",), ("xz",))
             if shutil.which(command[0])]
    return [
        Container("Bloscpack 0.16's file, adler32, read by `blpk`", reference, by_us, ALL),
        peer("Bloscpack 0.16's file, adler32, read by itself", "bloscpack"),
        peer("python-blosc2 .b2nd", "blosc2-b2nd"),
        peer("python-blosc2 .b2frame", "blosc2-frame"),
        peer("Parquet (pyarrow, default)", "parquet"),
        peer("Parquet (pyarrow, zstd)", "parquet-zstd"),
        peer("Parquet (pyarrow, page checksums written and verified)", "parquet-checksum"),
        peer("Arrow IPC stream (pyarrow, zstd)", "arrow-stream"),
        peer("Zarr v3 (default)", "zarr"),
        peer("Zarr v3 (sharded)", "zarr-sharded"),
        *there,
    ]


def environment():
    """A Python environment with the peers, created again when its requirements have changed."""
    venv, wanted = os.path.join(ROOT, "target", "damage", "venv"), os.path.join(HERE, "damage", "requirements.txt")
    installed, python = os.path.join(venv, "requirements.installed"), os.path.join(venv, "bin", "python")
    with open(wanted, "rb") as file:
        told = file.read()
    if not os.path.exists(installed) or open(installed, "rb").read() != told:
        shutil.rmtree(venv, ignore_errors=True)
        run(sys.executable, "-m", "venv", venv)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", wanted)
        with open(installed, "wb") as file:
            file.write(told)
    # Bloscpack 0.16 uses names that later versions of Python have removed.
    os.environ["PYTHONPATH"] = os.path.join(HERE, "interop", "site")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    return python


def files_of(path):
    """The non-empty files of a container, each with its content."""
    if os.path.isfile(path):
        found = [path]
    else:
        found = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    contents = [(name, open(name, "rb").read()) for name in found]
    return [(name, content) for name, content in contents if content]


def measure(container, folder, flips, cuts, seed):
    """Damages one container in all ways; returns the counts and the silently wrong outcomes."""
    path = os.path.join(folder, "container")
    container.write(path)
    sound = container.reader.read(path)
    if sound in (ERROR, CRASH):
        sys.exit(f"damage.py: {container.name}: cannot be read even without damage")
    files = files_of(path)
    weights = [len(content) for _, content in files]
    result = {"name": container.name, "bytes": sum(weights), "flips": dict.fromkeys(OUTCOMES, 0),
              "cuts": dict.fromkeys(OUTCOMES, 0), "wrong": [], "crashed": [], "broken": 0}
    # Not `hash`, which differs from run to run.
    rng = random.Random(f"{seed} {container.name}")
    for kind, count in (("flips", flips), ("cuts", cuts)):
        for _ in range(count):
            (name, content), = rng.choices(files, weights)
            at = rng.randrange(len(content) * 8 if kind == "flips" else len(content))
            damage(name, content, kind, at)
            found = container.reader.read(path)
            outcome = found if found in (ERROR, CRASH) else SAME if found == sound else WRONG
            result[kind][outcome] += 1
            # A dataset stores its chunks in `data`.
            is_chunk = os.sep + "data" + os.sep in name[len(folder):]
            promised = container.covers == ALL or container.covers == CHUNKS and is_chunk
            result["broken"] += container.ours and outcome == CRASH or promised and outcome == WRONG
            told = {WRONG: result["wrong"], CRASH: result["crashed"]}.get(outcome)
            if told is not None and len(told) < SHOWN:
                told.append({"kind": kind, "file": os.path.relpath(name, path), "at": at})
            with open(name, "wb") as file:
                file.write(content)
    container.reader.close()
    return result


def damage(name, content, kind, at):
    if kind == "cuts":
        os.truncate(name, at)
        return
    with open(name, "r+b") as file:
        file.seek(at // 8)
        file.write(bytes([content[at // 8] ^ 1 << at % 8]))


def table(results):
    rows = [["container", "bytes", "flips", "same", "**silently wrong**", "error", "crash",
             "cuts", "same", "**silently wrong**", "error", "crash"]]
    rows.append(["---"] + ["---:"] * (len(rows[0]) - 1))
    for result in results:
        row = [result["name"], f"{result['bytes']:,}"]
        for kind in ("flips", "cuts"):
            counts = result[kind]
            total = sum(counts.values())
            row.append(f"{total:,}")
            for outcome in OUTCOMES:
                count = counts[outcome]
                share = f" ({100 * count / total:.0f} %)" if outcome == WRONG and count else ""
                row.append(f"**{count:,}{share}**" if outcome == WRONG else f"{count:,}")
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("blpk", nargs="?", default=os.path.join(ROOT, "target", "release", "blpk"),
                        help="the command under test (default: target/release/blpk)")
    parser.add_argument("--quick", action="store_true", help="our containers only, with fewer flips and cuts")
    parser.add_argument("--flips", type=int, help="flips for each container (default 1000, with --quick 100)")
    parser.add_argument("--cuts", type=int, help="cuts for each container (default 300, with --quick 40)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random damage (default 1)")
    parser.add_argument("--json", metavar="FILE", help="also write the results to this file")
    chosen = parser.parse_args()
    flips = chosen.flips if chosen.flips is not None else 100 if chosen.quick else 1_000
    cuts = chosen.cuts if chosen.cuts is not None else 40 if chosen.quick else 300
    blpk = os.path.abspath(chosen.blpk)
    with tempfile.TemporaryDirectory(prefix="blpk-damage-") as folder:
        data = numbers()
        for name, content in (("data", data), ("data.npy", npy(data)), ("data.txt", lines(data))):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        containers = ours(blpk, folder) + ([] if chosen.quick else peers(blpk, folder))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            running = [pool.submit(measure, container, tempfile.mkdtemp(dir=folder), flips, cuts, chosen.seed)
                       for container in containers]
            results = [one.result() for one in running]
    print(table(results))
    if chosen.json:
        with open(chosen.json, "w", encoding="ascii") as file:
            json.dump({"elements": ELEMENTS, "seed": chosen.seed, "containers": results}, file, indent=1)
            file.write("\n")
    broken = [result for result in results if result["broken"]]
    for result in broken:
        print(f"damage.py: {result['name']}: the promise was broken {result['broken']} times: "
              f"{result['wrong']} {result['crashed']}", file=sys.stderr)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
