"""Names that once differed between versions of Python."""

from collections import OrderedDict
from io import BytesIO as StringIO

__all__ = ["OrderedDict", "StringIO"]
