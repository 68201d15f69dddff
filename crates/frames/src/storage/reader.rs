//! [`ReaderStorage`]: a contiguous frame that is only read.

use super::{FrameStorage, Origin, StoredChunk};
use crate::error::read_only;
use crate::meta::FrameMeta;
use bloscpack_error::Result;
use bloscpack_storage::StoreFile;

/// A contiguous frame in anything that can be read at any position.
pub(crate) struct ReaderStorage {
    source: Box<dyn StoreFile>,
    origin: Origin,
    chunks_at: u64,
    chunks_end: u64,
}

impl ReaderStorage {
    pub(crate) fn new(source: Box<dyn StoreFile>, origin: Origin, meta: &FrameMeta) -> Self {
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
        let source = (&*self.source as &dyn StoreFile, &self.origin);
        let start = self.chunks_at + at;
        Ok(StoredChunk::within(number, source, start, self.chunks_end))
    }

    fn will_read(&self, chunks: &[(u64, u64)]) {
        let ranges = chunks.iter().map(|(at, len)| {
            // A damaged index may contain any place.
            let start = self.chunks_at.saturating_add(*at);
            start..start.saturating_add(*len).min(self.chunks_end).max(start)
        });
        self.source.will_read(&ranges.collect::<Vec<_>>());
    }

    fn file(&self) -> Option<&dyn StoreFile> {
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
