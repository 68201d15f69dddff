"""Files behind URLs, read from a server of our own."""

import http.server
import os
import re
import threading

import numpy as np
import pytest

import bloscpack as bp
from bloscpack import bcolz


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers requests for ranges of the files in `files`, of which each has a content and an ETag."""

    files = {}
    requests = []
    ranges = True

    def do_GET(self):
        found = self.files.get(self.path)
        if found is None:
            return self.send_error(404)
        content, tag = found
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", "bytes=0-"))
        start, end = int(wanted[1] or max(len(content) - int(wanted[2] or 0), 0)), len(content)
        if wanted[1] and wanted[2]:
            end = min(int(wanted[2]) + 1, end)
        self.requests.append((self.path, start, end))
        if start >= len(content):
            return self.send_error(416)
        self.send_response(206 if self.ranges else 200)
        if self.ranges:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
        self.send_header("ETag", f'"{tag}"')
        self.send_header("Content-Length", str(end - start if self.ranges else len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[start:end] if self.ranges else content)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


@pytest.fixture
def server():
    Handler.files, Handler.requests, Handler.ranges = {}, [], True
    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


DATA = np.random.default_rng(5).integers(0, 1 << 60, 500_000)


def test_a_part_of_a_file_is_read_in_ranges(server):
    Handler.files["/a.blp"] = bp.compress(DATA, chunk_size=100_000), "1"
    file = bp.open(server + "/a.blp")
    file.seek(8 * 400_000)
    assert (np.frombuffer(file.read(80), "i8") == DATA[400_000:400_010]).all()
    asked = sum(end - start for _, start, end in Handler.requests)
    assert asked < 600_000 < len(Handler.files["/a.blp"][0])
    assert bp.info(server + "/a.blp")["kind"] == "bloscpack" and bp.verify(server + "/a.blp")


def test_arrays_are_unpacked(server):
    Handler.files["/a.blp"] = bp.pack_ndarray_to_bytes(DATA), "1"
    assert (bp.unpack_ndarray_from_file(server + "/a.blp") == DATA).all()


def test_a_frame_and_a_file_of_this_machine(server, tmp_path):
    (tmp_path / "b").write_bytes(bp.compress(b"content"))
    assert bp.open((tmp_path / "b").as_uri()).read() == b"content"
    Handler.files["/empty"] = b"", "1"
    with pytest.raises(bp.Error):
        bp.open(server + "/empty")


@pytest.mark.parametrize("change", ["tag", "size"])
def test_a_change_is_noticed(server, change):
    content = bp.compress(DATA, chunk_size=100_000)
    Handler.files["/a.blp"] = content, "1"
    file = bp.open(server + "/a.blp")
    Handler.files["/a.blp"] = (content, "2") if change == "tag" else (content + b"x", "1")
    file.seek(8 * 300_000)
    with pytest.raises(OSError, match="changed while it was read"):
        file.read(800_000)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_opens_again(server):
    url = server + "/a.blp"
    Handler.files["/a.blp"] = bp.compress(DATA, chunk_size=100_000), "1"
    file = bp.open(url)
    pid = os.fork()
    if not pid:
        try:
            with pytest.raises(OSError, match="forked"):
                file.read()
            file = bp.open(url)
            file.seek(8 * 400_000)
            os._exit(0 if file.read(80) == DATA[400_000:400_010].tobytes() else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert file.read() == DATA.tobytes()


def test_a_folder_on_a_server(server, tmp_path):
    """A server without listings, to which nobody has said what is there."""
    bcolz.ctable([DATA[:1000], DATA[1000:2000]], names=["a", "b"], rootdir=str(tmp_path / "t"))
    for path in (tmp_path / "t").rglob("*"):
        if path.is_file():
            Handler.files["/t/" + path.relative_to(tmp_path / "t").as_posix()] = path.read_bytes(), "1"
    table = bp.open(server + "/t")
    assert (table["b"][:] == DATA[1000:2000]).all() and (bp.open(server + "/t/a")[5:7] == DATA[5:7]).all()
    assert bp.convert(server + "/t", tmp_path / "t.csv") is None
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == f"{DATA[0]},{DATA[1000]}"


def test_servers_that_cannot_help(server):
    with pytest.raises(OSError, match="no such object"):
        bp.open(server + "/no")
    Handler.files["/a"] = bp.compress(b"content"), "1"
    Handler.ranges = False
    with pytest.raises(OSError, match="ranges"):
        bp.open(server + "/a")
    with pytest.raises(OSError, match="127.0.0.1:9"):
        bp.open("http://127.0.0.1:9/nobody")
