"""The version of this package, and of the Bloscpack interface that it implements."""

from ._native import VERSION as __version__

#: The version of Bloscpack whose functions and classes this package provides.
INTERFACE = "0.16.0"
__all__ = ["INTERFACE", "__version__"]
