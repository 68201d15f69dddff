"""Zarr arrays that grow and shrink: zarr-python and `blpk` change them in turns.

An array of zarr-python, alone or in a group with or without consolidated metadata, with codecs of its own, with shards, with axes
in another order. Then steps: `blpk append` along an axis, `blpk dataset resize`, and zarr-python's `append`. After each,
zarr-python reads the same values as NumPy has, by the array and by its group, and `blpk verify` finds nothing.
`ZARR_SEQUENCES=300` changes that many arrays; the default is fewer."""

import os
import random
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

SEQUENCES = int(os.environ.get("ZARR_SEQUENCES", 60))
CASES = 6


def run(tally, blpk, reference, place):
    from common import expect

    def some(seed):
        program = [os.environ["BLPK_ZARR3"], "-P", __file__, blpk.program, str(seed), str(SEQUENCES // CASES)]
        ran = subprocess.run(program, capture_output=True, text=True)
        expect(ran.returncode == 0, ran.stderr[-1500:])
    for seed in range(CASES):
        tally.case("arrays of seed %d" % seed, some, seed)


class Sequence:
    """An array, and what NumPy has in its place."""

    def __init__(self, blpk, rng, folder):
        import numcodecs
        from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec
        self.blpk, self.rng, self.folder = blpk, rng, folder
        version, axes = rng.choice([2, 3]), rng.randint(1, 3)
        chunk = [rng.randint(1, 4) for _ in range(axes)]
        self.dtype = rng.choice(["<i4", "<f8", ">i2", "u1", "?", "<c16"] + (["<M8[s]"] if version == 2 else []))
        self.fill = 0 if self.dtype == "<M8[s]" else rng.choice([0, 1])
        about = {"shape": [rng.randint(0, 9) for _ in range(axes)], "chunks": chunk, "dtype": self.dtype, "fill_value": self.fill}
        if version == 2:
            codecs = [None, numcodecs.Blosc("lz4", 5, 1), numcodecs.Blosc("zstd", 3, 2), numcodecs.Zstd(3), numcodecs.GZip(5),
                      numcodecs.Zlib(3), numcodecs.LZ4()]
            about |= {"compressors": rng.choice(codecs), "order": rng.choice("CF")}
        else:
            codecs = [None, [ZstdCodec()], [ZstdCodec(level=5, checksum=True)], [GzipCodec(level=3)], [Crc32cCodec()],
                      [ZstdCodec(), Crc32cCodec()], [BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")],
                      [BloscCodec(cname="zstd", clevel=3, shuffle="bitshuffle")]]
            about["compressors"] = rng.choice(codecs)
            if rng.random() < 0.4:
                about["shards"] = [length * rng.randint(1, 3) for length in chunk]
            if rng.random() < 0.3:
                about["filters"] = [TransposeCodec(order=rng.sample(range(axes), axes))]
        self.root = self.path = str(folder / "g.zarr")
        self.member = rng.choice([None, "a", "deep/a"])
        if self.member is None:
            array = zarr.create_array(self.root, zarr_format=version, **about)
        else:
            group = zarr.create_group(self.root, zarr_format=version)
            array = group.create_array(self.member, **about)
            self.path += "/" + self.member
        self.wanted = self.values(about["shape"])
        array[...] = self.wanted
        self.is_consolidated = self.member is not None and rng.random() < 0.6
        if self.is_consolidated:
            zarr.consolidate_metadata(self.root)
        self.about = about

    def values(self, shape):
        values = numpy.random.default_rng(self.rng.randint(0, 10**9)).integers(0, 2 if self.dtype == "?" else 100, shape)
        return values.astype(self.dtype)

    def command(self, *arguments):
        ran = subprocess.run([self.blpk, "-q", *map(str, arguments)], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr

    def append(self):
        axis = self.rng.randrange(self.wanted.ndim)
        shape = list(self.wanted.shape)
        shape[axis] = self.rng.randint(1, 7)
        more = self.values(shape)
        # zarr-python leaves copies of metadata in groups as they are.
        if self.is_consolidated or self.rng.random() < 0.7:
            numpy.save(self.folder / "more.npy", more)
            self.command("append", self.path, self.folder / "more.npy", "--axis", axis)
        else:
            zarr.open_array(self.path, mode="r+").append(more, axis=axis)
        self.wanted = numpy.concatenate([self.wanted, more], axis)

    def resize(self):
        shape = [self.rng.randint(0, 9) for _ in range(self.wanted.ndim)]
        self.command("dataset", "resize", self.path, ",".join(map(str, shape)))
        new = numpy.full(shape, self.fill).astype(self.dtype)
        common = tuple(slice(0, min(pair)) for pair in zip(self.wanted.shape, shape))
        new[common] = self.wanted[common]
        self.wanted = new

    def check(self):
        found = [zarr.open_array(self.path, mode="r")]
        if self.member is not None:
            found.append(zarr.open_group(self.root, mode="r")[self.member])
        for array in found:
            assert array.shape == self.wanted.shape, (self.about, array.shape, self.wanted.shape)
            assert (array[...] == self.wanted).all(), (self.about, array[...], self.wanted)
        self.command("verify", self.path)


def main(blpk, seed, count):
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder:
            sequence = Sequence(blpk, rng, Path(folder))
            for _ in range(rng.randint(1, 4)):
                rng.choice([sequence.append, sequence.append, sequence.resize])()
                sequence.check()


if __name__ == "__main__":
    import numpy
    import zarr
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
