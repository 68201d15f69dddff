"""The compression ``blp`` of fsspec: what opens files by it (pandas, dask, Intake) reads and writes Bloscpack files.

    import pandas
    from bloscpack.fsspec import register

    register()
    with fsspec.open("s3://bucket/prices.csv.blp", "rt", compression="infer") as file:
        prices = pandas.read_csv(file)
"""

from __future__ import annotations

import io
from typing import Any

import fsspec.compression

from .files import File, Reader, Writer

NAME = "blp"


def opened(file: Any, mode: str = "rb", **options: Any) -> Any:
    """A file object with the content of a Bloscpack file, or one that writes it into ``file``; options as for `Writer`."""
    if "r" not in mode:
        return Writer(file, **options)
    return io.BufferedReader(File(file) if file.seekable() else Reader(file))


def register() -> None:
    """Adds the compression to fsspec, also for the ending ``.blp``."""
    fsspec.compression.register_compression(NAME, opened, NAME, force=True)
