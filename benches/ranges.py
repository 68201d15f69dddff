"""Reads a hundred bytes from a large file, against the original Bloscpack and python-blosc2.

The libraries are timed from opening the file, in a process that has done it before; `blpk cat --range` is a whole process."""

import os
import random

from kit.bench import Bench
from kit.data import make
from kit.measure import in_turn, peer, run, say
from kit.peers import BLOSC2, CHUNK
from kit.places import MIB, ROOT, Missing
from kit.report import compared

LEN = 100

PEER = r'''
def bloscpack(path, begin, end):
    import bloscpack
    return took(lambda: bloscpack.unpack_bytes_from_file(path)[0][begin:end])
def blosc2(path, begin, end):
    import blosc2
    def work():
        frame = blosc2.open(path, mode="r")
        item = frame.typesize
        return bytes(frame[begin // item:-(-end // item)])[begin % item:][:end - begin]
    return took(work)
'''


def measured(setting):
    total = setting.size(1024 * MIB, 16 * MIB)
    plain, packed, frame = (os.path.join(setting.folder, name) for name in ("walk", "walk.blp", "walk.b2frame"))
    make(setting, "ticks", total, plain)
    run(setting.ours("c", plain, packed))
    with peer(setting.python("blosc2"), BLOSC2) as python:
        python("save", plain, frame, 8, CHUNK, setting.threads)
    rng = random.Random(2)
    begins = [rng.randrange(total - LEN) for _ in range(setting.rounds + 1)]

    def ours(number):
        found = os.path.join(setting.folder, "found")
        done = run(setting.ours("cat", "--range", f"{begins[number]}..{begins[number] + LEN}", packed), found, watch=not number)
        with open(found, "rb") as answer, open(plain, "rb") as file:
            file.seek(begins[number])
            assert answer.read() == file.read(LEN), f"wrong bytes at {begins[number]}"
        return done

    steps, servers = {"blpk cat --range": ours}, []
    for name, package, path in (("bloscpack", "bloscpack 0.16", packed), ("blosc2", "blosc2", frame)):
        try:
            servers.append(peer(setting.python(package, "numpy"), PEER, env={"PYTHONPATH": str(ROOT / "tests" / "interop" / "site")}))
        except Missing as why:
            say(f"left out: {why}")
            continue
        steps[name] = lambda number, name=name, path=path, ask=servers[-1]: ask(name, path, begins[number], begins[number] + LEN)
    results = in_turn(steps, setting.rounds)
    for server in servers:
        server.close()
    for path in (plain, packed, frame):
        os.remove(path)
    return [{"task": f"100 bytes of {total >> 20} MiB", "results": results}]


BENCHES = [Bench("ranges", "benchmarks/scaling.md", measured, lambda found: compared(found["cells"], "ms"))]
