#!/usr/bin/env python3
"""Peak memory of the command, which must not depend on the length of the data.

    tests/memory.py [--long] [--pipes] target/release/blpk [GIB] [THREADS ...]

Runs `producer | blpk append FILE`, many small appends and many patches (more of these with `--long`, none with `--pipes`, which
needs no disk space) and commands over files of many small items, then `producer | blpk c | blpk d | consumer`, then the same with lines
as records; by default with 1 GiB and with 1, 2 and 8 threads. Prints the peak of each, and fails if one exceeds the limit in
docs/design.md or if a byte is lost. `tests/memory_items.py` prints the table of all commands over a million items.
"""

import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import memory_items

LIMIT_KIB = 64 * 1024
MIB = 1 << 20
CHUNK_KIB = 1024
# Members, chunks, records or damages.
ITEMS = 100_000
# The program itself, the buffers of input and output, and the stacks.
BASE_KIB = 10 * 1024
# Per thread: a filtered block (1 MiB for LZ4 at level 9), a compressed stream of it (an eighth), and LZ4's own tables.
CONTEXT_KIB = 1024 + 128 + 64


def samples():
    """64 MiB of a float64 random walk, noise and zeros, in pieces of 1 MiB."""
    rng = random.Random(7)
    level, walk = 0.0, []
    for _ in range(MIB // 8):
        level += rng.randrange(-4, 5) / 8
        walk.append(level)
    walk = struct.pack(f"<{len(walk)}d", *walk)
    pieces = [walk, rng.randbytes(MIB), bytes(MIB), walk[::-1]]
    return [pieces[i % len(pieces)] for i in range(64)]


def peak_kib(pid):
    """The peak memory of a running process according to the kernel; 0 once it has ended."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1))
    except (OSError, AttributeError):
        return 0


def lines():
    """8 MiB of text: lines of up to 99 bytes, some of them empty, in pieces of 1 MiB."""
    rng = random.Random(8)
    text = b"2026-11-21 warning: the value 17 of sensor 4 is none of 12; it was passed over, again. "
    pieces = []
    for _ in range(8):
        piece = b"".join(b"%s%d\n" % (text[:rng.randrange(len(text))], rng.randrange(10**12))
                         if rng.random() < 0.9 else b"\n" for _ in range(MIB // 40))
        pieces.append(piece[:MIB - 1] + b"\n")
    return pieces


def run(blpk, pieces, total, threads, there=("c",), back=("d",)):
    """Sends `total` bytes through both processes; returns their peaks in KiB and the seconds."""
    options = ["-q", "-n", str(threads)]
    pipe = subprocess.PIPE
    compress = subprocess.Popen([blpk, *there, *options], stdin=pipe, stdout=pipe)
    decompress = subprocess.Popen([blpk, *back, *options], stdin=compress.stdout, stdout=pipe)
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
    assert (received, crc) == (total, sent[0]), "the output differs from the input"
    return peaks, seconds


def append_limit(threads):
    """(threads + 3) x 2 x chunk, plus the block and compressor of each thread."""
    return BASE_KIB + (threads + 3) * 2 * CHUNK_KIB + threads * CONTEXT_KIB


# The old and the new chunk, both also compressed, the output, and a second attempt at level 9.
PATCH_LIMIT = BASE_KIB + 6 * CHUNK_KIB + CONTEXT_KIB


def watched(command, produce=None, stdout=None):
    """Runs a command, feeds it, and returns its peak in KiB."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout)
    feeder = threading.Thread(target=feed, args=(process.stdin, produce or (lambda: ())))
    feeder.start()
    peak = 0
    while process.poll() is None:
        peak = max(peak, peak_kib(process.pid))
        time.sleep(0.001)
    feeder.join()
    assert process.returncode == 0, f"{command}: exit status {process.returncode}"
    return peak


def feed(out, produce):
    with out:
        for piece in produce():
            out.write(piece)


def content(blpk, path, model):
    """Checks that the file has the content of the model."""
    process = subprocess.Popen([blpk, "cat", path], stdout=subprocess.PIPE)
    for piece in model:
        assert process.stdout.read(len(piece)) == piece, "the file has other bytes than were written"
    assert process.stdout.read() == b"", "the file has more bytes than were written"
    assert process.wait() == 0


def told(what, peak, limit, seconds):
    ok = peak < limit
    verdict = "ok" if ok else f"ABOVE {limit} KiB"
    print(f"{what}: {peak} KiB, {seconds:.1f} s: {verdict}", flush=True)
    return not ok


def changes(blpk, folder, pieces, gib, threads, long, wants_patches):
    """Appends from a pipe, small appends with one command each, and patches; returns the number of failures."""
    path, failed = os.path.join(folder, "a.blp"), 0
    count = max(1, int(gib * 1024))
    model = [pieces[i % len(pieces)] for i in range(count)]
    subprocess.run([blpk, "-f", "c", "-", path], input=b"", check=True)
    options = ["-q", "-n", str(threads)]
    start = time.monotonic()
    peak = watched([blpk, "append", *options, path], lambda: model)
    failed += told(f"append {count} MiB from a pipe, {threads} threads", peak,
                   append_limit(threads), time.monotonic() - start)
    content(blpk, path, model)

    count, peak, start = 256 if long else 32, 0, time.monotonic()
    for i in range(count):
        model.append(pieces[i * 5 % len(pieces)])
        peak = max(peak, watched([blpk, "append", *options, path], lambda: model[-1:]))
    failed += told(f"{count} appends of 1 MiB, {threads} threads", peak, append_limit(threads),
                   time.monotonic() - start)
    content(blpk, path, model)
    if not wants_patches:
        return failed
    return failed + patches(blpk, path, model, 1000 if long else 60)


def patches(blpk, path, model, count):
    rng, peak, start = random.Random(3), 0, time.monotonic()
    total = MIB * len(model)
    for _ in range(count):
        length = int(2 ** rng.uniform(0, 20))
        at = rng.randrange(total - length)
        # Half of the patches are noise, the others are copied from elsewhere.
        data = rng.randbytes(length) if rng.random() < 0.5 else model[rng.randrange(len(model))][:length]
        peak = max(peak, watched([blpk, "patch", "-q", "--at", str(at), path], lambda: [data]))
        overwrite(model, at, data)
    failed = told(f"{count} patches of 1 byte to 1 MiB", peak, PATCH_LIMIT, time.monotonic() - start)
    content(blpk, path, model)
    return failed


def overwrite(model, at, data):
    while data:
        number, here = divmod(at, MIB)
        part = data[:MIB - here]
        old = model[number]
        model[number] = old[:here] + part + old[here + len(part):]
        at, data = at + len(part), data[len(part):]


def records(blpk, gib, all_threads):
    """Lines as records through both processes, in each form; returns the number of failures."""
    pieces, failed = lines(), 0
    total = max(1, int(gib * 1024)) * MIB
    for threads in all_threads:
        for form in ((), ("--packed",), ("--quick",)):
            peaks, seconds = run(blpk, pieces, total, threads,
                                 ("records", "pack", *form, "-"), ("records", "unpack", "-"))
            what = f"{gib} GiB of lines, {threads} threads, records pack {' '.join(form)}"
            failed += told(what, max(peaks), append_limit(threads), seconds)
    return failed


def items(blpk, folder):
    """Commands over many small items, of which each may take so many bytes; returns the number of failures."""
    files, failed = memory_items.Files(blpk, folder, ITEMS), 0
    for name, case, each in memory_items.CHECKED:
        peak, _, seconds = memory_items.measured(files, name, case)
        limit = memory_items.BASE_MIB * 1024 + ITEMS * each // 1024
        failed += told(f"{ITEMS} {name}, {case}", int(peak * 1024), limit, seconds)
    return failed


def main():
    long, only_pipes = "--long" in sys.argv, "--pipes" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    blpk = arguments[0]
    gib = float(arguments[1]) if len(arguments) > 1 else 1
    failed = 0
    pieces = samples()
    all_threads = [int(n) for n in arguments[2:]] or [1, 2, 8]
    with tempfile.TemporaryDirectory(prefix="blpk-memory-") as folder:
        for threads in [] if only_pipes else all_threads:
            # A patch uses only one thread.
            patches_too = threads == all_threads[0]
            failed += changes(blpk, folder, pieces, gib, threads, long, patches_too)
        failed += 0 if only_pipes else items(blpk, folder)
    for threads in all_threads:
        peaks, seconds = run(blpk, pieces, int(gib * (1 << 30)), threads)
        ok = max(peaks) < LIMIT_KIB
        failed += not ok
        print(
            f"{gib} GiB, {threads} threads: compress {peaks[0]} KiB, decompress {peaks[1]} KiB, "
            f"{seconds:.1f} s: {'ok' if ok else 'ABOVE 64 MiB'}",
            flush=True,
        )
    failed += records(blpk, gib, all_threads)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
