//! Items for the other crates of the `bloscpack` workspace.
//!
//! **They are not part of the public interface** and may change in any release.

pub use super::extents::{check_extents, extents, head_len};
pub use super::pad::pad_chunk;
pub use super::settings_of::settings_of;

use super::extension::SpecialKind;
use super::view::ChunkView;

/// Whether these bytes begin a chunk with blocks to decompress, which is best decoded block by
/// block. The bytes may end after the block table.
///
/// Any part of a pure copy or of special values is read without decompressing.
pub fn has_blocks(chunk: &[u8]) -> bool {
    ChunkView::open_head(chunk).is_ok_and(|view| view.has_streams())
}

/// Whether the chunk is complete and consists of special values that are zero. Streams are not
/// examined.
pub fn is_zeros(chunk: &[u8]) -> bool {
    ChunkView::open(chunk).is_ok_and(|view| view.special == Some(SpecialKind::Zeros))
}
