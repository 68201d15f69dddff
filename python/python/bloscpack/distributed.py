"""The compression ``bloscpack`` of `Dask.distributed <https://distributed.dask.org>`_, for transfers and for data spilled to disk.

    distributed:
      comm:
        compression: bloscpack
      scheduler:
        preload: [bloscpack.distributed]
      nanny:
        preload: [bloscpack.distributed]
      worker:
        preload: [bloscpack.distributed]

in the configuration of all hosts, and `register` in the program of the client. Frames are Blosc 1 chunks of LZ4, shuffled as elements
of 8 bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from distributed.protocol.compression import Compression, compressions

from . import _native
from ._buffers import of_bytes, threads
from .constants import MAX_BUFFERSIZE

NAME = "bloscpack"


def _compress(data: Any) -> Any:
    content = of_bytes(data)
    # If the data comes back unchanged, Distributed sends it uncompressed.
    return data if len(content) > MAX_BUFFERSIZE else _native.compress_chunk(content, 8, 5, 1, "lz4", None, threads())


def _decompress(chunk: Any) -> bytearray:
    given = of_bytes(chunk)
    content = bytearray(_native.chunk_header(given)["nbytes"])
    _native.decompress_chunk_into(given, None, np.frombuffer(content, np.uint8), threads())
    return content


def register() -> None:
    """Adds the compression to this process. Schedulers, nannies and workers that load this module as ``preload`` call it."""
    compressions[NAME] = Compression(NAME, _compress, _decompress)


def dask_setup(server: Any) -> None:
    """What Dask calls when it loads this module as ``preload``."""
    register()
