"""A plugin of pytest for the tests of numcodecs: our codec in the place of its own."""

import sys

import numcodecs

import bloscpack.numcodecs

sys.modules["numcodecs.blosc"] = numcodecs.blosc = bloscpack.numcodecs
bloscpack.numcodecs.register()
