"""NumPy arrays in Bloscpack files."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native, files
from ._buffers import into_array, of_bytes, threads
from ._deprecated import deprecated
from ._new_file import NewFile
from .abstract_io import CompressedSink, CompressedSource, PlainSink, PlainSource, pack, unpack
from .args import BloscArgs, BloscpackArgs, MetadataArgs, calculate_nchunks
from .constants import MAX_TYPESIZE
from .defaults import DEFAULT_CHUNK_SIZE
from .errors import UsageError
from .exceptions import ChunkSizeTypeSizeMismatch, NotANumpyArray, ObjectNumpyArrayRejection
from .file_io import CompressedFPSink, CompressedFPSource, _is_quick, _pack_quickly, _unpack
from .pretty import double_pretty_size

Array = NDArray[Any]


def _is_fortran(array: Array) -> bool:
    return bool(np.isfortran(array))


def _ndarray_meta(ndarray: Array) -> dict[str, Any]:
    """The metadata of an array. The dtype is a Python literal, because JSON has no tuples."""
    dtype = ndarray.dtype
    return {
        "dtype": repr(dtype.descr if dtype.names is not None else dtype.str),
        "shape": ndarray.shape,
        "order": "F" if _is_fortran(ndarray) else "C",
        "container": "numpy",
    }


def _stored(array: Array) -> Array:
    """The elements as a one-dimensional array, in their stored order."""
    return array.reshape(-1, order="F" if _is_fortran(array) else "C")


def _check_chunk_size(chunk_size: int, itemsize: int) -> None:
    if itemsize and chunk_size % itemsize:
        raise ChunkSizeTypeSizeMismatch(
            f"the chunk size {double_pretty_size(chunk_size)} is not a multiple of the {itemsize} bytes of an element"
        )


class PlainNumpySource(PlainSource):
    """The elements of an array."""

    def __init__(self, ndarray: Array) -> None:
        self.metadata = _ndarray_meta(ndarray)
        self.size = ndarray.size * ndarray.itemsize
        self.ndarray = ndarray

    def __iter__(self) -> Iterator[Any]:
        _check_chunk_size(self.chunk_size, self.ndarray.itemsize)
        data = of_bytes(_stored(self.ndarray))
        for number in range(self.nchunks):
            start = number * self.chunk_size
            yield data[start : start + (self.last_chunk if number == self.nchunks - 1 else self.chunk_size)]


def _conv(descr: Any) -> Any:
    """Turns lists of fields into lists of tuples, for files of old versions, in which JSON has replaced tuples by lists.

    >>> _conv([["a", [["b", "f8"]]]])
    [('a', [('b', 'f8')])]
    """
    if not isinstance(descr, list):
        return descr
    inner = [_conv(item) for item in descr]
    return inner if isinstance(descr[0], list) else tuple(inner)


def _dtype_of(metadata: dict[str, Any]) -> np.dtype[Any]:
    text = metadata["dtype"]
    try:
        return np.dtype(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return np.dtype(_conv(text))


def _new_array(metadata: Any) -> Array:
    """A new uninitialized array, as the metadata describes it."""
    if not isinstance(metadata, dict) or metadata.get("container") != "numpy":
        raise NotANumpyArray("the file does not contain an array of NumPy: its metadata does not describe one")
    dtype = _dtype_of(metadata)
    if dtype.hasobject:
        raise ObjectNumpyArrayRejection("an array of Python objects cannot be read")
    return np.empty(metadata["shape"], dtype=dtype, order=metadata["order"])


class PlainNumpySink(PlainSink):
    """Decompresses chunks into a new array."""

    def __init__(self, metadata: Any) -> None:
        self.metadata = metadata
        self.ndarray = _new_array(metadata)
        self._left = into_array(self.ndarray)

    def put(self, compressed: bytes) -> int:
        chunk = of_bytes(compressed)
        size = _native.chunk_header(chunk)["nbytes"]
        if size > len(self._left):
            raise ValueError(f"a chunk of {size} bytes, but only {len(self._left)} of the array are left")
        out, self._left = self._left[:size], self._left[size:]
        return _native.decompress_chunk_into(chunk, None, out, threads())


def _blosc_args_for(ndarray: Array, blosc_args: BloscArgs | None) -> BloscArgs:
    if ndarray.dtype.hasobject:
        raise ObjectNumpyArrayRejection("an array of Python objects cannot be stored")
    blosc_args = BloscArgs() if blosc_args is None else blosc_args
    # Blosc treats longer elements as bytes.
    itemsize = ndarray.dtype.itemsize
    blosc_args.typesize = itemsize if 0 < itemsize <= MAX_TYPESIZE else 1
    return blosc_args


def pack_ndarray(
    ndarray: Array,
    sink: CompressedSink,
    chunk_size: int | str | None = DEFAULT_CHUNK_SIZE,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Compresses an array into a sink. The typesize is always the size of its elements."""
    blosc_args = _blosc_args_for(ndarray, blosc_args)
    source = PlainNumpySource(ndarray)
    chunking = calculate_nchunks(source.size, DEFAULT_CHUNK_SIZE if chunk_size is None else chunk_size)
    pack(source, sink, *chunking, source.metadata, blosc_args, bloscpack_args, metadata_args)


