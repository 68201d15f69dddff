//! One Blosc chunk in memory: header, filters, compressors. No I/O.
//!
//! A chunk is up to 2 GiB of data, cut into blocks of equal size (the last may be short). Each
//! block is filtered, then compressed as one stream or, where its elements are small, as one
//! stream per byte of an element:
//!
//! ```text
//! chunk    header | start of block 0 | .. | start of block n-1 | block | block | ..
//!          16       4                       4 (u32, from the chunk's first byte)
//! block    stream | stream | ..       1 stream, or `typesize` streams ("split")
//! stream   length | bytes             4 (u32); `length` bytes of compressed data, or the data
//!                                     itself where length is what the stream decompresses to
//!
//! pure     header | data              a chunk that compression would not shorten
//! copy
//! ```
//!
//! This is the format of C-Blosc 1.x. [`ChunkEncoder`] writes chunks that C-Blosc 1.21 reads,
//! [`ChunkDecoder`] reads what any C-Blosc 1.x wrote, and treats every byte as hostile.
//!
//! Chunks of Blosc 2 have a header of 32 bytes, up to six filters one after the other, streams that
//! are but a length (one byte over and over), and may have a dictionary behind the table, or nothing
//! but the header where all values are the same:
//!
//! ```text
//! chunk    header | extension | table as above | [length | dictionary] | block | block | ..
//!          16       16          4 each           4
//! stream   length | bytes             as above; 0: zeros; -n, and a byte 1: bytes n over and over
//! ```
//!
//! [`Blosc2Encoder`] and [`special_chunk`] write chunks that C-Blosc2 2.x and 3.x read, the decoder is
//! the same.
//!
//! ```
//! use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings};
//!
//! let data: Vec<u8> = (0..10_000_u64).flat_map(u64::to_le_bytes).collect();
//! let mut chunk = Vec::new();
//! let header = ChunkEncoder::new(ChunkSettings::default())?.encode(&data, &mut chunk)?;
//! assert!(chunk.len() < data.len() / 10);
//!
//! let mut decoded = vec![0; header.nbytes as usize];
//! ChunkDecoder::new().decode(&chunk, &mut decoded)?;
//! assert_eq!(decoded, data);
//! # Ok::<(), blosc1::ChunkError>(())
//! ```

#[cfg(feature = "blosc2-rs")]
mod c_blosc2;
mod compressor;
mod decode;
mod encode;
mod encode2;
mod engine;
mod error;
mod extension;
mod extents;
mod filter;
mod header;
mod layout;
mod level;
mod pad;
#[cfg(test)]
mod peer;
mod pipeline;
mod reference;
mod settings;
mod settings2;
mod source;
mod special;
mod tune;

pub use compressor::{Compressor, CompressorFormat, UnknownCompressor};
pub use decode::{ChunkDecoder, ShuffleMeta};
pub use encode::ChunkEncoder;
pub use encode2::Blosc2Encoder;
pub use engine::Engine;
pub use error::{ChunkError, Fault};
pub use extension::{ChunkExtension, Special};
pub use extents::{check_extents, extents, head_len, is_zeros};
pub use filter::{Filter, UnknownFilter};
pub use header::{ChunkHeader, HEADER_LEN, MAX_NBYTES};
pub use level::guess_settings;
pub use pad::pad;
pub use pipeline::{FilterPipeline, FilterStep};
pub use settings::ChunkSettings;
pub use settings2::Blosc2Settings;
pub use source::has_blocks;
pub use special::{SpecialValue, special_chunk};
pub use tune::{Aim, Trial, Tuned, Tuner, UnknownAim};
