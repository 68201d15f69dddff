//! The layer that all array and table formats of the [bloscpack](https://crates.io/crates/bloscpack) workspace share: it reads
//! boxes of chunked arrays, and passes tables on in batches of rows.
//!
//! ```text
//!   file, folder or object store
//!        │   ChunkStore::load    one chunk, or some of its blocks, as stored
//!        │                       (each format implements it)
//!        ▼
//!   Chunked<S>                   finds the chunks of a slice,
//!        │                       decompresses on several threads, caches
//!        │   wrapped by CArray (bcolz, BLZ), NdArray (Blosc2), ZarrArray
//!        ▼
//!   dyn Array                    shape, dtype, any box of elements
//!        │                       also: Flat (uncompressed), Window, Retyped, Reordered (views)
//!        │   ArraySource, TableSource
//!        ▼
//!   dyn Source                   columns of equally many rows; next_batch returns a Batch
//!        │                       adapters: PartSource, SplitSource, FixedSource
//!        │   for_each, OneArray
//!        ▼
//!   a writer                     CSV, Parquet, .npy, Zarr, another dataset
//! ```
//!
//! | to | use |
//! |---|---|
//! | read any array | [`Array::read_slice`], [`Array::read_slice_into`] |
//! | let a new format read boxes of its arrays | [`ChunkStore`], [`Geometry`], [`Chunked`], [`Resources`] |
//! | read a part of an array, or with steps | [`Window`] |
//! | read arrays as rows of columns | [`ArraySource`], [`TableSource`], [`Source::next_batch`] |
//! | choose columns and rows of a source read in order | [`PartSource`] |
//! | write to a target without missing values or varying lengths | [`FixedSource`], [`OneArray`] |
//! | cut shapes into chunks, copy boxes between buffers | [`Grid`], [`Region`], [`copy()`], [`strided`] |
//! | keep the user's attributes | [`Attributes`], [`UserAttributes`] |
//! | check all chunks | [`Report`] |
//!
//! Slices are one [`Range<u64>`](std::ops::Range) per axis, in elements; their bytes are in C order. All functions return
//! [`bloscpack_error::Error`]. A slice outside the array is `Code::OutOfBounds`, a request that does not fit into memory
//! `Code::NoMemory`.
//!
//! # Chunks and regions
//!
//! ```text
//!             axis 1, chunks of 4, an array of 3 by 10
//!            ┌───────┬───────┬───┐
//!   axis 0   │   0   │ 1 ┌───┼─┐ │     a region: 1..3, 6..9, touching chunks 1, 2, 4 and 5
//!            ├───────┼───┼───┤2│ │     chunks are numbered in C order
//!            │   3   │ 4 └───┼─┘5│     the last chunk along an axis may be short
//!            └───────┴───────┴───┘
//! ```
//!
//! A [`Grid`] cuts an array into chunks, or a chunk into blocks. [`Grid::parts`] divides a region among the chunks that it
//! touches, and [`copy()`] copies a region from one buffer to another. [`strided`] does the same for buffers with any strides.
//!
//! ```
//! use bloscpack_array::{Grid, copy};
//! let grid = Grid::new(vec![3, 10], vec![2, 4]);
//! let wanted = grid.region(&[1..3, 6..9])?;
//! let mut out = vec![0; wanted.bytes(1) as usize];
//! for part in grid.parts(&wanted) {
//!     // The elements of the chunk: here each is the number of its chunk.
//!     let extent = grid.extent(&part.at);
//!     let chunk = vec![part.number as u8; extent.bytes(1) as usize];
//!     copy(&part.region, (&extent, &chunk), (&wanted, &mut out), 1)?;
//! }
//! assert_eq!(out, [1, 1, 2, 4, 4, 5]);
//! # Ok::<(), bloscpack_error::Error>(())
//! ```

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod array;
mod attributes;
mod cache;
mod cells;
mod chunked;
mod copies;
mod flat;
mod geometry;
mod grid;
#[doc(hidden)]
pub mod json;
pub mod msgpack;
mod region;
mod report;
mod schema;
mod shapes;
mod source;
mod store;
#[allow(
    clippy::indexing_slicing,
    reason = "the box was checked, and the loops are hot"
)]
pub mod strided;
mod user_attributes;
mod window;
mod zones;

pub use array::{Array, Description, Place, Reordered, Retyped};
pub use attributes::{Attributes, DIMENSIONS, MISSING};
pub use cells::{Cells, value_json};
pub use chunked::{Chunked, Resources};
pub use copies::copy;
pub use flat::Flat;
pub use geometry::{Geometry, along, block_number, offset, sizes, with_range};
pub use grid::{Grid, Part, Positions};
pub use json::python_json;
pub use region::{
    BATCH, Region, bytes_of, check, common, lens, outside, product, relative, starts,
};
pub use report::Report;
pub use schema::{
    Batch, Column, ItemKind, Schema, is_value_of_nothing, names, row_shape, structured, too_large,
};
pub use shapes::{Caches, default_shapes};
pub use source::{
    ArraySource, BoxedSource, FixedSource, OneArray, PartSource, Progress, Source, SplitSource,
    TableSource, check_empty_rows, check_rows, columns_of_text, first_len, for_each, next_rows,
    refuse_missing,
};
pub use store::{Buffer, ChunkStore, Loaded, Want};
pub use user_attributes::UserAttributes;
pub use window::Window;
pub use zones::{Zone, Zones};
