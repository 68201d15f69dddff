//! Tables of DataFusion over bcolz, BLZ and carray datasets, Bloscpack files, records, and Blosc2 frames.
//!
//! [`BloscpackTable`] is a [`TableProvider`](datafusion::catalog::TableProvider) for the data at a path or a URL.
//! [`register`] adds `CREATE EXTERNAL TABLE … STORED AS BCOLZ` to a session. [`context`] makes a session in which paths and
//! URLs are names of tables, as in `SELECT … FROM 'prices'`.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # testkit::enter_testdata();
//! let context = bloscpack_datafusion::context(Default::default())?;
//! let query = "SELECT count(*), max(close) FROM 'testdata/datasets/bcolz/zipline_daily_equities.bcolz'";
//! let batches = context.sql(query).await?.collect().await?;
//! assert_eq!(batches[0].num_rows(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! | input | rows | columns |
//! |---|---|---|
//! | a ctable | its rows | its columns |
//! | a carray, a Bloscpack file of a NumPy array, a frame of one axis | elements along the first axis | the fields of structured elements, otherwise `value`; further axes are lists |
//! | a frame of several axes | elements | the coordinates `axis_0`, `axis_1` …, and the fields or `value` |
//! | records | records | the keys of JSON objects, otherwise `value` as text |
//!
//! Only the columns that a query needs are opened. Columns with conditions are read first, block by block; the others are
//! decompressed only where rows are left. `COUNT(*)` reads no data.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod blocks;
mod checked;
mod error;
mod kept;
mod meaning;
mod open;
mod parts;
pub mod plan;
mod prune;
mod pushdown;
mod reader;
mod register;
mod rows;
mod scan;
mod syntax;
mod table;
mod version;

pub use error::failure;
pub use open::TableOptions;
pub use register::{FORMATS, context, context_with, register};
pub use syntax::statements;
pub use table::BloscpackTable;
