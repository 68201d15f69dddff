"""Arrays and tables: NumPy's indexing, bcolz' interface, and what differs from it."""

import concurrent.futures
import itertools
import os
import pickle

import numpy as np
import pytest

import bloscpack as bp
from bloscpack import bcolz

RNG = np.random.default_rng(3)
DATA = RNG.integers(-(2**40), 2**40, (103, 7, 5))
KEYS = [
    ...,
    3,
    -1,
    slice(None),
    slice(10, 90, 7),
    slice(90, 10, -3),
    slice(5, 5),
    (slice(3, 50), 2),
    (slice(3, 50), slice(None, None, -2), -1),
    (..., 4),
    (None, 5, ..., slice(1, 3)),
    [5, 3, 3, -1],
    np.array([], int),
    (slice(2, 9), [0, 6, 1]),
    ([1, 5, 9], [0, 1, 2], [4, 3, 2]),
    DATA[:, 0, 0] > 0,
    DATA > 0,
]


def run_in_threads(work, arguments):
    with concurrent.futures.ThreadPoolExecutor(len(arguments)) as pool:
        list(pool.map(work, arguments))


@pytest.fixture
def array(tmp_path):
    bcolz.carray(DATA, rootdir=tmp_path / "a", chunklen=16)
    return bp.open_array(tmp_path / "a")


@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
def test_indexing_is_that_of_numpy(array, key):
    expected, got = DATA[key], array[key]
    assert got.shape == expected.shape and got.dtype == expected.dtype
    assert (got == expected).all()


@pytest.mark.parametrize("key", [103, -104, (0, 7), (0, 0, 0, 0), "x", 1.5, [103], np.ones(5, bool), (..., ...)])
def test_wrong_indices_raise_as_in_numpy(array, key):
    with pytest.raises((IndexError, ValueError)):
        DATA[key]
    with pytest.raises((IndexError, ValueError)):
        array[key]


def test_arrays_are_arrays_for_numpy(array):
    assert (np.asarray(array) == DATA).all()
    assert (np.array(array, dtype=float) == DATA).all()
    assert len(array) == 103 and (np.stack(list(array)) == DATA).all()
    out = np.empty((5, 7, 5), DATA.dtype)
    array.read_into([50, 0, 0], [55, 7, 5], out)
    assert (out == DATA[50:55]).all()
    with pytest.raises(bp.errors.UsageError, match="does not fit"):
        array.read_into([50, 0, 0], [56, 7, 5], out)


@pytest.mark.parametrize("dtype", ["?", "i1", ">i8", "u2", "f2", "f4", ">f8", "c16", "S7", "U3", "M8[ns]", "m8[s]", "i4,f8"])
def test_dtypes_keep_their_bytes(tmp_path, dtype):
    raw = RNG.integers(0, 100, 300 * np.dtype(dtype).itemsize, np.uint8)
    raw = (raw % 2).view(dtype) if dtype == "?" else np.zeros(300, dtype) if dtype == "U3" else raw.view(dtype)
    for rootdir in (None, tmp_path / "a"):
        assert bcolz.carray(raw, rootdir=rootdir, chunklen=64)[:].tobytes() == raw.tobytes()
    assert bp.unpack_ndarray_from_bytes(bp.pack_ndarray_to_bytes(raw)).tobytes() == raw.tobytes()


def test_single_rows_are_appended(tmp_path):
    """As the loaders of word vectors do."""
    vectors = bcolz.carray(np.zeros((1, 50), "f4"), rootdir=tmp_path / "v", mode="w", expectedlen=3000)
    rows = RNG.normal(size=(3000, 50)).astype("f4")
    for row in rows:
        vectors.append(row)
    vectors = bcolz.carray(vectors[1:].reshape((3000, 50)), rootdir=tmp_path / "w", mode="w")
    vectors.flush()
    assert (bcolz.open(tmp_path / "w")[:] == rows).all()


