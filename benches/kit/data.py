"""The kinds of data: description, element size, and how to make a file of each."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Kind:
    name: str
    typesize: int
    about: str


KINDS = {kind.name: kind for kind in (
    Kind("walk", 8, "float64, a random walk that uses all bits of the mantissa"),
    Kind("ticks", 8, "float64, a random walk in steps of 1/64"),
    Kind("ramp", 8, "int64, counting up"),
    Kind("sensor", 2, "uint16, waves with noise of a few steps"),
    Kind("field", 4, "float32, a smooth three-dimensional field with noise of one part in ten thousand"),
    Kind("text", 1, "words of a made-up language, with natural word frequencies"),
    Kind("noise", 8, "random bytes"),
)}


def make(setting, kind, size, path):
    """Writes `size` bytes of a kind, the same bytes each time."""
    subprocess.run([setting.python("numpy"), Path(__file__).with_name("make.py"), kind, str(size), path], check=True)
