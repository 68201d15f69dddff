"""Bloscpack files, bcolz and Blosc2 arrays: read, written and appended to.

>>> import bloscpack, numpy as np
>>> packed = bloscpack.pack_ndarray_to_bytes(np.arange(10.0))
>>> bloscpack.unpack_ndarray_from_bytes(packed)[2:4]
array([2., 3.])

* The interface of Bloscpack 0.16: `pack_ndarray_to_file`, `unpack_ndarray_from_file`, `pack_bytes_to_bytes`, `BloscArgs`, ...
* Inputs of every kind (arrays, tables, files): `open`, `convert`, `write`, `info`, `verify`, `recover`.
* Files: `open` (random access), `Reader` and `Writer` (pipes and sockets), `compress` and `decompress`, `append_bytes`.
* Records, objects of any length: `RecordWriter`, `open_records`, `read_records`, `append_records`.
* Arrays on disk, of bcolz, BLZ, Caterva and Blosc2: `open_array`; tables of bcolz and BLZ, also for pyarrow, Polars, DuckDB
  and pandas: `open_table`, `write_table`; the interface of bcolz: `bloscpack.bcolz`.
* The codec of Zarr: `bloscpack.numcodecs`.
"""

from . import errors
from ._buffers import set_threads
from .append import append_fp as append_fp
from .arrays import Array, open_array
from .args import BloscArgs, BloscpackArgs, MetadataArgs
from .conversion import convert, refs, write
from .errors import Error
from .file_io import (
    pack_bytes_file,
    pack_bytes_to_bytes,
    pack_bytes_to_file,
    pack_file,
    pack_file_to_file,
    unpack_bytes_file,
    unpack_bytes_from_bytes,
    unpack_bytes_from_file,
    unpack_file,
    unpack_file_from_file,
)
from .files import File, Reader, Writer, compress, decompress, iterate
from .files import append as append_bytes
from .inspect import Report, info, recover, verify
from .numpy_io import (
    pack_ndarray_file,
    pack_ndarray_str,
    pack_ndarray_to_bytes,
    pack_ndarray_to_file,
    unpack_ndarray_file,
    unpack_ndarray_from_bytes,
    unpack_ndarray_from_file,
    unpack_ndarray_str,
)
from .opening import open
from .records import Records, RecordWriter, append_records, open_records, read_records
from .tables import RowStream, Table, open_rows, open_table, write_table
from .version import __version__

__all__ = [name for name in dir() if not name.startswith("_")] + ["__version__"]