@pytest.mark.parametrize("rootdir", [None, "a"])
def test_rows_that_wait_are_seen_at_once(tmp_path, rootdir):
    """Single rows are collected before they are appended; nobody may notice."""
    place = {} if rootdir is None else {"rootdir": tmp_path / rootdir, "mode": "w"}
    array, expected = bcolz.carray(np.zeros((0, 3), "i4"), **place), []
    for number in range(40_000):
        array.append(np.array([number, 2, 3], "i4"))
        expected.append(number)
        if number % 4999 == 0:
            assert len(array) == len(expected) and array[-1].tolist() == [number, 2, 3]
        if number % 9001 == 9000:
            array.flush()
        if number % 7001 == 7000:
            array[-1] = 7
            expected[-1] = 7
        if number % 12_001 == 12_000:
            array.trim(5)
            del expected[-5:]
    assert array[:, 0].tolist() == expected
    flat = bcolz.carray(np.zeros(1), **place)
    for number in range(3000):
        flat.append(np.full(5, number / 2))
        flat.append(np.full((2, 5), -1.0)[1])
    assert flat[1:].reshape((-1, 10))[:, 5].tolist() == [-1] * 3000 and len(flat) == 30_001
    with pytest.raises(ValueError, match="do not fit"):
        array.append(np.zeros(4, "i4"))


def test_rows_that_wait_are_those_of_all_threads(tmp_path):
    array = bcolz.carray(np.zeros(0, "i8"), rootdir=tmp_path / "a", mode="w")

    def work(first):
        for number in range(first, first + 20_000):
            array.append(np.array([number]))
            if number % 5000 == 0:
                array.flush()

    run_in_threads(work, [0, 20_000, 40_000, 60_000])
    array.flush()
    assert sorted(bcolz.open(tmp_path / "a", "r")[:]) == sorted(array[:]) == list(range(80_000))


def test_rows_of_a_filled_array_are_set(tmp_path):
    """As the loaders of faces do."""
    data = bcolz.fill([20, 3, 8, 8], dtype=np.float32, rootdir=str(tmp_path / "faces"), mode="w")
    images = RNG.normal(size=(20, 3, 8, 8)).astype("f4")
    for number, image in enumerate(images):
        data[number, ...] = image
    data.flush()
    assert (bcolz.carray(rootdir=tmp_path / "faces", mode="r")[:] == images).all()


def test_read_only_is_read_only(tmp_path):
    bcolz.carray(np.arange(9), rootdir=tmp_path / "a")
    bcolz.ctable([np.arange(9)], names=["x"], rootdir=tmp_path / "t")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    array, table = bcolz.open(tmp_path / "a", "r"), bcolz.open(tmp_path / "t", "r")

    def set_item(thing):
        thing[0] = 1

    def set_attribute(thing):
        thing.attrs["x"] = 1

    changes = [lambda thing: thing.append([1]), lambda thing: thing.trim(1), lambda thing: thing.resize(3)]
    for thing, change in itertools.product((array, table), [*changes, set_item, set_attribute]):
        with pytest.raises(OSError, match="mode is 'r'"):
            change(thing)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_the_same_directory_is_opened_several_times(tmp_path):
    first = bcolz.carray(np.arange(10), rootdir=tmp_path / "a")
    second = bcolz.open(tmp_path / "a")
    first.append([10])
    first.flush()
    second.append([11])
    second.flush()
    assert bcolz.open(tmp_path / "a")[:].tolist() == list(range(12))


def test_conditions_have_rows_in_every_form(tmp_path):
    n = 200_000
    table = bcolz.ctable([np.arange(n), np.arange(n) % 7], names=["x", "y"], rootdir=tmp_path / "t")
    limit = n - 10
    expected = [x for x in range(limit + 1, n) if x % 7 == 3]
    for vm in ("python", "numexpr") if bcolz.numexpr_here else ("python",):
        condition = "(x > limit) & (y == 3)"
        assert [row.x for row in table.where(condition, vm=vm)] == expected
        assert table.fetchwhere(condition, outcols="x", out_flavor="numpy", vm=vm)["x"].tolist() == expected
        assert np.concatenate(list(table.whereblocks(condition, blen=1, vm=vm)))["x"].tolist() == expected
    assert table["(x > 5) & (x < 8)"]["x"].tolist() == [6, 7]
    assert [r.nrow__ for r in table.where("y == 3", outcols=["nrow__"], skip=1, limit=2)] == [10, 17]
    with pytest.raises(NameError, match="nowhere"):
        table.where("x > nowhere")


