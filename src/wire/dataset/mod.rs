//! The small files of datasets that are directories: bytes in, structures out, and back.
//!
//! | file | what it says | here |
//! |---|---|---|
//! | `meta/sizes` | how many rows | [`Sizes`] |
//! | `meta/storage` | what they consist of, how they are compressed | [`Storage`] |
//! | `__attrs__`, `meta/attributes` | what users say of them | [`Attributes`] |
//! | `__rootdirs__` | the columns of a table | [`RootDirs`] |

mod attributes;
mod chunk_rows;
mod error;
mod object;
mod python_json;
mod rootdirs;
mod sizes;
mod storage;

pub use attributes::Attributes;
pub use chunk_rows::{ChunkBase, default_chunk_rows};
pub use error::MetaError;
pub use python_json::python_json;
pub use rootdirs::RootDirs;
pub use sizes::{ChunkOverhead, Sizes, counted_bytes};
pub use storage::{DtypeText, ParamsKey, Storage, StorageStyle};
