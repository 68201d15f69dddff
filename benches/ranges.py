#!/usr/bin/env python3
"""Reads a hundred bytes from a large file, against the original Bloscpack and python-blosc2.

    cargo build --release --workspace --bins --examples
    benches/ranges.py target/release PYTHON_WITH_BLOSCPACK PYTHON_WITH_BLOSC2 [MIB]

All programs run in turn for five rounds; prints medians. The libraries are timed from opening the file;
`blpk cat --range` is timed as a whole process, including its startup. The figure to look at is the ratio. If
`strace` is installed, it also counts the bytes that `blpk` reads from the file.
"""

import os
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MIB = 1 << 20
ROUNDS = 5
LEN = 100

BLOSCPACK = """
import sys, time
import bloscpack
begun = time.perf_counter()
data, _ = bloscpack.unpack_bytes_from_file(sys.argv[1])
part = data[int(sys.argv[2]):int(sys.argv[3])]
print(time.perf_counter() - begun, part.hex())
"""

BLOSC2 = """
import sys, time
import blosc2
begun = time.perf_counter()
frame = blosc2.open(sys.argv[1], mode="r")
a, b, item = int(sys.argv[2]), int(sys.argv[3]), frame.typesize
part = bytes(frame[a // item:-(-b // item)])[a % item:][:b - a]
print(time.perf_counter() - begun, part.hex())
"""

BLOSC2_WRITE = """
import sys
import blosc2
cparams = blosc2.CParams(typesize=8, codec=blosc2.Codec.LZ4, clevel=9)
frame = blosc2.SChunk(chunksize=1 << 20, urlpath=sys.argv[2], mode="w", cparams=cparams)
with open(sys.argv[1], "rb") as file:
    while piece := file.read(1 << 20):
        frame.append_data(piece)
"""


def write_walk(path, mib):
    """A float64 random walk in steps of 1/8."""
    rng = random.Random(1)
    with open(path, "wb") as file:
        for _ in range(mib):
            level, steps = rng.randrange(1000), rng.randbytes(MIB // 8)
            walk = []
            for step in steps:
                level += (step % 9 - 4) / 8
                walk.append(level)
            file.write(struct.pack(f"<{len(walk)}d", *walk))


def timed(*command):
    # Lets a current Python import the old package.
    site = Path(__file__).resolve().parent.parent / "tests/interop/site"
    done = subprocess.run([str(part) for part in command], capture_output=True, check=True, text=True,
                          env=dict(os.environ, PYTHONPATH=str(site)))
    seconds, found = done.stdout.split()
    return float(seconds), bytes.fromhex(found)


def blpk_range(blpk, path, begin, end):
    begun = time.perf_counter()
    done = subprocess.run([blpk, "cat", "--range", f"{begin}..{end}", path], capture_output=True, check=True)
    return time.perf_counter() - begun, done.stdout


def bytes_read(blpk, path, begin, end):
    """The bytes that one `blpk cat --range` reads from the file, and the number of calls."""
    command = ["strace", "-f", "-y", "-e", "trace=read,pread64", blpk, "cat", "--range", f"{begin}..{end}", path]
    trace = subprocess.run(command, capture_output=True, check=True).stderr.decode(errors="replace")
    lines = [line for line in trace.splitlines() if f"<{os.path.realpath(path)}>" in line]
    return sum(int(re.search(r"= (\d+)$", line).group(1)) for line in lines), len(lines)


def main():
    release, python_bloscpack, python_blosc2 = (os.path.abspath(part) for part in sys.argv[1:4])
    blpk, library = f"{release}/blpk", f"{release}/examples/range"
    mib = int(sys.argv[4]) if len(sys.argv) > 4 else 1024
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        plain, ours, frame = (Path(folder) / name for name in ("walk", "walk.blp", "walk.b2frame"))
        write_walk(plain, mib)
        subprocess.run([blpk, "-q", "c", plain, ours], check=True)
        subprocess.run([python_blosc2, "-c", BLOSC2_WRITE, plain, frame], check=True)
        print(f"{mib} MiB of float64; {ours.stat().st_size} bytes as .blp, {frame.stat().st_size} as a frame")
        rng = random.Random(2)
        times = {"library": [], "blpk": [], "bloscpack": [], "blosc2": []}
        for _ in range(ROUNDS):
            begin = rng.randrange(mib * MIB - LEN)
            with open(plain, "rb") as file:
                file.seek(begin)
                expected = file.read(LEN)
            span = (begin, begin + LEN)
            found = {
                "library": timed(library, ours, *span),
                "blpk": blpk_range(blpk, ours, *span),
                "bloscpack": timed(python_bloscpack, "-c", BLOSCPACK, ours, *span),
                "blosc2": timed(python_blosc2, "-c", BLOSC2, frame, *span),
            }
            for name, (seconds, part) in found.items():
                assert part == expected, f"{name} returns wrong bytes at {begin}"
                times[name].append(seconds)
        base = statistics.median(times["library"])
        for name, seconds in times.items():
            middle = statistics.median(seconds)
            print(f"{name:10} {middle * 1000:10.2f} ms   {middle / base:9.2f} x")
        if shutil.which("strace"):
            count, calls = bytes_read(blpk, ours, begin, begin + LEN)
            print(f"blpk reads {count} bytes from the file in {calls} calls")


if __name__ == "__main__":
    main()
