"""Files: round trips, random access, file objects of any kind, and errors with their positions."""

import io
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import bloscpack as bp
from bloscpack import bcolz

WALK = np.cumsum(np.random.default_rng(7).integers(-9, 9, 200_000)).astype("<i4")


@pytest.mark.parametrize("cname", ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"])
@pytest.mark.parametrize("shuffle", [0, 1, 2])
def test_every_compressor_and_filter_gives_the_bytes_back(cname, shuffle):
    packed = bp.compress(WALK, cname=cname, shuffle=shuffle, chunk_size=100_000)
    assert bp.decompress(packed) == WALK.tobytes()
    assert bp.verify(packed)


@pytest.mark.parametrize("checksum", ["None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"])
def test_every_checksum_finds_a_flipped_bit(checksum):
    packed = bytearray(bp.compress(WALK, checksum=checksum, chunk_size=100_000))
    assert bp.info(bytes(packed))["checksum"] == checksum
    if checksum != "None":
        packed[len(packed) // 2] ^= 4
        with pytest.raises(bp.errors.ChecksumError) as caught:
            bp.decompress(packed)
        assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, ValueError)
        assert caught.value.chunk is not None and caught.value.byte is not None


def test_any_range_can_be_read(tmp_path):
    path = tmp_path / "walk.blp"
    with bp.open(path, "wb", typesize=4, chunk_size=10_000) as writer:
        writer.write(WALK)
    with bp.open(path) as file:
        raw = WALK.tobytes()
        for at, size in [(0, 1), (9_999, 2), (123_456, 70_000), (len(raw) - 3, 10), (len(raw) + 5, 4)]:
            file.seek(at)
            assert file.read(size) == raw[at : at + size]
            assert file.tell() == min(at + size, max(len(raw), at))
        assert file.seek(-4, 2) == len(raw) - 4
        buffer = bytearray(8)
        assert file.readinto(buffer) == 4 and buffer[:4] == raw[-4:]
        assert io.BufferedReader(bp.open(path)).read() == raw


def test_pipes_and_sockets_are_written_and_read():
    left, right = socket.socketpair()
    with left, right:

        def write():
            with left.makefile("wb") as file, bp.Writer(file, chunk_size=5000) as writer:
                writer.write(WALK)
            left.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=write)
        thread.start()
        with right.makefile("rb") as file:
            assert bp.Reader(file).read() == WALK.tobytes()
        thread.join()


def test_a_flush_reaches_the_reader_at_once():
    read, write = os.pipe()
    with os.fdopen(read, "rb", 0) as source, os.fdopen(write, "wb", 0) as target:
        writer, reader = bp.Writer(target, interactive=True), bp.Reader(source)
        for text in (b"one", b"two"):
            writer.write(text)
            writer.flush()
            assert reader.read(3) == text
        writer.close()
        target.close()
        assert reader.read() == b""


def test_only_close_completes_a_file(tmp_path):
    path = tmp_path / "half.blp"
    with pytest.raises(RuntimeError, match="stop"), bp.Writer(path) as writer:
        writer.write(WALK)
        raise RuntimeError("stop")
    assert not path.exists()
    del writer
    with pytest.warns(ResourceWarning, match="never closed"):
        bp.Writer(path).write(WALK)
    assert not path.exists()
    target = io.BytesIO()
    bp.Writer(target).abandon()
    with pytest.raises(bp.errors.CutShortError):
        bp.open(target.getvalue())


def test_the_error_of_a_file_object_comes_back_as_it_is():
    class Broken(io.BytesIO):
        def write(self, data):
            raise ZeroDivisionError("of the file object")

        def read(self, size=-1):
            raise ZeroDivisionError("of the file object")

    with pytest.raises(ZeroDivisionError, match="of the file object"):
        bp.Writer(Broken()).close()
    with pytest.raises(ZeroDivisionError, match="of the file object"):
        bp.Reader(Broken()).read()


def test_io_errors_are_those_of_python(tmp_path):
    for wrong, kind in [(tmp_path / "none", FileNotFoundError), (tmp_path, OSError)]:
        with pytest.raises(kind):
            bp.open(wrong)
    for call in (bp.info, bp.open, bp.verify):
        with pytest.raises(FileNotFoundError, match="none") as caught:
            call(tmp_path / "none")
        assert isinstance(caught.value, bp.Error) and caught.value.path.endswith("none")


def test_bytes_are_appended(tmp_path):
    path = tmp_path / "a.blp"
    bp.pack_bytes_to_file(b"one", path, metadata={"unit": "mV"})
    bp.append_bytes(path, b", two")
    assert bp.unpack_bytes_from_file(path) == (b"one, two", {"unit": "mV"})


