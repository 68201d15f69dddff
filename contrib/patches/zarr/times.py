"""Seconds that two programs take to read the same arrays, in turn.

    times.py OURS THEIRS DIRECTORY
"""

import pathlib
import statistics
import subprocess
import sys

import numcodecs
import numpy
import zarr


def main(ours, theirs, directory):
    data = numpy.cumsum(numpy.random.default_rng(7).normal(size=4_000_000))
    for cname in ["blosclz", "lz4", "zstd"]:
        folder = pathlib.Path(directory, f"times-{cname}")
        array = zarr.create_array(store=str(folder), shape=data.shape, chunks=(500_000,), dtype="float64", zarr_format=2,
                                  compressors=numcodecs.Blosc(cname=cname, clevel=5, shuffle=1))
        array[:] = data
        ratios = []
        for _ in range(7):
            pair = [float(subprocess.check_output([program, "--times", folder])) for program in (ours, theirs)]
            ratios.append(pair[1] / pair[0])
        print(f"{cname}: theirs / ours {statistics.median(ratios):.2f}")


main(*sys.argv[1:])
