//! Reading and writing Bloscpack files over [`Read`](std::io::Read) and
//! [`Write`](std::io::Write).
//!
//! ```text
//!   Encoder, SeekEncoder ─► chunks ─► pipeline (compress, hash) ─► Write
//!   Read ─► wire::Parser ─► engine ─► pipeline (check, decompress) ─► Decoder, verify
//!   Read ─► wire::Parser ─► survey
//!   ReadAt ─► recover, and what verify finds behind damage to the structure
//! ```

#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod decoder;
mod edit;
mod encoder;
mod engine;
mod fill;
mod indexed;
mod pipeline;
mod records;
mod recover;
mod shared;
mod source;
mod survey;
mod verify;
mod walk;

pub use decoder::{Decoder, DecoderBuilder, Warning};
pub use edit::{Appender, Editor, EditorBuilder, RecordAppender, RecordEditor};
pub use encoder::{DEFAULT_CHUNK_SIZE, Encoder, EncoderBuilder, SeekEncoder};
pub use indexed::{ContentCursor, IndexedReader, IndexedReaderBuilder};
pub use records::{
    FromRecord, IndexedRecordReader, IndexedRecordReaderBuilder, RecordReader, RecordReaderBuilder,
    RecordWriter, RecordWriterBuilder, SeekRecordWriter, ToRecord, ValueError,
};
#[cfg(feature = "serde")]
pub use records::{Json, MessagePack};
pub use recover::{Lost, RecoverOptions, Recovery, recover};
pub use survey::{Member, State, Survey};
pub use verify::{Damage, Report, verify, verify_at};

use crate::error::Result;
use std::io::Write;

/// Compresses a buffer into a stream with all defaults.
///
/// ```
/// let data = [7; 100_000];
/// let file = bloscpack::compress(&data)?;
/// assert!(file.len() < 1000);
/// assert_eq!(bloscpack::decompress(&file)?, data);
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// None that depend on the data.
pub fn compress(data: &[u8]) -> Result<Vec<u8>> {
    let size = u64::try_from(data.len()).unwrap_or(u64::MAX);
    let mut encoder = Encoder::builder().size(size).write_to(Vec::new())?;
    encoder.write_all(data)?;
    encoder.finish()
}

/// Decompresses all members of a buffer.
///
/// # Errors
/// Whatever is wrong with the bytes.
pub fn decompress(file: &[u8]) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    Decoder::new(file).copy_to(&mut data)?;
    Ok(data)
}
