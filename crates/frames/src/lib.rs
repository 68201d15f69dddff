//! Blosc2 frames, and the n-dimensional arrays in them: those of Caterva and those of python-blosc2 (`b2nd`).
//!
//! A [`Frame`] contains chunks of one size and a few named layers of metadata, in one file or, *sparse*, in a directory with a
//! file for each chunk. An [`NdArray`] is a frame whose metadata describes a shape: its chunks are boxes of elements, cut into
//! smaller boxes, the blocks, so that reading a slice costs little more than its content. The C libraries are not necessary to
//! read or write either, and they read what this crate writes.
//!
//! ```
//! use bloscpack_frames::NdArray;
//!
//! let mut array = NdArray::of_type::<f64>(&[100, 200, 300]).in_memory()?;
//! array.write(&[10..11, 0..200, 0..300], &vec![1.5; 60_000])?;
//! let corner: Vec<f64> = array.to_vec(&[9..11, 199..200, 298..300])?;
//! assert_eq!(corner, [0.0, 0.0, 1.5, 1.5]);
//! # Ok::<(), bloscpack_error::Error>(())
//! ```
//!
//! # Start here
//!
//! | you have | use |
//! |---|---|
//! | an array file (`.b2nd`, `.cat`), or the directory of a sparse one | [`NdArray::open`] |
//! | the same, to be changed | [`NdArray::edit`], and [`flush`](NdArray::flush) at the end |
//! | data for a new array | [`NdArray::of_type`] |
//! | a frame without an array (`.b2frame`), or its metadata | [`Frame::open`], [`Frame::edit`], [`Frame::builder`] |
//! | a frame in memory or anywhere else | [`Frame::from_bytes`], [`Frame::read_with`] |
//! | limits, threads, a lock timeout | [`Options`](bloscpack::Options), for [`Frame::open_with`] and [`FrameBuilder::options`] |
//! | a frame that may be damaged | [`Frame::verify`] |
//! | bytes to take apart | [`wire`] |
//!
//! # Changes
//!
//! A `Frame` or `NdArray` shows its own changes at once. They become permanent with `flush`: all of them or none, even if the
//! program or the machine crashes in the middle. Only one program at a time can change a frame; readers see it as it was after
//! its last flush.
//!
//! # Errors
//!
//! All functions return a [`bloscpack_error::Error`]: its code says what went wrong, its message what was found, what was
//! expected, and in which part of the frame. It has the file, the side on which I/O has failed, and the limit that is exceeded.
//!
//! ```
//! use bloscpack_error::{Category, Code};
//! use bloscpack_frames::{Frame, NdArray};
//!
//! let plain = Frame::builder(8, 80_000).in_memory()?;
//! let error = NdArray::of(plain).unwrap_err();
//! assert_eq!((error.code(), error.category()), (Code::NotAnArray, Category::Unsupported));
//! # Ok::<(), bloscpack_error::Error>(())
//! ```
//!
//! An error of a chunk's own bytes has the number of the chunk as its position.
//!
//! # Features
//!
//! `blosclz`, `lz4`, `zlib` and `zstd` (all default) add the compressors. `ndarray` adds slices as arrays of the crate of that
//! name.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod coder;
mod error;
mod frame;
mod meta;
mod nd;
mod part;
mod storage;
mod tensor;
// Public for tests and for the other crates of the workspace.
#[doc(hidden)]
pub mod wire;

pub use bloscpack_array::{Caches, default_shapes};
// Its types are in the signatures of this crate: whoever uses them needs the same version.
pub use frame::{Frame, FrameBuilder, VaryingFrame, Virtual, seal};
pub use nd::{NdArray, NdArrayBuilder};
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use tensor::Tensor;
pub use wire::array::ArrayMeta;
pub use wire::header::FrameHeader;
pub use wire::kind::{ArrayKind, FrameKind, VirtualKind};
pub use wire::metalayers::Metalayers;

/// The example of the README is a test, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
