"""Times the conversion of a bcolz array into Zarr: `blpk convert`, and bcolz that reads beside zarr-python that writes.

What was written is removed before the next run."""

import os
import shutil

from kit.bench import Bench
from kit.measure import in_turn, peer, run
from kit.places import on_disk

PEER = r'''
import bcolz, numpy, zarr
def make(path, mib):
    walk = numpy.random.default_rng(1).normal(0, 0.01, mib << 17).cumsum().round(2)
    bcolz.carray(walk, rootdir=path, mode="w", cparams=bcolz.cparams(5, bcolz.SHUFFLE, "lz4")).flush()
def convert(path, out):
    def work():
        array = bcolz.open(path, mode="r")
        data, codec = array[:], zarr.Blosc("lz4", 5, zarr.Blosc.SHUFFLE)
        zarr.open(out, mode="w", shape=data.shape, chunks=array.chunklen, dtype=data.dtype, compressor=codec)[:] = data
    took(work)
'''


def measured(setting):
    cells = []
    with on_disk() as disk, peer(setting.python("bcolz-zipline", "zarr 2"), PEER) as python:
        for task, folder in (("on a disk", disk), ("in memory", setting.folder)):
            source, out = os.path.join(folder, "a"), os.path.join(folder, "a.zarr")
            python("make", source, setting.size(1024, 16))

            def anew(act):
                shutil.rmtree(out, ignore_errors=True)
                return act()

            steps = {"`blpk convert`": lambda _: anew(lambda: run(setting.ours("convert", source, out, "--layout", "zarr2"))),
                     "bcolz and zarr-python": lambda _: anew(lambda: python("convert", source, out))}
            cells.append({"task": task, "results": in_turn(steps, setting.rounds)})
            shutil.rmtree(source)
            shutil.rmtree(out)
    return cells


BENCHES = [Bench("to_zarr", "zarr.md", measured)]
