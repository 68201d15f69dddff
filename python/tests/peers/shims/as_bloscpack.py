"""A plugin of pytest for the tests of bloscpack, which were written for an old NumPy: counts may be floats there."""

import numpy as np

_linspace = np.linspace


def linspace(start, stop, num=50, *arguments, **options):
    return _linspace(start, stop, int(num), *arguments, **options)


np.linspace = linspace
