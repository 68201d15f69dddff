"""usage: make.py KIND BYTES PATH; runs with NumPy. Writes data, the same each time, in pieces of a few MiB."""

import sys

import numpy as np

PIECE = 4 << 20


def walk(rng, _):
    """Normally distributed steps; uses all 52 bits of the mantissa."""
    level = 0.0
    while True:
        steps = level + np.cumsum(rng.normal(size=PIECE // 8))
        level = steps[-1]
        yield steps


def ticks(rng, _):
    """The walk rounded to steps of 1/64, as from instruments and some exchanges: most of the mantissa is zero."""
    for steps in walk(rng, _):
        yield np.round(steps * 64) / 64


def ramp(_, __):
    begin = 0
    while True:
        yield np.arange(begin, begin + PIECE // 8, dtype="<i8")
        begin += PIECE // 8


def sensor(rng, _):
    """A 16-bit converter: slow waves with noise of a few steps."""
    begin = 0
    while True:
        time = np.arange(begin, begin + PIECE // 2)
        wave = 9000 * np.sin(time / 5000) + 3000 * np.sin(time / 617) + 300 * np.sin(time / 41)
        yield (32768 + wave + rng.normal(scale=3, size=time.size)).astype("<u2")
        begin += time.size


def text(rng, _):
    """Words of a made-up language with natural (Zipf) frequencies, in sentences and lines."""
    letters = np.frombuffer(b"eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddllllcccuuummmwwffggyyppbbvk", "u1")
    words = [bytes(rng.choice(letters, size=n)) for n in 1 + rng.poisson(4.5, size=30000)]
    weight = 1 / (np.arange(len(words)) + 2.7)
    weight /= weight.sum()
    left = b""
    while True:
        while len(left) < PIECE:
            chosen = rng.choice(len(words), size=200_000, p=weight)
            ends = rng.random(chosen.size)
            # A word ends with a space, a comma, a full stop or a newline.
            left += b"".join(words[w] + (b" " if e > 0.15 else b", " if e > 0.08 else b". " if e > 0.02 else b".\n")
                             for w, e in zip(chosen.tolist(), ends.tolist(), strict=True))
        yield np.frombuffer(left[:PIECE], "u1")
        left = left[PIECE:]


def noise(rng, _):
    while True:
        yield np.frombuffer(rng.bytes(PIECE), "u1")


def field(rng, size):
    """A smooth three-dimensional field, planes of 512 x 512 float32, with noise of one part in ten thousand."""
    side, modes = 512, 16
    y, x = np.ogrid[0:side, 0:side]
    waves = rng.normal(size=(modes, 3)) * 2 * np.pi * 6 / side
    strength = 10 / (1 + np.arange(modes))
    planes = [(a * np.exp(1j * (ky * y + kx * x))).astype("c8") for a, (_, ky, kx) in zip(strength, waves, strict=True)]
    for z in range(size // (4 * side * side) + 1):
        plane = sum((p * np.complex64(np.exp(1j * kz * z))).real for p, (kz, _, _) in zip(planes, waves, strict=True))
        yield (plane + rng.normal(scale=1e-3, size=plane.shape)).astype("<f4")


def lines(rng, _):
    """A log: one record per line of 38 bytes."""
    number = 0
    while True:
        values = rng.integers(0, 10**6, size=100_000).tolist()
        yield np.frombuffer(b"".join(b"%010d sensor %02d reads %03d.%03d mV\n" % (number + i, v % 17, v // 1000, v % 1000)
                                     for i, v in enumerate(values)), "u1")
        number += len(values)


def main():
    kind, size, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    rng = np.random.default_rng(20261122)
    with open(path, "wb", buffering=0) as file:
        left = size
        for piece in globals()[kind](rng, size):
            part = memoryview(np.ascontiguousarray(piece).reshape(-1).view("u1"))[:left]
            while part:
                part = part[file.write(part):]
            left = size - file.tell()
            if not left:
                break


if __name__ == "__main__":
    main()
