//! Tables of DataFusion over bcolz, BLZ and carray datasets, Bloscpack files, records, and Blosc2 frames.
//!
//! [`BloscpackTable`] is a [`TableProvider`](datafusion::catalog::TableProvider) for whatever a path or a URL leads to.
//! [`register`] teaches a session `CREATE EXTERNAL TABLE … STORED AS BCOLZ`, and [`context`] makes one in which paths and URLs
//! are names of tables, as in `SELECT … FROM 'prices'`.
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
//! Only the columns that a query needs are opened. Conditions are evaluated chunk by chunk while the other columns are still
//! compressed; where no row is left, these are not decompressed. Nothing is read for `COUNT(*)`.

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
