//! Reads, writes and changes Zarr arrays and groups of versions 2 and 3, in any [`Store`](bloscpack_storage::Store): a
//! directory, a ZIP archive, memory or a URL.
//!
//! A chunk of Zarr's codec `blosc` is a Blosc 1 chunk, the same as in bcolz, BLZ, carray and Bloscpack files. This crate can
//! therefore copy chunks from these formats byte for byte.
//!
//! ```
//! use bloscpack::Options;
//! use bloscpack_dtype::DType;
//! use bloscpack_storage::{Key, Memory};
//! use bloscpack_zarr::{ArrayWriter, Format, NewArray, ZarrArray};
//! use std::sync::Arc;
//!
//! let store = Arc::new(Memory::new());
//! let new = NewArray::new(Format::V3, DType::U16, &[5], &[3]);
//! let writer = ArrayWriter::create(store.clone(), Key::root(), new)?;
//! writer.write_chunk(&[0], &[1, 0, 2, 0, 3, 0])?;
//! writer.finish()?;
//!
//! let array = ZarrArray::open(store, &Key::root(), &Options::new())?;
//! assert_eq!(array.shape(), [5]);
//! assert_eq!(array.read_slice(&[1..5])?, [2, 0, 3, 0, 0, 0, 0, 0]); // the second chunk is missing
//! # Ok::<(), bloscpack_error::Error>(())
//! ```
//!
//! # The format
//!
//! ```text
//!  version 2                                        version 3
//!    .zgroup      {"zarr_format": 2}                  zarr.json     {"zarr_format": 3,
//!                                                                    "node_type": "group", ..}
//!    .zattrs      the attributes of the group
//!    .zmetadata   copies of all metadata below        (in zarr.json: "consolidated_metadata")
//!    a/.zarray    the array a                         a/zarr.json   {"zarr_format": 3,
//!                                                                    "node_type": "array", ..}
//!    a/.zattrs    its attributes                      (in zarr.json: "attributes")
//!    a/0.1        a chunk: 0 on axis 0, 1 on axis 1   a/c/0/1       a chunk, or a shard
//!
//!  .zarray
//!    {"zarr_format": 2, "shape": [1000, 50], "chunks": [100, 50], "dtype": "<f8",
//!     "order": "C", "filters": null, "fill_value": 0,
//!     "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1,
//!                    "blocksize": 0}}
//!
//!  zarr.json of an array
//!    {"zarr_format": 3, "node_type": "array", "shape": [1000, 50], "data_type": "float64",
//!     "fill_value": 0,
//!     "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [100, 50]}},
//!     "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
//!     "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
//!                {"name": "blosc", "configuration": {..}}],
//!     "attributes": {}, "dimension_names": ["row", "column"]}
//!
//!  a chunk file:  elements ─> transpose ─> bytes ─> blosc, gzip, zstd, zlib, lz4, crc32c
//!    All chunks have the same shape; at the end of an axis they are padded.
//!    A chunk without a file has the fill value.
//!
//!  a shard: a chunk file that consists of smaller chunks, each encoded on its own
//!    chunk | chunk | ..                            in any order
//!    offset, length of chunk 0 | of chunk 1 | ..   the index: u64 each, in C order,
//!                                                  at the end or the start;
//!                                                  2^64-1 twice: not stored
//!    crc32c of the index                           u32, little-endian,
//!                                                  if the metadata names the codec
//! ```
//!
//! `docs/zarr.md` in the repository lists the types and codecs that are read, and what is refused.
//!
//! # Where to start
//!
//! | you want to | use |
//! |---|---|
//! | open an array or a group | [`ZarrNode::open`], [`ZarrArray::open`] |
//! | read a box of elements | [`ZarrArray::read_slice`] |
//! | check every chunk | [`ZarrArray::verify`] |
//! | list a group | [`ZarrGroup::members`], [`ZarrGroup::walk`] |
//! | write an array chunk by chunk | [`ArrayWriter`] |
//! | write an array row by row | [`RowWriter`] |
//! | copy an array of another format | [`ArrayWriter::fill_from`] |
//! | write a group around arrays | [`create_group`] |
//! | describe a group whose chunks lie in other files | [`References`] |
//! | append to an array, or resize it | [`ZarrEditor`] |
//!
//! # Reading
//!
//! Slices are bytes in C order, in the byte order of [`ZarrArray::dtype`]. Chunks are decoded on several threads, and those
//! that were read only in part are kept in memory, up to the cache size in the options. A chunk in a shard is read without the
//! others, unless the shard as a whole is compressed.
//!
//! # Writing
//!
//! Writers compress with `blosc`, and write directly into the store, without atomicity: use a store that appears under its name
//! when it is complete. [`ZarrEditor`] encodes with the codecs of the array and replaces whole chunk files; a crash leaves the
//! old or the new shape. Zarr has no locks: only one program may change an array at a time.
//!
//! # Errors
//!
//! All functions return a [`bloscpack_error::Error`] with the found and the expected value, and the file where it is known.
//!
//! | code | meaning |
//! |---|---|
//! | `UnknownFormat` | neither an array nor a group |
//! | `Metadata` | metadata that is not JSON, lacks a field, or has an impossible value; the field is named |
//! | `Chunk`, `Offsets`, `CutShort` | a chunk that does not decode; a shard index that points outside of the shard; missing bytes |
//! | `Digest` | a `crc32c` that does not match |
//! | `MissingFile` | a link, folder or pipe in place of a file |
//! | `Unsupported`, `NotBuilt` | a codec, type or feature that this crate, or this build of it, does not have |
//! | `OverLimit` | metadata, an array or a chunk over the limits in the options |
//! | `CannotStore`, `OutOfBounds`, `Usage` | a call that cannot be carried out |
//!
//! # Untrusted input
//!
//! Every byte is treated as hostile. Sizes are checked before memory is allocated: a chunk file must be large enough to unpack
//! to one chunk. Names never lead out of the store, and links are not followed.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod array;
mod chunks;
mod codec;
mod edit;
mod error;
mod group;
mod int;
mod keys;
mod meta;
mod open;
mod read;
mod references;
mod verify;
mod write;

pub use array::ZarrArray;
pub use codec::{BytesCodec, Codecs, Serializer, Shard};
pub use edit::{Written, ZarrEditor};
pub use group::{ZarrGroup, ZarrNode};
pub use keys::ChunkKeys;
pub use meta::{ArrayMeta, Format};
pub use references::References;
pub use verify::Survey;
pub use write::{ArrayFiles, ArrayWriter, ChunkCounts, NewArray, RowWriter, create_group};

/// The example of the README is a test, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
