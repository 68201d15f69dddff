//! Reads, writes, changes and repairs Bloscpack files and streams: compressed binary data in chunks, each with a checksum.
//!
//! Blosc compresses typed binary data, such as measurements or arrays of numbers. It cuts the data into chunks, reorders the
//! bytes of each chunk so that similar bytes are adjacent (first bytes of all elements, then second bytes, and so on), and
//! passes the result to a fast compressor. Bloscpack is the container around the chunks: a header, JSON metadata, an offset
//! table, and the digest of each chunk.
//!
//! # The format
//!
//! An input is one or more *members*: Bloscpack files, one after the other, as `cat a.blp b.blp` leaves them. All numbers are
//! little-endian; -1 in a signed field means that the value is not known.
//!
//! ```text
//! input    member | member | ...
//! member   header | [metadata] | [offset table] | chunk | [digest] | chunk | ... | [end mark]
//!
//! header of V3, the default
//! offset  length  content
//!      0       4  "blpk"
//!      4       1  version: 3
//!      5       1  options: bit 0 offset table, bit 1 metadata, bit 2 records
//!      6       1  checksum: 0 none, 1 adler32, 2 crc32 (default), 3 md5, 4 sha1, 5 sha224,
//!                           6 sha256, 7 sha384, 8 sha512
//!      7       1  typesize: bytes of an element, a hint
//!      8       4  chunk size, i32: uncompressed bytes of every chunk except the last
//!     12       4  last chunk, i32: uncompressed bytes of the last chunk
//!     16       8  number of chunks, i64
//!     24       8  spare entries at the end of the offset table, i64
//!
//! metadata      32 bytes of header, JSON text, stored or zlib-compressed, spare room, digest
//! offset table  8 bytes for each chunk: its first byte, counted from the beginning of the
//!               member; -1 while it is written
//! chunk         16 bytes of header, then the compressed blocks: a Blosc 1 chunk, as the
//!               module `blosc` makes it
//! digest        0 to 64 bytes, over the whole compressed chunk
//! end mark      an empty chunk and its digest, at the end of a stream of unknown length
//! ```
//!
//! `docs/format.md` describes the other layouts (V1 and V2, which are also written, and two older ones, which are only read)
//! and packed records.
//!
//! # How data flows
//!
//! ```text
//! write   bytes   ─► Encoder, SeekEncoder ──────────┐
//!         records ─► RecordWriter, SeekRecordWriter ┴► chunks ─► threads compress ─►
//!                                                      Write (stream), or Write + Seek (file)
//! read    Read    ─► parser ─► threads check and decompress ─►
//!                    Decoder, RecordReader, verify                  in order
//!         ReadAt  ─► offset table ─►
//!                    IndexedReader, IndexedRecordReader             any byte, chunk or record
//! change  Folder  ─► Editor, RecordEditor ─► journal ─► the file    atomic
//! repair  ReadAt  ─► search for sound chunks ─► recover ─► a new file
//! ```
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
//! | a file that others append to | its content or records, and what is added | [`FollowOptions`](follow::FollowOptions) |
//! | a file | append to it, patch it, change its metadata | [`Editor`](edit::Editor) |
//! | a file of records | append to it | [`RecordEditor`](edit::RecordEditor) |
//! | a file of unknown content | its headers, metadata and sizes | [`Survey`](survey::Survey) |
//! | a file that may be damaged | a report of every damage | [`verify`](verify::verify), [`verify_at`](verify::verify_at) |
//! | a file that is damaged | a new file with all sound chunks | [`recover`](recover::recover) |
//! | any of the above, in an async program | the same, for the traits of tokio or futures | `aio` |
//! | a single Blosc chunk | its content | [`blosc`] |
//!
//! The crate `bloscpack-open` opens all of these, and also directories of bcolz, BLZ and carray, Blosc2 frames and stores, and
//! Zarr; it imports and exports CSV, JSON lines, npy, Arrow and Parquet.
//!
//! # Writing and reading
//!
//! An encoder implements [`Write`], a decoder implements [`Read`](std::io::Read). Both work on the caller's thread unless
//! [`EncoderBuilder::threads`] or [`Options::threads`] sets a number of threads.
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
//! are in bytes; bytes, chunks, records and members are counted from 0.
//!
//! # Records
//!
//! A record is an object of 0 to 2 147 483 631 bytes, found by its number. Each record is a chunk of its own, or many small
//! records are *packed* into a chunk, which takes less space ([`records`]).
//!
//! # Changes
//!
//! [`Editor`](edit::Editor) and [`RecordEditor`](edit::RecordEditor) make every change atomically: after a crash or a power
//! cut, the file has its old content or its new content ([`edit`]).
//!
//! # Errors
//!
//! An [`Error`] has a [`Code`] (what went wrong), a [`Category`] (how to react) and, where it is known, the position: member,
//! chunk, byte and section. Readers check the digest of a chunk before they return any of its bytes.
//!
//! | category | meaning | reaction |
//! |---|---|---|
//! | [`Failed`](Category::Failed) | I/O failed, or the length is not the one announced | try again, or fix the caller |
//! | [`Usage`](Category::Usage) | options that contradict each other, or a position past the end | fix the call |
//! | [`Damaged`](Category::Damaged) | a digest does not match, or parts contradict each other | [`verify`], [`recover`] |
//! | [`CutShort`](Category::CutShort) | the end is missing | [`Options::allow_unterminated`], [`recover`] |
//! | [`Unsupported`](Category::Unsupported) | another format, or a feature that this build lacks | use another reader |
//! | [`OverLimit`](Category::OverLimit) | more memory or work than [`Limits`] allow | raise the limit, or refuse the input |
//! | [`Committed`](Category::Committed) | the change is permanent, but not completed | open the file again; do not repeat it |
//!
//! [`Limits`] bound how much memory and work an untrusted input may demand. Memory for compressed bytes grows as they arrive,
//! never by a length in a header.
//!
//! # Layers
//!
//! [`blosc`] compresses and decompresses one chunk in memory; [`wire`] parses and writes the bytes around the chunks; neither
//! performs I/O. [`storage`] reads and writes bytes, on disk or in memory. All other types on this page use these three.
//!
//! # Features
//!
//! On by default: `blosclz`, `lz4`, `snappy`, `zlib` and `zstd` enable the compressors.
//!
//! Off by default:
//!
//! - `pure` reads the same formats without a C compiler. It does not write Zstandard and LZ4HC.
//! - `tokio` and `futures-io` add `aio`: streams and records for async programs, each for the traits of its name.
//! - `serde` adds records that are values of serde, as JSON or MessagePack.
//! - `mmap` adds `storage::Map`, a file mapped into memory. If another program truncates the file, the process that reads it
//!   is killed.
//! - `blosc2-rs` adds C-Blosc2 as another [`Engine`](blosc::Engine) for chunks. It needs cmake to build, and it does not check
//!   its input.
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

