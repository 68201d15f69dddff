//! [`ReaderStorage`]: a contiguous frame that is only read.

use super::{FrameStorage, Origin, StoredChunk};
use crate::error::read_only;
use crate::meta::FrameMeta;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;

/// A contiguous frame in any source that can be read at any position. Changes are
/// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly).
pub(crate) struct ReaderStorage {
    source: Box<dyn ReadAt>,
    origin: Origin,
    /// The offset of the first chunk, which is the length of the header.
    chunks_at: u64,
    /// The end of the chunks: the offset of the index.
    chunks_end: u64,
}

impl ReaderStorage {
    /// The storage for a source that contains the frame with this metadata.
    pub(crate) fn new(source: Box<dyn ReadAt>, origin: Origin, meta: &FrameMeta) -> Self {
        let chunks_at = meta.header_len();
        Self {
            source,
            origin,
            chunks_at,
            chunks_end: chunks_at + meta.header.section_len,
        }
    }
}

impl FrameStorage for ReaderStorage {
    fn chunk(&self, number: u64, at: u64) -> Result<StoredChunk<'_>> {
        let source = (&*self.source as &dyn ReadAt, &self.origin);
        let start = self.chunks_at + at;
        Ok(StoredChunk::within(number, source, start, self.chunks_end))
    }

    /// Announces the byte ranges of the chunks, cut off at the end of the chunk section.
    fn will_read(&self, chunks: &[(u64, u64)]) {
        let ranges = chunks.iter().map(|(at, len)| {
            // The index may be damaged: an offset can have any value.
            let start = self.chunks_at.saturating_add(*at);
            start..start.saturating_add(*len).min(self.chunks_end).max(start)
        });
        self.source.will_read(&ranges.collect::<Vec<_>>());
    }

    fn file(&self) -> Option<&dyn ReadAt> {
        Some(&*self.source)
    }

    fn put(&mut self, _: &[u8]) -> Result<u64> {
        Err(read_only())
    }

    fn discard(&mut self, _: u64, _: u64) -> Result<()> {
        Err(read_only())
    }

    fn commit(&mut self, _: &mut FrameMeta) -> Result<()> {
        Err(read_only())
    }

    fn is_writable(&self) -> bool {
        false
    }

    fn unused(&self, meta: &FrameMeta) -> Result<Vec<String>> {
        Ok(super::trailing(self.origin.io(self.source.size())?, meta))
    }
}
