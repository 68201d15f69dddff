"""usage: python_peer.py PEER FOLDER; runs tasks of benches/python.py in one package, and times them.

Reads lines `TASK KIND THREADS`, and prints the seconds, the CPU seconds and a digest of what was read. Data and files of one task are made on its
first call, which does not count; all calls of a task do the same work."""

import hashlib
import os
import sys
import time
from pathlib import Path

# The folder of this program has modules whose names are those of others.
sys.path.pop(0)
import numpy as np

PEER, FOLDER = sys.argv[1], Path(sys.argv[2])
ROWS, VECTORS, SLICES, CHUNKS = 20_000_000, 400_000, 100_000, 64
WIDE = np.dtype("f8")
BOX, PLANES, SHAPE = 10, 20, (300, 300, 278)
scratch = FOLDER / f"{PEER}.scratch"


def digest(found):
    """Of the bytes of an array, or of bytes."""
    return hashlib.sha1(np.ascontiguousarray(found).view(np.uint8).data if isinstance(found, np.ndarray) else found).hexdigest()[:12]


def walk(count=1 << 25):
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


def timed(act):
    """Seconds and CPU seconds, and what `act` returns."""
    begun, used = time.perf_counter(), time.process_time()
    found = act()
    return (time.perf_counter() - begun, time.process_time() - used), found


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
        return timed(lambda: self.bp.pack_ndarray_to_file(data, path, **self.arguments(kind)))[0], ""

    def unpack_file(self, kind, threads):
        path = f"{scratch}.{kind}"
        once_file(path, lambda: self.bp.pack_ndarray_to_file(once(walk), path, **self.arguments(kind)))
        return timed(lambda: self.bp.unpack_ndarray_from_file(path))

    def pack_bytes(self, kind, threads):
        data = once(walk)
        return timed(lambda: self.bp.pack_ndarray_to_bytes(data, **self.arguments(kind)))[0], ""

    def unpack_bytes(self, kind, threads):
        packed = once_value(f"packed {kind}", lambda: self.bp.pack_ndarray_to_bytes(once(walk), **self.arguments(kind)))
        return timed(lambda: self.bp.unpack_ndarray_from_bytes(packed))


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
        return timed(lambda: array[:])

    def slices(self, kind, threads):
        array = self.array() if kind == "larger" else self.vectors()
        begins = range(0, 10 * SLICES, 10) if kind == "sequential" else places(SLICES, len(array), 10)
        return timed(lambda: np.concatenate([array[at : at + 10] for at in begins]))

    def append(self, kind, threads):
        rows = once(vectors)
        options = {"rootdir": str(scratch), "mode": "w"} if kind == "directory" else {}

        def work():
            array = self.bcolz.carray(np.zeros((1, 50), "f4"), expectedlen=VECTORS, **options)
            for row in rows:
                array.append(row)
            array.flush()
            return array

        took, array = timed(work)
        return took, array[:]

    def where(self, kind, threads):
        table = self.table()
        bound = {"few": 4995, "many": 2500}[kind]
        condition = f"(volume > {bound}) & (price > 0)"
        if kind == "many":
            return timed(lambda: np.concatenate([block["time"] for block in table.whereblocks(condition)]))
        took, found = timed(lambda: [row.time for row in table.where(condition)])
        return took, np.array(found)

    def dataframe(self, kind, threads):
        table = self.table()
        took, frame = timed(table.todataframe)
        return took, frame["price"].to_numpy()


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
        return timed(lambda: self.blosc2.save_array(data, path, mode="w", **self.arguments(kind, threads)))[0], ""

    def unpack_file(self, kind, threads):
        path = f"{scratch}.{kind}.b2frame"
        once_file(path, lambda: self.blosc2.save_array(once(walk), path, mode="w", **self.arguments(kind, threads)))
        return timed(lambda: self.blosc2.load_array(path, dparams={"nthreads": threads}))

    def pack_bytes(self, kind, threads):
        data = once(walk)
        return timed(lambda: self.blosc2.pack_array2(data, **self.arguments(kind, threads)))[0], ""

    def unpack_bytes(self, kind, threads):
        make = lambda: self.blosc2.pack_array2(once(walk), **self.arguments(kind, threads))
        packed = once_value(f"packed {kind}", make)
        return timed(lambda: self.blosc2.unpack_array2(packed))

    def field(self, path):
        self.blosc2.asarray(field(), urlpath=path, mode="w", cparams={"codec": self.blosc2.Codec.LZ4, "clevel": 5})

    def opened(self, threads):
        return self.blosc2.open(str(FOLDER / "field.b2nd"), mode="r", dparams={"nthreads": threads})

    def boxes(self, kind, threads):
        array = self.opened(threads)
        return timed(lambda: boxes_of(array, kind))


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
        return timed(lambda: boxes_of(array, kind))


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
            return timed(lambda: list(pool.map(work, items)))

    def encode(self, kind, threads):
        chunks = once_value("chunks", lambda: np.split(once(walk), CHUNKS))
        return self.run(threads, self.codec.encode, chunks)[0], ""

    def decode(self, kind, threads):
        packed = once_value("encoded", lambda: [self.codec.encode(chunk) for chunk in np.split(once(walk), CHUNKS)])
        took, found = self.run(threads, self.codec.decode, packed)
        return took, b"".join(found)

    def decode_into(self, kind, threads):
        chunks = np.split(once(walk), CHUNKS)
        packed = once_value("encoded", lambda: list(map(self.codec.encode, chunks)))
        found = once_value("target", lambda: np.empty_like(once(walk)))
        targets = np.split(found, CHUNKS)
        return self.run(threads, lambda number: self.codec.decode(packed[number], targets[number]), range(CHUNKS))[0], found

    def encode_one(self, kind, threads):
        return timed(lambda: self.codec.encode(once(walk)))[0], ""

    def decode_one(self, kind, threads):
        packed = once_value("one", lambda: self.codec.encode(once(walk)))
        return timed(lambda: self.codec.decode(packed))


# The halves of each package, made when a task needs them.
HALVES = {"ours": [Module, Arrays, OurBoxes, Codec], "bloscpack": [Module], "bcolz": [Arrays], "blosc2": [Blosc2], "numcodecs": [Codec]}
made = {}


def half(task):
    kind = next(kind for kind in HALVES[PEER] if hasattr(kind, task))
    if kind not in made:
        made[kind] = kind()
    return made[kind]


def main():
    for line in sys.stdin:
        task, kind, threads = line.split()
        worker = half(task)
        worker.set_threads(int(threads))
        if task == "field":
            worker.field(str(FOLDER / "field.b2nd"))
            print(0, 0, "-", flush=True)
            continue
        took, found = getattr(worker, task)(kind, int(threads))
        print(*took, digest(found) if len(found) else "-", flush=True)


if __name__ == "__main__":
    main()
