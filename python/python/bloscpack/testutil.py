"""Helpers of the tests of Bloscpack 0.16."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np

Progress = Any


def simple_progress(i: int) -> None:
    """Prints a dot for every tenth call."""
    if not i % 10:
        print(".", end="")
    sys.stdout.flush()


def create_array(repeats: int, in_file: str, progress: Progress = False) -> None:
    """Writes an array of two million floats ``repeats`` times."""
    with open(in_file, "wb") as in_fp:
        create_array_fp(repeats, in_fp, progress)


def create_array_fp(repeats: int, in_fp: BinaryIO, progress: Callable[[int], None] | bool = False) -> None:
    """Writes an array of two million floats ``repeats`` times to a file object."""
    for number in range(repeats):
        in_fp.write(np.linspace(number, number + 1, 2_000_000).tobytes())
        if callable(progress):
            progress(number)
    in_fp.flush()


@contextlib.contextmanager
def create_tmp_files() -> Iterator[tuple[str, str, str, str]]:
    """A temporary directory, and three names in it."""
    with tempfile.TemporaryDirectory(prefix="bloscpack-") as folder:
        yield (folder, *(os.path.join(folder, name) for name in ("file", "file.blp", "file.dcmp")))  # type: ignore[misc]


def cmp_file(file1: str, file2: str) -> bool:
    """Compares two files."""
    with open(file1, "rb") as fp1, open(file2, "rb") as fp2:
        return cmp_fp(fp1, fp2)


def cmp_fp(fp1: BinaryIO, fp2: BinaryIO) -> bool:
    """Compares the remaining content of two file objects."""
    while one := fp1.read(1 << 20):
        assert one == fp2.read(len(one))
    assert not fp2.read(1)
    return True
