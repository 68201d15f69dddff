"""Names that differ between old versions of Python."""

from collections import OrderedDict
from io import BytesIO as StringIO

__all__ = ["OrderedDict", "StringIO"]
