//! Where the bytes of a frame are: in a file, in a directory, or in anything that can be read at any position.

mod file;
mod origin;
mod reader;
mod sparse;
mod stored;

use crate::meta::FrameMeta;
use crate::part::FramePart;
use bloscpack_error::Result;
use bloscpack_storage::StoreFile;

pub(crate) use file::FileStorage;
pub(crate) use origin::Origin;
pub(crate) use reader::ReaderStorage;
pub use sparse::METADATA_FILE;
pub(crate) use sparse::SparseStorage;
pub(crate) use stored::{SMALL, StoredChunk, check_chunk_len, check_header};

/// Where the chunks of a frame are read, and where new ones are kept until a commit makes them part of the frame.
pub(crate) trait FrameStorage: Send + Sync {
    /// The bytes of the chunk with this number, which the index says is at `at`.
    fn chunk(&self, number: u64, at: u64) -> Result<StoredChunk<'_>>;

    /// Announces that these chunks are going to be read, by their places, with their lengths as far as they are wanted.
    fn will_read(&self, chunks: &[(u64, u64)]) {
        let _ = chunks;
    }

    /// The file that contains all chunks, if one does.
    fn file(&self) -> Option<&dyn StoreFile>;

    /// Keeps a new chunk, and returns where. It is not part of the frame before the next commit.
    fn put(&mut self, chunk: &[u8]) -> Result<u64>;

    /// Removes a chunk from the frame, from the next commit on. Its length is 0 if its header cannot be read: dead space is
    /// then estimated too low, which only delays its removal.
    fn discard(&mut self, at: u64, len: u64) -> Result<()>;

    /// Makes this the frame, atomically. Updates lengths in the header and places of chunks.
    fn commit(&mut self, meta: &mut FrameMeta) -> Result<()>;

    /// Whether frames here can be changed.
    fn is_writable(&self) -> bool;

    /// Warnings about files or bytes that are not part of the frame.
    fn unused(&self, meta: &FrameMeta) -> Result<Vec<String>>;
}

/// Refuses chunks that use more bytes than there are. They overlap, so giving each its own bytes would make the frame longer
/// without bound.
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

/// The warning about bytes after the end of a frame in one file.
fn trailing(size: u64, meta: &FrameMeta) -> Vec<String> {
    match size.checked_sub(meta.header.frame_len) {
        None | Some(0) => Vec::new(),
        Some(1) => vec!["ignored 1 trailing byte".to_owned()],
        Some(bytes) => vec![format!("ignored {bytes} trailing bytes")],
    }
}
