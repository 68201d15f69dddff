"""Our library and the real tools change the same array in turns, at random; after every step all of them read it.

`BLPK_STEPS` and `BLPK_SEED` in the environment set the number of steps and the seed.
"""

import itertools
import os

import blosc2
import numpy

from array_model import FORMS, Model, box, elements
from array_peers import CODECS, META, VLMETA, all_read, create, theirs
from common import expect

STEPS = int(os.environ.get("BLPK_STEPS", 20))
SEED = int(os.environ.get("BLPK_SEED", 0))


def cases():
    number = itertools.count()
    for kind, sparse, axes in itertools.product(("caterva", "b2nd"), (False, True), (1, 2, 3, 4)):
        yield "turns-%s-%d-%s" % (kind, axes, sparse), turns, kind, sparse, axes, SEED + next(number)


class Ours:
    name = "ours"

    def __init__(self, peers, path):
        self.ours = peers.ours
        self.ours.open(path, edit=True)

    def set(self, where, data):
        self.ours.call("set", data, slice=where)

    def resize(self, shape):
        self.ours.call("resize", shape=shape)

    def append(self, data):
        self.ours.call("append", data, axis=0)

    def read(self, model):
        return self.ours.read(slice=[(0, length) for length in model.shape])

    def close(self):
        self.ours.call("flush")
        self.ours.close()


class Caterva:
    name = "caterva"

    def __init__(self, peers, path):
        self.caterva = peers.caterva
        self.caterva.open(path)

    def set(self, where, data):
        self.caterva.call("set", data, slice=where)

    def resize(self, shape):
        self.caterva.call("resize", shape=shape)

    append = None

    def read(self, model):
        return self.caterva.call("whole")[1]

    def close(self):
        self.caterva.close()


class Blosc2:
    name = "blosc2"

    def __init__(self, _, path):
        self.array = blosc2.open(str(path), mode="a")

    def typed(self, data):
        return numpy.ascontiguousarray(data).view(self.array.dtype)[..., 0]

    def set(self, where, data):
        self.array[tuple(slice(begin, end) for begin, end in where)] = self.typed(data)

    def resize(self, shape):
        self.array.resize(tuple(shape))

    def append(self, data):
        # `append` joins the arrays as if both had one axis.
        if data.ndim == 2:
            self.array.append(self.typed(data))
        else:
            old = self.array.shape
            self.array.resize((old[0] + data.shape[0], *old[1:]))
            self.array[old[0]:] = self.typed(data)

    def read(self, model):
        return self.array[...].tobytes()

    def close(self):
        del self.array


def turns(peers, path, kind, sparse, axes, seed):
    rng = numpy.random.default_rng(seed)
    shape, chunks, blocks = FORMS[axes]
    itemsize = int(rng.choice([1, 3, 8]))
    model = Model(elements(rng, shape, itemsize), chunks, blocks)
    fields = {"kind": kind, "sparse": sparse, "compressor": str(rng.choice(CODECS)), "level": 5,
              "filters": ("shuffle",)}
    meta, vlmeta = META, {}
    if rng.integers(0, 2):
        theirs(peers, path, model, fields)
    else:
        vlmeta = VLMETA
        create(peers.ours, path, model, fields)
    them = Caterva if kind == "caterva" else Blosc2
    trace = []
    for _ in range(STEPS):
        actor = (Ours, them)[rng.integers(0, 2)](peers, path)
        trace.append((actor.name, step(actor, model, rng)))
        try:
            all_read(peers, path, model, fields, rng, meta, vlmeta)
        except Exception as error:
            raise type(error)("%s, after %s" % (error, trace[-6:])) from error


def step(actor, model, rng):
    """Makes one change through the actor; returns what was done."""
    what = str(rng.choice(["set", "set", "resize", "append"]))
    if what == "append" and actor.append is None:
        what = "resize"
    old = model.shape
    if what == "set":
        where = box(rng, old)
        data = elements(rng, [end - begin for begin, end in where], model.itemsize)
        actor.set(where, data)
        model.set(where, data)
        done = ("set", where)
    elif what == "append":
        data = elements(rng, (int(rng.integers(1, 6)), *old[1:]), model.itemsize)
        actor.append(data)
        model.insert(0, old[0], data)
        done = ("append", len(data))
    else:
        shape = [max(1, length + int(rng.integers(-3, 4))) for length in old]
        actor.resize(shape)
        model.resize(shape)
        if actor.name != "ours":
            taken_over(actor, model, old)
        done = ("resize", shape)
    actor.close()
    return done


def taken_over(actor, model, old):
    """The real tools do not clear what a smaller shape cut off, and show it again when the array grows: the model takes that over."""
    found = numpy.frombuffer(actor.read(model), "u1").reshape(model.elements.shape)
    kept = tuple(slice(0, min(pair)) for pair in zip(old, model.shape))
    expect((found[kept] == model.elements[kept]).all(), "%s: a resize changes elements" % actor.name)
    model.elements = found.copy()