// Signatures of this crate contain their types, so callers need the same versions.
pub use bytes;
pub use serde_json;

pub use blosc1::{Compressor, Filter};
pub use bloscpack_error::{Category, Code, Error, Result};
pub use bloscpack_wire::{Checksum, FormatVersion, Limits, Metadata};
pub use decoder::{Decoder, Warning};
pub use encoder::{DEFAULT_CHUNK_SIZE, Encoder, EncoderBuilder, SeekEncoder};
pub use options::{Options, Watch};

use std::io::Write;

/// Compresses a buffer into a complete Bloscpack stream with all defaults.
///
/// The stream has layout V3, chunks of 1 MiB, byte shuffle for elements of 8 bytes, LZ4 at level 9, and crc32 after each
/// chunk. Its header contains the length; it has no offset table and no end mark. An empty buffer becomes one empty chunk. The
/// caller's thread does the work. [`Encoder::builder`] has the options.
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
/// Returns no error that depends on the data. A build without LZ4 returns [`Code::NotBuilt`].
pub fn compress(data: &[u8]) -> Result<Vec<u8>> {
    let size = bloscpack_wire::internal::to_u64(data.len());
    let mut encoder = Encoder::builder().size(size).write_to(Vec::new())?;
    encoder.write_all(data)?;
    encoder.finish()
}

/// Decompresses all members of a buffer, on the caller's thread, with the default [`Limits`].
///
/// Concatenated members, as after `cat a.blp b.blp`, decompress to one content, in which each follows the one before it
/// without a gap. The result grows chunk by chunk. Nothing bounds it: a few bytes may decompress to gigabytes, so use a
/// [`Decoder`] with [`Limits::total`] for untrusted data.
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
/// Returns an error if the bytes are damaged, cut short, empty or of another format, with the position of the first fault, and
/// [`Unsupported`](Category::Unsupported) for packed records. To keep the sound data before the fault, use a [`Decoder`].
pub fn decompress(file: &[u8]) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    Decoder::new(file).copy_to(&mut data)?;
    Ok(data)
}

/// Tests the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Tests the examples of the page on Rust.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
struct RustPage;

/// Tests the examples of the page on async programs.
#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../docs/async.md")]
struct AsyncPage;
