//! Items for the other crates of the `bloscpack` workspace.
//!
//! **They are not part of the public interface** and may change in any release.

pub use super::extents::{check_extents, extents, head_len};
pub use super::pad::pad_chunk;
pub use super::settings_of::settings_of;

use super::extension::SpecialKind;
use super::view::ChunkView;

/// Whether these bytes begin a chunk with blocks to decompress, which is best decoded block by block.
/// Any part of a pure copy or of special values can be read at no cost.
pub fn has_blocks(chunk: &[u8]) -> bool {
    ChunkView::open_head(chunk).is_ok_and(|view| view.has_streams())
}

/// Whether the header of a chunk says that all of its data is zero.
pub fn is_zeros(chunk: &[u8]) -> bool {
    let special = ChunkView::open(chunk).ok().and_then(|view| view.extension);
    special.and_then(|extension| extension.special()) == Some(SpecialKind::Zeros)
}
