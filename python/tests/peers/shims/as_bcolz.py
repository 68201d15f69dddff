"""A plugin of pytest for the tests of bcolz: ours under its name, with what the tests import of its insides."""

import importlib.util
import sys
import types
import unittest.mock
from pathlib import Path

import bloscpack.bcolz

bloscpack.bcolz.install()

py2help = types.ModuleType("bcolz.py2help")
py2help.xrange, py2help.PY2, py2help._inttypes, py2help._strtypes = range, False, (int,), (str, bytes)
sys.modules["bcolz.py2help"] = py2help

py2help_tests = types.ModuleType("bcolz.py2help_tests")
py2help_tests.Mock = unittest.mock.Mock
sys.modules["bcolz.py2help_tests"] = py2help_tests

# Of the package with the tests, only what they share.
tests = types.ModuleType("bcolz.tests")
tests.__path__ = [str(Path.cwd() / "peer_tests")]
sys.modules["bcolz.tests"] = tests
