//! Records: objects of 0 to 2 147 483 631 bytes, such as messages or lines, each found by its number from 0.
//!
//! | need | type |
//! |---|---|
//! | write records to a pipe or a socket | [`RecordWriter`] |
//! | write records to a file | [`SeekRecordWriter`] |
//! | read all records in order | [`RecordReader`] |
//! | read any record by its number | [`IndexedRecordReader`] |
//! | append records to a file | [`RecordEditor`](crate::edit::RecordEditor) |
//! | wait for records that other programs append | [`RecordFollower`](crate::follow::RecordFollower) |
//! | write and read values instead of bytes | [`ToRecord`], [`FromRecord`], `Json`, `MessagePack` (feature `serde`) |
//!
//! # In the file
//!
//! A record is a chunk of its own, which costs 28 bytes (offset, chunk header, crc32), or many records are *packed* into a
//! chunk ([`RecordWriterBuilder::packed`]), which costs 1 to 4 bytes for each. A packed chunk, uncompressed (little-endian):
//!
//! ```text
//! offset              length         content
//!      0                   8         first: number of the first record, u64
//!      8                   4         count: number of records, u32, at least 1
//!     12                   1         width: bytes of each length, 1, 2 or 4
//!     13                   3         0 0 0
//!     16       count * width         the length of each record in bytes
//!     16 + count * width   rest      the records, one after another
//! ```
//!
//! The metadata declares the records: `{"dtype": "varbinary", "shape": [3], "packing": {...}}`, followed by the user's own
//! keys. `docs/format.md`, "Records", has the details.
//!
//! # How data flows
//!
//! ```text
//!   push ─► one chunk for each record, or packed chunks ─► threads compress ─► Write, or Write + Seek
//!   Read ─► threads check and decompress ─► RecordReader, in order
//!   ReadAt ─► offset table ─► IndexedRecordReader, by number
//! ```

mod builder;
mod cache;
mod chunker;
mod find;
mod indexed;
mod many;
mod reader;
mod refresh;
mod rotation;
mod tally;
mod typed;
mod writer;

pub use builder::RecordWriterBuilder;
pub(super) use builder::VARBINARY;
pub(super) use cache::Unpacked;
pub(super) use chunker::RecordChunker;
pub use indexed::IndexedRecordReader;
pub use reader::RecordReader;
pub use rotation::Rotation;
pub(super) use tally::{Numbers, RecordTally};
pub(super) use typed::record_of_value;
pub use typed::{FromRecord, ToRecord, ValueError};
#[cfg(feature = "serde")]
pub use typed::{Json, MessagePack};
pub use writer::{RecordWriter, SeekRecordWriter};
