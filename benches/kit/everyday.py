"""Twelve kinds of files that people try first, made without any package: the same bytes each time, but for `source`, `program`
and `zipped`, which are made of this repository and of the command itself."""

import array
import io
import json
import math
import random
import sqlite3
import subprocess
import tarfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The longest lists of numbers that are made one by one; longer files repeat them with other noise.
WORDS = ("request", "response", "timeout", "user", "session", "index", "update", "failed", "retry", "cache", "worker", "queue",
         "open", "close", "login", "order", "price", "client", "server", "token", "upload", "image", "report", "status")


def source(size, _):
    """Source code of this repository, as a tar archive, repeated if it is too short."""
    listed = subprocess.run(["git", "ls-files", "*.rs", "*.py", "*.md", "*.toml"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in sorted(listed.stdout.decode().split()):
            archive.add(ROOT / name, name)
    return cycled(packed.getvalue(), size)


def csv(size, noise):
    """CSV: time, name, price, volume, flag."""
    lines, length, price, time = ["time,symbol,price,volume,flag\n"], 0, 100.0, 1_700_000_000
    while length < size:
        time += noise.randrange(3)
        price = max(1.0, price + noise.gauss(0, 0.05))
        line = f"{time},{noise.choice(WORDS).upper()[:4]},{price:.2f},{noise.randrange(1, 5000)},{noise.choice('YN')}\n"
        lines.append(line)
        length += len(line)
    return "".join(lines).encode()[:size]


def logs(size, noise):
    """Logs of a server."""
    lines, length, time = [], 0, 0.0
    while length < size:
        time += noise.random()
        stamp = f"2026-03-{1 + int(time) // 86400 % 28:02}T{int(time) // 3600 % 24:02}:{int(time) // 60 % 60:02}:{time % 60:06.3f}Z"
        text = " ".join(noise.choices(WORDS, k=noise.randrange(3, 9)))
        line = f"{stamp} {noise.choice(('INFO ', 'INFO ', 'INFO ', 'WARN ', 'ERROR'))} [worker-{noise.randrange(8)}] " \
               f"10.0.{noise.randrange(4)}.{noise.randrange(256)} {text} id={noise.getrandbits(32):08x} {noise.randrange(900)}ms\n"
        lines.append(line)
        length += len(line)
    return "".join(lines).encode()[:size]


def jsonl(size, noise):
    """JSON, one object a line."""
    lines, length, number = [], 0, 0
    while length < size:
        number += 1
        line = json.dumps({"id": number, "name": " ".join(noise.choices(WORDS, k=2)), "score": round(noise.random() * 100, 3),
                           "tags": noise.sample(WORDS, 3), "active": noise.random() < 0.7,
                           "position": {"lat": round(noise.uniform(-90, 90), 5), "lon": round(noise.uniform(-180, 180), 5)}}) + "\n"
        lines.append(line)
        length += len(line)
    return "".join(lines).encode()[:size]


def npy(descr, numbers):
    """A .npy file of one dimension."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(numbers)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + numbers.tobytes()


def float64(size, noise):
    """float64 in a .npy file: measurements to four digits, slowly changing."""
    value, numbers = 20.0, array.array("d")
    for _ in range((size - 128) // 8):
        value += noise.gauss(0, 0.01)
        numbers.append(round(value, 4))
    return npy("<f8", numbers)


def float32(size, noise):
    """float32 in a .npy file: a smooth field with noise of one part in ten thousand."""
    count = (size - 128) // 4
    return npy("<f4", array.array("f", (math.sin(i / 500) * math.cos(i / 77_000) * (1 + noise.gauss(0, 1e-4)) for i in range(count))))


def int16(size, noise):
    """int16, sound of two channels as a WAV file."""
    samples = array.array("h")
    for i in range((size - 44) // 4):
        loud = 6000 * math.sin(i / 30_000)
        tone = loud * math.sin(i / 16) + 900 * math.sin(i / 5.3)
        samples.append(int(tone + noise.gauss(0, 20)))
        samples.append(int(tone * 0.8 + noise.gauss(0, 20)))
    data = samples.tobytes()
    head = b"RIFF" + (36 + len(data)).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    head += b"\1\0\2\0" + (44_100).to_bytes(4, "little") + (176_400).to_bytes(4, "little") + b"\4\0\x10\0data"
    return head + len(data).to_bytes(4, "little") + data


def int64(size, noise):
    """int64 without a header: times in nanoseconds, about a millisecond apart."""
    time, times = 1_700_000_000_000_000_000, array.array("q")
    for _ in range(size // 8):
        time += 1_000_000 + noise.randrange(50_000)
        times.append(time)
    return times.tobytes()


def picture(size, noise):
    """A picture without compression, as a PPM file: soft gradients with noise of a camera."""
    width = 2048
    height = (size - 20) // (3 * width)
    pixels = bytearray()
    grain = [int(noise.gauss(0, 1.5)) for _ in range(65_521)]
    for y in range(height):
        for x in range(width):
            light = 90 + 60 * math.sin(x / 340 + y / 900) + (40 if (x // 256 + y // 200) % 3 == 0 else 0)
            at = (y * width + x) * 7
            pixels += bytes((int(light) + grain[at % 65_521], int(light * 0.8) + grain[(at + 1) % 65_521],
                             int(light * 0.6) + grain[(at + 2) % 65_521]))
    return b"P6 %d %d 255\n" % (width, height) + bytes(pixels)


def database(size, noise):
    """A database of SQLite."""
    base = sqlite3.connect(":memory:")
    base.execute("create table orders (id integer primary key, customer text, day text, price real, count integer)")
    rows = size // 52
    base.executemany("insert into orders values (?, ?, ?, ?, ?)", (
        (i, " ".join(noise.choices(WORDS, k=2)), f"2026-{1 + i // 28 % 12:02}-{1 + i % 28:02}", round(noise.random() * 500, 2),
         noise.randrange(100)) for i in range(rows)))
    return base.serialize()[:size]


def zipped(size, noise):
    """Already compressed: what zlib makes of logs and of source code."""
    parts, length = [], 0
    while length < size:
        part = zlib.compress(logs(1 << 20, noise), 6)
        parts.append(part)
        length += len(part)
    return b"".join(parts)[:size]


def program(size, command):
    """A program: the command itself, repeated if it is too short."""
    return cycled(Path(command).read_bytes(), size)


def cycled(data, size):
    """As much of it as is wanted; a copy of it is far enough away that no compressor here finds it again."""
    return (data * (size // len(data) + 1))[:size]


KINDS = {
    "source code (tar)": source, "CSV": csv, "logs": logs, "JSON lines": jsonl, "float64 (.npy)": float64, "float32 (.npy)": float32,
    "int16 (.wav)": int16, "int64 times": int64, "picture (.ppm)": picture, "database (SQLite)": database,
    "already compressed": zipped, "program": program,
}


def make(name, size, command, path):
    """Writes a file of about `size` bytes."""
    maker = KINDS[name]
    data = maker(size, command if maker is program else random.Random(name))
    Path(path).write_bytes(data)
    return len(data)
