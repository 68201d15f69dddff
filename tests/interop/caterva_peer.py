"""The real Caterva, driven by commands, for `arrays.py`: it needs another NumPy than the rest, so it has its own process.

Commands and answers are those of `array_driver.rs`."""

import json
import sys

import caterva
import numpy

CODECS = {"blosclz": caterva.Codec.BLOSCLZ, "lz4": caterva.Codec.LZ4, "lz4hc": caterva.Codec.LZ4HC,
          "zlib": caterva.Codec.ZLIB, "zstd": caterva.Codec.ZSTD}
FILTERS = {"shuffle": caterva.Filter.SHUFFLE, "bitshuffle": caterva.Filter.BITSHUFFLE,
           "delta": caterva.Filter.DELTA, "truncprec": caterva.Filter.TRUNC_PREC}


class Peer:
    array = None

    def create(self, command, data):
        names = [name.partition(":") for name in command["filters"]]
        chosen = dict(
            chunks=tuple(command["chunks"]), blocks=tuple(command["blocks"]),
            urlpath=command["path"], contiguous=not command["sparse"],
            codec=CODECS[command["compressor"]], clevel=command["level"],
            filters=[FILTERS[name] for name, _, _ in names],
            filtersmeta=[int(bits or 0) for _, _, bits in names],
            meta={name: bytes.fromhex(digits) for name, digits in command.get("meta", {}).items()})
        shape, itemsize = tuple(command["shape"]), command["itemsize"]
        content = command.get("content")
        if content == "zeros":
            self.array = caterva.zeros(shape, itemsize, **chosen)
        elif content == "empty":
            self.array = caterva.empty(shape, itemsize, **chosen)
        elif content == "full":
            self.array = caterva.full(shape, data[0], **chosen)
        else:
            self.array = caterva.from_buffer(data[0], shape, itemsize, **chosen)

    def open(self, command, _):
        self.array = caterva.open(command["path"])

    def close(self, *_):
        self.array = None

    def read(self, command, _):
        found = self.array[slices(command)]
        return {}, numpy.ascontiguousarray(found).tobytes()

    def whole(self, *_):
        return {}, bytes(self.array.to_buffer())

    def info(self, *_):
        array = self.array
        names = [name if isinstance(name, str) else name.decode() for name in array.meta.keys()]
        return {"shape": list(array.shape), "chunks": list(array.chunks), "blocks": list(array.blocks),
                "itemsize": array.itemsize, "meta": {name: array.meta[name].hex() for name in names}}, b""

    def set(self, command, data):
        lens = [end - begin for begin, end in command["slice"]]
        self.array[slices(command)] = numpy.frombuffer(data[0], "V%d" % self.array.itemsize).reshape(lens)

    def resize(self, command, _):
        self.array.resize(tuple(command["shape"]))

    def meta(self, command, data):
        self.array.meta[command["layer"]] = data[0]

    def flush(self, *_):
        """Caterva has no flush: everything is written at once."""


def slices(command):
    return tuple(slice(begin, end) for begin, end in command["slice"])


def main():
    peer, commands, answers = Peer(), sys.stdin.buffer, sys.stdout.buffer
    for line in commands:
        command = json.loads(line)
        data = [commands.read(length) for length in command["data"]]
        try:
            answer, content = getattr(peer, command["do"])(command, data) or ({}, b"")
        except Exception as error:
            told = {"text": "caterva: %s: %s" % (type(error).__name__, error), "category": None}
            answer, content = {"error": told}, b""
        answer["bytes"] = len(content)
        answers.write(json.dumps(answer).encode() + b"\n" + content)
        answers.flush()


if __name__ == "__main__":
    main()
