//! Compress and decompress [Blosc](https://www.blosc.org) chunks in memory.
//!
//! A chunk holds up to 2 GiB of data, filtered and compressed in blocks. Zarr, HDF5, OpenVDB, bcolz
//! and Blosc2 frames store arrays as such chunks. This crate reads and writes the chunks of C-Blosc
//! 1.x (Blosc 1) and of C-Blosc2 (Blosc 2). It does no I/O and knows no file format.
//!
//! # The format
//!
//! All numbers are little-endian. A chunk is a header, a table, and blocks:
//!
//! ```text
//! offset   length  content
//! 0        16      header (Blosc 2: 16 or 32 bytes)
//! 16       4 × n   block table: the start of each of the n blocks, from the first byte of the
//!                               chunk (u32)
//!                  [length (u32), dictionary]: only in Blosc 2, and rarely
//!                  blocks, in any order and at any position after the table
//! ```
//!
//! Every block has the same size before compression, except for a short last one. A block is
//! filtered, then compressed as one **stream** or, if it is **split**, as one stream for each byte
//! of an element:
//!
//! ```text
//! stream   4       length (u32)
//!          length  compressed bytes; the plain bytes if `length` is their uncompressed length
//! Blosc 2          length 0: all bytes are zero; length -n, then an odd byte: all bytes are n
//! ```
//!
//! Two kinds of chunks have no table and no blocks. In a **pure copy**, the data itself follows the
//! header. In a chunk of **special values** (Blosc 2), all elements are equal, and only the header
//! is stored, with the value if it is neither zero nor NaN.
//!
//! The header ([`ChunkHeader`]):
//!
//! ```text
//! offset   length  field
//! 0        1       version: 1 or 2; Blosc 2: 3 to 5
//! 1        1       versionlz: 1
//! 2        1       flags: 0x01 shuffle, 0x02 pure copy, 0x04 bitshuffle, 0x08 delta (Blosc 2),
//!                         0x10 not split, 0xe0 compressor
//! 3        1       typesize: bytes of an element, 1 to 255
//! 4        4       nbytes: bytes of data, up to 2^31 - 17
//! 8        4       blocksize: bytes of data in a block
//! 12       4       ctbytes: bytes of the chunk, including the header
//! ```
//!
//! Most Blosc 2 chunks have the flags 0x01 and 0x04 at once, and 16 more bytes
//! ([`ChunkExtension`]):
//!
//! ```text
//! offset   length  field
//! 16       6       filters, in the order of application: 0 none, 1 shuffle, 2 bitshuffle,
//!                         3 delta, 4 truncated precision
//! 22       1       compressor: 0 blosclz, 1 lz4, 2 lz4hc, 4 zlib, 5 zstd
//! 23       1       parameter of the compressor
//! 24       6       parameters of the filters
//! 30       1       flags2: 0x01 blocks of variable length (refused)
//! 31       1       blosc2_flags: 0x01 dictionary, 0x08 lazy (refused), 0x70 special values,
//!                         0x80 instrumented (refused)
//! ```
//!
//! # Reading
//!
//! | to | use |
//! |---|---|
//! | decompress a chunk | [`decompress`], [`decompress_into`] |
//! | decompress some of its elements | [`decompress_range`], [`decompress_range_into`] |
//! | see what a chunk contains | [`read_header`], [`ChunkHeader`], [`ChunkExtension`] |
//! | check a chunk without decompressing it | [`validate`] |
//! | decompress many chunks, single blocks, or ranges of bytes; use threads; set limits | [`ChunkDecoder`] |
//!
//! # Writing
//!
//! | to | use |
//! |---|---|
//! | compress data into a Blosc 1 chunk | [`compress`], [`compress_into`], [`compress_bound`], [`ChunkSettings`] |
//! | compress many chunks; use threads | [`ChunkEncoder`] |
//! | compress data into Blosc 2 chunks | [`Blosc2Encoder`], [`Blosc2Settings`], [`FilterPipeline`], [`special_chunk`] |
//! | choose settings by a sample of the data | [`Tuner`], [`Aim`] |
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
//! # Errors
//!
//! Every function returns [`ChunkError`], whose message says what was found and what was expected.
//! [`ChunkError::fault`] sorts the errors by who has to act: the data is
//! [`Damaged`](Fault::Damaged) or [`CutShort`](Fault::CutShort), this build does not support it
//! ([`Unsupported`](Fault::Unsupported)), a limit or the memory does not suffice
//! ([`OverLimit`](Fault::OverLimit)), the call is wrong ([`Usage`](Fault::Usage)), or this crate is
//! ([`Bug`](Fault::Bug)).
//!
//! # Untrusted input
//!
//! Decoding treats every byte of a chunk as hostile: it never panics and never reads or writes out
//! of bounds. The exception is [`Engine::CBlosc2`](Engine), which is off by default. Memory is
//! bounded by `nbytes` in the header and by the limits of the decoder, and is allocated only for a
//! complete chunk.
//!
//! A chunk has no checksum. Damage is detected if the result is inconsistent; a flipped bit in
//! stored bytes can go undetected. Container formats such as Bloscpack add checksums.
//!
//! # Compatibility
//!
//! The decoder reads the chunks of all C-Blosc 1.x, and those of C-Blosc2 2.x and 3.x that have
//! blocks of one length and built-in filters and compressors. C-Blosc 1.21 reads the chunks of
//! [`ChunkEncoder`], C-Blosc2 reads those of both encoders. The tests compare with both C libraries
//! in both directions.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `blosclz` | yes | blosclz, in Rust |
//! | `lz4` | yes | LZ4 and LZ4HC by the C library |
//! | `snappy` | yes | Snappy, in Rust |
//! | `zlib` | yes | zlib by libdeflate, a C library |
//! | `zstd` | yes | Zstandard by the C library |
//! | `blosc2` | yes | Blosc 2 chunks; without it, they are refused as [`Unsupported`](Fault::Unsupported) |
//! | `pure` | no | all formats without C: LZ4HC is not written, Zstandard only read |
//! | `blosc2-rs` | no | C-Blosc2 as a second [`Engine`]; requires cmake |
//!
//! `pure` consists of `blosclz`, `lz4-pure`, `snappy`, `zlib-pure` and `zstd-pure`. If a build has
//! both back ends of a format, it uses the C library. [`Compressor::is_available`] reports what a
//! build can write, [`CompressorFormat::is_available`] what it can read. Code that names a missing
//! compressor compiles, and fails with [`Unsupported`](Fault::Unsupported) when it runs.

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

pub use decode::{ChunkContext, ChunkDecoder, ShuffleMeta};
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
pub use pipeline::{BlockShape, FilterPipeline, FilterStep};
pub use settings::{ChunkSettings, SplitMode};
#[cfg(feature = "blosc2")]
pub use settings_blosc2::Blosc2Settings;
#[cfg(feature = "blosc2")]
pub use special::{SpecialValue, special_chunk};
pub use tune::{Aim, Trial, Tuned, Tuner, UnknownAim};

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
