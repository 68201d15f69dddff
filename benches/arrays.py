"""Times arrays against caterva and python-blosc2, and arrays and tables of bcolz against bcolz: each task by all in turn.

Each program is one process, which keeps its memory from round to round; the sums of what is read are compared. An array is
300 x 300 x 278 float64 (200 MB): a smooth field with a little noise. bcolz has 20 million values of a walk (160 MB)."""

import os
import subprocess
from pathlib import Path

from kit.bench import Bench
from kit.measure import Server, in_turn, peer, run, say
from kit.places import Missing
from kit.report import compared

# Programs slower than this many seconds run at most three rounds.
SLOW = 20
TASKS = ["write", "synced", "read", "read_into", "planes0", "planes1", "planes2", "boxes"]

MAKE = r'''
import sys, numpy as np
x, y, z = np.ogrid[0:300, 0:300, 0:278]
field = 20 * np.sin(x / 40) * np.cos(y / 55) + 5 * np.sin((x + 2 * z) / 70) + z / 30
noise = np.random.default_rng(1).normal(scale=0.01, size=field.shape)
# In steps of 2^-10, as from an instrument.
(np.round((field + noise) * 1024) / 1024).tofile(sys.argv[1])
'''

PLACES = r'''
import os
import numpy as np
name, folder = ARGUMENTS
class Places:
    state = 1
    def next(self, below):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % below
'''

PEER = PLACES + r'''
SHAPE, CHUNK, BLOCK, PLANES, BOXES, BOX = (300, 300, 278), (75, 75, 70), (25, 25, 24), 20, 1000, 10
values = np.fromfile(folder + "/values.f64").reshape(SHAPE)
if name == "caterva":
    import caterva
    CODECS = {"lz4": caterva.Codec.LZ4, "zstd": caterva.Codec.ZSTD}
    def store(path, threads, codec, shapes):
        # Caterva does not choose shapes by itself.
        caterva.asarray(values, chunks=CHUNK, blocks=BLOCK, urlpath=path, contiguous=True,
                        codec=CODECS[codec], clevel=5, filters=[caterva.Filter.SHUFFLE], nthreads=threads)
    def opened(path, threads):
        return caterva.open(path)
    def whole(array):
        return array.to_buffer()
    reused = np.ones(values.size).view("S8").reshape(SHAPE)
    def into(array):
        from caterva import caterva_ext
        return caterva_ext.get_slice_numpy(reused, array, ((0, 0, 0), SHAPE), (False,) * 3)
else:
    import blosc2
    CODECS = {"lz4": blosc2.Codec.LZ4, "zstd": blosc2.Codec.ZSTD}
    def store(path, threads, codec, shapes):
        chosen = {"chunks": CHUNK, "blocks": BLOCK} if shapes == "same" else {}
        cparams = dict(codec=CODECS[codec], clevel=5, filters=[blosc2.Filter.SHUFFLE], nthreads=threads)
        blosc2.asarray(values, urlpath=path, mode="w", contiguous=True, cparams=cparams, **chosen)
    def opened(path, threads):
        blosc2.set_nthreads(threads)
        return blosc2.open(path, mode="r", dparams={"nthreads": threads})
    def whole(array):
        return array[:]
    reused = np.ones(SHAPE)
    def into(array):
        return array.get_slice_numpy(reused, ((0, 0, 0), SHAPE))
def slices(task):
    places = Places()
    if task == "boxes":
        begins = [[places.next(n - BOX) for n in SHAPE] for _ in range(BOXES)]
        return [tuple(slice(at, at + BOX) for at in begin) for begin in begins]
    axis = int(task[-1])
    begins = [places.next(SHAPE[axis]) for _ in range(PLANES)]
    return [tuple(slice(at, at + 1) if axis == other else slice(None) for other in range(3)) for at in begins]
def write(path, threads, codec, shapes):
    path = os.path.join(folder, path)
    if os.path.exists(path):
        os.remove(path)
    took(lambda: store(path, threads, codec, shapes))
    return path
def synced(*words):
    file = os.open(write(*words), os.O_RDWR)
    took(lambda: os.fsync(file))
    os.close(file)
def reads(task, path, threads, codec, shapes):
    array = took(lambda: opened(os.path.join(folder, path), threads))
    if task == "read_into":
        took(lambda: into(array))
        return total(reused)
    all = [None] if task == "read" else slices(task)
    return sum(total(took(lambda: whole(array) if where is None else array[where])) for where in all) % 2**64
def task(name):
    return lambda *words: reads(name, *words)
read, read_into, planes0, planes1, planes2, boxes = map(task, ["read", "read_into", "planes0", "planes1", "planes2", "boxes"])
'''

