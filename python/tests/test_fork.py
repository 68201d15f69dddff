"""Children that are forked while something is being written: what the parent has begun stays the parent's."""

import multiprocessing
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import bloscpack as bp
from bloscpack import bcolz

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# A child ends in each of these ways: what it has is flushed, collected, or left.
ENDS = {
    "exit": "sys.exit(0)",
    "collected": "del things; gc.collect(); sys.exit(0)",
    "killed": "os.kill(os.getpid(), 9)",
    "process": None,
}

HEAD = """
import gc, io, multiprocessing, os, sys, time
import numpy as np
import bloscpack as bp
from bloscpack import bcolz

def ended(work, end, things):
    '''Runs `work` in a child, and then the end of that; returns its status.'''
    if end is None:
        child = multiprocessing.get_context("fork").Process(target=work)
        child.start()
        child.join(300)
        assert child.exitcode is not None, "the child hangs"
        return child.exitcode
    pid = os.fork()
    if not pid:
        work()
        exec(end, {**globals(), "things": things})
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, 9)
    raise AssertionError("the child hangs")

def refused(call, *arguments):
    try:
        call(*arguments)
    except (bp.Error, OSError) as error:
        assert "fork" in str(error), error
    else:
        os._exit(77)
"""


def run(script, *arguments):
    """Runs a script in a process of its own, since the child of a test would run the rest of the tests."""
    program = HEAD + textwrap.dedent(script)
    # A child that gives up its copy of a writer has nothing to warn of.
    warnings = ["-W", "error", "-W", "ignore::ResourceWarning", "-W", "error:<bloscpack:ResourceWarning"]
    command = [sys.executable, *warnings, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr


@pytest.mark.parametrize("end", ENDS)
def test_rows_of_an_array_are_appended_once(tmp_path, end):
    run(
        """
        place, end = sys.argv[1:]
        a = bcolz.carray(np.arange(1000), rootdir=place, chunklen=64)
        a.append(np.arange(1000, 1003))
        a.append(np.array([1003]))
        a.attrs["unit"] = "mV"
        for row in range(1004, 1007):
            a.append(np.array(row))
        things = [a]
        del a
        status = ended(lambda: None, None if end == "None" else end, things)
        assert status in (0, -9), status
        assert len(things[0]) == 1007
        things[0].flush()
        """,
        tmp_path / "a",
        ENDS[end],
    )
    array = bcolz.open(str(tmp_path / "a"), "r")
    np.testing.assert_array_equal(array[:], np.arange(1007))
    assert array.attrs["unit"] == "mV"
    assert bp.verify(tmp_path / "a")


@pytest.mark.parametrize("end", ENDS)
def test_a_table_that_is_not_flushed_keeps_its_files(tmp_path, end):
    run(
        """
        place, end = sys.argv[1:]
        t = bcolz.ctable([np.arange(500), np.arange(500) / 2], names=["a", "b"], rootdir=place, auto_flush=False)
        t.append((np.arange(500, 900), np.arange(500, 900) / 2))
        things = [t]
        del t
        status = ended(lambda: None, None if end == "None" else end, things)
        assert status in (0, -9), status
        things[0].append((900, 450.0))
        things[0].flush()
        """,
        tmp_path / "t",
        ENDS[end],
    )
    table = bp.open_table(tmp_path / "t")
    np.testing.assert_array_equal(table["a"][:], np.arange(901))
    np.testing.assert_array_equal(table["b"][:], np.arange(901) / 2)
    assert bp.verify(tmp_path / "t")


def test_a_child_has_no_part_in_changes_that_are_not_flushed(tmp_path):
    run(
        """
        place, table = sys.argv[1:]
        a = bcolz.carray(np.arange(10), rootdir=place)
        t = bcolz.ctable([np.arange(10)], names=["a"], rootdir=table, auto_flush=False)
        a.append(np.array(10))
        a.append(np.array(11))

        def work():
            refused(a.append, np.array(12))
            refused(a.append, [12])
            refused(lambda: a[:])
            refused(t.append, ([1],))
            refused(lambda: t["a"][:])
            a.flush(), t.flush()
            with a, t:
                pass

        assert ended(work, "sys.exit(0)", []) == 0
        a.append(np.array(12))
        a.flush(), t.flush()
        """,
        tmp_path / "a",
        tmp_path / "t",
    )
    np.testing.assert_array_equal(bcolz.open(str(tmp_path / "a"), "r")[:], np.arange(13))
    np.testing.assert_array_equal(bcolz.open(str(tmp_path / "t"), "r")["a"][:], np.arange(10))


def test_a_child_reads_and_changes_what_was_flushed(tmp_path):
    run(
        """
        place, table = sys.argv[1:]
        a = bcolz.carray(np.arange(10), rootdir=place)
        t = bcolz.ctable([np.arange(10)], names=["a"], rootdir=table)
        here = bcolz.carray(np.arange(3))
        opened = bp.open_array(place)

        def work():
            assert a[:].sum() == t["a"][:].sum() == opened[:].sum() == 45
            for array in (a, here):
                for row in (7, 8):
                    array.append(np.array(row))
            assert here[:].tolist() == [0, 1, 2, 7, 8]
            t.append(([7, 8],))
            a.flush()

        assert ended(work, "sys.exit(0)", []) == 0
        assert here[:].tolist() == [0, 1, 2]
        assert opened[:].tolist() == list(range(10))
        """,
        tmp_path / "a",
        tmp_path / "t",
    )
    assert bcolz.open(str(tmp_path / "a"), "r")[:].tolist() == [*range(10), 7, 8]
    assert bcolz.open(str(tmp_path / "t"), "r")["a"][:].tolist() == [*range(10), 7, 8]


def test_a_child_that_lives_on_locks_nothing(tmp_path):
    run(
        """
        a = bcolz.carray(np.arange(10), rootdir=sys.argv[1])
        reader = bp.open_array(sys.argv[1])
        a.append([10])
        wait, go = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(go)
            os.read(wait, 1)
            os._exit(0)
        # A writer that is locked out gives up after 10 seconds, with an error.
        for row in range(11, 20):
            a.append([row])
            a.flush()
        assert reader[:].tolist() == list(range(10))
        os.close(go)
        os.waitpid(pid, 0)
        """,
        tmp_path / "a",
    )
    assert bcolz.open(str(tmp_path / "a"), "r")[:].tolist() == list(range(20))


WRITERS = {
    "file": "bp.Writer(path, threads=4, chunk_size=4096)",
    "object": "bp.Writer(file, threads=4, chunk_size=4096)",
    "records": "bp.RecordWriter(path, threads=4)",
    "records to an object": "bp.RecordWriter(file, threads=4)",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_child_neither_ends_nor_removes_the_file_of_a_writer(tmp_path, writer, end):
    run(
        """
        path, make, end = sys.argv[1:]
        file = open(path, "w+b") if "file," in make else None
        things = [eval(make)]
        add = things[0].push if "Record" in make else things[0].write
        pieces = [bytes([i]) * 5000 for i in range(200)]
        for piece in pieces[:100]:
            add(piece)
        del add

        def work():
            refused(things[0].push if "Record" in make else things[0].write, b"of the child")
            refused(things[0].flush)

        status = ended(work, None if end == "None" else end, things)
        assert status in (0, -9), status
        add = things[0].push if "Record" in make else things[0].write
        for piece in pieces[100:]:
            add(piece)
        things[0].close()
        """,
        tmp_path / "out.blp",
        WRITERS[writer],
        ENDS[end],
    )
    path, pieces = tmp_path / "out.blp", [bytes([i]) * 5000 for i in range(200)]
    assert bp.verify(path)
    if "records" in writer:
        assert bp.open_records(path)[:] == pieces
    else:
        assert bp.open(path).read() == b"".join(pieces)
    assert os.listdir(tmp_path) == ["out.blp"]


def test_a_child_cannot_complete_a_file(tmp_path):
    run(
        """
        path = sys.argv[1]
        with open(path, "wb") as file:
            file.write(b"the old file")
        with bp.open(path, "wb") as writer:
            writer.write(b"of the parent")
            assert ended(lambda: refused(writer.close), "sys.exit(0)", []) == 0
            assert open(path, "rb").read() == b"the old file"
        """,
        tmp_path / "out.blp",
    )
    assert bp.open(tmp_path / "out.blp").read() == b"of the parent"
    assert os.listdir(tmp_path) == ["out.blp"]


def test_a_child_does_not_read_on_where_its_parent_reads(tmp_path):
    with bp.RecordWriter(tmp_path / "records.blp", threads=4) as writer:
        writer.extend(bytes([i]) * 5000 for i in range(200))
    run(
        """
        stream, records = open(sys.argv[1], "rb"), open(sys.argv[1], "rb")
        reader, each = bp.Reader(stream, threads=4), bp.read_records(records)
        first = reader.read(7), next(each)

        def work():
            refused(reader.read, 7)
            refused(next, each)

        assert ended(work, "sys.exit(0)", []) == 0
        assert first[0] + reader.read() == b"".join(bytes([i]) * 5000 for i in range(200))
        assert len(list(each)) == 199
        """,
        tmp_path / "records.blp",
    )


def test_a_child_of_an_append_leaves_its_journal(tmp_path):
    path = tmp_path / "records.blp"
    with bp.RecordWriter(path) as writer:
        writer.extend([b"one", b"two"])
    run(
        """
        path = sys.argv[1]

        def new():
            yield b"three"
            pid = os.fork()
            if not pid:
                # Leaves the append, and with it the file that is being changed.
                raise SystemExit
            assert os.waitpid(pid, 0)[1] == 0
            assert os.path.exists(path + ".blpk-journal")
            yield b"four"

        assert bp.append_records(path, new()) == 4
        """,
        path,
    )
    assert bp.open_records(path)[:] == [b"one", b"two", b"three", b"four"]
    assert bp.verify(path)
    assert os.listdir(tmp_path) == ["records.blp"]


def _mean(place):
    return float(bp.open_array(place)[:].mean())


def test_a_pool_reads_while_its_parent_writes(tmp_path):
    place = str(tmp_path / "a")
    array = bcolz.carray(np.arange(1000.0), rootdir=place)
    array.append(np.zeros(24))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        means = pool.map_async(_mean, [place] * 20)
        assert set(means.get(300)) == {499.5}
    assert len(array) == 1024
    array.flush()
    assert len(bcolz.open(place, "r")) == 1024
