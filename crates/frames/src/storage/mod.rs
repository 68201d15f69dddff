//! Where the bytes of a frame are stored.
//!
//! | storage | frame | can be changed |
//! |---|---|---|
//! | [`ReaderStorage`] | contiguous, in any source that is read at positions | no |
//! | [`FileStorage`] | contiguous, in a locked file | yes |
//! | [`SparseStorage`] | sparse, in a directory | if opened for writing |

mod file;
mod origin;
mod reader;
mod sparse;
mod stored;

use crate::meta::FrameMeta;
use crate::part::FramePart;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;

pub(crate) use file::FileStorage;
pub(crate) use origin::Origin;
pub(crate) use reader::ReaderStorage;
pub use sparse::METADATA_FILE;
pub(crate) use sparse::SparseStorage;
pub(crate) use stored::{SMALL, StoredChunk, check_chunk_len, check_header};

/// Reads the chunks of a frame, and keeps new ones until a commit makes them part of the frame.
pub(crate) trait FrameStorage: Send + Sync {
    /// The chunk with this number, whose index entry is `at`: an offset after the header, or in a sparse frame the number of a
    /// file.
    ///
    /// Reads nothing of a contiguous frame; in a sparse one it opens the file, and a missing file is
    /// [`Code::MissingFile`](bloscpack_error::Code::MissingFile). `at` need not be valid.
    fn chunk(&self, number: u64, at: u64) -> Result<StoredChunk<'_>>;

    /// Announces chunks that will be read soon, as pairs of an index entry and the bytes needed of that chunk. Storage on slow
    /// sources may fetch them ahead; the default does nothing.
    fn will_read(&self, chunks: &[(u64, u64)]) {
        let _ = chunks;
    }

    /// The file that contains all chunks; `None` for a sparse frame.
    fn file(&self) -> Option<&dyn ReadAt>;

    /// Stores a new chunk and returns its index entry. The next commit makes the chunk part of the frame.
    fn put(&mut self, chunk: &[u8]) -> Result<u64>;

    /// Marks a chunk for removal at the next commit. `len` is its length in bytes, or 0 if its header cannot be read: dead
    /// space is then estimated too low, which only delays its removal.
    fn discard(&mut self, at: u64, len: u64) -> Result<()>;

    /// Makes `meta` and the chunks in its index the content of the frame, atomically.
    ///
    /// Updates the lengths in the header, and the index where chunks move. After an error, the frame has either the old or the
    /// new content.
    fn commit(&mut self, meta: &mut FrameMeta) -> Result<()>;

    /// Whether [`put`](Self::put) and [`commit`](Self::commit) are possible.
    fn is_writable(&self) -> bool;

    /// A warning for each file, or for the bytes at the end, that are not part of the frame.
    fn unused(&self, meta: &FrameMeta) -> Result<Vec<String>>;
}

/// Refuses chunks that together use more bytes than the `room` they lie in: they overlap. A copy gives each chunk its own
/// bytes, and could become arbitrarily larger than its source.
pub(crate) fn check_apart(used: u64, room: u64) -> Result<()> {
    if used <= room {
        Ok(())
    } else {
        let found = format!("{used} bytes, with overlaps");
        let expected = format!("at most {room}");
        let part = FramePart::Chunks;
        Err(part.damaged(None, "total length", found, expected))
    }
}

/// A warning about bytes after the end of a contiguous frame, in a source of `size` bytes; none if there are none.
fn trailing(size: u64, meta: &FrameMeta) -> Vec<String> {
    match size.checked_sub(meta.header.frame_len) {
        None | Some(0) => Vec::new(),
        Some(1) => vec!["ignored 1 trailing byte".to_owned()],
        Some(bytes) => vec![format!("ignored {bytes} trailing bytes")],
    }
}
