#!/usr/bin/env python3
"""Peak memory of `producer | blpk c | blpk d | consumer`, which must not depend on the length.

    tests/memory.py target/release/blpk [GIB] [THREADS ...]

Prints the peak of each process and fails if one is above 64 MiB, or if a byte is lost.
"""

import random
import re
import struct
import subprocess
import sys
import threading
import time
import zlib

LIMIT_KIB = 64 * 1024
MIB = 1 << 20


def samples():
    """64 MiB of a float64 walk, noise and zeros, in pieces of 1 MiB."""
    rng = random.Random(7)
    level, walk = 0.0, []
    for _ in range(MIB // 8):
        level += rng.randrange(-4, 5) / 8
        walk.append(level)
    walk = struct.pack(f"<{len(walk)}d", *walk)
    pieces = [walk, rng.randbytes(MIB), bytes(MIB), walk[::-1]]
    return [pieces[i % len(pieces)] for i in range(64)]


def peak_kib(pid):
    """The peak that the kernel counts for a running process; 0 once it has ended."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1))
    except (OSError, AttributeError):
        return 0


def run(blpk, pieces, total, threads):
    """Sends `total` bytes through both processes; returns their peaks in KiB and the seconds."""
    options = ["-q", "-n", str(threads)]
    pipe = subprocess.PIPE
    compress = subprocess.Popen([blpk, "c", *options], stdin=pipe, stdout=pipe)
    decompress = subprocess.Popen([blpk, "d", *options], stdin=compress.stdout, stdout=pipe)
    compress.stdout.close()
    sent = [0]

    def produce():
        left, i = total, 0
        with compress.stdin as out:
            while left:
                piece = pieces[i % len(pieces)][:left]
                out.write(piece)
                sent[0] = zlib.crc32(piece, sent[0])
                left, i = left - len(piece), i + 1

    peaks = [0, 0]

    def look():
        for i, process in enumerate((compress, decompress)):
            peaks[i] = max(peaks[i], peak_kib(process.pid))

    start = time.monotonic()
    producer = threading.Thread(target=produce)
    producer.start()
    received, crc = 0, 0
    while data := decompress.stdout.read(MIB):
        received, crc = received + len(data), zlib.crc32(data, crc)
        if received % (16 * MIB) == 0 or received > total - 16 * MIB:
            look()
    producer.join()
    seconds = time.monotonic() - start
    for process in (compress, decompress):
        assert process.wait() == 0, f"exit status {process.returncode}"
    assert (received, crc) == (total, sent[0]), "what comes out is not what went in"
    return peaks, seconds


def main():
    blpk = sys.argv[1]
    gib = float(sys.argv[2]) if len(sys.argv) > 2 else 1
    failed = 0
    pieces = samples()
    for threads in [int(n) for n in sys.argv[3:]] or [1, 2, 8]:
        peaks, seconds = run(blpk, pieces, int(gib * (1 << 30)), threads)
        ok = max(peaks) < LIMIT_KIB
        failed += not ok
        print(
            f"{gib} GiB, {threads} threads: compress {peaks[0]} KiB, decompress {peaks[1]} KiB, "
            f"{seconds:.1f} s: {'ok' if ok else 'ABOVE 64 MiB'}",
            flush=True,
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
