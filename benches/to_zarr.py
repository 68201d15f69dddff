"""Times the conversion of a bcolz array into Zarr: `blpk convert`, and bcolz that reads beside zarr-python that writes.

usage: benches/to_zarr.py BLPK [MIB]     in an environment with bcolz-zipline, zarr 2 and NumPy; MIB is 1024 by default

All runs are in one process after another, in turns, and what was written is removed before the next run."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import bcolz
import numpy
import zarr

ROUNDS = 5


def timed(act, out):
    shutil.rmtree(out, ignore_errors=True)
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def main(blpk, mib="1024"):
    with tempfile.TemporaryDirectory(prefix="blpk-zarr-") as folder:
        source, out = os.path.join(folder, "a"), os.path.join(folder, "a.zarr")
        rows = int(mib) << 17
        walk = numpy.random.default_rng(1).normal(0, 0.01, rows).cumsum().round(2)
        bcolz.carray(walk, rootdir=source, mode="w", cparams=bcolz.cparams(5, bcolz.SHUFFLE, "lz4")).flush()
        chunk = bcolz.open(source, mode="r").chunklen
        del walk

        def ours():
            subprocess.run([blpk, "-q", "convert", source, out, "--layout", "zarr2"], check=True)

        def theirs():
            data = bcolz.open(source, mode="r")[:]
            codec = zarr.Blosc("lz4", 5, zarr.Blosc.SHUFFLE)
            zarr.open(out, mode="w", shape=data.shape, chunks=chunk, dtype=data.dtype, compressor=codec)[:] = data

        times = {"blpk": [], "bcolz and zarr-python": []}
        for _ in range(ROUNDS):
            times["blpk"].append(timed(ours, out))
            times["bcolz and zarr-python"].append(timed(theirs, out))
        for name, seconds in times.items():
            print("%-22s %7.2f s (%.2f to %.2f)" % (name, statistics.median(seconds), min(seconds), max(seconds)))
        print("ratio of the medians   %7.1f" % (statistics.median(times["bcolz and zarr-python"]) / statistics.median(times["blpk"])))


if __name__ == "__main__":
    main(*sys.argv[1:])
