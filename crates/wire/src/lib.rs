//! The bytes of a Bloscpack file, without any I/O.
//!
//! ```text
//! header | [metadata] | [offsets] | (chunk | [digest] | [spare]) ... | [end mark]      one member
//! member | member | ...                                                               one input
//! ```
//!
//! Each part has its file: [`header`], [`metadata`], [`offsets`], [`checksum`] with [`hasher`],
//! and [`geometry`], which says where the parts are. [`parser`] puts them together: bytes in,
//! events out, however the input is cut into pieces. Nothing here reads, writes, or waits.
//! The wire formats of datasets and frames are in the crates `bloscpack-datasets` and `bloscpack-frames`.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

pub mod checksum;
mod deflate;
pub mod error;
pub mod fields;
pub mod geometry;
pub mod hasher;
pub mod header;
#[doc(hidden)]
pub mod int;
pub mod json;
pub mod limits;
pub mod members;
pub mod metadata;
pub mod numpy;
pub mod offsets;
pub mod parser;
pub mod position;
pub mod records;
pub mod version;

pub use checksum::{Checksum, Digest};
pub use error::{DigestMismatch, FormatError, ParseError};
pub use geometry::Geometry;
pub use hasher::{Hasher, Hashers};
pub use header::MARK;
pub use header::{Header, MetadataPlace};
pub use limits::{Limit, Limits};
pub use metadata::{Metadata, MetadataCodec, MetadataHeader};
pub use numpy::{NumpyArray, Order as NumpyOrder, with_shape};
pub use offsets::Offsets;
pub use parser::{Ending, Event, Parser, Trailing};
pub use position::{Position, Section};
pub use records::{Form, PackHead, Packing};
pub use records::{counted, declared};
pub use version::FormatVersion;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
