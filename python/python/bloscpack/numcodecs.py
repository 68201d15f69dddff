"""The codec ``blosc`` of Zarr and numcodecs, thread-safe and safe against damaged input.

`register` makes numcodecs use this codec in place of its own; also Zarr 3, if it is installed.

>>> codec = Blosc(cname="zstd", clevel=1, shuffle=Blosc.SHUFFLE)
>>> data = np.arange(1000)
>>> bytes(codec.decode(codec.encode(data))) == data.tobytes()
True
>>> codec
Blosc(cname='zstd', clevel=1, shuffle=SHUFFLE, blocksize=0)
"""

from __future__ import annotations

from collections.abc import Callable
from threading import current_thread, main_thread
from typing import Any

import numpy as np

from . import _native
from ._buffers import new_bytes, of_bytes, set_threads, threads
from ._options import COMPRESSORS
from .errors import DamagedError

NOSHUFFLE, SHUFFLE, BITSHUFFLE, AUTOSHUFFLE = 0, 1, 2, -1
AUTOBLOCKS = 0
MAX_BUFFERSIZE = 2**31 - 1
_SHUFFLES = {AUTOSHUFFLE: "AUTOSHUFFLE", NOSHUFFLE: "NOSHUFFLE", SHUFFLE: "SHUFFLE", BITSHUFFLE: "BITSHUFFLE"}

try:
    from numcodecs.abc import Codec as _Codec
except ImportError:

    class _Codec:  # type: ignore[no-redef]
        """The base class of codecs, if numcodecs is not installed."""


class DecodeError(DamagedError, RuntimeError):
    """A chunk that cannot be decompressed."""


def list_compressors() -> list[str]:
    """The names of numcodecs' compressors, and ``snappy``."""
    return [name for name in COMPRESSORS if name != "snappy"]


