"""Arrays of Zarr v2 and v3, written by zarr-python, copied by a program on zarrs, and read by zarr-python.

    arrays.py COPY_ARRAY DIRECTORY
"""

import itertools
import pathlib
import subprocess
import sys

import numcodecs
import numpy
import zarr
from zarr.codecs import BloscCodec


def data():
    steps = numpy.random.default_rng(7).normal(size=(300, 400))
    return numpy.cumsum(steps, axis=1)


def write(folder, version, cname, shuffle):
    if version == 2:
        modes = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
        compressors = numcodecs.Blosc(cname=cname, clevel=5, shuffle=modes[shuffle])
    else:
        compressors = BloscCodec(cname=cname, clevel=5, shuffle=shuffle, typesize=8)
    array = zarr.create_array(store=str(folder), shape=(300, 400), chunks=(70, 90), dtype="float64",
                              zarr_format=version, compressors=compressors)
    array[:] = data()


def main(program, directory):
    count = 0
    names = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
    for version, cname, shuffle in itertools.product([2, 3], names, ["noshuffle", "shuffle", "bitshuffle"]):
        folder = pathlib.Path(directory, f"{version}-{cname}-{shuffle}")
        copy = folder.with_name(folder.name + "-copy")
        write(folder, version, cname, shuffle)
        subprocess.run([program, folder, copy], check=True)
        for place in (folder, copy):
            assert (zarr.open_array(str(place), mode="r")[:] == data()).all(), place
        count += 1
    print(f"{count} arrays written by zarr-python {zarr.__version__}, copied, and read again")


main(*sys.argv[1:])
