//! The bytes of Blosc2 frames, without any I/O. The [crate page](crate#the-format) has the offsets of all fields.
//!
//! ```text
//! header | chunk, chunk, ... | index chunk | trailer        a contiguous frame: one file
//! header | index chunk | trailer                            a sparse frame: chunks.b2frame
//! 00000000.chunk   00000001.chunk   ...                                     and its chunks
//! ```
//!
//! | part | read and written by |
//! |---|---|
//! | header | [`FrameHeader`](crate::FrameHeader); [`FramePrefix`] has the lengths of header and frame |
//! | trailer | [`Trailer`] |
//! | metalayers, in both | [`Metalayers`](crate::Metalayers) |
//! | the metalayer that describes an array | [`ArrayMeta`](crate::ArrayMeta), [`ArrayDType`] |
//! | index: a Blosc2 chunk | [`decode_index`] and [`encode_index`], for its decompressed data |
//! | names of files in a sparse frame | [`chunk_file_name`], [`chunk_number`] |
//!
//! Numbers are big-endian, except those in the index. A frame without content has no index chunk: its trailer follows its
//! header, and [`section_len`](crate::FrameHeader::section_len) has no meaning.
//!
//! This module is for programs that inspect, repair or generate frames byte by byte. All others use [`Frame`](crate::Frame) and
//! [`NdArray`](crate::NdArray).

pub(crate) mod array;
mod cursor;
pub(crate) mod header;
mod index;
pub(crate) mod kind;
pub(crate) mod metalayers;
mod trailer;

// The other public types of these modules are at the root of the crate.
pub use crate::storage::METADATA_FILE;
pub use array::ArrayDType;
pub use header::{FramePrefix, MAGIC, is_frame};
pub use index::{ChunkPlace, chunk_file_name, chunk_number, decode_index, encode_index};
pub use trailer::Trailer;