def _decoding(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except DamagedError as error:
        raise DecodeError(str(error)) from error


def _contiguous(buffer: Any, what: str) -> np.ndarray:
    """The bytes of a buffer, in the order of its memory."""
    if isinstance(buffer, np.ndarray):
        if buffer.dtype.hasobject:
            raise TypeError("arrays of Python objects have no bytes to compress")
        if not (buffer.flags.c_contiguous or buffer.flags.f_contiguous):
            raise ValueError(f"{what}: an array with contiguous memory is required")
        return of_bytes(buffer.reshape(-1, order="A"))
    return of_bytes(buffer)


def _itemsize(buffer: Any) -> int:
    size = buffer.itemsize if isinstance(buffer, np.ndarray) else memoryview(buffer).itemsize
    return size if 0 < size < 256 else 1


class Blosc(_Codec):
    """A Blosc 1 codec with ``cname``, ``clevel`` from 0 to 9, ``shuffle``, and ``blocksize`` (0: automatic).

    ``AUTOSHUFFLE`` shuffles bits if elements have one byte, and bytes otherwise.
    """

    codec_id = "blosc"
    NOSHUFFLE, SHUFFLE, BITSHUFFLE, AUTOSHUFFLE = NOSHUFFLE, SHUFFLE, BITSHUFFLE, AUTOSHUFFLE
    max_buffer_size = MAX_BUFFERSIZE

    def __init__(
        self,
        cname: str = "lz4",
        clevel: int = 5,
        shuffle: int = SHUFFLE,
        blocksize: int = AUTOBLOCKS,
        typesize: int | None = None,
    ) -> None:
        if typesize is not None and typesize < 1:
            raise ValueError(f"Cannot use typesize {typesize} less than 1.")
        self.cname = cname
        self.clevel = clevel
        self.shuffle = shuffle
        self.blocksize = blocksize
        self._typesize = typesize

    def _checked(self, data: np.ndarray) -> np.ndarray:
        if len(data) > self.max_buffer_size:
            raise ValueError(f"Codec does not support buffers of > {self.max_buffer_size} bytes")
        return data

    def encode(self, buf: Any) -> bytes:
        """Compresses a buffer into a chunk."""
        data = self._checked(_contiguous(buf, "encode"))
        typesize = _itemsize(buf) if self._typesize is None else self._typesize
        if typesize < 1:
            raise ValueError(f"Cannot use typesize {typesize} less than 1.")
        if self.shuffle not in _SHUFFLES:
            raise ValueError(f"invalid shuffle argument; expected -1, 0, 1 or 2, found {self.shuffle!r}")
        shuffle = (BITSHUFFLE if typesize == 1 else SHUFFLE) if self.shuffle == AUTOSHUFFLE else self.shuffle
        return _native.compress_chunk(data, typesize, self.clevel, shuffle, self.cname, self.blocksize or None, _threads_for(len(data)))

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decompresses a chunk, into ``out`` if it is given."""
        chunk = self._checked(_contiguous(buf, "decode"))
        size = _nbytes(chunk)

        def fill(memory: np.ndarray) -> None:
            _decoding(_native.decompress_chunk_into, chunk, None, memory, _threads_for(size))

        if out is None:
            return new_bytes(size, fill)
        target = _target(out)
        if len(target) < size:
            raise ValueError(f"destination buffer too small; expected at least {size}, got {len(target)}")
        fill(target[:size])
        return out

    def decode_partial(self, buf: Any, start: int, nitems: int, out: Any = None) -> Any:
        """Decompresses some elements of a chunk. Only the blocks that contain them are decompressed."""
        chunk = self._checked(_contiguous(buf, "decode"))
        typesize = _decoding(_native.chunk_header, chunk)["typesize"]
        target = np.empty(nitems * typesize, np.uint8) if out is None else _target(out)
        if len(target) < nitems * typesize:
            raise ValueError(f"destination buffer too small; expected at least {nitems * typesize}, got {len(target)}")
        _decoding(_native.decompress_chunk_into, chunk, start * typesize, target[: nitems * typesize], 1)
        return target.tobytes() if out is None else out

    def get_config(self) -> dict[str, Any]:
        """The parameters, as stored in the metadata of an array."""
        config = {"id": self.codec_id, "cname": self.cname, "clevel": self.clevel}
        return config | {"shuffle": self.shuffle, "blocksize": self.blocksize}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Blosc:
        """The codec with these parameters."""
        return cls(**{name: value for name, value in config.items() if name != "id"})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blosc) and self.get_config() == other.get_config()

    def __hash__(self) -> int:
        return hash(tuple(self.get_config().items()))

    def __repr__(self) -> str:
        shuffle = _SHUFFLES.get(self.shuffle, self.shuffle)
        return f"Blosc(cname={self.cname!r}, clevel={self.clevel!r}, shuffle={shuffle}, blocksize={self.blocksize})"


class _IntoArrays(Blosc):
    """Decompresses into new NumPy arrays, whose memory may come in huge pages."""

    def decode(self, buf: Any, out: Any = None) -> Any:
        if out is None:
            out = np.empty(_nbytes(_contiguous(buf, "decode")), np.uint8)
        return super().decode(buf, out)


def _target(out: Any) -> np.ndarray:
    """The memory of a buffer, for writing."""
    if isinstance(out, np.ndarray):
        if out.dtype.hasobject:
            raise TypeError("arrays of Python objects cannot be filled")
        if not (out.flags.c_contiguous or out.flags.f_contiguous) or not out.flags.writeable:
            raise ValueError("an array with contiguous memory that can be written is required")
        return out.reshape(-1, order="A").view(np.uint8)
    view = memoryview(out)
    if view.readonly:
        raise ValueError("a buffer that can be written is required")
    return np.frombuffer(view.cast("B"), np.uint8)


def register() -> None:
    """Makes numcodecs use this codec; also Zarr 3, if it is installed."""
    import numcodecs

    numcodecs.register_codec(Blosc)
    try:
        import zarr
        from zarr.registry import register_codec
    except ImportError:
        return
    name = "bloscpack.numcodecs.BloscCodec"
    register_codec("blosc", _zarr_codec(), qualname=name)
    # Zarr's configuration names its own.
    zarr.config.set({"codecs.blosc": name})


def _zarr_codec() -> type:
    """A subclass of Zarr's codec that uses this module."""
    from zarr.codecs import BloscCodec as Theirs

    class BloscCodec(Theirs):
        """The codec ``blosc`` of Zarr 3."""

        @property
        def _blosc_codec(self) -> Blosc:
            shuffle = {"noshuffle": NOSHUFFLE, "shuffle": SHUFFLE, "bitshuffle": BITSHUFFLE}
            return _IntoArrays(
                cname=str(getattr(self.cname, "value", self.cname)),
                clevel=self.clevel,
                shuffle=shuffle[str(getattr(self.shuffle, "value", self.shuffle))],
                blocksize=self.blocksize,
                typesize=self.typesize,
            )

    BloscCodec.__module__, BloscCodec.__qualname__ = __name__, "BloscCodec"
    globals()["BloscCodec"] = BloscCodec
    return BloscCodec


def cbuffer_sizes(source: Any) -> tuple[int, int, int]:
    """The uncompressed size of a chunk, its compressed size, and its block size, in bytes."""
    header = _native.chunk_header(of_bytes(source))
    return header["nbytes"], header["cbytes"], header["blocksize"]


_cbuffer_sizes = cbuffer_sizes


def cbuffer_complib(source: Any) -> str | None:
    """The compressor of a chunk."""
    name = _native.chunk_header(of_bytes(source))["cname"]
    return {"lz4": "LZ4", "blosclz": "BloscLZ", "zlib": "Zlib", "zstd": "Zstd", "snappy": "Snappy"}.get(name, name)


def cbuffer_metainfo(source: Any) -> tuple[int, int, bool]:
    """The typesize and the filter of a chunk, and whether it is stored uncompressed."""
    header = _native.chunk_header(of_bytes(source))
    shuffle = {"none": NOSHUFFLE, "byte": SHUFFLE, "bit": BITSHUFFLE}[header["shuffle"]]
    return header["typesize"], shuffle, header["is_copy"]


_cbuffer_metainfo = cbuffer_metainfo


def compress(
    source: Any, cname: str | bytes, clevel: int, shuffle: int = SHUFFLE, blocksize: int = AUTOBLOCKS, typesize: int | None = None
) -> bytes:
    """Compresses a buffer into a chunk."""
    name = cname.decode() if isinstance(cname, bytes) else cname
    return Blosc(name, clevel, shuffle, blocksize, typesize).encode(source)


def decompress(source: Any, dest: Any = None) -> Any:
    """Decompresses a chunk, into ``dest`` if it is given."""
    return Blosc().decode(source, dest)


def decompress_partial(source: Any, start: int, nitems: int, dest: Any = None) -> Any:
    """Decompresses some elements of a chunk."""
    return Blosc().decode_partial(source, start, nitems, dest)


#: Whether calls use several threads for chunks of a megabyte or more. `None`: only calls in the main thread do.
use_threads: bool | None = None
_SHARED_FROM = 1 << 20


def get_nthreads() -> int:
    """The number of threads that a call may use."""
    return threads()


def set_nthreads(nthreads: int) -> int:
    """Sets the number of threads that a call may use, and returns the old number."""
    return set_threads(nthreads)


def _threads_for(nbytes: int) -> int:
    if nbytes < _SHARED_FROM or use_threads is False:
        return 1
    return threads() if use_threads or current_thread() is main_thread() else 1


def _nbytes(chunk: np.ndarray) -> int:
    return _decoding(_native.chunk_header, chunk)["nbytes"]


def init() -> None:
    """Does nothing: the module has no state."""


def destroy() -> None:
    """Does nothing: the module has no state."""