BCOLZ = PLACES + r'''
import bcolz
values = np.fromfile(folder + "/values.f64")
def at(path):
    return os.path.join(folder, path)
def create(path, *_):
    took(lambda: bcolz.carray(values, rootdir=at(path), mode="w").flush())
def some(path, count, length):
    array, places, found = took(lambda: bcolz.carray(rootdir=at(path), mode="r")), Places(), []
    length = length or len(array)
    begins = [places.next(len(array) - length + 1) for _ in range(count)]
    def work():
        for start in begins:
            found.append(array[start:start + length][0])
    took(work)
    return total(np.array(found))
def rows(path, *_):
    return some(path, 1, None)
def slices(path, *_):
    return some(path, 200, 100_000)
def small(path, *_):
    return some(path, SMALL, 10)
def table(path, *_):
    count = len(values) // 16
    columns = [values[i * count:(i + 1) * count] for i in range(16)]
    took(lambda: bcolz.ctable(columns, names=["c%d" % i for i in range(16)], rootdir=at(path), mode="w").flush())
def scan(path, *_):
    def work():
        table, sum, count = bcolz.ctable(rootdir=at(path), mode="r"), 0.0, 0
        for name in table.names:
            for block in bcolz.iterblocks(table[name], blen=131072):
                sum, count = sum + block.sum(), count + len(block)
        return count
    return took(work)
'''


def length(path):
    """Bytes of a file, or of all files in a folder."""
    return sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())


def of_arrays(setting):
    subprocess.run([setting.python("blosc2"), "-c", MAKE, setting.folder + "/values.f64"], check=True)
    programs = {"ours": ("ours.b2nd", Server([setting.built("--features", "tokio", "--bench", "arrays"), setting.folder], split=True)),
                "blosc2": ("blosc2.b2nd", peer(setting.python("blosc2"), PEER, "blosc2", setting.folder))}
    try:
        programs["caterva"] = ("caterva.cat", peer(setting.python("caterva"), PEER, "caterva", setting.folder))
    except Missing as why:
        say(f"left out: {why}")
    cells = []
    for codec, shapes in (("lz4", "same"), ("lz4", "automatic"), *setting.size([("zstd", "same")], [])):
        for threads in (1, 2):
            for task in TASKS:
                say(f"{codec}, {shapes} shapes, {threads} threads: {task}")
                steps = {name: lambda _, file=file, ask=ask: ask(task, file, threads, codec, shapes)
                         for name, (file, ask) in programs.items() if shapes == "same" or name != "caterva"}
                results = in_turn(steps, setting.rounds)
                lengths = {name: length(Path(setting.folder, programs[name][0])) for name in results}
                cells.append({"task": task, "group": [codec, shapes, threads], "results": results, "lengths": lengths})
    for _, server in programs.values():
        server.close()
    return cells


def summary(found):
    lines = []
    for group in dict.fromkeys(tuple(cell["group"]) for cell in found["cells"]):
        cells = [cell for cell in found["cells"] if tuple(cell["group"]) == group]
        codec, shapes, threads = group
        sizes = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in cells[0]["lengths"].items())
        lines += [f"### {codec.upper()}, {shapes} shapes, {threads} thread{'' if threads == 1 else 's'}", "",
                  f"Level 5 with shuffle; files: {sizes}.", "", *compared(cells), ""]
    return lines[:-1]


# Names of tasks, and what they do.
ROWS = {"create": "create", "rows": "read all", "slices": "200 slices of 100,000 rows", "small": "slices of 10 rows",
        "table": "create a table of 16 columns", "scan": "scan it"}


def of_rows(setting):
    count, small = setting.size(20_000_000, 2_000_000), setting.size(10_000, 1000)
    make = f"import numpy as np; np.cumsum(np.random.default_rng(1).normal(size={count}).round(2)).tofile({setting.folder + '/values.f64'!r})"
    python = setting.python("bcolz-zipline")
    subprocess.run([python, "-c", make], check=True)
    ours = Server([setting.built("--features", "tokio", "--bench", "arrays"), setting.folder], {"SMALL": str(small)}, split=True)
    theirs = peer(python, BCOLZ.replace("SMALL", str(small)), "bcolz", setting.folder)
    cells = []
    for task, words in ROWS.items():
        say(words)
        path = "table" if task in ("table", "scan") else "array"
        steps = {"ours": lambda _: ours(task, f"ours-{path}", 0, "-", "-"), "bcolz": lambda _: theirs(task, f"bcolz-{path}")}
        cells.append({"task": f"{small:,} {words}" if task == "small" else words, "results": in_turn(steps, setting.rounds, SLOW)})
    ours.close()
    theirs.close()
    return cells + of_index(setting)


def of_index(setting):
    """Commands with and without the index of a dataset."""
    npy, plain, indexed = (os.path.join(setting.folder, name) for name in ("values.npy", "unindexed", "indexed"))
    make = f"import numpy as np; np.save({npy!r}, np.fromfile({setting.folder + '/values.f64'!r}))"
    subprocess.run([setting.python("numpy"), "-c", make], check=True)
    commands = {"`import`": ("import", "-f", npy, plain), "`import --index`": ("import", "-f", "--index", npy, indexed),
                "`dataset index` of an index that is up to date": ("dataset", "index", indexed)}
    results = in_turn({name: lambda _, words=words: run(setting.ours(*words)) for name, words in commands.items()}, setting.rounds)
    return [{"task": "index", "results": results}]


def of_tasks(found):
    return compared(found["cells"][:-1])


def of_commands(found):
    return compared(found["cells"][-1:])


BENCHES = [Bench("arrays", "benchmarks/arrays.md", of_arrays, summary), Bench("datasets", "benchmarks/datasets.md", of_rows, of_tasks, (("benchmarks/datasets.md", "index", of_commands),))]
