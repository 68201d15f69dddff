//! The bytes of a Bloscpack file, without any I/O.
//!
//! ```text
//! header | [metadata] | [offsets] | (chunk | [digest] | [spare]) ... | [end mark]      one member
//! member | member | ...                                                               one input
//! ```
//!
//! | you have | use |
//! |---|---|
//! | bytes of a file, in pieces of any size | [`Parser`], which returns [`Event`]s |
//! | the first bytes of a member | [`Header::decode`], [`Geometry`] for the positions of the other parts |
//! | a table of offsets | [`Offsets`] |
//! | user metadata | [`Metadata`], [`MetadataHeader`], [`NumpyArray`] for arrays |
//! | a chunk of packed records | [`PackHead`] |
//! | data to be checked | [`Checksum`], [`Hashers`], [`Digest`] |
//! | input from strangers | [`Limits`] |
//!
//! Errors are [`FormatError`], or [`ParseError`] with the [`Position`]. Nothing here reads, writes or waits. The format is
//! described in `docs/format.md`; the wire formats of datasets and frames are in the crates `bloscpack-datasets` and
//! `bloscpack-frames`.
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

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
