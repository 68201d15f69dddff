#!/usr/bin/env python3
"""One peer of tests/damage.py, in a process of its own, which may crash.

    peers.py NAME write DATA PATH     writes DATA (int32, little-endian) to the file or directory PATH
    peers.py NAME read                takes one path per line; answers each with a digest of dtype, shape and bytes, or `error`
"""

import hashlib
import sys
import warnings

import numpy


class Blosc2Array:
    @staticmethod
    def write(data, path):
        import blosc2
        blosc2.asarray(data, chunks=(4096,), urlpath=path)

    @staticmethod
    def read(path):
        import blosc2
        return blosc2.open(path, mode="r")[:]


class Blosc2Frame:
    @staticmethod
    def write(data, path):
        import blosc2
        blosc2.SChunk(chunksize=1 << 14, data=data, urlpath=path, contiguous=True, cparams={"typesize": 4})

    @staticmethod
    def read(path):
        import blosc2
        return numpy.frombuffer(blosc2.open(path, mode="r")[:], numpy.uint8)


class Bloscpack:
    @staticmethod
    def write(data, path):
        import bloscpack
        bloscpack.pack_bytes_to_file(data.tobytes(), path, chunk_size="16K")

    @staticmethod
    def read(path):
        import bloscpack
        content, _ = bloscpack.unpack_bytes_from_file(path)
        return numpy.frombuffer(content, numpy.uint8)


def parquet(write, read):
    class Parquet:
        @staticmethod
        def write(data, path):
            import pyarrow
            import pyarrow.parquet
            pyarrow.parquet.write_table(pyarrow.table({"a": data}), path, **write)

        @staticmethod
        def read(path):
            import pyarrow.parquet
            return of_table(pyarrow.parquet.ParquetFile(path, **read).read())
    return Parquet


def of_table(table):
    if table.column_names != ["a"] or table.column(0).null_count:
        # Wrong content without an error: return a digest that differs.
        return numpy.array([str(table.schema)])
    return table.column(0).to_numpy()


class ArrowStream:
    @staticmethod
    def write(data, path):
        import pyarrow
        table = pyarrow.table({"a": data})
        options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
        with pyarrow.ipc.new_stream(path, table.schema, options=options) as out:
            out.write_table(table, max_chunksize=4096)

    @staticmethod
    def read(path):
        import pyarrow
        with pyarrow.OSFile(path) as file:
            return of_table(pyarrow.ipc.open_stream(file).read_all())


def zarr_array(**settings):
    class Zarr:
        @staticmethod
        def write(data, path):
            import zarr
            zarr.create_array(path, shape=data.shape, dtype=data.dtype, chunks=(4096,), **settings)[:] = data

        @staticmethod
        def read(path):
            import zarr
            return zarr.open_array(path, mode="r")[:]
    return Zarr


PEERS = {
    "blosc2-b2nd": Blosc2Array,
    "blosc2-frame": Blosc2Frame,
    "bloscpack": Bloscpack,
    "parquet": parquet({}, {}),
    "parquet-zstd": parquet({"compression": "zstd"}, {}),
    "parquet-checksum": parquet({"write_page_checksum": True}, {"page_checksum_verification": True}),
    "arrow-stream": ArrowStream,
    "zarr": zarr_array(),
    "zarr-sharded": zarr_array(shards=(20_480,)),
}


def digest(array):
    array = numpy.ascontiguousarray(array)
    told = f"{array.dtype.str} {array.shape} ".encode()
    return hashlib.sha256(told + array.tobytes()).hexdigest()


def main():
    peer = PEERS[sys.argv[1]]
    if sys.argv[2] == "write":
        peer.write(numpy.fromfile(sys.argv[3], "<i4"), sys.argv[4])
        return
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            answer = digest(peer.read(line.rstrip("\n")))
        except Exception as error:  # Any exception counts as a reported error.
            answer = f"error {type(error).__name__}"
        print(answer, flush=True)


if __name__ == "__main__":
    main()
