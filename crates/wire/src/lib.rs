//! The bytes of a Bloscpack file around its chunks, without any I/O.
//!
//! # The format
//!
//! An input is one or more **members**: Bloscpack files, one after another. `docs/format.md`
//! describes every detail and the older layouts. All numbers are little-endian; most are signed,
//! and -1 means *unknown*.
//!
//! ```text
//! offset   length   one member, in V3 (the default) or V2
//! 0        32       header
//! 32       m        metadata, if options has 0x02: JSON text in V2, a section in V3
//! 32 + m   8 × e    offset table, if options has 0x01: the position of each chunk from
//!                   the beginning of the member (i64); in V3, spare entries of -1 may follow
//! ...               chunks; each is a Blosc chunk, and the digest of its bytes (0 to 64 bytes)
//! ...      16 + d   end mark and its digest, if the number of chunks was unknown in advance
//! ```
//!
//! In V2 with an offset table, spare space of zeros may follow a digest. The [`Header`]:
//!
//! ```text
//! offset   length   field
//! 0        4        "blpk"
//! 4        1        version: 3 (V2: 2)
//! 5        1        options: 0x01 offset table, 0x02 metadata, 0x04 records, 0x08 sealed (V2)
//! 6        1        checksum: 0 none, 1 adler32, 2 crc32, 3 md5, 4 sha1, 5 sha224, 6 sha256,
//!                             7 sha384, 8 sha512
//! 7        1        typesize: bytes of an element
//! 8        4        chunk size: uncompressed bytes of every chunk except the last
//! 12       4        last chunk: uncompressed bytes of the last chunk
//! 16       8        number of chunks
//! 24       8        max append chunks: spare entries of the offset table
//!                   V2: length of the metadata (4 bytes), then the seal or zero (4 bytes)
//! ```
//!
//! The seal is the crc32 of the header (with the seal taken as zero), the metadata and the offset
//! table.
//!
//! The metadata section of V3 ([`MetadataHeader`]):
//!
//! ```text
//! offset   length   field
//! 0        8        "JSON" and four zero bytes
//! 8        1        options: 0
//! 9        1        checksum of the stored bytes
//! 10       1        codec: 0 none, 1 zlib
//! 11       1        level of the codec
//! 12       4        meta size: bytes of the JSON text
//! 16       4        max meta size: bytes reserved for the stored form
//! 20       4        stored size: bytes of the stored form
//! 24       8        user codec: zero
//! 32       max      the stored form, and room up to the max meta size
//! ...      d        digest of the stored form
//! ```
//!
//! # Reading
//!
//! | to | use |
//! |---|---|
//! | parse bytes as they arrive, in pieces of any size | [`Parser`], which returns [`Event`]s |
//! | decode the first bytes of a member | [`Header::needed`], [`Header::decode`]; then [`Geometry`] for the other parts |
//! | decode an offset table | [`Offsets::decode`] |
//! | read user metadata | [`Metadata`]; [`NumpyArray`] if it describes an array |
//! | read records | [`Form`], and [`PackHead`] for chunks with many records |
//! | check the digest of a chunk | [`Hashers`], [`FormatError::check_digest`] |
//! | bound the memory for untrusted input | [`Limits`] |
//!
//! # Writing
//!
//! | to | use |
//! |---|---|
//! | encode a header | [`Header::encode`] |
//! | encode metadata | [`Metadata::to_raw`] for V2, [`Metadata::to_section`] for V3 |
//! | declare records in metadata | [`declared`], [`counted`] |
//! | encode an offset table | [`Offsets::encode`] |
//! | compute a digest | [`Hashers::stored_digest`] |
//!
//! The crate [`blosc1`] makes and reads the chunks themselves.
//!
//! # Errors
//!
//! [`FormatError`] says what is wrong, [`ParseError`] adds the [`Position`]: byte, member, chunk
//! and section. [`FormatError::fault`] sorts the errors by who has to act.
//!
//! # Example
//!
//! ```
//! use bloscpack_wire::{FormatVersion, Geometry, Header};
//!
//! let header = Header { nchunks: Some(3), offsets: true, ..Header::new(FormatVersion::V3) };
//! let bytes = header.encode()?;
//! assert_eq!(Header::decode(&bytes)?, header);
//! // 32 bytes of header and 3 offsets of 8 bytes.
//! assert_eq!(Geometry::of(&header, 0)?.chunks_at, 56);
//! # Ok::<(), bloscpack_wire::FormatError>(())
//! ```
//!
//! Datasets and frames have formats of their own, in the crates `bloscpack-datasets` and
//! `bloscpack-frames`.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod checksum;
mod deflate;
mod error;
mod fields;
mod geometry;
mod hasher;
mod header;
mod int;
#[doc(hidden)]
pub mod internal;
mod json;
mod limits;
mod members;
mod metadata;
mod numpy;
mod offsets;
mod parser;
mod position;
mod records;
mod seal;
mod version;

pub use checksum::{Checksum, Digest};
pub use error::{DigestMismatch, FormatError, ParseError};
pub use geometry::Geometry;
pub use hasher::{Hasher, Hashers};
pub use header::{Header, MARK, MetadataPlace};
pub use limits::{Limit, Limits};
pub use metadata::{Metadata, MetadataCodec, MetadataHeader};
pub use numpy::{NumpyArray, Order as NumpyOrder, with_shape};
pub use offsets::Offsets;
pub use parser::{Ending, Event, Parser, Trailing};
pub use position::{Position, Section};
pub use records::{Form, PackHead, Packing, counted, declared};
pub use version::FormatVersion;

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
