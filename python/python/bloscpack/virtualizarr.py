"""A parser for `VirtualiZarr <https://virtualizarr.readthedocs.io>`_: datasets of bcolz, BLZ and carray, and Bloscpack files with
NumPy arrays, as virtual Zarr stores, without a copy of their chunks.

    import virtualizarr, obstore
    from bloscpack.virtualizarr import Parser
    from obspec_utils.registry import ObjectStoreRegistry

    registry = ObjectStoreRegistry({"file://": obstore.store.LocalStore()})
    virtual = virtualizarr.open_virtual_dataset("file:///data/prices.bcolz", registry=registry, parser=Parser())
    virtual.vz.to_kerchunk("prices.json")

It needs VirtualiZarr 2.8 or later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .conversion import refs

_FILE = "file://"


class Parser:
    """Makes a ``ManifestStore`` of the dataset at a URL; ``open_virtual_dataset`` calls it.

    ``columns`` selects some columns of a table, and ``skip_variables`` leaves some out. ``group`` selects a group of a folder of
    datasets: a table, or a folder in it. Inputs that readers of Zarr cannot read where they lie are a `UsageError`, as in `refs`.
    """

    def __init__(
        self, *, columns: Sequence[str] | None = None, group: str | None = None, skip_variables: Iterable[str] | None = None
    ) -> None:
        self.columns, self.group, self.skip_variables = columns, group, skip_variables

    def __call__(self, url: str, registry: Any) -> Any:
        from virtualizarr.manifests import ManifestStore
        from virtualizarr.parsers.kerchunk.translator import manifestgroup_from_kerchunk_refs

        path = url.removeprefix(_FILE)
        found = refs(path, url, columns=self.columns, templates=False)
        group = manifestgroup_from_kerchunk_refs(found, group=self.group, skip_variables=self.skip_variables)
        return ManifestStore(group=group, registry=registry)

