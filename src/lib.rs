//! Stream, store and share compressed binary data in the Bloscpack family of formats.
//!
//! Blosc compresses typed binary data, such as measurements or arrays of numbers. It cuts the data into chunks, reorders the
//! bytes of each chunk so that similar bytes are adjacent (first bytes of all elements, then second bytes, and so on), and
//! passes the result to a fast compressor. Bloscpack is the container around the chunks: a header, JSON metadata, a table of
//! offsets, and a checksum of choice after every chunk.
//!
//! # Start here
//!
//! | You have | You want | Use |
//! |---|---|---|
//! | a buffer | the bytes of a file, and back | [`compress`], [`decompress`] |
//! | data that arrives in pieces | a stream, for a pipe or a socket | [`Encoder`] |
//! | data that arrives in pieces | a file with random access | [`SeekEncoder`] |
//! | a stream or a file | its content, from the beginning to the end | [`Decoder`] |
//! | a file | a range of its content, or one chunk | [`IndexedReader`](indexed::IndexedReader) |
//! | messages, lines or other objects | a stream or a file of records | [`RecordWriter`](records::RecordWriter), [`SeekRecordWriter`](records::SeekRecordWriter) |
//! | a stream or a file of records | all records in order | [`RecordReader`](records::RecordReader) |
//! | a file of records | record number *n* | [`IndexedRecordReader`](records::IndexedRecordReader) |
//! | a file that others append to | what is there, and what comes | [`FollowOptions`](follow::FollowOptions) |
//! | a file | append to it, patch it, change its metadata | [`Editor`](edit::Editor) |
//! | a file of records | append to it | [`RecordEditor`](edit::RecordEditor) |
//! | a file of unknown content | its headers, metadata and sizes | [`Survey`](survey::Survey) |
//! | a file that may be damaged | a report of every damage | [`verify`](verify::verify), [`verify_at`](verify::verify_at) |
//! | a file that is damaged | a new file with everything that is sound | [`recover`](recover::recover) |
//! | any of the above, in an async program | the same, for the traits of tokio or futures | `aio` |
//! | a single Blosc chunk | its content | [`blosc`] |
//!
//! The crate `bloscpack-open` opens all of these, and what lies above this crate: directories of bcolz, BLZ and carray, Blosc2
//! frames and stores, Zarr; it imports and exports CSV, JSON lines, npy, Arrow and Parquet.
//!
//! # Writing and reading
//!
//! An encoder implements [`Write`], a decoder implements [`Read`](std::io::Read). Both work on the caller's thread, or on as
//! many threads as the builder is given.
//!
//! ```
//! use bloscpack::{Checksum, Compressor, Decoder, Encoder, Filter};
//! use std::io::{Read, Write};
//!
//! let walk: Vec<u8> = (0..100_000u64).flat_map(|i| (i * i / 7).to_le_bytes()).collect();
//! let mut encoder = Encoder::builder()
//!     .compressor(Compressor::Zstd)
//!     .level(5)
//!     .filter(Filter::Byte)
//!     .typesize(8)
//!     .checksum(Checksum::Sha256)
//!     .threads(2)
//!     .write_to(Vec::new())?;
//! encoder.write_all(&walk)?;
//! let stream = encoder.finish()?;
//! assert!(stream.len() < walk.len() / 3);
//!
//! let mut back = Vec::new();
//! Decoder::new(stream.as_slice()).read_to_end(&mut back)?;
//! assert_eq!(back, walk);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Dropping an encoder does not finish its output: readers accept it as complete only after [`Encoder::finish`]. All sizes
//! are in bytes; chunks, records and members are counted from 0.
//!
//! # Records
//!
//! A record is an object of any length, found by its number. Each record is a chunk of its own, or many small ones are
//! packed into a chunk, which takes less space.
//!
//! # Changes
//!
//! [`Editor`](edit::Editor) and [`RecordEditor`](edit::RecordEditor) make every change atomically: after a crash or a power cut, the file is the old one or the
//! new one.
//!
//! # Errors
//!
//! Every fallible function returns an [`Error`] that contains its position (member, chunk, byte and section) where there is
//! one, and belongs to a [`Category`] that says how to react. [`Limits`] bound how much memory and work an untrusted input
//! may demand.
//!
//! # Layers
//!
//! [`blosc`] compresses and decompresses one chunk in memory; [`wire`] parses and writes the bytes around the chunks; neither
//! performs I/O. [`storage`] reads and writes bytes, on disk or in memory. Everything else on this page uses these three.
//!
//! # Features
//!
//! On by default: `blosclz`, `lz4`, `snappy`, `zlib` and `zstd` enable the compressors.
//!
//! Off by default:
//!
//! - `tokio` and `futures-io` add `aio`: streams and records for async programs, each for the traits of its name.
//! - `serde` adds records that are values of serde, as JSON or MessagePack.
//! - `mmap` adds `storage::Map`, a file mapped into memory. If another program truncates the file, the process that reads it
//!   is killed.
//! - `blosc2-rs` adds C-Blosc2 as another [`Engine`](blosc::Engine) for chunks. It needs cmake to build, and it trusts its
//!   input.
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

#[cfg(feature = "aio")]
pub mod aio;
mod buffered_input;
mod chunk_buffer;
mod damages;
mod decoder;
pub mod edit;
mod encoder;
mod engine;
pub mod follow;
pub mod indexed;
mod member_map;
pub mod npy;
mod options;
pub mod records;
pub mod recover;
mod shared_source;
pub mod survey;
pub mod verify;
mod walk;

#[doc(inline)]
pub use blosc1 as blosc;
#[doc(inline)]
pub use bloscpack_dtype as dtype;
#[doc(inline)]
pub use bloscpack_error as error;
#[doc(inline)]
pub use bloscpack_storage as storage;
#[doc(inline)]
pub use bloscpack_wire as wire;

// Their types are in the signatures of this crate: whoever uses them needs the same version.
pub use bytes;
pub use serde_json;

pub use blosc1::{Compressor, Filter};
pub use bloscpack_error::{Category, Code, Error, Result};
pub use bloscpack_wire::{Checksum, FormatVersion, Limits, Metadata};
pub use decoder::{Decoder, Warning};
pub use encoder::{DEFAULT_CHUNK_SIZE, Encoder, EncoderBuilder, SeekEncoder};
pub use options::{Options, Watch};

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
/// Returns no error that depends on the data.
pub fn compress(data: &[u8]) -> Result<Vec<u8>> {
    let size = bloscpack_wire::internal::to_u64(data.len());
    let mut encoder = Encoder::builder().size(size).write_to(Vec::new())?;
    encoder.write_all(data)?;
    encoder.finish()
}

/// Decompresses all members of a buffer.
///
/// Members that follow each other, as after `cat a.blp b.blp`, decompress to one content.
///
/// ```
/// use bloscpack::{compress, decompress, error::Category};
/// let both = [compress(b"one, ")?, compress(b"two")?].concat();
/// assert_eq!(decompress(&both)?, b"one, two");
///
/// let error = decompress(&both[..both.len() - 1]).unwrap_err();
/// assert_eq!(error.category(), Category::CutShort);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the bytes are damaged, cut short or of another format, with the position of the first fault. To keep
/// the sound data before it, use a [`Decoder`].
pub fn decompress(file: &[u8]) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    Decoder::new(file).copy_to(&mut data)?;
    Ok(data)
}

/// The README's examples are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// And those of the page on async programs.
#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../docs/async.md")]
struct AsyncPage;
