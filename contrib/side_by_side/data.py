"""Data for contrib/side_by_side.py: the test data of the repository, and what seeded generators make."""

from __future__ import annotations

import math
import random
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "testdata"))
import archives  # noqa: E402

TESTDATA = archives.unpacked()

WORDS = ("alpha", "beta", "gamma", "delta", "", "\t", "ä", "0123456789" * 9)

METADATA = b'{"b": [1, 2.50, 1e3, null], "a": {"z": "\\u00e4", "y": ""}, "big": 123456789012345678901}'

SIMPLE_DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u4", "<i8", "<f2", "<f4", "<f8", ">f8", "<c8", "<c16", "|S5", "<U3",
                 ">U3", "<M8[D]", "<M8[ns]", "<m8[s]", "<M8[us]", ">i4")
SHAPES = ((500,), (40, 30), (7, 8, 9), (), (0,), (5, 0, 3), (1, 1), (3, 4, 2, 5))


def bloscpack_files() -> dict[str, Path]:
    return {path.stem: path for path in sorted((TESTDATA / "bloscpack").glob("*.blp"))}


def dataset_folders() -> dict[str, Path]:
    found = sorted(path for path in (TESTDATA / "datasets").glob("*/*") if path.is_dir())
    return {f"{path.parent.name}/{path.name}": path for path in found}


def frame_paths() -> dict[str, Path]:
    found = sorted(path for path in (TESTDATA / "frames").glob("*/*") if path.suffix != ".json")
    return {f"{path.parent.name}/{path.name}": path for path in found}


def walk(count: int, seed: int, most: int = 300) -> bytes:
    """A random walk of int32: what sensors give."""
    rng, level, values = random.Random(seed), 0, []
    for _ in range(count):
        level += rng.randrange(-most, most + 1)
        values.append(level)
    return struct.pack(f"<{count}i", *values)


def noise(length: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(length)


def lines(count: int, seed: int) -> bytes:
    """Lines of text of many lengths, some of them empty."""
    rng = random.Random(seed)
    return b"".join(" ".join(rng.choices(WORDS, k=rng.randrange(7))).encode() + b"\n" for _ in range(count))


def with_lengths(text: bytes) -> bytes:
    """The lines, each after its length."""
    return b"".join(struct.pack("<I", len(line)) + line for line in text.split(b"\n")[:-1])


def csv() -> bytes:
    rows = (f"2024-{n % 12 + 1:02}-{n % 28 + 1:02},{'äb c'[: n % 5]},{n * 7 % 101 / 4},{n * n % 97},{n % 3 == 0}\n"
            for n in range(700))
    return ("day,name,price,count,ok\n" + "".join(rows)).encode()


def sources() -> dict[str, bytes]:
    """Plain data of several kinds."""
    return {"walk": walk(20_000, 3), "short": walk(6_000, 4, 5)[1:], "noise": noise(30_001, 5), "zeros": bytes(40_000),
            "text": lines(900, 6), "tiny": b"x", "empty": b""}


def npy(descr: str, shape: tuple[int, ...], data: bytes, fortran: bool = False) -> bytes:
    """A file of NumPy."""
    sizes = "".join(f"{size}, " for size in shape)
    text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': ({sizes}), }}"
    text = text.ljust((len(text) + 11) // 64 * 64 + 53) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def integers(count: int, seed: int) -> bytes:
    """A file of NumPy with one axis of int32."""
    return npy("'<i4'", (count,), walk(count, seed))


def arrays() -> dict[str, tuple[int, bytes]]:
    """Arrays of NumPy of many dtypes and shapes, with how many axes each has."""
    found = {}
    for n, descr in enumerate(SIMPLE_DTYPES):
        shape = SHAPES[n % 3]
        name = re.sub(r"\W", "", descr) + ("-big" if descr[0] == ">" else "")
        found[name] = len(shape), npy(repr(descr), shape, cells(descr, math.prod(shape), n))
    for shape in SHAPES:
        name = "shape-" + ("x".join(map(str, shape)) or "scalar")
        found[name] = len(shape), npy("'<i4'", shape, walk(math.prod(shape), 5))
    found["fortran"] = 2, npy("'<i4'", (40, 30), walk(1200, 6), fortran=True)
    found["fields"] = 1, npy("[('a', '<i4'), ('b', '<f8'), ('c', '|S4')]", (200,), walk(800, 7))
    found["nested"] = 1, npy("[('a', '<i2', (2,)), ('b', [('x', '<i4'), ('y', '<i8')])]", (150,), walk(600, 8))
    return found


def cells(descr: str, count: int, seed: int) -> bytes:
    """Elements of a simple dtype, as they are in a file."""
    order, kind, size = descr[0], descr[1], int("".join(re.findall(r"\d+", descr)))
    rng = random.Random(seed)
    if kind == "U":
        letters = "".join(rng.choice("abcäé漢\0") for _ in range(count * size))
        return letters.encode("utf-32-be" if order == ">" else "utf-32-le")
    if kind in "fc":
        part = size if kind == "f" else size // 2
        numbers = count * size // part
        values = (rng.randrange(-999, 999) / 8 for _ in range(numbers))
        return struct.pack(f"{order}{numbers}{ {2: 'e', 4: 'f', 8: 'd'}[part] }", *values)
    if kind in "Sbiu" and size in (1, 5):
        return bytes(rng.randrange(2) if kind == "b" else rng.choice(b"abc \0") for _ in range(count * size))
    byteorder: Literal["big", "little"] = "big" if order == ">" else "little"
    return b"".join(rng.randrange(30_000).to_bytes(size, byteorder) for _ in range(count))


def damaged(data: bytes, seed: int, flips: int, cuts: int) -> list[bytes]:
    """Copies with one bit flipped, or cut short, or with bytes missing."""
    rng, found = random.Random(seed), []
    for n in range(flips):
        at = rng.randrange(min(len(data), 64 if n % 2 else len(data)))
        found.append(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
    for _ in range(cuts):
        at = rng.randrange(len(data))
        found += data[:at], data[:at] + data[at + rng.randrange(1, 40) :]
    return found


def damaged_in_folder(folder: Path, seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Files of a dataset that are changed, cut or emptied."""
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    rng = random.Random(seed)
    for n in range(count):
        name = rng.choice(names)
        data = (folder / name).read_bytes()
        harmed = damaged(data, seed * 100 + n, 1, 1) if data else [b"x", b"{}"]
        yield name, rng.choice([*harmed, b""])
