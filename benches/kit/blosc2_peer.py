"""usage: blosc2_peer.py save|load IN OUT TYPESIZE CHUNK THREADS; runs with python-blosc2.

Saves a file as a contiguous frame, or loads a frame and writes the file, and prints how long that took, without the startup
of the interpreter and the imports. LZ4 at level 9 with shuffle; CHUNK 0 lets python-blosc2 choose. Of the available ways (all at
once or chunk by chunk, with or without NumPy) these were the fastest.
"""

import json
import resource
import sys
import time

import blosc2

LEVEL = 9


def save(path, to, typesize, chunk, threads):
    cparams = dict(codec=blosc2.Codec.LZ4, clevel=LEVEL, filters=[blosc2.Filter.SHUFFLE], typesize=typesize, nthreads=threads)
    frame = blosc2.SChunk(chunksize=chunk or None, contiguous=True, urlpath=to, mode="w", cparams=cparams)
    buffer = bytearray(frame.chunksize)
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            frame.append_data(buffer if count == len(buffer) else buffer[:count])
    return frame.chunksize


def load(path, to, _, __, threads):
    frame = blosc2.open(path, mode="r", dparams={"nthreads": threads})
    buffer = bytearray(frame.chunksize)
    left = frame.nbytes
    with open(to, "wb", buffering=0) as file:
        for number in range(frame.nchunks):
            frame.decompress_chunk(number, dst=buffer)
            left -= file.write(memoryview(buffer)[:left])
    assert left == 0, "a short write"
    return frame.chunksize


def main():
    act, path, to, *numbers = sys.argv[1:]
    typesize, chunk, threads = map(int, numbers)
    blosc2.set_nthreads(threads)
    used, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    chunk = {"save": save, "load": load}[act](path, to, typesize, chunk, threads)
    wall, now = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF)
    user, system = now.ru_utime - used.ru_utime, now.ru_stime - used.ru_stime
    print(json.dumps({"wall": wall, "user": user, "system": system, "chunk": chunk}))


if __name__ == "__main__":
    main()
