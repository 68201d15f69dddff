//! Compress and decompress [Blosc](https://www.blosc.org) chunks, safely and fast.
//!
//! Zarr, HDF5, OpenVDB, bcolz, Blosc2 frames and others store arrays as Blosc chunks: up to 2 GiB of
//! data, filtered and compressed in blocks. This crate handles such chunks in memory. It does no I/O
//! and knows no file format.
//!
//! ```
//! use blosc1::{ChunkSettings, Compressor};
//!
//! let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
//! let settings = ChunkSettings::default().compressor(Compressor::Zstd).level(4).typesize(4);
//! let chunk = blosc1::compress(&data, settings)?;
//!
//! let header = blosc1::read_header(&chunk)?; // nothing is decompressed
//! assert_eq!((header.nbytes, header.typesize), (400_000, 4));
//! assert_eq!(blosc1::decompress(&chunk)?, data);
//! assert_eq!(blosc1::decompress_range(&chunk, 500..502)?, data[2000..2008]); // decompresses one block
//! # Ok::<(), blosc1::ChunkError>(())
//! ```
//!
//! # Start here
//!
//! | you want to | use |
//! |---|---|
//! | decompress a chunk of Blosc 1 or 2 | [`decompress`], [`decompress_into`] |
//! | decompress a few elements of it | [`decompress_range`], [`decompress_range_into`] |
//! | learn what a chunk contains | [`read_header`], [`ChunkHeader`], [`ChunkExtension`] |
//! | check a chunk from elsewhere | [`validate`] |
//! | compress data into a chunk of Blosc 1 | [`compress`], [`compress_into`], [`compress_bound`], [`ChunkSettings`] |
//! | decompress many chunks, blocks, or ranges into buffers; by threads; set limits | [`ChunkDecoder`] |
//! | compress many chunks; by threads | [`ChunkEncoder`] |
//! | compress data into chunks of Blosc 2 | [`Blosc2Encoder`], [`Blosc2Settings`], [`special_chunk`] |
//! | find good settings for some data | [`Tuner`], [`Aim`] |
//! | react to an error | [`ChunkError::fault`], [`Fault`] |
//!
//! # Compatibility
//!
//! The decoder reads the chunks of all C-Blosc 1.x, and those of C-Blosc2 2.x and 3.x with blocks of
//! one length and built-in filters and compressors. C-Blosc 1.21 reads the chunks of
//! [`ChunkEncoder`], C-Blosc2 those of both encoders. The tests compare with the C libraries in both
//! directions.
//!
//! # Untrusted input
//!
//! Every byte of a chunk is treated as hostile. Decoding never panics and never reads or writes out
//! of bounds; the exception is [`Engine::CBlosc2`](Engine), which is off by default. Memory is bounded
//! by the data's length in the header and the decoder's limits, and is allocated only when the chunk
//! is complete.
//!
//! A chunk has no checksum: damage is detected if the result is inconsistent, but a flipped bit in
//! stored bytes goes unnoticed. Container formats such as Bloscpack add checksums.
//!
//! # Features
//!
//! | feature | default | |
//! |---|---|---|
//! | `blosclz` | yes | blosclz, in Rust |
//! | `lz4` | yes | LZ4 and LZ4HC, the C library |
//! | `snappy` | yes | Snappy, in Rust |
//! | `zlib` | yes | zlib by libdeflate, a C library |
//! | `zstd` | yes | Zstandard, the C library |
//! | `blosc2` | yes | chunks of Blosc 2; without it, they are refused as [`Unsupported`](Fault::Unsupported) |
//! | `blosc2-rs` | no | C-Blosc2 as a second [`Engine`]; requires cmake |
//!
//! [`Compressor::is_available`] reports what a build includes. Without a compressor, everything
//! compiles, and chunks that need it are [`Unsupported`](Fault::Unsupported).
//!
//! # The format
//!
//! The data of a chunk is cut into **blocks** of equal size, except for a short last one. Each block
//! is filtered, then compressed as one **stream** or, for small elements, as one stream for each byte
//! of an element:
//!
//! ```text
//! chunk    header | start of block 0 | .. | start of block n-1 | block | block | ..
//!          16       4                       4 (u32, from the chunk's first byte)
//! block    stream | stream | ..       1 stream, or `typesize` streams ("split")
//! stream   length | bytes             4 (u32); `length` bytes of compressed data, or the data
//!                                     itself if `length` is its length
//!
//! pure     header | data              a chunk that compression would not shorten
//! copy
//! ```
//!
//! Chunks of Blosc 2 have a header of 32 bytes and up to six consecutive filters. Their streams can be
//! a single repeated byte. They can have a dictionary after the table, or consist of nothing but a
//! header if all values are equal:
//!
//! ```text
//! chunk    header | extension | table as above | [length | dictionary] | block | block | ..
//!          16       16          4 each           4
//! stream   length | bytes             as above; 0: zeros; -n, and a byte 1: a repeated byte n
//! ```

#![cfg_attr(
    not(feature = "blosc2"),
    allow(dead_code, reason = "what only chunks of Blosc 2 need")
)]

mod block_encoder;
mod blocksize;
#[cfg(feature = "blosc2-rs")]
mod c_blosc2;
mod compressor;
mod decode;
mod encode;
#[cfg(feature = "blosc2")]
mod encode_blosc2;
mod engine;
mod error;
mod extension;
mod extents;
mod fault;
mod filter;
mod header;
#[doc(hidden)]
pub mod internal;
mod layout;
mod names;
mod oneshot;
mod output;
mod pad;
mod parallel;
#[cfg(test)]
mod peer;
mod pipeline;
mod reference;
mod scratch;
mod settings;
#[cfg(feature = "blosc2")]
mod settings_blosc2;
mod settings_of;
mod special;
mod tune;
mod view;

pub use decode::{ChunkDecoder, ShuffleMeta};
pub use encode::ChunkEncoder;
#[cfg(feature = "blosc2")]
pub use encode_blosc2::Blosc2Encoder;
pub use engine::Engine;
pub use error::ChunkError;
pub use extension::{ChunkExtension, SpecialKind};
pub use fault::Fault;
pub use header::ChunkHeader;
pub use layout::{HEADER_LEN, MAX_NBYTES, compress_bound};
pub use names::{Compressor, CompressorFormat, Filter, UnknownCompressor, UnknownFilter};
pub use oneshot::{
    compress, compress_into, decompress, decompress_into, decompress_range, decompress_range_into,
    read_header, validate,
};
pub use pipeline::{FilterPipeline, FilterStep};
pub use settings::{ChunkSettings, SplitMode};
#[cfg(feature = "blosc2")]
pub use settings_blosc2::Blosc2Settings;
#[cfg(feature = "blosc2")]
pub use special::{SpecialValue, special_chunk};
pub use tune::{Aim, Trial, Tuned, Tuner, UnknownAim};

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
