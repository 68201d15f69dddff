"""What somebody new types, right and wrong, and what comes."""

import inspect
import math

import numpy as np
import pytest

import bloscpack as bp
from bloscpack import bcolz

PRICES = {"day": [1, 2, 3], "price": [0.5, 0.75, 1.0], "name": ["a", "bb", "c"]}


@pytest.fixture
def prices(tmp_path):
    bp.write_table(PRICES, tmp_path / "prices")
    return tmp_path / "prices"


@pytest.mark.parametrize(
    "function",
    [bp.open, bp.Writer, bp.compress, bp.append_bytes, bp.RecordWriter, bp.open_records, bp.append_records, bp.convert, bp.write],
)
def test_options_are_in_the_signature(function):
    parameters = inspect.signature(function).parameters.values()
    assert not [one for one in parameters if one.kind is one.VAR_KEYWORD]
    assert any(one.kind is one.KEYWORD_ONLY for one in parameters)


def test_an_unknown_option_is_a_type_error(tmp_path):
    with pytest.raises(TypeError, match="codec"):
        bp.compress(b"x", codec="zstd")
    with pytest.raises(TypeError, match="codec"):
        bp.open(tmp_path / "a.blp", "wb", codec="zstd")


def test_text_is_no_record(tmp_path):
    with bp.RecordWriter(tmp_path / "r.blp") as writer:
        with pytest.raises(TypeError, match="bytes expected, not str"):
            writer.push("text")
        writer.push(b"text")
    with pytest.raises(TypeError, match="several records expected"):
        bp.append_records(tmp_path / "r.blp", b"text")
    with pytest.raises(TypeError, match="bytes expected, not str"):
        bp.append_records(tmp_path / "r.blp", ["text"])
    assert bp.append_records(tmp_path / "r.blp", [b"more"]) == 2


def test_a_table_is_opened_by_its_kind(prices):
    table = bp.open(prices)
    assert isinstance(table, bp.Table)
    assert table.names == table.columns == ["day", "price", "name"]
    assert len(table) == 3


def test_pandas_gets_a_table(prices):
    pandas = pytest.importorskip("pandas")
    frame = bp.open(prices).to_pandas()
    wanted = pandas.DataFrame(PRICES)
    assert frame.columns.tolist() == wanted.columns.tolist()
    assert frame["price"].tolist() == PRICES["price"] and frame["name"].tolist() == PRICES["name"]


def test_rows_are_appended(prices):
    table = bp.open(prices)
    assert table.append({"name": ["dd"], "day": [4], "price": [2.0]}) == 4
    assert table["day"][:].tolist() == [1, 2, 3, 4] == bcolz.open(str(prices), mode="r")["day"][:].tolist()


@pytest.mark.parametrize(
    "rows, words",
    [
        ({"day": [4]}, "not those of the table"),
        ({"name": ["dd"], "day": [4, 5], "price": [2.0]}, "same length"),
        ({"name": ["too long"], "day": [4], "price": [2.0]}, "do not fit"),
        ({"name": ["dd"], "day": [4.5], "price": [2.0]}, "do not fit"),
    ],
)
def test_rows_that_do_not_fit_change_nothing(prices, rows, words):
    table = bp.open(prices)
    with pytest.raises(bp.errors.UsageError, match=words):
        table.append(rows)
    assert len(bp.open(prices)) == 3


def test_a_part_of_an_array_in_a_bloscpack_file(tmp_path):
    array = np.arange(1000).reshape(100, 10)
    bp.pack_ndarray_to_file(array, str(tmp_path / "a.blp"))
    assert np.array_equal(bp.open_array(tmp_path / "a.blp")[10:12, ::3], array[10:12, ::3])


def test_an_array_is_not_a_table(tmp_path):
    bp.write(np.arange(3), tmp_path / "a.b2nd")
    with pytest.raises(bp.errors.UsageError, match="open_array"):
        bp.open_table(tmp_path / "a.b2nd")


def test_bcolz_opens_no_bloscpack_file(tmp_path):
    bp.pack_ndarray_to_file(np.arange(3), str(tmp_path / "a.blp"))
    with pytest.raises(Exception, match="bloscpack.open"):
        bcolz.open(str(tmp_path / "a.blp"))


def test_what_is_not_there_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing") as error:
        bp.open(tmp_path / "nothing")
    assert "entity" not in str(error.value) and "os error" not in str(error.value)


def test_attributes_may_be_infinite(tmp_path):
    # As in bcolz, which stores them by json.dumps.
    array = bcolz.carray(np.arange(3), rootdir=str(tmp_path / "a"), mode="w")
    array.attrs["x"] = math.inf
    array.attrs["y"] = [math.nan, 1]
    array.flush()
    again = bcolz.open(str(tmp_path / "a"), mode="r").attrs
    assert again["x"] == math.inf and math.isnan(again["y"][0])
