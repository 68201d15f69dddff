//! Clusters for SQL over bcolz, Bloscpack and Blosc2 data: [Ballista](https://datafusion.apache.org/ballista/) with the
//! tables of `bloscpack-datafusion`.
//!
//! The command `blpk-cluster` runs a scheduler or an executor. [`connect`] makes a session whose queries run on the cluster.
//!
//! ```no_run
//! use bloscpack_datafusion::TableOptions;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = blpk_cluster::connect("df://127.0.0.1:50050", None, &TableOptions::new()).await?;
//! let rows = context.sql("SELECT max(close) FROM '/data/prices'").await?.collect().await?;
//! # Ok(())
//! # }
//! ```
//!
//! | sent | by | as |
//! |---|---|---|
//! | the statement, with its tables | the client to the scheduler | [`LogicalCodec`] encodes the tables |
//! | a stage of the plan, with the rows that it reads | the scheduler to executors | [`PhysicalCodec`] encodes the scans |
//!
//! The client opens the data to learn its columns; executors read it. All tasks of a query read the version that the client
//! saw. If the data changes, the query fails.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod client;
mod codec;

pub use client::connect;
pub use codec::{LogicalCodec, PhysicalCodec};
