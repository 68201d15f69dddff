//! Stream, store and share compressed binary data in the Bloscpack family of formats.
//!
//! Blosc compresses typed binary data faster than memory can be copied: it cuts the data into
//! chunks, reorders the bytes of the elements in each so that like lies beside like, and gives the
//! result to a fast compressor. Bloscpack is the container around such chunks: a header, JSON
//! metadata, a table of offsets, and a checksum of choice behind every chunk.
//!
//! # Writing and reading
//!
//! [`Encoder`] writes to anything that takes bytes, [`SeekEncoder`] to files, [`Decoder`] reads
//! from anything that gives bytes; all of them use several threads if they are told so.
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
//! Nothing is finished on drop: only [`Encoder::finish`] makes a stream or file that a reader takes
//! for whole.
//!
//! # Records
//!
//! Objects of any length, each found by its number: [`RecordWriter`] and [`SeekRecordWriter`](records::SeekRecordWriter) write
//! them, one to a chunk or many small ones packed, [`RecordReader`] reads them in order from anything
//! that gives bytes, [`IndexedRecordReader`] by number, and [`RecordEditor`] appends them to a file.
//!
//! # Arrays and tables
//!
//! [`dataset`] reads and writes arrays and tables that lie in directories: those of bcolz, BLZ and carray, and those that two of
//! their documents describe. [`frame`] does the same with Blosc2 frames and the n-dimensional arrays in them, those of Caterva and
//! of python-blosc2, of which any slice costs little more than what it holds.
//!
//! # Reading and changing in other ways
//!
//! [`Editor`] appends to a file, patches it and gives it other metadata, each as a whole or not at
//! all, whatever happens meanwhile.
//!
//! [`IndexedReader`] reads any range or chunk of a file, [`Survey`](survey::Survey) tells what an input holds
//! without decompressing it, [`verify()`] checks every chunk and reports each damage, [`recover()`]
//! saves what is sound of a damaged file, and [`compress`] and [`decompress`] do with whole buffers.
//! What goes wrong is an [`Error`] with chunk, byte and section, and a [`Category`] to act on;
//! [`Limits`] bound what a foreign input may ask for.
//!
//! # Layers
//!
//! [`blosc`] handles one chunk in memory, [`wire`] the bytes of a file around the chunks, both
//! without any I/O; [`storage`] is where bytes live, and what this page lists stands above them.
//!
//! # Features
//!
//! `blosclz`, `lz4`, `snappy`, `zlib` and `zstd` bring the compressors, `cli` the command `blpk`;
//! all are on by default. `serde` adds records that are values of serde. `mmap` adds `storage::Map`, a file mapped into memory; it is off by default,
//! because a program that shortens such a file ends those that read it. `csv` and `arrow` add formats to [`exchange`]: CSV, which
//! `cli` brings, and Arrow and Parquet, which take longer to build than all the rest. `blosc2-rs` adds
//! C-Blosc2 as another [`Engine`](blosc::Engine) for chunks; it needs cmake to build, and trusts what it reads.
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod buffered_input;
mod checked;
mod chunk_buffer;
mod damage;
mod decoder;
pub mod edit;
mod encoder;
mod engine;
#[cfg(feature = "exchange")]
pub mod exchange;
pub mod indexed;
mod pipeline;
pub mod records;
pub mod recover;
mod shared_source;
pub mod survey;
pub mod verify;
mod walk;

#[doc(inline)]
pub use blosc1 as blosc;
#[cfg(feature = "datasets")]
#[doc(inline)]
pub use bloscpack_datasets as dataset;
#[doc(inline)]
pub use bloscpack_dtype as dtype;
#[doc(inline)]
pub use bloscpack_error as error;
#[cfg(feature = "frames")]
#[doc(inline)]
pub use bloscpack_frames as frame;
#[doc(inline)]
pub use bloscpack_storage as storage;
#[doc(inline)]
pub use bloscpack_wire as wire;

pub use blosc1::{Compressor, Filter};
pub use bloscpack_error::{Category, Error, ErrorKind, Result};
pub use bloscpack_wire::{Checksum, FormatVersion, Limits, Metadata};
pub use decoder::{Decoder, DecoderBuilder, Warning};
pub use edit::{Editor, EditorBuilder, RecordEditor};
pub use encoder::{DEFAULT_CHUNK_SIZE, Encoder, EncoderBuilder, SeekEncoder};
pub use indexed::{IndexedReader, IndexedReaderBuilder};
pub use records::{IndexedRecordReader, RecordReader, RecordWriter};
pub use recover::recover;
pub use verify::verify;

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
    let size = bloscpack_wire::int::to_u64(data.len());
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

/// The README's examples are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
