"""The version of this package, and of the interface it offers under old names."""

from ._native import VERSION as __version__

#: The version of Bloscpack whose functions and classes are here.
INTERFACE = "0.16.0"
__all__ = ["INTERFACE", "__version__"]
