"""What python-blosc2 makes of stores that `blpk` has written, after one bit of them is flipped; by hand, since it takes long.

usage: store_flips.py BLPK [FLIPS]
Each flip is read by a process of its own, since some end in a signal. FLIPS of them, spread evenly, are tried for each store."""

import collections
import multiprocessing
import os
import sys
import tempfile
import warnings
from pathlib import Path

import blosc2

from common import Command

CSV = {
    "int": ("c\n1\n2\n300\n", ["--types", "c=i2"]),
    "nullable": ("c\n7\n\n9\n", ["--types", "c=u1"]),
    "text": ("c\nzwei\nn\u00e9\nthree\n", []),
    "string": ("c\na\nbc\nd\n", ["--types", "c=S2"]),
}


def values(path):
    with blosc2.CTable.open(str(path)) as table:
        return repr([(name, len(table), table[name][:].tolist()) for name in table.col_names])


def read(path, pipe):
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        pipe.send(values(path))
    except BaseException as error:
        pipe.send(error.__class__)


def outcome(path, sound):
    ours, theirs = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=read, args=(path, theirs))
    process.start()
    process.join(20)
    if process.is_alive():
        process.kill()
        return "hang"
    if process.exitcode:
        return "crash"
    found = ours.recv()
    return "error" if isinstance(found, type) else "same" if found == sound else "silent"


def main():
    blpk, most = Command(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    multiprocessing.set_start_method("fork")
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, types) in CSV.items():
            source, path = Path(folder, name + ".csv"), Path(folder, name + ".b2z")
            source.write_text(text, encoding="utf-8")
            blpk.ok("import", source, path, "--chunklen", 256, *types)
            whole, sound = path.read_bytes(), values(path)
            bits, counts = len(whole) * 8, collections.Counter()
            for bit in range(0, bits, max(1, bits // most) | 1):
                flipped = bytearray(whole)
                flipped[bit // 8] ^= 1 << bit % 8
                path.write_bytes(flipped)
                found = blpk.run("verify", path)
                counts["blpk misses" if found.returncode == 0 else "blpk reports"] += 1
                counts[outcome(path, sound)] += 1
            print(name, "of", bits, "bits:", dict(sorted(counts.items())), flush=True)


if __name__ == "__main__":
    main()
