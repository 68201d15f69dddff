"""Tables, and the Arrow PyCapsule interface with the programs that speak it."""

import os
import shutil
import signal
import sys
import threading
import time
import zipfile

import numpy as np
import pytest

import bloscpack as bp
from bloscpack import bcolz

pa = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")

ROWS = 10_000
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "testdata"))
import archives  # noqa: E402

TESTDATA = archives.unpacked()
RNG = np.random.default_rng(7)
COLUMNS = {
    "i": np.arange(ROWS) - 5000,
    "big": np.arange(ROWS, dtype=">i4"),
    "u": np.arange(ROWS).astype("u1"),
    "f": np.where(np.arange(ROWS) % 97 == 0, np.nan, RNG.standard_normal(ROWS)),
    "half": RNG.standard_normal(ROWS).astype(">f2"),
    "b": np.arange(ROWS) % 3 == 0,
    "s": np.array([f"a{n}" for n in range(ROWS)], "S6"),
    "t": np.array([f"ä{n % 100}" for n in range(ROWS)], "U4"),
    "day": np.arange(ROWS).astype("M8[D]"),
    "when": np.where(np.arange(ROWS) % 50 == 0, np.datetime64("NaT"), np.arange(ROWS).astype("M8[ns]")),
    "took": np.arange(ROWS).astype("m8[us]"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "t"
    bp.write_table(COLUMNS, path)
    return path


@pytest.fixture
def table(folder):
    return bp.open_table(folder)


def same(got, expected):
    got, expected = np.asarray(got), np.asarray(expected)
    equal_nan = expected.dtype.kind in "fMm"
    return np.array_equal(got.astype(expected.dtype), expected, equal_nan=equal_nan)


def check(frame, columns=COLUMNS):
    """Compares columns, each given as a list of Python values or as an array."""
    assert list(frame) == list(columns)
    for name, expected in columns.items():
        assert same(frame[name], expected), name


def test_a_table_is_what_was_written(table, folder):
    assert table.names == list(COLUMNS) and len(table) == ROWS
    assert table.dtypes == {name: column.dtype for name, column in COLUMNS.items()}
    rows = table[100:200:7]
    for name, column in COLUMNS.items():
        assert same(table[name][:], column), name
        assert same(rows[name], column[100:200:7]), name
    assert table[-1]["i"] == ROWS - 5001
    assert (table[[3, 1]]["i"] == [-4997, -4999]).all()
    assert table[["s", "i"]].names == ["s", "i"] and len(table[["s", "i"]][:5].dtype) == 2
    assert (bcolz.open(folder, "r")["t"][:] == COLUMNS["t"]).all()
    assert sum(1 for _ in table[["i"]]) == ROWS
    assert np.asarray(table[["i", "f"]]).dtype.names == ("i", "f")
    with pytest.raises(KeyError, match="'x'"):
        table["x"]
    with pytest.raises(IndexError):
        table[ROWS]


def test_pyarrow_reads_it(table):
    got = pa.table(table)
    assert got.schema == pa.schema(table)
    assert got.schema.field("t").type == pa.string() and got.schema.field("s").type == pa.binary()
    assert got.schema.field("day").type == pa.date32() and got.schema.field("when").type == pa.timestamp("ns")
    assert got["when"].null_count == ROWS // 50
    check({name: got[name].to_numpy() for name in got.column_names})
    assert pa.table(table[["u", "b"]]).column_names == ["u", "b"]


def test_batches_come_when_they_are_asked_for(tmp_path):
    rows = 6_000_000
    bcolz.ctable([np.arange(rows)], ["a"], rootdir=tmp_path / "t")
    reader = pa.RecordBatchReader.from_stream(bp.open_table(tmp_path / "t"))
    sizes = [batch.num_rows for batch in reader]
    assert sum(sizes) == rows and len(sizes) > 2 and max(sizes) * 8 <= 16 << 20


def test_polars_reads_it(table):
    got = polars.DataFrame(table)
    assert got.shape == (ROWS, len(COLUMNS))
    check({name: got[name].to_numpy() for name in got.columns})
    assert got["t"].dtype == polars.String


def test_duckdb_reads_it(table):
    reader = pa.RecordBatchReader.from_stream(table[["i", "t", "day", "when"]])
    [(count, total, text, day, times)] = duckdb.sql(
        "select count(*), sum(i), max(t), max(day), count(\"when\") from reader"
    ).fetchall()
    assert (count, total, text) == (ROWS, int(COLUMNS["i"].sum()), "ä99")
    assert day == COLUMNS["day"].max().item() and times == ROWS - ROWS // 50
    assert duckdb.from_arrow(table[["i", "s"]]).fetchall()[0] == (-5000, b"a0")
    stream = table[["i"]]
    assert duckdb.sql("select max(i) from stream").fetchall() == [(ROWS - 5001,)]


def test_pandas_reads_it(table):
    got = pandas.DataFrame.from_arrow(table) if hasattr(pandas.DataFrame, "from_arrow") else pa.table(table).to_pandas()
    check({name: got[name].to_numpy() for name in got.columns if name != "day"}, {k: v for k, v in COLUMNS.items() if k != "day"})
    assert list(got["day"][:2]) == COLUMNS["day"][:2].tolist()


def test_columns_and_arrays_are_passed_on(table, tmp_path):
    for name in ("i", "big", "f", "t", "when"):
        assert same(pa.chunked_array(table[name]).to_numpy(), COLUMNS[name]), name
        assert same(pa.array(table[name]).to_numpy(zero_copy_only=False), COLUMNS[name]), name
        assert same(polars.Series(table[name]).to_numpy(), COLUMNS[name]), name
    matrix = np.arange(60.0).reshape(10, 3, 2)
    bcolz.carray(matrix, rootdir=tmp_path / "m")
    array = bp.open_array(tmp_path / "m")
    assert pa.array(array).to_pylist() == matrix.tolist()
    row = pa.field("item", pa.list_(pa.field("item", pa.float64(), False), 2), False)
    assert pa.field(array).type == pa.list_(row, 3)
    bcolz.carray(np.empty(0, "U3"), rootdir=tmp_path / "e")
    assert pa.array(bp.open_array(tmp_path / "e")).to_pylist() == []
    assert pa.chunked_array(bp.open_array(tmp_path / "e")).length() == 0


def test_what_is_asked_for_is_converted(table):
    wanted = pa.schema([("i", pa.int32())])
    got = pa.RecordBatchReader.from_stream(table[["i"]], schema=wanted).read_all()
    assert got.schema.field("i").type == pa.int32() and same(got["i"].to_numpy(), COLUMNS["i"])


def test_elements_with_fields_are_a_table(tmp_path):
    rows = np.zeros(1000, [("a", ">i8"), ("b", "S3"), ("m", "f4", (2,))])
    rows["a"], rows["b"], rows["m"] = np.arange(1000), b"xy", np.arange(2000).reshape(-1, 2)
    bcolz.carray(rows, rootdir=tmp_path / "c")
    table = bp.open_table(tmp_path / "c")
    assert table.names == ["a", "b", "m"] and len(table) == 1000
    assert (table[5:9] == rows[5:9]).all()
    assert (table["m"][3:7, 1] == rows["m"][3:7, 1]).all()
    assert pa.table(table)["a"].to_pylist() == list(range(1000))
    assert pa.table(table[["m"]])["m"].to_pylist() == rows["m"].tolist()
    assert pa.array(table["b"]).to_pylist() == [b"xy"] * 1000
    assert pa.array(bp.open_array(tmp_path / "c"))[7].as_py() == {"a": 7, "b": b"xy", "m": [14.0, 15.0]}


def test_tables_without_rows(tmp_path):
    assert bp.write_table({"a": np.empty(0, "i4"), "b": np.empty(0, "U5")}, tmp_path / "t") == 0
    table = bp.open_table(tmp_path / "t")
    assert pa.table(table).num_rows == 0 and pa.table(table).schema.names == ["a", "b"]
    assert polars.DataFrame(table).shape == (0, 2)
    assert bp.write_table(pa.table(table), tmp_path / "u") == 0
    assert bp.open_table(tmp_path / "u").names == ["a", "b"]
    assert "0 rows" in table._repr_html_() and len(table[:]) == 0


def sources(tmp_path):
    frame = {"i": [1, 2, 3], "f": [0.5, None, 2.5], "t": ["x", "yyy", None], "when": COLUMNS["when"][:3]}
    made = pa.table({**frame, "when": pa.array(frame["when"])})
    yield made
    yield made.to_reader(max_chunksize=2)
    yield polars.DataFrame(made)
    yield duckdb.sql("select * from made")
    yield made.to_pandas()


def test_tables_are_written_from_what_speaks_arrow(tmp_path):
    for number, source in enumerate(sources(tmp_path)):
        path = tmp_path / str(number)
        assert bp.write_table(source, path, cname="zstd") == 3, type(source)
        got = bp.open_table(path)
        assert got["i"][:].tolist() == [1, 2, 3], type(source)
        assert same(got["f"][:], [0.5, np.nan, 2.5]), type(source)
        assert got["t"][:].tolist() == ["x", "yyy", ""] and got["t"].dtype == "U3", type(source)
        assert same(got["when"][:], COLUMNS["when"][:3]), type(source)
        assert bcolz.open(path, "r")["t"].cparams.cname == "zstd"


def test_a_table_comes_back_through_arrow(table, tmp_path):
    assert bp.write_table(table, tmp_path / "copy") == ROWS
    copy = bp.open_table(tmp_path / "copy")
    assert copy.dtypes == table.dtypes
    check({name: copy[name][:] for name in copy.names})


def test_missing_values_are_missing_again(tmp_path):
    """As DuckDB and pandas have them, and as values that are NaN are not."""
    there = {"y": [1.5, None, 300.0], "x": [1.5, np.nan, 300.0]}
    source = pa.table({name: pa.array(values, pa.float64(), from_pandas=False) for name, values in there.items()})
    bp.write_table(source, tmp_path / "t")
    table = bp.open_table(tmp_path / "t")
    found = pa.table(table)
    assert found["y"].to_pylist() == there["y"] and found["x"].null_count == 0
    query = "select count(*) filter (y > 100), max(y), avg(y), count(y), count(x) from {}"
    assert duckdb.sql(query.format("found")).fetchall() == duckdb.sql(query.format("source")).fetchall()
    frame = pandas.DataFrame.from_arrow(table)
    assert frame["y"].equals(source["y"].to_pandas()) and frame["y"].max() == 300
    # A slice, and a single column.
    assert pa.table(table[["y"]])["y"].null_count == 1
    assert pa.array(table["y"]).null_count == 1


def test_missing_values_need_a_value(tmp_path):
    source = pa.table({"n": [1, None, 3], "b": [True, None, False], "s": [b"a", None, b"ccc"]})
    with pytest.raises(bp.Error, match='"n"'):
        bp.write_table(source, tmp_path / "t")
    assert not (tmp_path / "t").exists() or not list((tmp_path / "t").iterdir())
    bp.write_table(source, tmp_path / "u", fill={"n": -1, "b": True}, dtypes={"s": "S8"})
    got = bp.open_table(tmp_path / "u")
    assert got["n"][:].tolist() == [1, -1, 3] and got["b"][:].tolist() == [True, True, False]
    assert got["s"].dtype == "S8" and got["s"][:].tolist() == [b"a", b"", b"ccc"]


@pytest.mark.parametrize(
    "source, message",
    [
        ({}, "needs a column"),
        ({"a": [1, 2], "b": [1]}, "same length"),
        ({"a": 5}, "single value"),
        ({"a": np.array([object()])}, "objects"),
        (np.arange(3), "fields"),
        (5, "__arrow_c_stream__"),
    ],
)
def test_mistakes_are_explained(source, message, tmp_path):
    with pytest.raises(bp.Error, match=message):
        bp.write_table(source, tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_an_existing_directory_is_not_replaced_unasked(tmp_path):
    bp.write_table({"a": [1]}, tmp_path / "t")
    with pytest.raises(bp.Error):
        bp.write_table({"a": [2]}, tmp_path / "t")
    assert bp.open_table(tmp_path / "t")["a"][:].tolist() == [1]
    bp.write_table(pa.table({"a": [2, 3]}), tmp_path / "t", replace=True)
    assert bp.open_table(tmp_path / "t")["a"][:].tolist() == [2, 3]
    with pytest.raises(bp.Error, match="open_array"):
        bp.open_table(tmp_path / "t" / "a")
    with pytest.raises(bp.Error, match="open_table"):
        bp.open_array(tmp_path / "t")


@pytest.mark.parametrize("source", [{"a": [1, 2]}, pa.table({"a": [1, 2]})])
def test_the_name_of_a_file_is_not_that_of_a_directory(source, tmp_path):
    endings = "parquet PARQUET arrow csv tsv jsonl npy npz h5 zip csv.gz json b2nd b2z b2d blp zarr pkl".split()
    for ending in endings:
        with pytest.raises(bp.errors.UsageError, match=f"t.{ending}' is that of a"):
            bp.write_table(source, tmp_path / f"t.{ending}")
    assert list(tmp_path.iterdir()) == []
    for name in ("t", "t.bcolz", "prices-1.2", "t.2024", ".csv"):
        assert bp.write_table(source, tmp_path / name) == 2
        assert bp.open_table(tmp_path / name)["a"][:].tolist() == [1, 2]


def test_bcolz_keeps_the_names_of_old_programs_and_warns(tmp_path):
    for make in (lambda place: bcolz.carray([1, 2], rootdir=place), lambda place: bcolz.ctable([[1, 2]], rootdir=place)):
        with pytest.warns(UserWarning, match="file of the format Parquet, but it becomes a directory") as caught:
            make(str(tmp_path / "t.parquet"))
        assert [warning.filename for warning in caught] == [__file__]
        assert bp.verify(tmp_path / "t.parquet")
        shutil.rmtree(tmp_path / "t.parquet")


def test_damage_is_an_error_of_the_reader(tmp_path):
    bcolz.ctable([np.arange(100_000) * 7], ["a"], rootdir=tmp_path / "t")
    for chunk in (tmp_path / "t" / "a" / "data").glob("__*.blp"):
        bytes_ = bytearray(chunk.read_bytes())
        bytes_[16:] = b"\xff" * (len(bytes_) - 16)
        chunk.write_bytes(bytes_)
    table = bp.open_table(tmp_path / "t")
    with pytest.raises((pa.ArrowInvalid, OSError), match="chunk"):
        pa.table(table)
    assert "chunk" in table._repr_html_()


def test_several_readers_of_the_same_table(table):
    results = []

    def read():
        results.append(same(pa.table(table)["i"].to_numpy(), COLUMNS["i"]))

    threads = [threading.Thread(target=read) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [True] * 4


def test_interrupts_are_heard_while_a_stream_is_read(tmp_path):
    bcolz.ctable([bcolz.fill(80_000_000, dtype="i8", dflt=3)], ["a"], rootdir=tmp_path / "t")
    table = bp.open_table(tmp_path / "t")
    caught = []
    # Ignored under nohup and in the background of a script.
    disposition = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, lambda: (caught.append(True), os.kill(os.getpid(), signal.SIGINT)))
    timer.start()
    with pytest.raises((KeyboardInterrupt, pa.ArrowException, OSError)):
        try:
            while True:
                for _ in pa.RecordBatchReader.from_stream(table):
                    pass
        finally:
            timer.join()
            # The exception of Arrow's may be first.
            time.sleep(0.01)
    signal.signal(signal.SIGINT, disposition)
    assert caught


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archives_are_read_like_directories(folder, tmp_path, method):
    matrix = np.arange(3000).reshape(-1, 3)
    bcolz.carray(matrix, rootdir=tmp_path / "m", chunklen=100)
    archive = tmp_path / "x.zip"
    with zipfile.ZipFile(archive, "w", method) as file:
        for name, root in (("rec/t", folder), ("rec/m", tmp_path / "m")):
            for path in sorted(root.rglob("*")):
                file.write(path, f"{name}/{path.relative_to(root)}")
    single = tmp_path / "m.zip"
    with zipfile.ZipFile(single, "w", method) as file:
        for path in sorted((tmp_path / "m").rglob("*")):
            file.write(path, path.relative_to(tmp_path / "m"))
    for source in (single, single.read_bytes(), open(single, "rb"), single.as_uri()):
        assert (bp.open_array(source)[5:900:7] == matrix[5:900:7]).all()
    assert bp.info(single)["kind"] == "carray" and bp.verify(single)
    table = bp.open_table(archive / "rec" / "t")
    check({name: table[name][:] for name in table.names})
    assert same(pa.table(table)["f"].to_numpy(), COLUMNS["f"])
    opened = bcolz.open(archive / "rec" / "t", "r")
    assert (opened["t"][:] == COLUMNS["t"]).all()
    assert (bcolz.open(archive / "rec" / "m", "r")[7] == matrix[7]).all()
    with pytest.raises(OSError):
        bcolz.open(archive / "rec" / "m", "a").append(matrix[:1])
    for missing in (archive, archive / "rec" / "no", tmp_path / "no.zip"):
        with pytest.raises(bp.Error):
            bp.open_array(missing)


def test_hostile_archives_end_in_an_error(tmp_path):
    bcolz.carray(np.arange(100), rootdir=tmp_path / "a")
    files = {str(path.relative_to(tmp_path / "a")): path.read_bytes() for path in (tmp_path / "a").rglob("*") if path.is_file()}
    with zipfile.ZipFile(tmp_path / "up.zip", "w") as file:
        for name, content in files.items():
            file.writestr(f"../{name}", content)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content if not name.startswith("meta") else bytes(200 << 20))
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04 and no more")
    for name in ("up", "bomb", "no"):
        with pytest.raises(bp.Error) as raised:
            bp.open_array(tmp_path / f"{name}.zip")
        assert "byte" in str(raised.value) or name == "bomb", raised.value


def test_pictures_of_tables_and_arrays(table, tmp_path):
    page = table._repr_html_()
    assert page.count("<svg") == 6 and "10,000 rows" in page and "<td>ä99</td>" in page
    assert "<path" in table["i"]._repr_html_()
    bcolz.carray(np.zeros((40, 30)), rootdir=tmp_path / "m", chunklen=10)
    assert bp.open_array(tmp_path / "m")._repr_html_().count("<rect") == 4
    strange = bcolz.ctable([np.array(["<b>&"])], ["x"])
    assert "&lt;b&gt;&amp;" in strange._repr_html_() and "<b>" not in strange._repr_html_()
    assert "<svg" in bcolz.carray(np.arange(10))._repr_html_()


def test_tables_of_pytables(tmp_path):
    pytest.importorskip("tables")
    made = bcolz.ctable([np.arange(1000), np.arange(1000) / 3, np.array([b"x"] * 1000)], ["a", "b", "c"])
    made.attrs["fs"] = 250
    made.tohdf5(str(tmp_path / "t.h5"), "/group/t")
    back = bcolz.ctable.fromhdf5(str(tmp_path / "t.h5"), "/group/t", rootdir=str(tmp_path / "t"))
    assert (back[:] == made[:]).all() and back.attrs["fs"] == 250
    other = bcolz.ctable.fromhdf5(str(tmp_path / "t.h5"), "/group/t")
    assert (other["b"][:] == made["b"][:]).all()


def test_rows_of_a_store_of_python_blosc2():
    # Written by python-blosc2: see testdata/make_blosc2.py.
    rows = bp.open_rows(os.path.join(TESTDATA, "stores", "table.b2z"))
    assert len(rows) == 3
    assert pa.table(rows).to_pylist() == [
        {"n": 1, "s": "one", "l": [1], "k": "a"},
        {"n": None, "s": "zwei", "l": None, "k": "b"},
        {"n": 4, "s": "", "l": [1, 2, 3], "k": "a"},
    ]
    chosen = bp.open_rows(os.path.join(TESTDATA, "stores", "table.b2z"), ["k", "n"])[1:]
    assert polars.DataFrame(chosen).rows() == [("b", None), ("a", 4)]
    with pytest.raises(bp.Error, match='no column "m"'):
        pa.table(bp.open_rows(os.path.join(TESTDATA, "stores", "table.b2z"), ["m"]))


def test_rows_of_anything(folder, tmp_path):
    got = pa.table(bp.open_rows(folder))
    check({name: got[name].to_numpy() for name in got.column_names})
    bp.pack_ndarray_to_file(np.arange(5000.0), str(tmp_path / "a.blp"))
    rows = bp.open_rows(tmp_path / "a.blp")
    assert len(rows) == 5000 and pa.table(rows[4998:])["value"].to_pylist() == [4998.0, 4999.0]
    with pytest.raises(bp.Error, match="step of 2"):
        rows[::2]
    with pytest.raises(TypeError):
        rows[3]
