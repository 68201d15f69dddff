"""The interface of bcolz 1.2: compressed arrays and tables, in memory and in directories.

>>> import numpy as np
>>> from bloscpack import bcolz
>>> table = bcolz.ctable([np.arange(5), np.arange(5) ** 2], names=["x", "y"])
>>> [row.x for row in table.where("y > 3")]
[2, 3, 4]

`install` registers this module under the name ``bcolz``, for code that imports that name.

Differences from bcolz: changes of a directory become permanent and visible to others with ``flush``, all of them or none
(tables flush after each ``append``, as in bcolz). Arrays of Python objects are refused, because bcolz stores them as
pickles, which run code when they are read. Expressions can use operators and numexpr's functions, but no other Python code.
"""

import atexit as _atexit
import sys as _sys

from . import attrs as _attrs_module
from .carray import carray
from .ctable import ctable
from .evaluate import eval
from .params import (
    BITSHUFFLE,
    NOSHUFFLE,
    SHUFFLE,
    cparams,
    dask_here,
    defaults,
    defaults_ctx,
    filters,
    numexpr_here,
    pandas_here,
    tables_here,
)
from .storage import flush_all as _flush_all
from .toplevel import (
    arange,
    array2string,
    blosc_compressor_list,
    blosc_set_nthreads,
    blosc_version,
    detect_number_of_cores,
    fill,
    fromiter,
    get_printoptions,
    iterblocks,
    ones,
    open,
    print_versions,
    set_nthreads,
    set_printoptions,
    walk,
    zeros,
)

__version__ = "1.13.0"

_atexit.register(_flush_all)


def install() -> None:
    """Makes ``import bcolz`` import this module.

    >>> install()
    >>> import bcolz
    >>> bcolz.__name__
    'bloscpack.bcolz'
    """
    from . import carray_ext, toplevel, utils

    here = _sys.modules[__name__]
    _sys.modules["bcolz"] = here
    for module in (carray_ext, toplevel, utils):
        _sys.modules[f"bcolz.{module.__name__.rpartition('.')[2]}"] = module


__all__ = [name for name in dir() if not name.startswith("_")]
