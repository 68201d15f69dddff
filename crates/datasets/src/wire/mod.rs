//! The small files of dataset directories, converted between bytes and structures. Nothing here does I/O. `docs/datasets.md`
//! describes the directories.
//!
//! | file | content | type |
//! |---|---|---|
//! | `meta/sizes` | the number of rows | [`Sizes`] |
//! | `meta/storage` | the dtype, the chunk length, the compression of new chunks | [`Storage`] |
//! | `__attrs__`, `meta/attributes` | the user's attributes | [`Attributes`] |
//! | `__rootdirs__` | the columns of a table | [`RootDirs`] |
//! | `meta/index` | statistics of each superchunk; only this library writes it | [`Index`] |
//!
//! These are the files of bcolz, BLZ and carray. The module `proposal`, with the feature `documents`, covers the carray
//! proposal, an older design.

mod chunk_rows;
mod index;
#[cfg(feature = "documents")]
pub mod proposal;
mod rootdirs;
mod sizes;
mod storage;

pub use bloscpack_array::{Attributes, python_json};
pub use chunk_rows::{ChunkBase, default_chunk_rows};
pub(crate) use index::Elements;
pub use index::{Index, IndexEntry, index_digest};
pub use rootdirs::RootDirs;
pub use sizes::{ChunkOverhead, Sizes, counted_bytes};
pub use storage::{DtypeText, ParamsKey, Storage, StorageStyle};
