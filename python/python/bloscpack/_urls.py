"""Files behind URLs, read in ranges with what Python has.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "file"
>>> _ = path.write_bytes(b"content")
>>> opened(path.as_uri()) == str(path)
True
"""

from __future__ import annotations

import http.client
import io
import re
import threading
import urllib.error
import urllib.request
from collections import OrderedDict
from typing import Any
from urllib.parse import urlsplit

#: Bytes that are asked for at once, at least, and pieces of this length that are kept.
_PIECE, _KEPT = 1 << 16, 64
#: Seconds to wait for an answer.
_TIMEOUT = 60


class UrlFile(io.RawIOBase):
    """A file of a web server that answers requests for ranges, as a file object that can seek.

    Each answer must be of the same version of the file, by its size and ``ETag`` (or ``Last-Modified``): if the file is
    changed, reading it is an `OSError`. Pieces of 64 KiB are kept, up to 4 MiB.
    """

    def __init__(self, url: str) -> None:
        self.name = url
        self._at = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._size: int | None = None
        self._version: str | None = None
        self._piece(0)

    def _piece(self, number: int) -> bytes:
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
                return self._kept[number]
            piece = self._get(number * _PIECE, _PIECE)
            self._kept[number] = piece
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return piece

    def _get(self, start: int, length: int) -> bytes:
        """The bytes from this position on, as many or as there are."""
        if self._size is not None and start >= self._size:
            return b""
        end = start + length if self._size is None else min(start + length, self._size)
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        request = urllib.request.Request(self.name, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
                first, size = self._range(answer)
                self._check(answer, size)
                if first != start:
                    raise OSError(f"{self.name}: the server sent bytes from {first} on, not from {start} on")
                wanted = min(end, size) - start
                data = answer.read(wanted)
        except urllib.error.HTTPError as error:
            if error.code == 416 and self._size is None:
                self._size = 0
                return b""
            raise OSError(f"{self.name}: {error.code} {error.reason}") from error
        except urllib.error.URLError as error:
            raise OSError(f"{self.name}: {error.reason}") from error
        except http.client.HTTPException as error:
            raise OSError(f"{self.name}: {error!r}") from error
        if len(data) != wanted:
            raise OSError(f"{self.name}: the server sent {len(data)} bytes of {wanted}")
        return data

    def _range(self, answer: Any) -> tuple[int, int]:
        """The first byte of an answer, and the size of the whole file."""
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range") or "")
        if answer.status != 206 or not found:
            raise OSError(f"{self.name}: the server does not answer requests for ranges: download the file")
        return int(found[1]), int(found[2])

    def _check(self, answer: Any, size: int) -> None:
        version = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        if self._size is None:
            self._size, self._version = size, version
        elif (size, version) != (self._size, self._version):
            raise OSError(f"{self.name}: the file was changed while it was read")

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int | None = -1) -> bytes:
        """Reads up to ``size`` bytes, all that are left by default."""
        left = max(self.size - self._at, 0)
        size = left if size is None or size < 0 else min(size, left)
        if size >= _PIECE:
            with self._lock:
                data = self._get(self._at, size)
        else:
            first, last = self._at // _PIECE, (self._at + max(size, 1) - 1) // _PIECE
            pieces = b"".join(self._piece(number) for number in range(first, last + 1)) if size else b""
            skip = self._at - first * _PIECE
            data = pieces[skip : skip + size]
        self._at += len(data)
        return data

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self._size or 0

    def seek(self, offset: int, whence: int = 0) -> int:
        start = {0: 0, 1: self._at, 2: self.size}[whence] + offset
        if start < 0:
            raise ValueError(f"negative seek position {start}")
        self._at = start
        return start

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<file at {self.name!r}, {self.size} bytes>"


def opened(source: Any) -> Any:
    """A file object for the URL of a web server, a path for one of a file, and anything else as it is."""
    if not isinstance(source, str) or "://" not in source:
        return source
    url = urlsplit(source)
    if url.scheme.lower() in ("http", "https"):
        return UrlFile(source)
    if url.scheme.lower() == "file" and url.netloc in ("", "localhost"):
        return urllib.request.url2pathname(url.path)
    return source
