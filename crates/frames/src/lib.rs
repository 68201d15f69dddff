//! Reads, writes and changes Blosc2 frames, and the n-dimensional arrays in them, without the C libraries: the `.b2nd` files of
//! python-blosc2 and C-Blosc2, arrays of Caterva, and plain frames.
//!
//! A [`Frame`] is Blosc2's container for one byte string or array: compressed chunks of one size, and named metadata. It is one
//! file (*contiguous*) or a directory with a file for each chunk (*sparse*). An [`NdArray`] is a frame whose metadata gives a
//! shape: each chunk is a box of elements, cut into smaller boxes, the *blocks*. A slice is read by decompressing only the
//! blocks that it touches.
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
//! # The format
//!
//! ```text
//!  contiguous   header | chunk | chunk | .. | index | trailer    one file
//!  sparse       chunks.b2frame:  header | index | trailer        a directory,
//!               00000000.chunk, 00000001.chunk, ..               with a file for each chunk
//!
//!  offset  length  header: big-endian; a MessagePack marker (in hex) precedes most fields
//!       0      10  9e a8 "b2frame" 00
//!      10       5  d2 | i32 header_len       bytes of the header, at least 97
//!      15       9  cf | u64 frame_len        bytes of the file
//!      24       1  a4
//!      25       1  flags                     12: version 2, offsets of 64 bits
//!      26       1  kind                      0: contiguous, 1: sparse
//!      27       1  codec, level              of new chunks: the low 4 bits, the high 4 bits
//!      28       1  split mode                of new chunks
//!      29       9  d3 | i64 content_len      uncompressed bytes of all chunks
//!      38       9  d3 | i64 section_len      stored bytes of all chunks and gaps between them
//!      47       5  d2 | i32 typesize         bytes of an element
//!      52       5  d2 | i32 blocksize        uncompressed bytes of a block;
//!                                            0: the compressor chooses
//!      57       5  d2 | i32 chunk_size       uncompressed bytes of a chunk; -1: no chunk yet
//!      62       6  d1 | i16, d1 | i16        the writer's numbers of threads
//!      68       1  c2 or c3                  c3: the trailer has metalayers
//!      69       2  d8 | 06
//!      71       6  filters                   of new chunks, in the order of application
//!      77       2  codec, its parameter
//!      79       6  filter parameters
//!      85       2  dictionary (0 or 1) | 00
//!      87          metalayers                up to header_len
//!
//!  metalayers: 93 | cd u16 bytes up to the dc | de u16 n | n x (aL name, d2 i32 offset) |
//!              dc u16 n | n x (c6 i32 len, value)
//!
//!  index: a Blosc2 chunk; its data is an i64 for each chunk, little-endian
//!       0 or more                  bytes from the end of the header to the chunk;
//!                                  in a sparse frame the number of its file
//!       81 00 00 00 00 00 00 00    (highest byte first) not stored: zeros.
//!                                  82: NaN. 84: uninitialized
//!
//!  trailer, counted from its start, then from the end of the file
//!       0       2  94 | 01                   version 1
//!       2          metalayers                each value is a Blosc2 chunk
//!     -23       5  ce | u32 trailer_len
//!     -18       2  d8 | kind                 of the fingerprint; 0: none, 3: 128 bits
//!     -16      16  fingerprint, or zeros
//! ```
//!
//! The metalayer `b2nd`, or `caterva` in older files, makes a frame an array:
//!
//! ```text
//!  caterva  95 | 00 | n |     shape        |   chunk shape    |   block shape
//!  b2nd     97 | 00 | n | 9n, n x (d3 i64) | 9n, n x (d2 i32) | 9n, n x (d2 i32) |
//!           00 | db u32 length, dtype
//! ```
//!
//! `docs/frames.md` in the repository describes how files change, and lists what is not supported.
//!
//! # Start here
//!
//! | you have | use |
//! |---|---|
//! | an array file (`.b2nd`, `.cat`), or the directory of a sparse one | [`NdArray::open`] |
//! | an array to change | [`NdArray::edit`], then [`flush`](NdArray::flush) |
//! | data for a new array | [`NdArray::of_type`] |
//! | a frame without an array (`.b2frame`), or the metadata of a frame | [`Frame::open`], [`Frame::edit`], [`Frame::builder`] |
//! | a frame in memory, or in any other source | [`Frame::from_bytes`], [`Frame::read_with`] |
//! | limits, threads or a lock timeout to set | [`Options`](bloscpack::Options), for [`Frame::open_with`] and [`FrameBuilder::options`] |
//! | a frame that may be damaged | [`Frame::verify`] |
//! | bytes to parse yourself | [`wire`] |
//!
//! # Reading
//!
//! All reading methods take `&self`, and frames and arrays can be shared between threads. Large slices are decompressed on all
//! processors, unless [`Options::threads`](bloscpack::Options::threads()) sets another number. A frame that was opened for
//! reading by its path or in a store keeps its content until [`Frame::refresh`] is called, even if a writer of this crate
//! changes it meanwhile.
//!
//! # Writing
//!
//! Changes are visible in the `Frame` or `NdArray` at once. [`Frame::flush`] makes them permanent: all of them or none, even if
//! the program or the machine crashes in the middle. Only one program at a time can open a frame for changing. Changes that
//! were not flushed are lost when the value is dropped.
//!
//! # Errors
//!
//! All functions return a [`bloscpack_error::Error`]: a code, a message with the found and the expected value, the part of the
//! frame, and, where they are known, the file, the side of the work and the limit.
//!
//! | code | meaning |
//! |---|---|
//! | `UnknownFormat`, `NotAnArray` | not a frame; a frame without an array |
//! | `Header`, `Metadata`, `Offsets`, `Chunk`, `Damaged` | damage in the header, a metalayer, the index, a chunk, or elsewhere |
//! | `CutShort`, `MissingFile` | the file is too short; a chunk file of a sparse frame is missing |
//! | `Digest` | the bytes do not match the fingerprint |
//! | `Unsupported`, `NotBuilt` | a feature that this crate, or this build of it, does not have |
//! | `NotStored` | elements of a [virtual](Frame::virtual_data) frame that are not in the frame |
//! | `OverLimit` | more than the [`Limits`](bloscpack_wire::Limits) allow |
//! | `OutOfBounds`, `WrongType`, `CannotStore`, `Usage` | a call that cannot be carried out |
//! | `ReadOnly`, `Reopen` | the frame was opened for reading; an earlier change failed |
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
//! An error in the bytes of a chunk carries the number of the chunk as its position.
//!
//! # Features
//!
//! `blosclz`, `lz4`, `zlib` and `zstd` (all on by default) add the compressors. `ndarray` adds slices as arrays of the crate of
//! that name.

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
// Public only for tests and for the other crates of the workspace.
#[doc(hidden)]
pub mod wire;

pub use bloscpack_array::{Caches, default_shapes};
// `ndarray` is re-exported because its types are in signatures of this crate: callers need the same version.
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
