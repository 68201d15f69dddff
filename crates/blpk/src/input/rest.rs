//! [`Rest`]: the bytes of a regular file from its current position on.

use std::io;
use std::sync::Arc;

use bloscpack::storage::ReadAt;

use super::Bytes;

/// The bytes of a regular file from some position on: standard input may be shared, so it need not be at its beginning.
#[derive(Debug)]
pub struct Rest {
    bytes: Arc<Bytes>,
    start: u64,
}

impl Rest {
    pub(super) fn new(bytes: Arc<Bytes>, start: u64) -> Self {
        Self { bytes, start }
    }
}

impl ReadAt for Rest {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        match self.start.checked_add(at) {
            Some(at) => self.bytes.read_at(at, buf),
            None => Ok(0),
        }
    }

    fn size(&self) -> io::Result<u64> {
        // It may be past the end: then nothing is left.
        Ok(self.bytes.size()?.saturating_sub(self.start))
    }
}
