"""The engine ``bloscpack`` of `xarray <https://docs.xarray.dev>`_.

    xarray.open_dataset("cube.b2nd", engine="bloscpack", chunks={})
    xarray.open_dataset("prices.bcolz")

A table becomes variables along ``row``, an array one variable with the name of its file, a store, a group or a folder of datasets
a variable for each array in it. Elements are decompressed when they are used; ``chunks={}`` makes dask arrays whose chunks are
those of the file. Attributes are kept; ``_ARRAY_DIMENSIONS`` names the axes. `write` writes a dataset.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from . import _native
from .arrays import Array
from .conversion import convert
from .errors import UsageError
from .opening import open as opened
from .tables import RowStream, Table

_DIMENSIONS = "_ARRAY_DIMENSIONS"
_ENDINGS = (".b2nd", ".b2z", ".b2d", ".bcolz", ".blz", ".blp")


class _Lazy(BackendArray):
    """An array, as xarray indexes it."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER_1VECTOR, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        # NumPy would move the axis of an array of positions to the front if there is a single position, too.
        single = tuple(axis for axis, item in enumerate(key) if isinstance(item, (int, np.integer)))
        places = {axis: int(key[axis]) % self.shape[axis] for axis in single}
        box = tuple(slice(places[axis], places[axis] + 1) if axis in places else item for axis, item in enumerate(key))
        return self.array[box].squeeze(single)


def _variable(name: str, array: Any, first: str) -> xarray.Variable:
    """A variable of an array; `first` is the name of its first axis, unless its attributes name the axes."""
    attrs, axes = array.attrs, len(array.shape)
    names = attrs.pop(_DIMENSIONS, None)
    if not isinstance(names, list) or len(names) != axes:
        names = [first, *(f"{name}_{axis}" for axis in range(1, axes))][:axes]
    variable = xarray.Variable(names, indexing.LazilyIndexedArray(_Lazy(array)), attrs)
    chunks = tuple(max(length, 1) for length in array.chunks)
    variable.encoding.update(chunks=chunks, preferred_chunks=dict(zip(names, chunks)))
    return variable


def _dataset(path: str, name: str) -> xarray.Dataset:
    """An array or a table, not decoded."""
    found = opened(path)
    if isinstance(found, Array):
        return xarray.Dataset({name: _variable(name, found, f"{name}_0")})
    if isinstance(found, Table):
        return xarray.Dataset({column: _variable(column, found[column], "row") for column in found.names}, attrs=found.attrs)
    if isinstance(found, RowStream):
        raise UsageError(f"the rows of {path!r} are only read in order: use bloscpack.open({path!r}).to_pandas().to_xarray()")
    raise UsageError(f"{path!r} contains no arrays")


def _groups(source: Any) -> dict[str, xarray.Dataset]:
    """The groups of an input by path, not decoded: `/` has the arrays of a tree, and each table is a group of its own."""
    path = os.fspath(source)
    tree = _native.members(path)
    # A table that is the whole store is its only member.
    if tree is None or [member for member, _ in tree[0]] == ["."]:
        return {"/": _dataset(path, Path(path).stem or "array")}
    members, attributes = tree
    groups = {"/": xarray.Dataset(attrs=json.loads(attributes))}
    for member, is_table in members:
        folder, _, name = member.rpartition("/")
        group = "/" + (member if is_table else folder)
        found = _dataset(f"{path}/{member}", Path(name).stem if name.endswith(_ENDINGS) else name)
        groups[group] = groups.get(group, xarray.Dataset()).assign(found.variables) if not is_table else found
    return groups


def write(dataset: xarray.Dataset, path: str | os.PathLike[str], **options: Any) -> None:
    """Writes a dataset as a tree of arrays: ``.b2z``, ``.b2d``, ``.zarr``, or ``.bcolz``, which has no scalars and no attributes of
    the dataset, and whose chunks are whole rows. Values, names of axes, attributes, encoding and chunks come back from
    `xarray.open_dataset`.

    ``options`` are those of `bloscpack.convert`, such as ``cname="zstd"`` and ``replace=True``. Needs Zarr, and space for a
    temporary copy in the folder for temporary files.
    """
    with tempfile.TemporaryDirectory() as folder:
        group = os.path.join(folder, "dataset.zarr")
        dataset.to_zarr(group, zarr_format=2, consolidated=False)
        convert(group, path, arrays=True, **options)


class Backend(BackendEntrypoint):
    """Opens arrays, tables, and trees of them, from paths and URLs."""

    description = "Open bcolz, BLZ, Blosc2 (.b2nd, .b2z, .b2d) and Bloscpack (.blp)"
    open_dataset_parameters = (
        "drop_variables",
        "group",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "use_cftime",
        "decode_timedelta",
    )

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the ending of a path or URL is one of this family."""
        return isinstance(filename_or_obj, (str, os.PathLike)) and os.fspath(filename_or_obj).rstrip("/").endswith(_ENDINGS)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        concat_characters: bool = False,
        **decoders: Any,
    ) -> xarray.Dataset:
        """The arrays of an input, or of one of its groups."""
        groups = _groups(filename_or_obj)
        name = "/" + (group or "").strip("/")
        if name not in groups:
            raise UsageError(f"{filename_or_obj!r} has no group {name!r} (groups: {', '.join(groups)})")
        if name == "/" and not groups[name] and len(groups) > 1:
            raise UsageError(f"{filename_or_obj!r} is a tree: give a group ({', '.join(list(groups)[1:])}), or use open_datatree")
        return xarray.decode_cf(groups[name], concat_characters, drop_variables=drop_variables, **decoders)

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, xarray.Dataset]:
        """All groups of an input, for `open_datatree`."""
        options.setdefault("concat_characters", False)
        options.pop("group", None)
        return {name: xarray.decode_cf(found, **options) for name, found in _groups(filename_or_obj).items()}

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xarray.DataTree:
        """All groups of an input as a tree."""
        return xarray.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))
