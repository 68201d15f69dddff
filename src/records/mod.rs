//! Records: objects of any length, each found by its number.
//!
//! ```text
//!   RecordWriter, SeekRecordWriter ─► stage (one to a chunk, or many) ─► encoder's line ─► Write
//!   Read ─► engine ─► RecordReader, in order
//!   ReadAt ─► index ─► IndexedRecordReader, by number
//! ```

mod builder;
mod cache;
mod find;
mod indexed;
mod opening;
mod reader;
mod stage;
mod tally;
mod typed;
mod writer;

pub use builder::RecordWriterBuilder;
pub(super) use builder::VARBINARY;
pub(super) use cache::Unpacked;
pub use indexed::IndexedRecordReader;
pub use opening::IndexedRecordReaderBuilder;
pub use reader::{RecordReader, RecordReaderBuilder};
pub(super) use stage::RecordStage;
pub(super) use tally::{Numbers, Tally};
pub(super) use typed::record_of_value;
pub use typed::{FromRecord, ToRecord, ValueError};
#[cfg(feature = "serde")]
pub use typed::{Json, MessagePack};
pub use writer::{RecordWriter, SeekRecordWriter};
