#!/usr/bin/env python3
"""Runs the tests that joblib has for its compressors, with ours among them."""

import sys
from pathlib import Path

import joblib
import pytest
from bloscpack.joblib import register

# Before the tests are collected: some have a case for each compressor that is known then.
register()
TESTS = Path(joblib.__file__).parent / "test"
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", "-o", "addopts=", str(TESTS / "test_numpy_pickle.py"), *sys.argv[1:]]))
