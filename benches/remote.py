"""Reads an array from a slow web server, beside python-blosc2 and Zarr: each in turn, in a new process.

A server on the loopback device waits 30 ms before each answer, and answers any number of requests at once. The array has
400 x 400 x 200 float32 (128 MB) in chunks of 100 x 100 x 50; ours and python-blosc2 read the same `.b2nd`, and Zarr its own format
3 with the same chunks. The time is that of the last slice of a task, from opening if it is the only one, without imports."""

import http.server
import os
import subprocess
import threading
import time

from kit.bench import Bench
from kit.measure import in_turn, peer, run, say
from kit.report import compared

TASKS = {
    "open and a point": ["5..6,7..8,9..10"],
    "then a slice across 16 chunks": ["5..6,7..8,9..10", "0..400,0..400,120..121"],
    "open and all": ["all"],
}

MAKE = r'''
import sys, blosc2, numpy as np, zarr
x, y, z = np.ogrid[0:400, 0:400, 0:200]
field = 20 * np.sin(x / 40) * np.cos(y / 55) + 5 * np.sin((x + 2 * z) / 70) + z / 30
values = (field + np.random.default_rng(1).normal(scale=0.01, size=field.shape)).astype("f4")
chunks = (100, 100, 50)
cparams = dict(codec=blosc2.Codec.LZ4, clevel=5, filters=[blosc2.Filter.SHUFFLE])
blosc2.asarray(values, urlpath=sys.argv[1] + "/cube.b2nd", mode="w", chunks=chunks, cparams=cparams)
codec = zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")
array = zarr.create_array(sys.argv[1] + "/cube.zarr", shape=values.shape, chunks=chunks, dtype="f4", compressors=codec)
array[:] = values
'''

PEER = r'''
import numpy as np
url, = ARGUMENTS
def parsed(text):
    return slice(None) if text == "all" else tuple(slice(*map(int, part.split(".."))) for part in text.split(","))
def blosc2(*slices):
    import blosc2, fsspec, aiohttp
    return read(lambda: blosc2.open(url + "/cube.b2nd", mode="r", lazy=True), slices)
def zarr(*slices):
    import zarr, fsspec, aiohttp
    return read(lambda: zarr.open_array(url + "/cube.zarr", mode="r"), slices)
def read(open, slices):
    opened = []
    def work(text):
        if not opened:
            opened.append(open())
        return np.asarray(opened[0][parsed(text)])
    for text in slices[:-1]:
        work(text)
    return int(np.ascontiguousarray(took(lambda: work(slices[-1]))).view("u1").sum(dtype="u8"))
'''


class Slow(http.server.SimpleHTTPRequestHandler):
    """Files, whole or in ranges, after a pause."""

    protocol_version = "HTTP/1.1"
    folder, pause, requests = "", 0.03, 0

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, with_body):
        type(self).requests += 1
        time.sleep(self.pause)
        path = self.folder + self.path.split("?")[0]
        if not os.path.isfile(path):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        size = os.path.getsize(path)
        start, end, status = 0, size, 200
        wanted = self.headers.get("Range", "")
        if wanted.startswith("bytes="):
            first, last = wanted[6:].split("-")
            start, end = (int(first), int(last) + 1 if last else size) if first else (max(size - int(last), 0), size)
            end, status = min(end, size), 206
        if start >= size and size:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(status)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Wed, 25 Nov 2026 00:00:00 GMT")
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        if with_body:
            with open(path, "rb") as file:
                self.connection.sendfile(file, start, end - start)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size, daemon_threads = 256, True

    def handle_error(self, *_):
        """A reader that ends may leave connections open."""


def ours(program, url, slices, folder):
    """The last slice; the CPU time and the faults are those of the process."""
    said = os.path.join(folder, "said")
    done = run([program, url + "/cube.b2nd", *slices], said)
    with open(said) as lines:
        wall, done.sum = lines.read().splitlines()[-1].split()
    done.wall, done.sum = float(wall), int(done.sum)
    return done


def measured(setting):
    Slow.folder = setting.folder
    python = setting.python("blosc2", "zarr 3", "fsspec", "aiohttp")
    program = setting.built("-p", "bloscpack-remote", "--example", "remote_slices")
    subprocess.run([python, "-c", MAKE, setting.folder], check=True)
    server = Server(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url, cells = f"http://127.0.0.1:{server.server_port}", []

    def counted(name, act, requests):
        Slow.requests = 0
        done = act()
        requests[name] = Slow.requests
        return done

    def theirs(name, slices):
        with peer(python, PEER, url) as process:
            return process(name, *slices)

    for task, slices in TASKS.items():
        say(task)
        requests = {}
        acts = {"ours": lambda: ours(program, url, slices, setting.folder),
                **{name: lambda name=name: theirs(name, slices) for name in ("blosc2", "zarr")}}
        steps = {name: lambda _, name=name, act=act: counted(name, act, requests) for name, act in acts.items()}
        cells.append({"task": task, "results": in_turn(steps, setting.rounds), "requests": requests})
    server.shutdown()
    return cells


def summary(found):
    return compared(found["cells"], extra=[("requests", lambda cell, name: cell["requests"][name])])


BENCHES = [Bench("remote", "remote.md", measured, summary)]
