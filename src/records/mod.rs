//! Records: objects of any length, each found by its number.
//!
//! ```text
//!   RecordWriter, SeekRecordWriter ─► RecordChunker (one to a chunk, or many) ─► ChunkCompressor ─► Write
//!   Read ─► Engine ─► RecordReader, in order
//!   ReadAt ─► Index ─► IndexedRecordReader, by number
//! ```

mod builder;
mod cache;
mod chunker;
mod find;
mod indexed;
mod reader;
mod refresh;
mod tally;
mod typed;
mod writer;

pub use builder::RecordWriterBuilder;
pub(super) use builder::VARBINARY;
pub(super) use cache::Unpacked;
pub(super) use chunker::RecordChunker;
pub use indexed::IndexedRecordReader;
pub use reader::RecordReader;
pub(super) use tally::{Numbers, RecordTally};
pub(super) use typed::record_of_value;
pub use typed::{FromRecord, ToRecord, ValueError};
#[cfg(feature = "serde")]
pub use typed::{Json, MessagePack};
pub use writer::{RecordWriter, SeekRecordWriter};
