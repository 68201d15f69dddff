# Bloscpack 0.16 uses names that Python 3.10 removed from `collections`.
import collections
import collections.abc

for name in ("Mapping", "MutableMapping", "Sequence", "Iterable", "Callable"):
    setattr(collections, name, getattr(collections.abc, name))
