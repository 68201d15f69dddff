"""Shared by every part: the tally, the command under test, the reference."""

import json
import os
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import blosc
import bloscpack
import numpy
from bloscpack import file_io
from bloscpack.constants import CNAME_AVAIL

import snappy_chunk

CODECS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
FILTERS = {"none": blosc.NOSHUFFLE, "byte": blosc.SHUFFLE, "bit": blosc.BITSHUFFLE}
CHECKSUMS = ("None", "adler32", "crc32", "md5", "sha1",
             "sha224", "sha256", "sha384", "sha512")
METADATA = {"dtype": "int32", "shape": [3, 4], "others": [1.5, None, True, "\u043a\u043b"]}
HEADER_FIELDS = ("format_version", "checksum", "typesize", "chunk_size",
                 "last_chunk", "nchunks", "max_app_chunks")
LONGEST_RUN = 60   # seconds; a hanging command is a failure
SHOWN = 12          # failures printed in full, for each part


class Failure(Exception):
    """The result of one case is not the expected one."""


def expect(condition, *message):
    if not condition:
        raise Failure(" ".join(str(part) for part in message))


def equal(found, wanted, what):
    if found != wanted:
        raise Failure("%s: found %s, expected %s" % (what, shorten(found), shorten(wanted)))


def shorten(value):
    text = repr(value)
    return text if len(text) <= 300 else "%s... (%d characters)" % (text[:300], len(text))


class Tally:
    """Counts the cases of one part and shows the first failures."""

    def __init__(self, part):
        self.part, self.passed, self.failed = part, 0, 0

    def case(self, name, check, *arguments):
        try:
            check(*arguments)
        except Exception as error:
            self.failed += 1
            if self.failed <= SHOWN:
                print("FAILED %s: %s: %s" % (self.part, name, error), file=sys.stderr)
                if not isinstance(error, (Failure, AssertionError)):
                    traceback.print_exc(limit=-2)
        else:
            self.passed += 1

    def cases(self, named):
        """Runs (name, check, arguments...) tuples, two at a time."""
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(self.case, *one) for one in named]:
                done.result()

    def line(self):
        return "%-8s %d passed, %d failed" % (self.part, self.passed, self.failed)


class Command:
    """A command line: the one under test, or the reference's."""

    def __init__(self, program):
        self.program = str(program)

    def run(self, *arguments, stdin=b"", cwd=None):
        command = [self.program, *map(str, arguments)]
        try:
            return subprocess.run(command, input=stdin, cwd=cwd, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=LONGEST_RUN)
        except subprocess.TimeoutExpired as late:
            raise Failure("%s: hangs" % " ".join(command)) from late

    def ok(self, *arguments, stdin=b"", cwd=None):
        """Runs the command, requires status 0, and returns its standard output."""
        return self.status(0, *arguments, stdin=stdin, cwd=cwd).stdout

    def status(self, wanted, *arguments, stdin=b"", cwd=None):
        done = self.run(*arguments, stdin=stdin, cwd=cwd)
        if done.returncode != wanted:
            raise Failure("%s: status %d, expected %d\n%s" % (
                " ".join(map(str, arguments)), done.returncode, wanted,
                done.stderr.decode(errors="replace")))
        return done

    def info(self, path):
        return json.loads(self.ok("info", "--json", path))


class Place:
    """A temporary folder for one run, removed afterwards."""

    def __init__(self):
        self._kept = tempfile.TemporaryDirectory(prefix="blpk-interop-")
        self.root = Path(self._kept.name)
        self._count = 0

    def folder(self):
        self._count += 1
        path = self.root / ("%05d" % self._count)
        path.mkdir()
        return path

    def file(self, name, content):
        path = self.folder() / name
        path.write_bytes(content)
        return path


# Inputs -------------------------------------------------------------------

def numbers(length, seed=7):
    """Alternately compressible and incompressible data: ramps, a random walk, noise, zeros."""
    rng = numpy.random.default_rng(seed)
    parts = [
        numpy.arange(600, dtype="<i4") * 3,
        rng.standard_normal(300).cumsum().astype("<f8"),
        rng.integers(0, 256, 1100, dtype="u1"),
        numpy.zeros(900, "u1"),
        (numpy.arange(1500) % 251).astype("<u2"),
    ]
    unit = b"".join(part.tobytes() for part in parts)
    return (unit * (length // len(unit) + 1))[:length]


# The reference ------------------------------------------------------------

class _Chunks:
    """Replaces the module `blosc` inside Bloscpack's reader, so that chunks of a
    compressor that the wheel lacks can be opened too."""

    def __getattr__(self, name):
        return getattr(blosc, name)

    @staticmethod
    def decompress(chunk):
        if snappy_chunk.codec(chunk) == snappy_chunk.SNAPPY and "snappy" not in CNAME_AVAIL:
            return snappy_chunk.decompress(chunk)
        return blosc.decompress(chunk)


def prepare_reference():
    file_io.blosc = _Chunks()
    blosc.set_nthreads(1)
    # The inputs are too small for releasing the lock to pay off.
    blosc.set_releasegil(False)


def reference_unpack(path):
    """Content and metadata as Bloscpack's reader returns them."""
    return bloscpack.unpack_bytes_from_file(str(path))


class Look:
    """Everything that the reference reads from a file: header, metadata header,
    offsets, and each chunk's position and Blosc header."""

    def __init__(self, path):
        self.size = os.path.getsize(path)
        with open(path, "rb") as file:
            self.header, self.metadata, self.metadata_header, self.offsets = \
                file_io._read_beginning(file)
            self.chunks, self.positions = [], []
            for _ in range(self.header.nchunks):
                self.positions.append(file.tell())
                chunk, header, _ = file_io._read_compressed_chunk_fp(
                    file, self.header.checksum_impl)
                self.chunks.append((chunk, header))
            self.end = file.tell()
