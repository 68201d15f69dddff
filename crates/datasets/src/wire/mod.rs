//! The small files of dataset directories: bytes in, structures out, and back. Nothing here reads or writes.
//!
//! | file | content | type |
//! |---|---|---|
//! | `meta/sizes` | the number of rows | [`Sizes`] |
//! | `meta/storage` | the type of the elements, the compression of new chunks | [`Storage`] |
//! | `__attrs__`, `meta/attributes` | values that users attach | [`Attributes`] |
//! | `__rootdirs__` | the columns of a table | [`RootDirs`] |
//! | `meta/index` | statistics of each superchunk | [`Index`] |
//!
//! These are the files of bcolz, BLZ and carray; the last one is of this library. The module `proposal`, with the feature `documents`, has the files of the
//! carray proposal, which is older.

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
