"""Makes the test data in `exchange`, files written by NumPy and pyarrow.

    python3 crates/exchange/tests/exchange/make.py target/testdata/exchange
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

out = Path(sys.argv[1])
rng = np.random.default_rng(5)

np.save(out / "fortran.npy", np.asfortranarray(np.arange(24, dtype=">i2").reshape(4, 3, 2)))
np.save(out / "fields.npy", np.array(
    [(1, 2.5, b"ab", [1, 2]), (-1, np.nan, b"", [3, 4])],
    dtype=[("a", ">i4"), ("b", "<f8"), ("c", "S3"), ("d", "<u2", (2,))]))
np.save(out / "single.npy", np.float32(1.5))
np.savez(out / "two.npz", day=np.array(["2024-01-02", "2024-01-03"], "M8[D]"), close=np.array([1.5, 2.25]),
         grid=np.arange(4, dtype="<u2").reshape(2, 2))
np.savez_compressed(out / "unlike.npz", a=np.arange(300, dtype="<i4"), b=np.ones(3))

text = ["a", "\u00e9\u20ac\U0001d11e", "", None, "longer than the others"]
table = pa.table({
    "flag": pa.array([True, False, True, False, True]),
    "small": pa.array([-128, 127, 0, 1, 2], pa.int8()),
    "big": pa.array([0, 2**64 - 1, 1, 2, 3], pa.uint64()),
    "half": pa.array(np.array([1, -2.5, np.inf, np.nan, 0], "f2")),
    "float": pa.array([1.5, None, float("nan"), -0.0, 1e300]),
    "text": pa.array(text),
    "large": pa.array(text, pa.large_string()),
    "view": pa.array(text, pa.string_view()),
    "bytes": pa.array([b"\x00\xff", b"", b"abc", None, b"x"], pa.binary()),
    "fixed": pa.array([b"abc", b"\x00\x00\x00", b"xyz", b"123", b"   "], pa.binary(3)),
    "category": pa.array(["x", "y", None, "x", "zz"]).dictionary_encode(),
    "day": pa.array([0, None, -1, 18000, 2], pa.date32()),
    "moment": pa.array([0, 1, None, -1, 10**18], pa.timestamp("ns")),
    "zoned": pa.array([0, 1, 2, 3, 4], pa.timestamp("ms", "Europe/Oslo")),
    "span": pa.array([0, 1, None, -1, 5], pa.duration("us")),
    "pair": pa.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]], pa.list_(pa.int16(), 2)),
    "fields": pa.array([{"x": i, "y": "yes" * i} for i in range(5)],
                       pa.struct([("x", pa.int32()), ("y", pa.string())])),
})
with pa.OSFile(str(out / "table.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
    writer.write_table(table, max_chunksize=2)
feather.write_feather(table, out / "lz4.feather", compression="lz4")
feather.write_feather(table, out / "zstd.feather", compression="zstd")
# Parquet does not support view types.
rest = table.drop_columns(["view"])
pq.write_table(rest, out / "table.parquet", row_group_size=3)
pq.write_table(rest.drop_columns(["pair", "span"]), out / "plain.parquet", compression="none", use_dictionary=False,
               store_schema=False, data_page_version="2.0")
pq.write_table(pa.table({"n": pa.array([1, None, 3])}), out / "nulls.parquet")
pq.write_table(pa.table({"d": pa.array([None], pa.list_(pa.int64()))}), out / "lists.parquet")
