"""Outputs appear under their names when they are complete; until then, what is there stays."""

import gc
import io
import os
import stat
import threading

import numpy as np
import pytest

import bloscpack as bp
from bloscpack import bcolz, exceptions

OLD = b"the only copy of something else"


class Stop(Exception):
    pass


def _stop():
    raise Stop


def _pieces():
    yield b"one" * 1000
    raise Stop


# Each writes to a path, and fails in the middle.


def _write(path):
    with bp.open(path, "wb") as writer:
        writer.write(bytes(100_000))
        raise Stop


def _write_by_name(path):
    with bp.Writer(str(path), threads=1) as writer:
        writer.write(bytes(100_000))
        raise Stop


def _records(path):
    with bp.RecordWriter(path) as writer:
        writer.extend(_pieces())


def _packed_records(path):
    with bp.RecordWriter(path, packed=1 << 16) as writer:
        writer.extend(_pieces())


def _pack_file(path):
    # It is cut short while it is read.
    source = path.with_name("source")
    source.write_bytes(bytes(1000))

    class Args(bp.BloscArgs):
        def __getitem__(self, name):
            raise Stop

    bp.pack_file_to_file(source, path, metadata={"a": 1}, blosc_args=Args(), metadata_args=bp.MetadataArgs())


def _pack_bytes(path):
    bp.pack_bytes_to_file(b"content", path, metadata={"a": object()}, metadata_args=bp.MetadataArgs())


def _pack_array(path):
    bp.pack_ndarray_to_file(np.arange(10), path, metadata_args=bp.MetadataArgs(max_meta_size=1))


def _unpack(path):
    packed = bytearray(bp.pack_bytes_to_bytes(np.random.default_rng(1).bytes(3 << 20), chunk_size=1 << 20))
    packed[-100] ^= 1
    damaged = path.with_name("damaged.blp")
    damaged.write_bytes(packed)
    with pytest.raises(bp.errors.ChecksumError):
        bp.unpack_file_from_file(damaged, path)
    raise Stop


FAIL = [_write, _write_by_name, _records, _packed_records, _pack_file, _pack_bytes, _pack_array, _unpack]


@pytest.mark.parametrize("fail", FAIL)
@pytest.mark.parametrize("is_there", [True, False])
def test_an_exception_leaves_what_was_there(tmp_path, fail, is_there):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "out.blp"
    if is_there:
        path.write_bytes(OLD)
        path.chmod(0o640)
    with pytest.raises((Stop, ValueError, TypeError, exceptions.MetadataSectionTooSmall)):
        fail(path)
    left = set(os.listdir(folder)) - {"source", "damaged.blp"}
    assert left == ({"out.blp"} if is_there else set())
    if is_there:
        assert path.read_bytes() == OLD and stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("make", [lambda path: bp.open(path, "wb"), bp.RecordWriter])
def test_a_writer_that_is_forgotten_warns_and_leaves_what_was_there(tmp_path, make):
    path = tmp_path / "out.blp"
    path.write_bytes(OLD)
    writer = make(path)
    (writer.push if hasattr(writer, "push") else writer.write)(b"new" * 1000)
    assert path.read_bytes() == OLD
    with pytest.warns(ResourceWarning, match="out.blp.* was never closed"):
        del writer
        gc.collect()
    assert path.read_bytes() == OLD and os.listdir(tmp_path) == ["out.blp"]


@pytest.mark.parametrize("make", [bp.Writer, bp.RecordWriter])
def test_a_forgotten_writer_to_a_file_object_warns_too(make):
    with pytest.warns(ResourceWarning, match="never closed: the file is unfinished"):
        make(io.BytesIO())
        gc.collect()


@pytest.mark.parametrize("make", [bp.Writer, bp.RecordWriter])
def test_what_is_closed_or_abandoned_does_not_warn(tmp_path, make, recwarn):
    make(tmp_path / "closed.blp").close()
    make(tmp_path / "abandoned.blp").abandon()
    with pytest.raises(TypeError), make(tmp_path / "never.blp", no_such_option=1):
        pass
    with pytest.raises(ValueError), make(tmp_path / "never.blp", cname="lzma"):
        pass
    gc.collect()
    assert [warning for warning in recwarn if issubclass(warning.category, ResourceWarning)] == []
    assert os.listdir(tmp_path) == ["closed.blp"]