def _pack_to(
    ndarray: Array,
    target: Any,
    chunk_size: int | str | None,
    blosc_args: BloscArgs | None,
    bloscpack_args: BloscpackArgs | None,
    metadata_args: MetadataArgs | None,
) -> None:
    ndarray = np.asanyarray(ndarray)
    blosc_args = _blosc_args_for(ndarray, blosc_args)
    if not ndarray.nbytes or not _is_quick(True, bloscpack_args, metadata_args):
        with contextlib.ExitStack() as stack:
            fp = target if isinstance(target, io.BytesIO) else stack.enter_context(stack.enter_context(NewFile(target)).open())
            pack_ndarray(ndarray, CompressedFPSink(fp), chunk_size, blosc_args, bloscpack_args, metadata_args)
        return
    chunking = calculate_nchunks(ndarray.nbytes, DEFAULT_CHUNK_SIZE if chunk_size is None else chunk_size)
    _check_chunk_size(chunking[1], ndarray.itemsize)
    data = of_bytes(_stored(ndarray))
    _pack_quickly(target, data, chunking, _ndarray_meta(ndarray), blosc_args, bloscpack_args)


def pack_ndarray_to_file(
    ndarray: Array,
    filename: files.Path,
    chunk_size: int | str | None = DEFAULT_CHUNK_SIZE,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Compresses an array into a file, which appears when it is complete. The typesize is the size of its elements."""
    _pack_to(ndarray, filename, chunk_size, blosc_args, bloscpack_args, metadata_args)


def pack_ndarray_to_bytes(
    ndarray: Array,
    chunk_size: int | str | None = DEFAULT_CHUNK_SIZE,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> bytes:
    """Compresses an array into the bytes of a file.

    >>> unpack_ndarray_from_bytes(pack_ndarray_to_bytes(np.arange(6).reshape(2, 3)))
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    target = io.BytesIO()
    _pack_to(ndarray, target, chunk_size, blosc_args, bloscpack_args, metadata_args)
    return target.getvalue()


def unpack_ndarray(source: CompressedSource) -> Array:
    """The array in a source."""
    sink = PlainNumpySink(source.metadata)  # type: ignore[attr-defined]
    unpack(source, sink)
    return sink.ndarray


def _unpack_from(source: Any, out: Array | None) -> Array:
    content, metadata = _unpack(source)
    array = _new_array(metadata)
    if len(content) != array.nbytes:
        raise ValueError(f"the array has {array.nbytes} bytes, but the content {len(content)}")
    if out is None:
        content.readinto_at(0, array)
        return array
    if out.shape != array.shape or out.dtype != array.dtype:
        raise UsageError(f"the array is {array.dtype} of the shape {array.shape}, out is {out.dtype} of {out.shape}")
    if not (out.flags.f_contiguous if _is_fortran(array) else out.flags.c_contiguous):
        content.readinto_at(0, array)
        out[...] = array
    elif out.size:
        content.readinto_at(0, out)
    return out


def unpack_ndarray_from_file(filename: files.Path, *, out: Array | None = None) -> Array:
    """The array in the file at a path or a URL: a new one, or ``out``, which must have its shape and dtype.

    >>> import bloscpack, tempfile
    >>> path = tempfile.mkdtemp() + "/a.blp"
    >>> bloscpack.pack_ndarray_to_file(np.arange(3), path)
    >>> frame = np.empty((2, 3), int)
    >>> for number in range(2):
    ...     _ = bloscpack.unpack_ndarray_from_file(path, out=frame[number])
    >>> frame
    array([[0, 1, 2],
           [0, 1, 2]])
    """
    return _unpack_from(filename, out)


def unpack_ndarray_from_bytes(bytes_: Any, *, out: Array | None = None) -> Array:
    """The array in the bytes of a file; ``out`` as for `unpack_ndarray_from_file`."""
    return _unpack_from(io.BytesIO(bytes_), out)


pack_ndarray_file = deprecated(pack_ndarray_to_file, "pack_ndarray_file")
pack_ndarray_str = deprecated(pack_ndarray_to_bytes, "pack_ndarray_str")
unpack_ndarray_file = deprecated(unpack_ndarray_from_file, "unpack_ndarray_file")
unpack_ndarray_str = deprecated(unpack_ndarray_from_bytes, "unpack_ndarray_str")
__all__ = [name for name in dir() if "pack_" in name] + ["CompressedFPSource", "PlainNumpySink", "PlainNumpySource"]
