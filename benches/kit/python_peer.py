"""The tasks of benches/python.py in one package, as code for serve.py: `PEER FOLDER` are the arguments, and each line of input is
`["run", task, kind, threads]`. Data and files of one task are made on its first call, which does not count; all calls of a task do the same
work. With SMALL, there is little of it."""

import os
from pathlib import Path

import numpy as np

PEER, FOLDER = ARGUMENTS[0], Path(ARGUMENTS[1])
SMALL = "BENCH_SMALL" in os.environ
ROWS, VECTORS, SLICES, CHUNKS = (200_000, 4000, 1000, 16) if SMALL else (20_000_000, 400_000, 10_000, 64)
WALK = 1 << (19 if SMALL else 25)
BOX, PLANES, SHAPE = 10, 20, (30, 30, 28) if SMALL else (300, 300, 278)
scratch = FOLDER / f"{PEER}.scratch"


def walk(count=WALK):
    """A random walk in steps of 2^-10: 256 MiB."""
    steps = np.random.default_rng(1).integers(-99, 100, count)
    return np.cumsum(steps) / 1024


def places(count, below, size):
    return np.random.default_rng(2).integers(0, below - size, count).tolist()


def fields():
    """Columns of trades: time, price, volume."""
    noise = np.random.default_rng(3)
    return [np.arange(ROWS) // 3, walk(ROWS), noise.integers(0, 5000, ROWS, "i4")]


def vectors():
    """Vectors of words."""
    return np.random.default_rng(4).normal(size=(VECTORS, 50)).astype("f4")


def field():
    """A smooth field with a little noise, as benches/arrays.py has it."""
    x, y, z = np.ogrid[: SHAPE[0], : SHAPE[1], : SHAPE[2]]
    smooth = 20 * np.sin(x / 40) * np.cos(y / 55) + 5 * np.sin((x + 2 * z) / 70) + z / 30
    return np.round((smooth + np.random.default_rng(1).normal(scale=0.01, size=SHAPE)) * 1024) / 1024


kept = {}


def once(make):
    """What `make` returns, made when it is asked for."""
    if make not in kept:
        kept[make] = make()
    return kept[make]


class Module:
    """Our module and Bloscpack, whose functions have the same names."""

    def __init__(self):
        if PEER == "bloscpack":
            import blosc
            import bloscpack as bp

            self.set_threads = blosc.set_nthreads
        else:
            import bloscpack as bp

            self.set_threads = bp.set_threads
        self.bp = bp

    def arguments(self, kind):
        return {} if kind == "defaults" else {"blosc_args": self.bp.BloscArgs(cname="lz4", clevel=5)}

    def pack_file(self, kind, threads):
        data, path = once(walk), str(scratch)
        took(lambda: self.bp.pack_ndarray_to_file(data, path, **self.arguments(kind)))

    def unpack_file(self, kind, threads):
        path = f"{scratch}.{kind}"
        once_file(path, lambda: self.bp.pack_ndarray_to_file(once(walk), path, **self.arguments(kind)))
        return took(lambda: self.bp.unpack_ndarray_from_file(path))

    def pack_bytes(self, kind, threads):
        data = once(walk)
        took(lambda: self.bp.pack_ndarray_to_bytes(data, **self.arguments(kind)))

    def unpack_bytes(self, kind, threads):
        packed = once_value(f"packed {kind}", lambda: self.bp.pack_ndarray_to_bytes(once(walk), **self.arguments(kind)))
        return took(lambda: self.bp.unpack_ndarray_from_bytes(packed))


def once_file(path, write):
    if path not in kept:
        write()
        kept[path] = True


def once_value(name, make):
    if name not in kept:
        kept[name] = make()
    return kept[name]


class Arrays:
    """Our module `bcolz`, and bcolz."""

    def __init__(self):
        if PEER == "ours":
            from bloscpack import bcolz
        else:
            import bcolz
        self.bcolz, self.set_threads = bcolz, bcolz.set_nthreads

    def array(self):
        path = str(FOLDER / f"{PEER}.walk")
        once_file(path, lambda: self.bcolz.carray(once(walk), rootdir=path, mode="w").flush())
        return self.bcolz.open(path, mode="r")

    def table(self):
        path = str(FOLDER / f"{PEER}.trades")
        make = lambda: self.bcolz.ctable(fields(), names=["time", "price", "volume"], rootdir=path, mode="w").flush()
        once_file(path, make)
        return self.bcolz.open(path, mode="r")

    def vectors(self):
        path = str(FOLDER / f"{PEER}.vectors")
        once_file(path, lambda: self.bcolz.carray(once(vectors), rootdir=path, mode="w").flush())
        return self.bcolz.open(path, mode="r")

    def read(self, kind, threads):
        array = self.array()
        return took(lambda: array[:])

    def slices(self, kind, threads):
        array = self.array() if kind == "larger" else self.vectors()
        begins = range(0, 10 * SLICES, 10) if kind == "sequential" else places(SLICES, len(array), 10)
        return took(lambda: np.concatenate([array[at : at + 10] for at in begins]))

    def append(self, kind, threads):
        rows = once(vectors)
        options = {"rootdir": f"{scratch}.rows", "mode": "w"} if kind == "directory" else {}

        def work():
            array = self.bcolz.carray(np.zeros((1, 50), "f4"), expectedlen=VECTORS, **options)
            for row in rows:
                array.append(row)
            array.flush()
            return array

        return took(work)[:]

    def where(self, kind, threads):
        table = self.table()
        bound = {"few": 4995, "many": 2500}[kind]
        condition = f"(volume > {bound}) & (price > 0)"
        if kind == "many":
            return took(lambda: np.concatenate([block["time"] for block in table.whereblocks(condition)]))
        return np.array(took(lambda: [row.time for row in table.where(condition)]))

    def dataframe(self, kind, threads):
        table = self.table()
        return took(table.todataframe)["price"].to_numpy()


class Blosc2:
    """python-blosc2, whose arrays ours reads, too."""

    def __init__(self):
        import blosc2

        self.blosc2, self.set_threads = blosc2, blosc2.set_nthreads

    def arguments(self, kind, threads):
        chosen = {} if kind == "defaults" else {"codec": self.blosc2.Codec.LZ4, "clevel": 5}
        return {"cparams": {"nthreads": threads, **chosen}}

    def pack_file(self, kind, threads):
        data, path = once(walk), f"{scratch}.b2frame"
        took(lambda: self.blosc2.save_array(data, path, mode="w", **self.arguments(kind, threads)))

    def unpack_file(self, kind, threads):
        path = f"{scratch}.{kind}.b2frame"
        once_file(path, lambda: self.blosc2.save_array(once(walk), path, mode="w", **self.arguments(kind, threads)))
        return took(lambda: self.blosc2.load_array(path, dparams={"nthreads": threads}))

    def pack_bytes(self, kind, threads):
        data = once(walk)
        took(lambda: self.blosc2.pack_array2(data, **self.arguments(kind, threads)))

    def unpack_bytes(self, kind, threads):
        make = lambda: self.blosc2.pack_array2(once(walk), **self.arguments(kind, threads))
        packed = once_value(f"packed {kind}", make)
        return took(lambda: self.blosc2.unpack_array2(packed))

    def field(self, path):
        self.blosc2.asarray(field(), urlpath=path, mode="w", cparams={"codec": self.blosc2.Codec.LZ4, "clevel": 5})

    def opened(self, threads):
        return self.blosc2.open(str(FOLDER / "field.b2nd"), mode="r", dparams={"nthreads": threads})

    def boxes(self, kind, threads):
        array = self.opened(threads)
        return took(lambda: boxes_of(array, kind))


def boxes_of(array, kind):
    """A thousand boxes, 20 planes of the first axis, or all of it."""
    if kind == "whole":
        return array[:]
    if kind == "planes":
        return np.concatenate([array[at] for at in places(PLANES, SHAPE[0], 1)])
    corners = zip(*(places(1000, length, BOX) for length in SHAPE))
    return np.concatenate([array[tuple(slice(at, at + BOX) for at in corner)] for corner in corners])


class OurBoxes:
    def __init__(self):
        import bloscpack as bp

        self.bp, self.set_threads = bp, bp.set_threads

    def boxes(self, kind, threads):
        array = self.bp.open_array(str(FOLDER / "field.b2nd"))
        return took(lambda: boxes_of(array, kind))


class Codec:
    """Our codec, and that of numcodecs: chunks of 4 MiB, by as many threads of Python as wanted, as Zarr does."""

    def __init__(self):
        if PEER == "ours":
            from bloscpack import numcodecs
        else:
            from numcodecs import blosc as numcodecs
        self.codec = numcodecs.Blosc(cname="lz4", clevel=5)
        self.set_threads = numcodecs.set_nthreads

    def run(self, threads, work, items):
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            return took(lambda: list(pool.map(work, items)))

    def encode(self, kind, threads):
        chunks = once_value("chunks", lambda: np.split(once(walk), CHUNKS))
        self.run(threads, self.codec.encode, chunks)

    def decode(self, kind, threads):
        packed = once_value("encoded", lambda: [self.codec.encode(chunk) for chunk in np.split(once(walk), CHUNKS)])
        return b"".join(self.run(threads, self.codec.decode, packed))

    def decode_into(self, kind, threads):
        chunks = np.split(once(walk), CHUNKS)
        packed = once_value("encoded", lambda: list(map(self.codec.encode, chunks)))
        found = once_value("target", lambda: np.empty_like(once(walk)))
        targets = np.split(found, CHUNKS)
        self.run(threads, lambda number: self.codec.decode(packed[number], targets[number]), range(CHUNKS))
        return found

    def encode_one(self, kind, threads):
        took(lambda: self.codec.encode(once(walk)))

    def decode_one(self, kind, threads):
        packed = once_value("one", lambda: self.codec.encode(once(walk)))
        return took(lambda: self.codec.decode(packed))


# The halves of each package, made when a task needs them.
HALVES = {"ours": [Module, Arrays, OurBoxes, Codec], "bloscpack": [Module], "bcolz": [Arrays], "blosc2": [Blosc2], "numcodecs": [Codec]}
made = {}


def half(task):
    kind = next(kind for kind in HALVES[PEER] if hasattr(kind, task))
    if kind not in made:
        made[kind] = kind()
    return made[kind]


def run(task, kind, threads):
    worker = half(task)
    worker.set_threads(threads)
    if task == "field":
        return worker.field(str(FOLDER / "field.b2nd"))
    return getattr(worker, task)(kind, threads)
