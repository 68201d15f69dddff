//! The small files of datasets that are directories: bytes in, structures out, and back.
//!
//! | file | what it says | here |
//! |---|---|---|
//! | `meta/sizes` | how many rows | [`Sizes`] |
//! | `meta/storage` | what they consist of, how they are compressed | [`Storage`] |
//! | `__attrs__`, `meta/attributes` | what users say of them | [`Attributes`] |
//! | `__rootdirs__` | the columns of a table | [`RootDirs`] |
//! | `data/__0.blp` | a header and one chunk | [`SingleChunk`] |
//!
//! These are the files of bcolz, BLZ and carray; [`proposal`] has those of the design before them.

mod attributes;
mod chunk_rows;
mod error;
mod object;
pub mod proposal;
mod python_json;
mod rootdirs;
mod sizes;
mod storage;
mod superchunk;

pub use attributes::Attributes;
pub use chunk_rows::{ChunkBase, default_chunk_rows};
pub use error::MetaError;
pub use python_json::python_json;
pub use rootdirs::RootDirs;
pub use sizes::{ChunkOverhead, Sizes, counted_bytes};
pub use storage::{DtypeText, ParamsKey, Storage, StorageStyle};
pub use superchunk::{
    SINGLE_CHUNK_HEAD_LEN, SINGLE_CHUNK_HEADER, SingleChunk, SuperchunkCheck, SuperchunkOddity,
};
