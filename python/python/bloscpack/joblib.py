"""The compressor ``bloscpack`` of joblib, for arrays and objects that contain them.

    import joblib
    from bloscpack.joblib import register

    register()
    joblib.dump(model, "model.joblib", compress="bloscpack")
    joblib.load("model.joblib")

A file is a Bloscpack stream of what joblib pickles, so ``blpk decompress`` and ``blpk verify`` read it, too. As with every pickle,
load only files that you trust. The level, as in ``compress=("bloscpack", 5)``, is that of Zstandard, 0 to 9; by default it is 2.
"""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import joblib
from joblib.compressor import CompressorWrapper

from .files import Reader, Writer

NAME = "bloscpack"
#: On mixed arrays, higher levels take three times as long for less than 1 %.
LEVEL = 2


class Compressor(CompressorWrapper):
    """What joblib calls to compress and decompress."""

    def __init__(self) -> None:
        super().__init__(Writer, prefix=b"blpk", extension=".blp")

    def compressor_file(self, fileobj: BinaryIO, compresslevel: int | None = None) -> io.BufferedWriter:
        """A file object that compresses into ``fileobj``."""
        # Most arrays in models and tables have elements of eight bytes; for others, shuffling in eights costs little.
        level = LEVEL if compresslevel is None else compresslevel
        return io.BufferedWriter(Writer(fileobj, cname="zstd", clevel=level, typesize=8, offsets=False), 1 << 20)

    def decompressor_file(self, fileobj: BinaryIO) -> io.BufferedReader:
        """A file object that decompresses ``fileobj``."""
        return io.BufferedReader(Reader(fileobj), 1 << 20)


def register() -> None:
    """Lets ``joblib.dump`` and ``joblib.load`` use the compressor. Call it before both."""
    joblib.register_compressor(NAME, Compressor(), force=True)
