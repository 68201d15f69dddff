//! Blosc2 frames, and the n-dimensional arrays in them: Caterva's and those of python-blosc2 (`b2nd`).
//!
//! A [`Frame`] holds chunks of one size and a few named layers of metadata, in one file or, *sparse*, in a directory with a file
//! for each chunk. An [`NdArray`] is a frame whose metadata tells a shape: its chunks are boxes of elements, cut into smaller
//! boxes, the blocks, so that a slice is read with little more than what it holds.
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
//! What is changed is seen through the same `Frame` or `NdArray` at once, and becomes permanent, all of it or none, with `flush`.

#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod coder;
mod error;
mod frame;
mod meta;
mod nd;
mod options;
mod storage;
pub mod wire;

pub use crate::wire::{ArrayKind, ArrayMeta, FrameHeader, FrameKind, Metalayers};
pub use bloscpack_dtype::Element;
pub use frame::{Frame, FrameBuilder, FrameReport};
pub use nd::{Caches, NdArray, NdArrayBuilder, default_shapes};
pub use options::FrameOptions;
