"""Datasets and arrays through our library, with the programs `driver.rs` and `array_driver.rs`."""

import json
import subprocess
from pathlib import Path

import numpy

from common import Failure, equal


class Refused(Failure):
    """The library returned an error."""

    def __init__(self, command, error):
        super().__init__("%s: %s" % (command, error["text"]))
        self.category = error["category"]


def to_hex(element):
    return numpy.asarray(element).tobytes().hex()


class Ours:
    """One process, in which one dataset or array is open at a time; `reader` is another that reads it from outside."""

    def __init__(self, command, reader=None):
        self._process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)
        self.reader = reader

    @classmethod
    def beside(cls, blpk, name="dataset_driver"):
        """The driver built along with this command."""
        program = Path(blpk.program).parent / "examples" / name
        if not program.exists():
            raise Failure("no driver at '%s' (cargo build --release --examples)" % program)
        return cls([program], cls([program]))

    def end(self):
        if self.reader:
            self.reader.end()
        self._process.stdin.close()
        equal(self._process.wait(60), 0, "status of the driver")

    def call(self, name, *data, **fields):
        """Sends a command with pieces of data; returns the answer and the bytes that follow it."""
        data = [numpy.ascontiguousarray(piece).tobytes() for piece in data]
        command = dict(fields, do=name, data=[len(piece) for piece in data])
        pipe, answers = self._process.stdin, self._process.stdout
        pipe.write(json.dumps(command, default=str).encode() + b"\n")
        for piece in data:
            pipe.write(piece)
        pipe.flush()
        line = answers.readline()
        if not line:
            raise Failure("the driver died at %s (%s)" % (command, self._process.poll()))
        answer = json.loads(line)
        content = answers.read(answer.pop("bytes"))
        if "error" in answer:
            raise Refused(command, answer["error"])
        return answer, content

    def open(self, path, edit=False, **options):
        self.call("open", path=str(path), edit=edit, **options)

    def close(self):
        self.call("close")

    def info(self):
        return self.call("info")[0]

    def read(self, **where):
        return self.call("read", **where)[1]