def test_a_file_appears_at_once_and_whole(tmp_path):
    path = tmp_path / "out.blp"
    bp.pack_bytes_to_file(b"old", path)
    seen, done = set(), threading.Event()

    def look():
        while not done.is_set():
            seen.add(bp.open(path).read())

    reader = threading.Thread(target=look)
    reader.start()
    for round in range(50):
        bp.pack_bytes_to_file(b"new %d" % round * 10_000, path)
    done.set()
    reader.join(300)
    assert seen <= {b"old", *(b"new %d" % round * 10_000 for round in range(50))}
    assert os.listdir(tmp_path) == ["out.blp"]


@pytest.mark.skipif(os.name != "posix", reason="modes and links of Unix")
def test_modes_and_links_are_kept(tmp_path):
    mask = os.umask(0o027)
    try:
        bp.pack_bytes_to_file(b"new", tmp_path / "new.blp")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.blp").stat().st_mode) == 0o640
    path, link = tmp_path / "file.blp", tmp_path / "link.blp"
    path.write_bytes(OLD)
    path.chmod(0o604)
    link.symlink_to("file.blp")
    with bp.open(link, "wb") as writer:
        (temporary,) = set(os.listdir(tmp_path)) - {"new.blp", "file.blp", "link.blp"}
        assert stat.S_IMODE((tmp_path / temporary).stat().st_mode) == 0o600
        writer.write(b"new")
    assert link.is_symlink() and bp.open(path).read() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_what_cannot_be_written_says_so_before_anything_is_written(tmp_path):
    for make in (bp.Writer, bp.RecordWriter, lambda path: bp.pack_bytes_to_file(b"", path)):
        with pytest.raises(IsADirectoryError) as caught:
            make(tmp_path)
        assert isinstance(caught.value, bp.Error) and caught.value.side == "target"
        with pytest.raises(FileNotFoundError, match="folder"):
            make(tmp_path / "no folder" / "out.blp")
    taken = tmp_path / "taken.blp"
    taken.write_bytes(OLD)
    with pytest.raises(FileExistsError, match="taken.blp"):
        bp.recover(bp.compress(b"content"), taken)
    assert taken.read_bytes() == OLD and os.listdir(tmp_path) == ["taken.blp"]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="a device of Unix")