def test_recover_saves_what_is_sound(tmp_path):
    packed = bytearray(bp.compress(WALK, chunk_size=100_000))
    packed[len(packed) // 2] ^= 1
    damaged, saved = tmp_path / "damaged.blp", tmp_path / "saved.blp"
    damaged.write_bytes(packed)
    report = bp.verify(damaged)
    assert not report and len(report.damages) == 1
    lost = report.damages[0].lost_content
    recovery = bp.recover(damaged, saved, fill=True)
    assert recovery["chunks_lost"] == 1
    back = bp.open(saved).read()
    assert len(back) == WALK.nbytes and back[: lost[0]] == WALK.tobytes()[: lost[0]]
    assert back[lost[1] :] == WALK.tobytes()[lost[1] :]


def test_records(tmp_path):
    path = tmp_path / "records.blp"
    every = [bytes([i % 251]) * (i % 40) for i in range(3000)]
    for options in ({}, {"packed": 1 << 16}):
        with bp.RecordWriter(path, **options) as writer:
            writer.extend(every)
        records = bp.open_records(path)
        assert len(records) == 3000 and list(records) == every
        assert records[-1] == every[-1] and records[10:20] == every[10:20] and records[::700] == every[::700]
        with pytest.raises(IndexError):
            records[3000]
        with path.open("rb") as file:
            assert list(bp.read_records(file)) == every
        numbers = [2999, 0, -1, 77, 77, *range(500, 0, -3)]
        assert records.get_many(numbers) == [every[number] for number in numbers]
        assert records.get_many(np.array([5, -5], np.int8)) == records.__getitems__(iter([5, -5])) == [every[5], every[-5]]
        assert records.get_many([]) == [] and pickle.loads(pickle.dumps(records)).get_many([9]) == [every[9]]
        for wrong, error in (([3000], IndexError), ([-3001], IndexError), ([1.5], TypeError), ([2**63], IndexError)):
            with pytest.raises(error):
                records.get_many(wrong)
        assert bp.append_records(path, [b"more"]) == 3001
        assert bp.open_records(path)[3000] == b"more"


def test_records_of_any_object_with_a_buffer(tmp_path):
    path = tmp_path / "records.blp"
    some = [b"a", bytearray(b"b"), memoryview(b"xcx")[1:2], np.array([1, 2], np.uint8)]
    same = [b"a", b"b", b"c", b"\1\2"]
    with bp.RecordWriter(path) as writer:
        writer.extend(iter(some))
        for wrong in (5, "text", None, [1]):
            with pytest.raises(TypeError):
                writer.push(wrong)
        # The records before a wrong one are written.
        with pytest.raises(TypeError):
            writer.extend([b"d", 5, b"e"])
        with pytest.raises(ZeroDivisionError):
            writer.extend(1 // (2 - number) * b"f" for number in range(3))
    assert list(bp.open_records(path)) == [*same, b"d", b"", b"f"]
    assert bp.append_records(path, some) == 11
    with pytest.raises(TypeError):
        bp.append_records(path, [b"g", "h"])
    assert list(bp.open_records(path))[7:] == same


def test_records_before_damage_are_iterated(tmp_path):
    path = tmp_path / "records.blp"
    every = [bytes([number]) * 1000 for number in range(200)]
    with bp.RecordWriter(path, clevel=0) as writer:
        writer.extend(every)
    data = bytearray(path.read_bytes())
    data[data.index(every[150]) + 500] ^= 1
    records, found = bp.open_records(data), []
    with pytest.raises(bp.errors.DamagedError):
        for record in records:
            found.append(record)
    assert found == every[:150]
    with pytest.raises(bp.errors.DamagedError):
        records.get_many([3, 150])
    assert records.get_many([3, 151]) == [every[3], every[151]]


SLOW = """
import io, os, signal, sys, threading, time, numpy as np, bloscpack as bp
# Ignored under nohup and in the background of a script.
signal.signal(signal.SIGINT, signal.default_int_handler)
{setup}
begun = time.process_time()
{work}
whole = time.process_time() - begun
def interrupt():
    global sent
    time.sleep(0.3)
    sent = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    while True:
        {work}
except KeyboardInterrupt:
    print((time.process_time() - sent) / whole)
"""


@pytest.mark.parametrize(
    "setup, work",
    [
        ("data = np.random.default_rng(1).integers(0, 9, 1 << 28, np.uint8)", "bp.compress(data, cname='zstd', clevel=5)"),
        ("data = bp.compress(np.zeros(1 << 30, np.uint8))", "bp.open(data).read()"),
        ("data = bp.compress(np.zeros(1 << 30, np.uint8)) * 64", "bp.verify(data)"),
    ],
    ids=["compress", "read", "verify"],
)
def test_ctrl_c_is_heard(setup, work):
    # In processor time, as a share of the whole call. Heard at its end, it would be half of it on average, but less by chance.
    run = [sys.executable, "-c", SLOW.format(setup=setup, work=work)]
    took = [float(subprocess.run(run, stdout=subprocess.PIPE, timeout=600).stdout) for _ in range(3)]
    assert sorted(took)[1] < 0.25, took


def test_other_threads_run_while_data_is_decompressed():
    packed = bp.compress(np.zeros(1 << 28, np.uint8))
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    target = np.empty(1 << 28, np.uint8)
    meanwhile = 0
    for _ in range(50):
        begun = time.monotonic()
        bp.open(packed).readinto_at(0, target)
        ended = time.monotonic()
        meanwhile = sum(begun < tick < ended for tick in ticks)
        if meanwhile > 3:
            break
    done.set()
    thread.join()
    # None, if the call kept the interpreter to itself.
    assert meanwhile > 3


MISTAKES = [
    (lambda: bp.compress("text"), TypeError, "bytes-like"),
    (lambda: bp.compress(b"", level=3), TypeError, "unexpected keyword argument 'level'"),
    (lambda: bp.compress(b"", cname="gzip"), bp.errors.UsageError, "gzip"),
    (lambda: bp.compress(b"", clevel=10), bp.errors.UsageError, "0 to 9"),
    (lambda: bp.compress(b"", shuffle=3), bp.errors.UsageError, "shuffle must be 0"),
    (lambda: bp.decompress(b"PK\3\4" + bytes(100)), bp.Error, "Bloscpack"),
    (lambda: bp.open(b"blpk"), bp.errors.CutShortError, "cut short after 4 bytes"),
    (lambda: bp.open("x.blp", "a"), bp.errors.UsageError, "mode must be"),
    (lambda: bp.open_array(bp.compress(b"x")), bp.errors.UsageError, "does not describe a NumPy array"),
    (lambda: bp.compress(np.array([None])), TypeError, "Python objects"),
    (lambda: bp.unpack_ndarray_from_bytes(bp.compress(b"x")), bp.exceptions.NotANumpyArray, "NumPy"),
]


@pytest.fixture
def places(tmp_path):
    """A folder with a file, a damaged one, a text, an array and a table."""
    data = np.arange(100_000.0)
    bp.pack_ndarray_to_file(data, tmp_path / "array.blp")
    bcolz.carray(data[:10], rootdir=tmp_path / "carray")
    bcolz.ctable([data[:3]], names=["x"], rootdir=tmp_path / "ctable")
    raw = bytearray((tmp_path / "array.blp").read_bytes())
    raw[len(raw) // 2] ^= 1
    (tmp_path / "damaged.blp").write_bytes(raw)
    (tmp_path / "cut.blp").write_bytes(raw[: len(raw) // 3])
    (tmp_path / "text.blp").write_text("this is text, and long enough for a header")
    return tmp_path


def closed(file):
    file.close()
    return file


# Each message names the place, or what to do instead.
MISTAKES_WITH_FILES = [
    (lambda at: bcolz.open(at / "none"), FileNotFoundError, "none"),
    (lambda at: bp.pack_bytes_to_file(b"x", at / "none" / "x.blp"), FileNotFoundError, "none/x.blp"),
    (lambda at: bp.open(at), IsADirectoryError, "no dataset"),
    (lambda at: bp.open_array(at / "ctable"), bp.errors.UsageError, "use open_table"),
    (lambda at: bp.open(at / "text.blp"), bp.errors.UnsupportedError, 'begins with "this"'),
    (lambda at: bp.unpack_ndarray_from_file(at / "damaged.blp"), bp.errors.ChecksumError, r"chunk 0 \(byte \d+\): adler32"),
    (lambda at: bp.unpack_ndarray_from_file(at / "cut.blp"), bp.errors.CutShortError, r"chunk 0 \(byte \d+\): cut short: \d+ of"),
    (lambda at: closed(bp.open(at / "array.blp")).read(), ValueError, "closed file"),
    (lambda at: closed(bp.Writer(at / "new.blp")).write(b"x"), bp.errors.UsageError, "append_bytes adds to it"),
    (lambda at: bp.open(at / "array.blp").write(b"x"), io.UnsupportedOperation, "append_bytes adds to it"),
    (lambda at: bp.recover(at / "damaged.blp", at / "array.blp"), FileExistsError, "array.blp"),
    (lambda at: bcolz.open(at / "carray").append(["word"]), ValueError, "dtype float64"),
    (lambda at: bcolz.open(at / "carray").append(np.zeros((2, 2))), ValueError, "do not fit"),
    (lambda at: bcolz.open(at / "carray", "r").append([1]), OSError, "mode is 'r'"),
    (lambda at: bcolz.carray([1], rootdir=at / "carray"), OSError, "the mode 'w' replaces it"),
    (lambda at: bcolz.open(at / "ctable")["x"].append([1]), TypeError, "append to the table"),
    (lambda at: bp.open_records(at / "array.blp"), bp.errors.UnsupportedError, "no records"),
]


@pytest.mark.parametrize("call, kind, words", MISTAKES_WITH_FILES)
def test_mistakes_with_files_say_what_to_do(places, call, kind, words):
    with pytest.raises(kind, match=words):
        call(places)


@pytest.mark.parametrize("call, kind, words", MISTAKES)
def test_mistakes_have_clear_messages(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
