"""Threads that share objects, and many opens, as `soak.py` does for longer."""

import os
import runpy
from pathlib import Path

import pytest

SOAK = runpy.run_path(str(Path(__file__).with_name("soak.py")))


def test_threads_share_objects_of_all_kinds(tmp_path):
    assert SOAK["share"](tmp_path, lambda count: count < 60) == 60 * SOAK["THREADS"]


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_memory_does_not_grow_with_opens(tmp_path):
    sizes = SOAK["open_often"](tmp_path, 4000)
    # A leak of one handle each would be more.
    assert sizes[-1] - sizes[0] < 2_000_000
