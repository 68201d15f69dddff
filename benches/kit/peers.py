"""The programs that compress and decompress a file: ours and the peers."""

import os
from dataclasses import dataclass, field
from functools import partial

from . import measure, places
from .measure import Failed, say

# Our default for LZ4; the peers use the same.
LEVEL = 9
CHUNK = 1 << 20
# Above this level, Zstd is too slow for a useful comparison.
MAX_LEVEL = 7
# Files whose lengths differ by less count as equal: noise does not compress, and the framing around it differs.
SAME = 1.001
OURS, OURS_ZSTD = "blpk lz4", "blpk zstd"
AUTO = "python-blosc2, own chunks"


@dataclass(frozen=True)
class Peer:
    """A program; its arguments contain `{in}` and `{out}`. Without `{out}` it writes to standard output."""
    name: str
    ending: str
    there: tuple
    back: tuple
    env: dict = field(default_factory=dict)
    # It is a function of python-blosc2, timed without the startup of the interpreter.
    inside: str = ""

    def run(self, folder, which, path, to, watch=False):
        words = self.there if which == "compress" else self.back
        argv = [word.replace("{in}", str(path)).replace("{out}", str(to)) for word in words]
        if self.inside:
            with measure.peer(self.inside, BLOSC2) as python:
                return python(*argv)
        stdout = os.devnull if any("{out}" in word for word in words) else to
        return measure.run(argv, stdout, self.env, watch)

    def shown(self, which):
        """The command as typed, without the folders of this machine."""
        words = self.there if which == "compress" else self.back
        shown = {"{in}": "IN", "{out}": "OUT"}
        return " ".join(shown.get(word, os.path.basename(word) if word.startswith("/") else word) for word in words)


def ours(setting, name, typesize, *settings):
    words = ("c", "-t", str(typesize), *settings, "{in}", "{out}")
    return Peer(name, "blp", setting.ours(*words), setting.ours("d", "{in}", "{out}"))


def python_blpk(setting, typesize):
    program = (setting.python("bloscpack 0.16"), "-c", "from bloscpack.cli import main; main()", "-n", str(setting.threads))
    site = places.ROOT / "tests" / "interop" / "site"
    return Peer("python blpk", "blp",
                (*program, "c", "-t", str(typesize), "-l", str(LEVEL), "-c", "lz4", "{in}", "{out}"),
                (*program, "d", "{in}", "{out}"), {"PYTHONPATH": str(site)})


def python_blosc2(setting, name, typesize, chunk):
    numbers = (str(typesize), str(chunk), str(setting.threads))
    return Peer(name, "b2frame", ("save", "{in}", "{out}", *numbers), ("load", "{in}", "{out}", *numbers), inside=setting.python("blosc2"))


# Saves a file as a contiguous frame, or loads a frame and writes the file. LZ4 at level 9 with shuffle; CHUNK 0 lets python-blosc2
# choose. Of the available ways (all at once or chunk by chunk, with or without NumPy) these were the fastest.
BLOSC2 = """
import blosc2
def save(path, to, typesize, chunk, threads):
    blosc2.set_nthreads(int(threads))
    def work():
        cparams = dict(codec=blosc2.Codec.LZ4, clevel=9, filters=[blosc2.Filter.SHUFFLE], typesize=int(typesize), nthreads=int(threads))
        frame = blosc2.SChunk(chunksize=int(chunk) or None, contiguous=True, urlpath=to, mode="w", cparams=cparams)
        buffer = bytearray(frame.chunksize)
        with open(path, "rb", buffering=0) as file:
            while count := file.readinto(buffer):
                frame.append_data(buffer if count == len(buffer) else buffer[:count])
    took(work)
def load(path, to, _, __, threads):
    blosc2.set_nthreads(int(threads))
    def work():
        frame = blosc2.open(path, mode="r", dparams={"nthreads": int(threads)})
        buffer, left = bytearray(frame.chunksize), frame.nbytes
        with open(to, "wb", buffering=0) as file:
            for number in range(frame.nchunks):
                frame.decompress_chunk(number, dst=buffer)
                left -= file.write(memoryview(buffer)[:left])
        assert left == 0, "a short write"
    took(work)
"""


