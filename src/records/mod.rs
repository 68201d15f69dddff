//! Records: objects of any length, each found by its number.
//!
//! ```text
//!   RecordWriter, SeekRecordWriter ─► stage (one to a chunk, or many) ─► encoder's line ─► Write
//!   Read ─► engine ─► RecordReader, in order
//!   ReadAt ─► index ─► IndexedRecordReader, by number
//! ```

mod builder;
mod cache;
mod chunker;
mod find;
mod indexed;
mod indexed_builder;
mod reader;
mod tally;
mod typed;
mod writer;

pub use builder::RecordWriterBuilder;
pub(super) use builder::VARBINARY;
pub(super) use cache::Unpacked;
pub(super) use chunker::RecordStage;
pub use indexed::IndexedRecordReader;
pub use indexed_builder::IndexedRecordReaderBuilder;
pub use reader::{RecordReader, RecordReaderBuilder};
pub(super) use tally::{Numbers, Tally};
pub(super) use typed::record_of_value;
pub use typed::{FromRecord, ToRecord, ValueError};
#[cfg(feature = "serde")]
pub use typed::{Json, MessagePack};
pub use writer::{RecordWriter, SeekRecordWriter};
