"""Helpers of the benchmarks of Bloscpack 0.16."""

import os


def drop_caches() -> None:
    """Empties the page cache of Linux. Requires root."""
    if os.geteuid():
        raise RuntimeError("only root can drop caches")
    sync()
    with open("/proc/sys/vm/drop_caches", "w") as control:
        control.write("3\n")


def sync() -> None:
    """Writes the system's buffers to disk."""
    os.sync()
