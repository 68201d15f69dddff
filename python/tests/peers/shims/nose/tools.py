"""Assertions of `unittest` as functions, with names in the style of nose."""

import re
import unittest

_case = unittest.TestCase()
_case.maxDiff = None

for _name in dir(_case):
    if _name.startswith("assert"):
        _snake = re.sub("([A-Z])", lambda match: "_" + match[1].lower(), _name)
        globals()[_snake] = getattr(_case, _name)

assert_equals = _case.assertEqual
