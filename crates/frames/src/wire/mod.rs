//! The bytes of Blosc2 frames, and what their metalayers say of n-dimensional arrays.
//!
//! ```text
//! header | chunk, chunk, ... | index chunk | trailer        a contiguous frame: one file
//! header | index chunk | trailer                            a sparse frame: chunks.b2frame
//! 00000000.chunk   00000001.chunk   ...                                     and its chunks
//! ```
//!
//! Each part has its file: [`FrameHeader`] and [`Trailer`], both with [`Metalayers`]; the index is a
//! Blosc2 chunk, and [`decode_index`] reads what it holds; [`ArrayMeta`] is the metalayer of Caterva
//! and of Blosc2 NDim. Numbers are big-endian, except those in the index. A frame without content has
//! no index chunk, and its trailer follows its header whatever [`FrameHeader::section_len`] says.

mod array;
mod cursor;
mod error;
mod header;
mod index;
mod metalayers;
mod trailer;

pub use array::{ArrayDType, ArrayKind, ArrayMeta};
pub use error::FrameError;
pub use header::{FrameHeader, FrameKind, FramePrefix, is_frame};
pub use index::{ChunkPlace, chunk_file_name, chunk_number, decode_index, encode_index};
pub use metalayers::Metalayers;
pub use trailer::Trailer;
