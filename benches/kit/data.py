"""The kinds of data: what they are, the bytes of an element, and how to make a file of each."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Kind:
    name: str
    typesize: int
    about: str


KINDS = {kind.name: kind for kind in (
    Kind("walk", 8, "float64, a random walk, all bits of the mantissa in use"),
    Kind("ticks", 8, "float64, a random walk in steps of 1/64"),
    Kind("ramp", 8, "int64, counting up"),
    Kind("sensor", 2, "uint16, waves and a noise of a few steps"),
    Kind("field", 4, "float32, a smooth field in three dimensions with a noise of a ten-thousandth"),
    Kind("text", 1, "words of a made-up language, as frequent as words are"),
    Kind("noise", 8, "random bytes"),
)}


def make(python, kind, size, path):
    """Writes `size` bytes of a kind; the same ones each time."""
    subprocess.run([python, Path(__file__).with_name("make.py"), kind, str(size), path], check=True)
