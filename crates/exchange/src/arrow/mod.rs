//! Arrow and Parquet, and the mapping of types.
//!
//! | NumPy | Arrow |
//! |---|---|
//! | integers, floats, bool | the same, converted to little-endian |
//! | `S` | without trailing zeros: Utf8 if the column is marked as text, else Binary |
//! | `U` | Utf8 |
//! | `V`, and extended floats | FixedSizeBinary |
//! | complex | Struct of `re` and `im` |
//! | fields | Struct |
//! | `datetime64` of s, ms, us, ns | Timestamp, with a zone if the column has one; NaT is null |
//! | `datetime64[D]` | Date32 |
//! | `timedelta64` of s, ms, us, ns | Duration |
//! | other times | Int64 |
//! | rows of several elements | FixedSizeList, nested for several axes |
//!
//! The metadata of each field holds its NumPy type as `bloscpack.dtype`, which is restored if it suits the field. The metadata
//! of the schema holds the attributes as `bloscpack.attributes`. Parquet has no seconds: they become milliseconds.

mod batches;
#[cfg(feature = "arrow")]
mod chunks;
#[cfg(feature = "arrow")]
mod footer;
mod from;
mod guard;
mod measure;
#[cfg(feature = "arrow")]
mod parquet;
mod pieces;
#[cfg(feature = "arrow")]
mod read;
#[cfg(feature = "arrow-write")]
mod tap;
#[cfg(feature = "arrow")]
mod thrift;
mod to;
mod types;
mod varying;
#[cfg(feature = "arrow-write")]
mod write;

pub use batches::{BatchConverter, RecordBatches, of_record_batches, record_batches};
pub use guard::catches_panics;
#[cfg(feature = "arrow")]
pub(super) use parquet::open_parquet;
#[cfg(feature = "arrow")]
pub use parquet::{write_parquet, write_parquet_with};
#[cfg(feature = "arrow")]
pub(super) use read::open_arrow;
#[cfg(feature = "arrow-write")]
pub use write::{write_arrow, write_arrow_stream};
