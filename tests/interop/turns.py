"""Our library and bcolz change the same dataset in turns, at random; after every step both read it.

`BLPK_STEPS` and `BLPK_SEED` in the environment set the number of steps and the seed.
"""

import os

import bcolz
import numpy

from actors import BcolzArray, BcolzTable, OursArray, OursTable, step_array, step_table
from both import (Wanted, bcolz_has, bcolz_table_has, can_be_indexed, ours_has,
                  ours_table_has)
from elements import PERSISTED, ROW_SHAPES, default, values

STEPS = int(os.environ.get("BLPK_STEPS", 12))
SEED = int(os.environ.get("BLPK_SEED", 0))
CHUNKS = (1, 5, 8, 24, 37, 400)


def cases():
    for number, dtype in enumerate(PERSISTED):
        yield "turns-%s" % dtype, array_turns, dtype, SEED + number
    for number in range(8):
        yield "turns-table-%d" % number, table_turns, SEED + number


def array_turns(ours, path, dtype, seed):
    rng = numpy.random.default_rng(seed)
    row_shape = ROW_SHAPES[rng.integers(0, len(ROW_SHAPES))]
    chunk = int(rng.choice(CHUNKS))
    wanted = Wanted(values(rng, dtype, (0, *row_shape)), default(rng, dtype))
    create(ours, path, wanted, chunk, rng)
    turns(ours, path, rng, (OursArray, BcolzArray),
          lambda actor: step_array(actor, wanted, chunk, rng),
          lambda: (bcolz_has(path, wanted, rng), ours_has(ours, path, wanted, rng)))


def create(ours, path, wanted, chunk, rng):
    """Creates the array with bcolz or with our library."""
    codec = str(rng.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]))
    kind, level = int(rng.integers(0, 3)), int(rng.integers(0, 10))
    if rng.integers(0, 2):
        bcolz.carray(wanted.elements, dflt=wanted.default, chunklen=chunk, rootdir=str(path),
                     cparams=bcolz.cparams(clevel=level, shuffle=kind, cname=codec))
    else:
        ours.call("create", path=str(path), dtype=str(wanted.dtype), row_shape=wanted.row_shape,
                  chunk_rows=chunk, default=wanted.default.tobytes().hex(), compressor=codec,
                  level=level, filter=("none", "byte", "bit")[kind],
                  index=can_be_indexed(wanted.dtype, wanted.row_shape))
        ours.call("flush")
        ours.close()


def table_turns(ours, path, seed):
    rng = numpy.random.default_rng(1000 + seed)
    columns, attributes = {}, {}
    ours.call("create", path=str(path), columns=[
        {"column": "first", "dtype": "uint32", "chunk_rows": 8, "index": True},
        {"column": "second", "dtype": "|S3", "chunk_rows": 11, "row_shape": [2]}])
    ours.call("flush")
    ours.close()
    columns["first"] = Wanted(values(rng, "uint32", (0,)))
    columns["second"] = Wanted(values(rng, "|S3", (0, 2)))
    turns(ours, path, rng, (OursTable, BcolzTable),
          lambda actor: step_table(actor, columns, attributes, 8, rng),
          lambda: (bcolz_table_has(path, columns, attributes, rng),
                   ours_table_has(ours, path, columns, attributes, rng)))


def turns(ours, path, rng, actors, step, check):
    done, trace = 0, []
    while done < STEPS:
        actor = actors[rng.integers(0, 2)]
        actor = actor(ours, path) if actor is actors[0] else actor(path)
        try:
            for _ in range(rng.integers(1, 4)):
                trace.append((actor.name, str(step(actor))))
                actor.flush()
                check()
                done += 1
        except Exception as error:
            raise type(error)("%s, after %s" % (error, trace[-6:])) from error
        actor.close()
    check()
