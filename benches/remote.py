#!/usr/bin/env python3
"""Reads an array from a slow web server, beside python-blosc2 and Zarr: each in turn, for several rounds.

usage: remote.py PROGRAM PYTHON [ROUNDS] [MILLISECONDS]

PROGRAM is the example `remote_slices` of bloscpack-remote as built by cargo, PYTHON an interpreter with blosc2, zarr, fsspec and aiohttp.
A server on the loopback device waits 30 ms, or as long as the last argument says, before each answer, and answers any number
of requests at once. The array has 400 x 400 x 200 float32 (128 MB) in chunks of 100 x 100 x 50; ours and python-blosc2 read the
same `.b2nd`, and Zarr its own format 3 with the same chunks. Tasks: open it and read a point; a slice across ten chunks and
more; all of it, each in a new process. For each, prints seconds (median), requests, and the peer's time divided by ours in the
same round (median, least, most): above 1, ours is faster. The sums of the bytes are compared.
"""

import http.server
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

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
import sys, time
sys.path.pop(0)
import numpy as np
name, url, *slices = sys.argv[1:]
if name == "blosc2":
    import blosc2, fsspec, aiohttp
    begun = time.perf_counter()
    array = blosc2.open(url + "/cube.b2nd", mode="r", lazy=True)
else:
    import zarr, fsspec, aiohttp
    begun = time.perf_counter()
    array = zarr.open_array(url + "/cube.zarr", mode="r")
def parsed(text):
    if text == "all":
        return slice(None)
    return tuple(slice(*map(int, part.split(".."))) for part in text.split(","))
for text in slices:
    values = np.asarray(array[parsed(text)])
    seconds = time.perf_counter() - begun
    print(seconds, int(values.view("u1").sum(dtype="u8")) if values.flags.c_contiguous else -1)
    begun = time.perf_counter()
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


def timed(command):
    """The seconds and the sum of the last slice, and the requests of all."""
    Slow.requests = 0
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    seconds, total = done.stdout.splitlines()[-1].split()
    return float(seconds), int(total), Slow.requests


def main():
    program, python = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    Slow.pause = int(sys.argv[4]) / 1000 if len(sys.argv) > 4 else 0.03
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-c", MAKE, folder], check=True)
        Slow.folder = folder
        server = Server(("127.0.0.1", 0), Slow)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        print(f"{Slow.pause * 1000:.0f} ms an answer, {rounds} rounds, {os.cpu_count()} cores\n")
        print("| task | ours, s | requests | peer | peer, s | requests | ratio |\n|---|--:|--:|---|--:|--:|---|")
        for task, slices in TASKS.items():
            found = {name: [] for name in ("ours", "blosc2", "zarr")}
            for _ in range(rounds):
                found["ours"].append(timed([program, url + "/cube.b2nd", *slices]))
                for peer in ("blosc2", "zarr"):
                    found[peer].append(timed([python, "-c", PEER, peer, url, *slices]))
            sums = {total for runs in found.values() for _, total, _ in runs if total != -1}
            if len(sums) != 1:
                sys.exit(f"{task}: the readers differ: {sums}")
            ours = [seconds for seconds, _, _ in found["ours"]]
            for peer in ("blosc2", "zarr"):
                theirs = [seconds for seconds, _, _ in found[peer]]
                ratios = sorted(their / our for their, our in zip(theirs, ours))
                print(f"| {task} | {statistics.median(ours):.3f} | {found['ours'][-1][2]} | {peer} "
                      f"| {statistics.median(theirs):.3f} | {found[peer][-1][2]} "
                      f"| **{statistics.median(ratios):.2f}** ({ratios[0]:.2f} to {ratios[-1]:.2f}) |", flush=True)


main()
