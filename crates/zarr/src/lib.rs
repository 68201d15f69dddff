//! Zarr arrays and groups, of version 2 and 3.
//!
//! A chunk of Zarr's codec `blosc` is a chunk of Blosc, as datasets of bcolz and BLZ and Bloscpack files have them. This crate
//! reads Zarr from any [`Store`](bloscpack_storage::Store), and writes arrays whose chunks may be taken as they are.
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
//! # Where to start
//!
//! | you want to | use |
//! |---|---|
//! | open an array or a group | [`ZarrNode::open`], [`ZarrArray::open`] |
//! | read a box of elements | [`ZarrArray::read_slice`] |
//! | check every chunk | [`ZarrArray::verify`] |
//! | go through a group | [`ZarrGroup::members`] |
//! | write an array | [`ArrayWriter`] |
//! | copy chunks of another format | [`ArrayWriter::fill_from`] |
//! | append to an array, or resize it | [`ZarrEditor`] |
//!
//! # Untrusted input
//!
//! Every byte is treated as hostile: sizes are checked before anything is allocated, names never leave the store, and errors
//! say what was found, what was expected, and in which file.

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
mod verify;
mod write;

pub use array::ZarrArray;
pub use codec::{BytesCodec, Codecs, Serializer, Shard};
pub use edit::{Written, ZarrEditor};
pub use group::{ZarrGroup, ZarrNode};
pub use keys::ChunkKeys;
pub use meta::{ArrayMeta, Format};
pub use verify::Survey;
pub use write::{ArrayFiles, ArrayWriter, ChunkCounts, NewArray, RowWriter, create_group};

/// The example of the README is a test, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
