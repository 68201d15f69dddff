#!/usr/bin/env python3
"""Threads that share objects for some time, and many objects one after the other: nothing may differ, leak or grow.

    python/tests/soak.py [SECONDS [OPENS]]      60 seconds and 100,000 opens, unless given

Prints what was done, and the resident memory before and after."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bloscpack as bp
from bloscpack import bcolz, numcodecs

ROWS = 200_000
THREADS = 4


def resident() -> int:
    """Bytes of memory in use, where /proc has them."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Shared:
    """Objects that all threads use. Row `n` of each contains `n`, and so does byte `n` modulo 251 of the file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rows = np.arange(ROWS)
        self.raw = (rows % 251).astype(np.uint8).tobytes()
        self.file = bp.open(bp.compress(self.raw, chunk_size=20_000))
        self.memory = bcolz.carray(rows, chunklen=3000)
        self.disk = bcolz.carray(rows, rootdir=folder / "disk", chunklen=3000)
        self.table = bcolz.ctable([rows, rows / 2], names=["x", "y"], rootdir=folder / "table")
        self.grown = bcolz.carray(np.zeros(0, "i8"), rootdir=folder / "grown", mode="w")
        with bp.RecordWriter(folder / "records.blp") as writer:
            writer.extend(b"%d" % number for number in range(5000))
        self.records = bp.open_records(folder / "records.blp")
        self.codec = numcodecs.Blosc(cname="lz4")

    def read(self, at: int, own: Path) -> None:
        """Objects of all threads."""
        expected = list(range(at, at + 9))
        assert self.memory[at : at + 9].tolist() == self.disk[at : at + 9].tolist() == expected
        assert self.table[at : at + 9]["x"].tolist() == expected
        assert self.file.read_at(at, 50) == self.raw[at : at + 50]
        assert self.records[at % 5000] == b"%d" % (at % 5000)

    def open(self, at: int, own: Path) -> None:
        """The same directories, opened once more."""
        assert bcolz.open(self.folder / "disk", "r")[at] == at
        assert bp.open_array(self.folder / "table" / "y")[at] == at / 2

    def change(self, at: int, own: Path) -> None:
        """The same array is written to by all, each time with what it contains; another one grows."""
        self.disk[at : at + 9] = np.arange(at, at + 9)
        self.grown.append(np.array([at]))
        if at % 7 == 0:
            self.disk.flush()
            self.grown.flush()

    def make(self, at: int, own: Path) -> None:
        """Objects of this thread alone."""
        data = np.arange(at, at + 3000)
        bp.pack_ndarray_to_file(data, own / "array.blp")
        assert (bp.unpack_ndarray_from_file(own / "array.blp") == data).all()
        array = bcolz.carray(data, rootdir=own / "array", mode="w")
        array.append([7])
        assert array[-2:].tolist() == [at + 2999, 7]
        assert self.codec.decode(self.codec.encode(data)) == data.tobytes()


def work(shared: Shared, number: int, until: Callable[[int], bool], counts: list[int], wrong: list[BaseException]) -> None:
    own = shared.folder / f"own{number}"
    own.mkdir()
    noise = np.random.default_rng(number)
    tasks = [shared.read, shared.read, shared.read, shared.open, shared.change, shared.make]
    try:
        while until(counts[number]) and not wrong:
            tasks[counts[number] % len(tasks)](int(noise.integers(0, ROWS - 100)), own)
            counts[number] += 1
    except BaseException as error:
        wrong.append(error)


def share(folder: Path, until: Callable[[int], bool]) -> int:
    """Lets threads work until `until` of the number of their tasks is false. Returns the number of all tasks."""
    shared, counts, wrong = Shared(folder), [0] * THREADS, []
    threads = [threading.Thread(target=work, args=(shared, number, until, counts, wrong)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]
    shared.grown.flush()
    # Each thread appends in one of six tasks.
    assert len(bcolz.open(folder / "grown", "r")) == sum((count + 1) // 6 for count in counts)
    return sum(counts)


def open_often(folder: Path, count: int) -> list[int]:
    """Opens files and arrays again and again. Returns the resident memory after each tenth of the opens."""
    bcolz.carray(np.arange(1000), rootdir=folder / "array", mode="w")
    bp.pack_bytes_to_file(b"content" * 100, folder / "file.blp")
    found = []
    for number in range(count // 2):
        assert bcolz.open(folder / "array", "r")[7] == 7
        with bp.open(folder / "file.blp") as file:
            assert file.read(7) == b"content"
        if (number + 1) % max(count // 20, 1) == 0:
            found.append(resident())
    return found


def main() -> None:
    seconds, opens = (int(word) for word in (sys.argv[1:] + ["60", "100000"][len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        before, end = resident(), time.monotonic() + seconds
        done = share(Path(folder), lambda _: time.monotonic() < end)
        print(f"{done:,} tasks by {THREADS} threads in {seconds} s; resident {before / 1e6:.1f} MB before, {resident() / 1e6:.1f} MB after")
        begun = time.monotonic()
        sizes = open_often(Path(folder), opens)
        took = time.monotonic() - begun
        print(f"{opens:,} opens in {took:.0f} s; resident {sizes[0] / 1e6:.1f} MB after a tenth, {sizes[-1] / 1e6:.1f} MB at the end")
        print(f"{len(os.listdir('/proc/self/fd'))} files open")


if __name__ == "__main__":
    main()
