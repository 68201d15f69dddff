"""A lazy frame of a table gives what Polars gives for the same rows in memory, and reads little for it."""

from __future__ import annotations

from pathlib import Path

import bloscpack
import numpy as np
import polars as pl
import pytest
from bloscpack.polars import scan
from polars.testing import assert_frame_equal

ROWS = 200_000


@pytest.fixture(scope="module")
def rows() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    floats = rng.normal(size=ROWS).round(2)
    floats[::97] = np.nan
    return {
        "number": np.arange(ROWS) // 7,
        "small": rng.integers(-5, 5, ROWS).astype("i1"),
        "float": floats,
        "half": np.sort(rng.normal(size=ROWS)).astype("f4"),
        "flag": rng.random(ROWS) < 0.5,
        "day": np.datetime64("2020-01-01") + np.arange(ROWS) // 100,
        "name": np.array(["a", "bc", "d€"])[rng.integers(0, 3, ROWS)],
    }


@pytest.mark.parametrize("name", ["t.bcolz", "indexed.bcolz", "t.b2z", "t.zarr"])
def test_queries(tmp_path: Path, rows: dict[str, np.ndarray], name: str) -> None:
    bloscpack.write(rows, tmp_path / name, index=name.startswith("indexed"), chunklen=10_000 if "bcolz" in name else None)
    lazy, whole = scan(tmp_path / name), pl.DataFrame(bloscpack.open_rows(tmp_path / name)).lazy()
    assert lazy.collect_schema() == whole.collect_schema()
    number, half, values = pl.col("number"), pl.col("half"), pl.col("float")
    conditions = [
        number == 5000,
        number > 28_000,
        25_000 <= number,
        (number >= 100) & (pl.lit(200) > number) & (pl.col("small") < 0),
        (number < 10) | (number > 28_560),
        number == -1,
        number > 2.5e4,
        half > 1.5,
        half <= -2.25,
        values > 3,
        values < -3,
        values.is_nan(),
        ~(number > 10),
        number.is_in([7, 20_000]),
        pl.col("flag") & (half > 2),
        pl.col("day") >= pl.date(2025, 6, 1),
        pl.col("name") == "d€",
        (pl.col("name") == "bc") & (number > 28_000),
        number > pl.col("small").cast(pl.Int64) + 28_550,
        pl.lit(True),
    ]
    queries = [lambda frame: frame, lambda frame: frame.select(pl.len()), lambda frame: frame.head(10), lambda frame: frame.slice(70_000, 9)]
    for condition in conditions:
        queries += [
            lambda frame, condition=condition: frame.filter(condition),
            lambda frame, condition=condition: frame.filter(condition).select("half", "name"),
            lambda frame, condition=condition: frame.filter(condition).select(pl.len()),
            lambda frame, condition=condition: frame.filter(condition).head(3),
            lambda frame, condition=condition: frame.head(150_000).filter(condition),
            lambda frame, condition=condition: frame.filter(condition).group_by("small").agg(pl.col("number").sum()).sort("small"),
        ]
    for query in queries:
        for engine in ("in-memory", "streaming"):
            found, expected = (query(frame).collect(engine=engine) for frame in (lazy, whole))
            assert_frame_equal(found, expected, check_row_order=engine == "in-memory")


def _read() -> int:
    """The bytes that this process has read from files."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counts["rchar"])


@pytest.mark.parametrize(("name", "share"), [("t.bcolz", 0.06), ("indexed.bcolz", 0.06)])
def test_little_is_read(tmp_path: Path, name: str, share: float) -> None:
    rng = np.random.default_rng(2)
    table = {f"c{number}": rng.normal(size=1_000_000) for number in range(20)}
    table["c0"] = np.arange(1_000_000) + rng.random(1_000_000)
    bloscpack.write(table, tmp_path / name, index=name.startswith("indexed"))
    size = sum(file.stat().st_size for file in (tmp_path / name).rglob("*.blp"))
    before = _read()
    found = scan(tmp_path / name).filter(pl.col("c0") > 999_990).collect()
    read = _read() - before
    assert found.shape == (int((table["c0"] > 999_990).sum()), 20)
    np.testing.assert_array_equal(found["c19"], table["c19"][table["c0"] > 999_990])
    assert read <= share * size, f"{read / size:.4f} of {size:,} bytes"