def others(setting):
    """The programs that were found on the path."""
    tools, threads = setting.tools, setting.threads
    if "lz4" in tools:
        yield Peer("lz4 -1", "lz4", (tools["lz4"], "-q", "-1", "{in}", "{out}"), (tools["lz4"], "-q", "-d", "{in}", "{out}"))
    for level in (1, 3) if "zstd" in tools else ():
        yield Peer(f"zstd -{level}", "zst", (tools["zstd"], "-q", f"-T{threads}", f"-{level}", "{in}", "-o", "{out}"),
                   (tools["zstd"], "-q", "-d", "{in}", "-o", "{out}"))
    if "pigz" in tools:
        pigz = (tools["pigz"], f"-p{threads}", "-c")
        yield Peer("pigz", "gz", (*pigz, "{in}"), (*pigz, "-d", "{in}"))
    yield Peer("cp", "raw", (tools["cp"], "{in}", "{out}"), (tools["cp"], "{in}", "{out}"))


def equal_level(setting, typesize, raw):
    """The lowest level of Zstd at which our file is no longer than that of `zstd -3`, and True. If there is none, the highest
    level tried, and False. Without `zstd`, a fixed level and None."""
    if "zstd" not in setting.tools:
        return 4, None
    [reference] = [peer for peer in others(setting) if peer.name == "zstd -3"]
    sample = os.path.join(setting.folder, "sample")
    with open(raw, "rb") as whole, open(sample, "wb") as part:
        for _ in range(32):
            part.write(whole.read(places.MIB))
    level = 1
    # Search on a sample first, then confirm on the whole file.
    for path in (sample, raw):
        goal = SAME * length(setting, reference, path)
        while not (small := length(setting, zstd(setting, typesize, level), path) <= goal) and level < MAX_LEVEL:
            level += 1
    os.remove(sample)
    return level, small


def zstd(setting, typesize, level):
    return ours(setting, OURS_ZSTD, typesize, "-c", "zstd", "-l", str(level))


def length(setting, peer, path):
    to = os.path.join(setting.folder, f"length.{peer.ending}")
    peer.run(setting.folder, "compress", path, to)
    count = os.path.getsize(to)
    os.remove(to)
    return count


def all_of(setting, typesize, level):
    found = [ours(setting, OURS, typesize), zstd(setting, typesize, level)]
    for peer in (lambda: python_blpk(setting, typesize), lambda: python_blosc2(setting, "python-blosc2", typesize, CHUNK),
                 lambda: python_blosc2(setting, AUTO, typesize, 0)):
        try:
            found.append(peer())
        except places.Missing as why:
            say(f"left out: {why}")
    return [*found, *others(setting)]


def compared(setting, kind, raw, rounds, slow):
    """Two cells, compress and decompress, with all peers in turn; each peer is checked once."""
    level, small = equal_level(setting, kind.typesize, raw)
    peers = {peer.name: peer for peer in all_of(setting, kind.typesize, level)}
    kept = {name: os.path.join(setting.folder, f"kept{i}.{peer.ending}") for i, (name, peer) in enumerate(peers.items())}
    usable(setting, peers, kept, raw)
    lengths = {name: os.path.getsize(kept[name]) for name in peers}
    cells = []
    for which in ("compress", "decompress"):
        steps = {name: partial(step, setting, peer, which, raw if which == "compress" else kept[name])
                 for name, peer in peers.items()}
        cells.append({"kind": which, "data": kind.name, "bytes": os.path.getsize(raw), "typesize": kind.typesize,
                      "zstd_level": level, "zstd_small_enough": small, "threads": setting.threads, "lengths": lengths,
                      "commands": {name: peer.shown(which) for name, peer in peers.items()},
                      "results": measure.in_turn(steps, rounds, slow)})
    for name in peers:
        os.remove(kept[name])
    return cells


def usable(setting, peers, kept, raw):
    """Makes the file of each peer and checks that it decompresses to the same bytes; drops peers that fail, but not ours."""
    back = os.path.join(setting.folder, "back")
    for name, peer in list(peers.items()):
        try:
            peer.run(setting.folder, "compress", raw, kept[name])
            peer.run(setting.folder, "decompress", kept[name], back)
            measure.run((setting.tools["cmp"], raw, back))
        except Failed as why:
            if name in (OURS, OURS_ZSTD):
                raise
            say(f"{name}: skipped: {why}")
            del peers[name]
            if os.path.exists(kept[name]):
                os.remove(kept[name])
        if os.path.exists(back):
            os.remove(back)


def step(setting, peer, which, path, number):
    """One run into a new file, which is removed afterwards. In the warm-up round the memory is watched."""
    to = os.path.join(setting.folder, f"out.{peer.ending}" if which == "compress" else "out")
    done = peer.run(setting.folder, which, path, to, watch=not number)
    os.remove(to)
    return done