def test_devices_are_written_to_and_stay():
    bp.pack_bytes_to_file(b"content", "/dev/null", metadata={"a": 1}, metadata_args=bp.MetadataArgs())
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_file_is_packed_in_its_own_place(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(OLD * 1000)
    bp.pack_file_to_file(path, path)
    assert bp.open(path).read() == OLD * 1000
    bp.unpack_file_from_file(path, path)
    assert path.read_bytes() == OLD * 1000


def test_a_recovery_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(bp.Error):
        bp.recover(b"nothing of a file", tmp_path / "saved.blp")
    assert os.listdir(tmp_path) == []


# Directories.


class Broken(bcolz.carray):
    """A column whose last chunk cannot be read."""

    def __getitem__(self, key):
        if isinstance(key, slice) and (key.stop or 0) >= len(self):
            raise Stop
        return super().__getitem__(key)

    def _read(self, first, end):
        if end >= 1000:
            raise Stop
        return super()._read(first, end)


def _numbers():
    yield from range(100_000)
    raise Stop


BIG = np.arange(1000)

DIRECTORIES = {
    "carray": lambda place: bcolz.carray(BIG, dtype="M8[s]", dflt="x", rootdir=place, mode="w"),
    "a chunk length": lambda place: bcolz.carray(BIG, chunklen=1 << 62, rootdir=place, mode="w"),
    "copy": lambda place: Broken(BIG, chunklen=100).copy(rootdir=place),
    "ctable": lambda place: bcolz.ctable([Broken(BIG, chunklen=100)], names=["a"], rootdir=place, mode="w"),
    "fromiter": lambda place: bcolz.fromiter(_numbers(), "i8", -1, rootdir=place, mode="w"),
    "fromiter of a table": lambda place: bcolz.fromiter(
        ((i, i) for i in _numbers()), "i8,i8", -1, rootdir=place, mode="w"
    ),
    "eval": lambda place: bcolz.eval(
        "a + 1", vm="python", user_dict={"a": Broken(BIG, chunklen=100)}, blen=100, rootdir=place, mode="w"
    ),
    "write_table": lambda place: bp.write_table({"a": BIG, "b": [object()] * 1000}, place, replace=True),
    "a stream": lambda place: bp.write_table(_Stream(), place, replace=True),
}


class _Stream:
    """Rows whose second batch fails."""

    def __arrow_c_stream__(self, requested_schema=None):
        pa = pytest.importorskip("pyarrow")

        def batches():
            yield pa.record_batch({"a": list(range(1000))})
            raise Stop

        schema = pa.schema({"a": pa.int64()})
        return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("make", DIRECTORIES)
def test_a_dataset_stays_until_the_new_one_is_whole(tmp_path, make):
    place = str(tmp_path / "place")
    bcolz.ctable([np.arange(7), np.arange(7) / 2], names=["x", "y"], rootdir=place).flush()
    with pytest.raises(Exception) as caught:  # noqa: PT011
        DIRECTORIES[make](place)
    assert isinstance(caught.value, (Stop, bp.Error, ValueError, TypeError, OverflowError)), repr(caught.value)
    del caught
    gc.collect()
    table = bp.open_table(place)
    assert table["x"][:].tolist() == list(range(7)) and bp.verify(place)
    assert os.listdir(tmp_path) == ["place"]
    # What the interpreter does at its end.
    bcolz._flush_all()
    assert bp.open_table(place)["x"][:].tolist() == list(range(7))


def test_a_dataset_is_made_of_the_one_that_it_replaces(tmp_path):
    place = str(tmp_path / "place")
    bcolz.ctable([np.arange(1000), np.arange(1000) / 2], names=["x", "y"], rootdir=place, chunklen=64)
    table = bcolz.open(place)
    bcolz.ctable([table["y"], table["x"]], names=["y", "x"], rootdir=place, mode="w", chunklen=64)
    new = bp.open_table(place)
    assert new.names == ["y", "x"] and new["y"][:].tolist() == [i / 2 for i in range(1000)]
    array = bcolz.carray(np.arange(12), rootdir=str(tmp_path / "a"))
    array.append([12, 13, 14, 15])
    assert array.reshape((4, 4))[3].tolist() == [12, 13, 14, 15]
    assert bp.open_array(tmp_path / "a").shape == (4, 4)


def test_other_directories_are_replaced_and_files_are_not(tmp_path):
    other, file = tmp_path / "other", tmp_path / "notes"
    (other / "sub").mkdir(parents=True)
    (other / "sub" / "notes").write_bytes(OLD)
    file.write_bytes(OLD)
    with pytest.raises((bp.Error, ValueError, OverflowError)):
        bcolz.carray(BIG, chunklen=1 << 62, rootdir=str(other), mode="w")
    assert (other / "sub" / "notes").read_bytes() == OLD
    with pytest.raises(NotADirectoryError):
        bcolz.carray(BIG, rootdir=str(file), mode="w")
    assert file.read_bytes() == OLD
    bcolz.carray(BIG, rootdir=str(other), mode="w")
    assert bp.open_array(other)[:].tolist() == BIG.tolist()
    assert sorted(os.listdir(tmp_path)) == ["notes", "other"]


def test_the_old_file_of_pytables_stays_too(tmp_path):
    tables = pytest.importorskip("tables")
    path = str(tmp_path / "old.h5")
    with tables.open_file(path, "w") as file:
        file.create_array("/", "kept", obj=[1, 2, 3])
    table = bcolz.ctable([np.arange(10)], names=["a"])
    with pytest.raises(Stop), pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(table), "__getitem__", lambda *_: _stop())
        table.tohdf5(path)
    with tables.open_file(path) as file:
        assert file.root.kept[:] == [1, 2, 3]
    table.tohdf5(path)
    assert bcolz.ctable.fromhdf5(path)["a"][:].tolist() == list(range(10))
    assert os.listdir(tmp_path) == ["old.h5"]
