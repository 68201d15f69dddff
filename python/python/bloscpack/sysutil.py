"""Helpers of the benchmarks of Bloscpack 0.16."""

import os


def drop_caches() -> None:
    """Empties the page cache of Linux; only root can."""
    if os.geteuid():
        raise RuntimeError("only root can drop caches")
    sync()
    with open("/proc/sys/vm/drop_caches", "w") as control:
        control.write("3\n")


def sync() -> None:
    """Writes what the system holds back to disk."""
    os.sync()
