#!/usr/bin/env python3
"""Peak memory of every command over files of many small items: members, chunks, records, damages.

    tests/memory_items.py target/release/blpk [COUNT]

Prints a table of the peaks in MiB, with 10^6 items unless a COUNT is given. `tests/memory.py` checks some of its rows.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

CHUNK_HEADER, DIGEST, END_MARK = 16, 4, 20
# The program with its buffers and its work on chunks of little size, and the text of a report that is kept.
BASE_MIB = 24


def peak_mib(command, stdin=None):
    """Runs a command; returns its peak in MiB and its exit status."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    feeder = None
    if stdin:
        feeder = subprocess.Popen(["cat", stdin], stdout=subprocess.PIPE)
        options["stdin"] = feeder.stdout
    process = subprocess.Popen(command, **options)
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                found = re.search(r"VmHWM:\s+(\d+)", status.read())
            peak = max(peak, int(found.group(1)) if found else 0)
        except OSError:
            pass
        time.sleep(0.001)
    if feeder:
        feeder.stdout.close()
        feeder.wait()
    return peak / 1024, process.returncode


class Files:
    """Inputs with `count` items, each made when it is first asked for."""

    def __init__(self, blpk, folder, count):
        self.blpk, self.folder, self.count = blpk, folder, count

    def path(self, name):
        """Where the file with this name is, or the file that the method with this name makes."""
        path = os.path.join(self.folder, name)
        if not os.path.exists(path) and hasattr(self, name):
            getattr(self, name)(path)
        return path

    def run(self, *arguments, data=None, stdout=None):
        command = [self.blpk, "-q", "-f", *arguments]
        return subprocess.run(command, input=data, stdout=stdout, check=True).stdout

    def members(self, path, every=None):
        """Streams after each other; of `every` so many, the chunk of one is damaged."""
        one = self.run("c", "-k", "crc32", data=b"member", stdout=subprocess.PIPE)
        bad = bytearray(one)
        bad[-END_MARK - DIGEST - 1] ^= 1
        some = (bytes(bad) + one * (every - 1)) if every else one
        with open(path, "wb") as file:
            for _ in range(self.count // 1000):
                file.write(some * (1000 // (every or 1)))

    def bad_members(self, path):
        self.members(path, 2)

    def content(self, factor=1):
        return b"".join(struct.pack("<QQ", i, i * i) for i in range(self.count * factor))

    def chunks(self, path, factor=1):
        data = self.content(factor)
        size = str(len(data))
        self.run("c", "-k", "crc32", "-z", "16", "--max-app-chunks", "0", "--size", size, "-", path, data=data)

    def stream(self, path):
        """Chunks without a table, as they go through a pipe."""
        stream = self.run("c", "-k", "crc32", "-z", "16", data=self.content(), stdout=subprocess.PIPE)
        with open(path, "wb") as file:
            file.write(stream)

    def lines(self, path):
        with open(path, "w") as file:
            file.writelines(f"line {i}\n" for i in range(self.count))

    def records(self, path):
        self.run("records", "pack", self.path("lines"), path)

    def packed(self, path):
        self.run("records", "pack", "--packed", self.path("lines"), path)

    def small_packed(self, path):
        """One record in each chunk."""
        with open(self.path("long.lines"), "w") as file:
            file.writelines(f"line {i:035}\n" for i in range(self.count))
        self.run("records", "pack", "--packed", "-z", "64", self.path("long.lines"), path)

    def damaged(self, path, good, every, is_torn=False):
        """A copy in which one chunk of `every` so many is damaged, and perhaps the length of the first."""
        first = json.loads(self.run("info", "--json", good, stdout=subprocess.PIPE))["members"][0]
        with open(good, "rb") as file:
            data = bytearray(file.read())
        at = first["first_chunk_at"]
        for number in range(first["chunks"]):
            length = struct.unpack_from("<I", data, at + 12)[0]
            if number % every == 0:
                data[at + CHUNK_HEADER] ^= 0x55
            at += length + DIGEST
        if is_torn:
            data[first["first_chunk_at"] + 12] ^= 1
        with open(path, "wb") as file:
            file.write(data)

    def damages(self, path, is_torn=False):
        """As many damages as items, each followed by a sound chunk."""
        good = self.path("twice.blp")
        self.chunks(good, 2)
        self.damaged(path, good, 2, is_torn)
        os.remove(good)

    def run_of_damages(self, path):
        """As many damages without a sound chunk between them, and one at the end."""
        self.damaged(path, self.path("chunks"), 1)

    def torn_damages(self, path):
        """As many damages, of which the first ends a reading in order."""
        self.damages(path, is_torn=True)

    def damaged_records(self, path):
        self.damaged(path, self.path("records"), 1)

    def damaged_packed(self, path):
        self.damaged(path, self.path("small_packed"), 1)

    def numbers(self, path):
        """An array of two-byte numbers."""
        header = b"{'descr': '<u2', 'fortran_order': False, 'shape': (%d,), }" % (2 * self.count)
        header = header.ljust(118 - 1) + b"\n"
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            file.write(self.content()[:4 * self.count])

    def npy(self):
        path = self.path("numbers")
        link = path + ".npy"
        if not os.path.exists(link):
            os.link(path, link)
        return link

    def frame(self, path):
        """A frame with a chunk for every two numbers."""
        self.run("import", self.npy(), path + ".b2nd", "--layout", "b2nd", "--chunkshape", "2")
        os.rename(path + ".b2nd", path)

    def table(self, path):
        csv = self.path("rows.csv")
        with open(csv, "w") as file:
            file.write("a,b\n")
            file.writelines(f"{i},{i / 7}\n" for i in range(self.count))
        self.run("import", csv, path, "--layout", "bcolz")

    def values(self, path):
        """New values for a column of the table."""
        with open(path, "wb") as file:
            file.write(self.content()[:8 * self.count])

    def directory(self, path):
        """A directory with a chunk for every two numbers."""
        self.run("import", self.npy(), path, "--layout", "blz-doc", "--chunklen", "2")

    def array(self, path):
        """A Bloscpack file that contains a NumPy array, with a chunk for every eight numbers."""
        metadata = {"container": "numpy", "dtype": "<u2", "order": "C", "shape": [2 * self.count]}
        with open(self.path("metadata.json"), "w") as file:
            json.dump(metadata, file)
        data = self.content()[:4 * self.count]
        self.run("c", "-z", "16", "-m", self.path("metadata.json"), "--size", str(len(data)), "-", path, data=data)


# Commands for each kind of input. "<" is the input as a pipe, "@" its path, "=" that of a copy which is changed, and "+" a new
# path.
CASES = {
    "members": [
        "info @", "info --json @", "info <", "info --json <", "verify @", "verify --json @", "verify <", "cat @", "cat <",
        "cat --range 1000..2000 @", "cat --chunk 500 @", "d -e @ +", "d - - <", "recover @ +", "recover --json @ +",
        "convert @ +",
    ],
    "chunks": [
        "info @", "info --json @", "info <", "verify @", "verify <", "cat @", "cat <", "cat --range 1000..2000 @",
        "cat --chunk 500 @", "d -e @ +", "d - - <", "recover @ +", "convert @ +", "append -e = lines", "patch --at 1000 = lines",
        "reindex =", "c -z 16 lines +", "c -z 16 - - lines<",
    ],
    "stream": [
        "info @", "info <", "verify @", "verify <", "cat @", "cat <", "cat --range 1000..2000 @", "d -e @ +", "recover @ +",
        "reindex =", "append -e = lines", "patch --at 1000 = lines",
    ],
    "records": [
        "info @", "info <", "verify @", "verify <", "cat @", "records unpack @ +", "records unpack - - <",
        "records get @ 7 9999", "records append = lines", "recover @ +", "records pack lines +", "records pack - - lines<",
    ],
    "packed": [
        "info @", "verify @", "records unpack @ +", "records unpack - - <", "records get @ 7 9999", "records append = lines",
        "recover @ +", "records pack --packed lines +", "records pack --packed - - lines<",
    ],
    "small_packed": ["info @", "verify @", "records get @ 7 9999", "records append = lines", "recover @ +"],
    "bad_members": [
        "verify @", "verify --json @", "verify <", "verify --json <", "recover @ +", "recover --json @ +", "cat @", "d -e @ +",
    ],
    "damages": [
        "verify @", "verify --json @", "verify <", "verify --json <", "recover @ +", "recover --json @ +",
        "recover --fill @ +",
    ],
    "run_of_damages": ["verify @", "verify --json @", "verify <", "recover @ +"],
    "torn_damages": ["verify @", "verify --json @", "recover @ +", "recover --json @ +"],
    "damaged_records": ["verify @", "verify <", "recover @ +"],
    "damaged_packed": ["verify @", "verify --json @", "verify <", "recover @ +"],
    "frame": [
        "info @", "verify @", "cat @", "cat --slice 1000:2000 @", "export @ - --to npy", "convert @ + --layout b2nd",
        "import numbers.npy + --layout b2nd --chunkshape 2",
    ],
    "table": [
        "info @", "verify @", "cat --column a @", "export @ - --to csv", "convert @ + --layout blz", "ls @",
        "import rows.csv +", "dataset append = rows.csv", "dataset trim = 1000", "dataset resize = 3000000",
        "dataset set = --column a --slice : values", "dataset attrs = unit 1", "dataset delete-column = b", "dataset repair =",
    ],
    "directory": [
        "info @", "verify @", "cat @", "cat --rows 1000..2000 @", "export @ - --to npy", "convert @ + --layout carray-doc",
        "dataset append = numbers.npy", "dataset trim = 1000", "dataset repair =",
    ],
    "array": ["info @", "export @ - --to npy", "export @ - --to csv", "convert @ + --layout bcolz"],
}


# Some of them, and the bytes that each item may take (docs/reliability.md has the reasons).
CHECKED = [
    ("members", "info @", 0),
    ("members", "info --json @", 0),
    ("members", "info --json <", 0),
    ("members", "verify --json @", 0),
    ("members", "cat --range 1000..2000 @", 400),
    ("members", "recover --json @ +", 700),
    ("chunks", "info @", 16),
    ("chunks", "verify @", 16),
    ("chunks", "recover @ +", 64),
    ("small_packed", "recover @ +", 112),
    ("damages", "verify --json @", 32),
    ("damages", "verify --json <", 32),
    ("damages", "recover --json @ +", 480),
    ("torn_damages", "verify --json @", 480),
    ("damaged_packed", "verify --json <", 16),
]


def measured(files, name, case):
    """The peak of a command in MiB, its exit status, and its seconds."""
    new, stdin, words = files.path("new"), None, []
    for word in case.split():
        match word:
            case "@":
                words.append(files.path(name))
            case "=":
                copy = shutil.copytree if os.path.isdir(files.path(name)) else shutil.copyfile
                copy(files.path(name), files.path("copy"))
                words.append(files.path("copy"))
            case "+":
                words.append(new + (".b2nd" if "b2nd" in case else ""))
            case "<":
                stdin = files.path(name)
            case "lines<":
                stdin = files.path("lines")
            case "lines" | "rows.csv" | "values":
                words.append(files.path(word))
            case "numbers.npy":
                words.append(files.npy())
            case _:
                words.append(word)
    begun = time.time()
    peak, status = peak_mib([files.blpk, "-q", "-f", "-n", "2", *words], stdin)
    seconds = time.time() - begun
    for path in (new, new + ".b2nd", files.path("copy")):
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
    return peak, status, seconds


def main():
    blpk = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    wanted = sys.argv[3:]
    with tempfile.TemporaryDirectory(prefix="blpk-memory-") as folder:
        files = Files(blpk, folder, count)
        print("| items | command | MiB | status | s |\n|---|---|--:|--:|--:|")
        for name, cases in CASES.items():
            for case in cases if not wanted or name in wanted else ():
                peak, status, seconds = measured(files, name, case)
                print(f"| {name} | `{case}` | {peak:.0f} | {status} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