@pytest.mark.parametrize("code", ["__import__('os').getcwd()", "x.__class__", "(lambda: 1)()", "[x for x in y]", "x[0]", "open('f')"])
def test_conditions_run_no_code(code):
    table = bcolz.ctable([np.arange(3), np.arange(3)], names=["x", "y"])
    with pytest.raises((NotImplementedError, NameError, ValueError)):
        list(table.where(code, vm="python"))


def test_objects_are_refused(tmp_path):
    with pytest.raises(TypeError, match="pickles"):
        bcolz.carray(np.array([{}, 1]))


def test_pickles_and_install(tmp_path):
    array = bcolz.carray(np.arange(5))
    assert pickle.loads(pickle.dumps(array))[:].tolist() == [0, 1, 2, 3, 4]
    bcolz.install()
    import bcolz as old

    assert old.carray is bcolz.carray


def test_attributes_of_a_directory(tmp_path):
    """As the reader of minute bars opens them."""
    bcolz.ctable([np.arange(9)], names=["x"], rootdir=tmp_path / "t").attrs["market"] = "XNYS"
    bcolz.carray(np.arange(9), rootdir=tmp_path / "a")
    bcolz.attrs.attrs(str(tmp_path / "a"), "a")["fs"] = 10.5
    assert bcolz.attrs.attrs(str(tmp_path / "t"), "r")["market"] == "XNYS"
    assert bcolz.open(tmp_path / "a", "r").attrs["fs"] == 10.5
    with pytest.raises(OSError, match="mode is 'r'"):
        bcolz.attrs.attrs(str(tmp_path / "t"), "r")["market"] = "XLON"


def test_an_array_that_was_replaced_writes_nothing(tmp_path, capfd):
    """As scripts do that give the new array the name of the old one."""
    array = bcolz.carray(np.zeros(1), rootdir=tmp_path / "a", mode="w")
    array.append(np.ones(5000))
    array = bcolz.carray(array[1:].reshape((2500, 2)), rootdir=tmp_path / "a", mode="w")
    del array
    assert bcolz.open(tmp_path / "a", "r").shape == (2500, 2) and capfd.readouterr().err == ""


def test_what_is_not_flushed_is_written_at_the_end(tmp_path):
    array = bcolz.carray(np.arange(5), rootdir=tmp_path / "a")
    array.append([5])
    del array
    assert len(bcolz.open(tmp_path / "a", "r")) == 6


def test_threads_share_objects(tmp_path):
    shared = bcolz.carray(np.arange(300_000), rootdir=tmp_path / "a", chunklen=5000)
    packed = bp.open(bp.compress(np.arange(300_000)))
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        own = bcolz.carray(np.arange(10))
        for _ in range(200):
            at = int(rng.integers(0, 290_000))
            same = shared[at : at + 9].tolist() == list(range(at, at + 9))
            same &= np.frombuffer(packed.read_at(8 * at, 16), "i8").tolist() == [at, at + 1]
            own.append([at])
            if not same or own[-1] != at:
                wrong.append(at)

    run_in_threads(work, range(4))
    assert not wrong


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc")
def test_nothing_stays_open(tmp_path):
    bcolz.carray(np.arange(9), rootdir=tmp_path / "a")
    bp.pack_bytes_to_file(b"x", tmp_path / "b.blp")
    for _ in range(3):
        bcolz.open(tmp_path / "a")[:], bp.open(tmp_path / "b.blp").read()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        bcolz.open(tmp_path / "a")[:], bp.open(tmp_path / "b.blp").read()
    assert len(os.listdir("/proc/self/fd")) <= before
