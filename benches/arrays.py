#!/usr/bin/env python3
"""Times arrays against caterva and python-blosc2: each task by all of them in turn, for several rounds.

usage: arrays.py PROGRAM PYTHON_BLOSC2 PYTHON_CATERVA [ROUNDS] [CODEC...]

PROGRAM is the bench `arrays` as built by cargo, PYTHON_BLOSC2 an interpreter with python-blosc2 and numpy, PYTHON_CATERVA an
interpreter with caterva and numpy, or `-` for none. The data is an array of 300 x 300 x 278 float64 (200 MB): a smooth field with
a little noise. For each task, prints the seconds of each program (best / median) and our time divided by the peer's, in wall time
and in CPU time: below 1, ours is faster. `read_into` reads the whole array into existing memory. `synced` is a write including
the time until it is on the disk, which ours always waits for. The sums of what is read are compared."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TASKS = ["write", "read", "read_into", "planes0", "planes1", "planes2", "boxes"]

MAKE = r'''
import sys, numpy as np
x, y, z = np.ogrid[0:300, 0:300, 0:278]
field = 20 * np.sin(x / 40) * np.cos(y / 55) + 5 * np.sin((x + 2 * z) / 70) + z / 30
noise = np.random.default_rng(1).normal(scale=0.01, size=field.shape)
# In steps of 2^-10, as from an instrument.
(np.round((field + noise) * 1024) / 1024).tofile(sys.argv[1])
'''

PEER = r'''
import sys, time, os
sys.path.pop(0)
import numpy as np
name, folder = sys.argv[1:]
SHAPE, CHUNK, BLOCK, PLANES, BOXES, BOX = (300, 300, 278), (75, 75, 70), (25, 25, 24), 20, 1000, 10
values = np.fromfile(folder + "/values.f64").reshape(SHAPE)
if name == "caterva":
    import caterva
    CODECS = {"lz4": caterva.Codec.LZ4, "zstd": caterva.Codec.ZSTD}
    def write(path, threads, codec, shapes):
        # Caterva does not choose shapes by itself.
        caterva.asarray(values, chunks=CHUNK, blocks=BLOCK, urlpath=path, contiguous=True,
                        codec=CODECS[codec], clevel=5, filters=[caterva.Filter.SHUFFLE], nthreads=threads)
    def opened(path, threads):
        return caterva.open(path)
    def whole(array):
        return array.to_buffer()
    reused = np.empty(SHAPE, "S8")
    def into(array):
        from caterva import caterva_ext
        return caterva_ext.get_slice_numpy(reused, array, ((0, 0, 0), SHAPE), (False,) * 3)
else:
    import blosc2
    CODECS = {"lz4": blosc2.Codec.LZ4, "zstd": blosc2.Codec.ZSTD}
    def write(path, threads, codec, shapes):
        chosen = {"chunks": CHUNK, "blocks": BLOCK} if shapes == "same" else {}
        cparams = dict(codec=CODECS[codec], clevel=5, filters=[blosc2.Filter.SHUFFLE], nthreads=threads)
        blosc2.asarray(values, urlpath=path, mode="w", contiguous=True, cparams=cparams, **chosen)
    def opened(path, threads):
        blosc2.set_nthreads(threads)
        return blosc2.open(path, mode="r", dparams={"nthreads": threads})
    def whole(array):
        return array[:]
    reused = np.empty(SHAPE)
    def into(array):
        return array.get_slice_numpy(reused, ((0, 0, 0), SHAPE))
class Places:
    state = 1
    def next(self, below):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % below
def slices(task):
    places = Places()
    if task == "boxes":
        begins = [[places.next(n - BOX) for n in SHAPE] for _ in range(BOXES)]
        return [tuple(slice(at, at + BOX) for at in begin) for begin in begins]
    axis = int(task[-1])
    begins = [places.next(SHAPE[axis]) for _ in range(PLANES)]
    return [tuple(slice(at, at + 1) if axis == other else slice(None) for other in range(3)) for at in begins]
def total(found):
    words = np.frombuffer(found, "<u8") if isinstance(found, bytes) else np.ascontiguousarray(found).view("<u8")
    return int(words.sum(dtype="u8"))
class Took:
    clock = cpu = 0.0
    def add(self, act):
        begun, used = time.perf_counter(), time.process_time()
        done = act()
        self.clock += time.perf_counter() - begun
        self.cpu += time.process_time() - used
        return done
for line in sys.stdin:
    task, path, threads, codec, shapes = line.split()
    path, threads, took, summed = os.path.join(folder, path), int(threads), Took(), 0
    if task == "write":
        if os.path.exists(path):
            os.remove(path)
        took.add(lambda: write(path, threads, codec, shapes))
        synced, file = Took(), os.open(path, os.O_RDWR)
        # Ours waits for the disk, the peers do not: the sync is timed separately.
        synced.add(lambda: os.fsync(file))
        os.close(file)
        print(took.clock, took.cpu, 0, took.clock + synced.clock, flush=True)
        continue
    array = took.add(lambda: opened(path, threads))
    if task == "read_into":
        reused.fill(1)
        took.add(lambda: into(array))
        print(took.clock, took.cpu, total(reused), flush=True)
        continue
    for where in [None] if task == "read" else slices(task):
        found = took.add(lambda: whole(array) if where is None else array[where])
        summed = (summed + total(found)) % 2**64
    print(took.clock, took.cpu, summed, flush=True)
'''


class Program:
    def __init__(self, name, command, file):
        self.name, self.file = name, file
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, task, threads, codec, shapes):
        """Returns wall seconds, CPU seconds, the sum, and the wall seconds until the data is on the disk."""
        print(task, self.file, threads, codec, shapes, file=self.process.stdin, flush=True)
        clock, cpu, total, *synced = self.process.stdout.readline().split()
        return float(clock), float(cpu), int(total), float(synced[0]) if synced else float(clock)


def measure(programs, rounds, codec, shapes, threads):
    """Returns the seconds by task and program. Exits if the programs read different values."""
    found = {}
    for number in range(rounds):
        for task in TASKS:
            first = number % len(programs)
            sums = set()
            for program in programs[first:] + programs[:first]:
                clock, cpu, total, synced = program.do(task, threads, codec, shapes)
                sums.add(total)
                found.setdefault((task, program.name), []).append((clock, cpu))
                if task == "write":
                    found.setdefault(("synced", program.name), []).append((synced, cpu))
            if len(sums) != 1:
                sys.exit(f"{task}: the programs read different values: {sums}")
    return found


def report(programs, found, codec, shapes, threads, folder):
    sizes = ", ".join(f"{program.name} {os.path.getsize(Path(folder, program.file)) / 1e6:.1f} MB" for program in programs)
    print(f"\n### {codec.upper()}, {shapes} shapes, {threads} thread{'' if threads == 1 else 's'}\n\n"
          f"Level 5 with shuffle; files: {sizes}; load {os.getloadavg()[0]:.1f}:\n")
    names = [program.name for program in programs]
    heads = names + [f"ours/{name}" for name in names[1:]] + [f"CPU ours/{name}" for name in names[1:]]
    print("| task | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads))
    for task in dict.fromkeys(task for task, _ in found):
        clock, cpu = ({name: [one[side] for one in found[task, name]] for name in names} for side in (0, 1))
        cells = [f"{min(clock[name]):.3f} / {statistics.median(clock[name]):.3f}" for name in names]
        for times in (clock, cpu):
            for name in names[1:]:
                cells.append(f"{min(times['ours']) / min(times[name]):.2f} / "
                             f"{statistics.median(times['ours']) / statistics.median(times[name]):.2f}")
        print(f"| {task} | " + " | ".join(cells) + " |", flush=True)


def main():
    program, blosc2, caterva, *rest = sys.argv[1:]
    rounds = int(rest[0]) if rest else 5
    codecs = rest[1:] or ["lz4", "zstd"]
    print(time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), f"rounds: {rounds}, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="arrays", dir="target") as folder:
        subprocess.run([blosc2, "-c", MAKE, folder + "/values.f64"], check=True)
        script = Path(folder, "peer.py").absolute()
        script.write_text(PEER)
        programs = [Program("ours", [program, folder], "ours.b2nd"),
                    Program("blosc2", [blosc2, str(script), "blosc2", folder], "blosc2.b2nd")]
        if caterva != "-":
            programs.append(Program("caterva", [caterva, str(script), "caterva", folder], "caterva.cat"))
        for codec in codecs:
            for threads in (1, 2):
                report(programs, measure(programs, rounds, codec, "same", threads), codec, "same", threads, folder)
        for threads in (1, 2):
            found = measure(programs[:2], rounds, codecs[0], "automatic", threads)
            report(programs[:2], found, codecs[0], "automatic", threads, folder)
        for one in programs:
            one.process.stdin.close()
            one.process.wait()


if __name__ == "__main__":
    main()
