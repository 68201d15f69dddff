//! A regular file that several threads read at once.

use std::io;
use std::sync::Arc;

use bloscpack::storage::ReadAt;

use super::Bytes;
use super::reader::retry;
use crate::progress::Progress;
use bloscpack::wire::internal::to_u64;

/// The bytes of a regular file by position, shown as progress when they are read.
#[derive(Debug)]
pub struct CountedFile {
    bytes: Arc<Bytes>,
    progress: Progress,
}

impl CountedFile {
    pub(super) fn new(bytes: Arc<Bytes>, progress: Progress) -> Self {
        Self { bytes, progress }
    }

    /// Whether there are bytes from this position on.
    pub fn reaches_past(&self, end: u64) -> io::Result<bool> {
        retry(|| self.bytes.read_at(end, &mut [0])).map(|count| count > 0)
    }
}

impl ReadAt for CountedFile {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read_at(at, buf)?;
        self.progress.advance(to_u64(count));
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }
}
