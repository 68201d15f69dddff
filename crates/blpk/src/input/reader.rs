//! An input, read from its beginning to its end.

use std::io::{self, Read};

use bloscpack::storage::ReadAt;

use super::Bytes;
use crate::progress::Progress;
use bloscpack::wire::internal::to_u64;

/// The bytes of an input in order, shown as progress.
#[derive(Debug)]
pub struct InputReader<'a> {
    bytes: &'a Bytes,
    progress: &'a Progress,
    /// Bytes read so far.
    total: u64,
}

impl<'a> InputReader<'a> {
    pub(super) fn new(bytes: &'a Bytes, progress: &'a Progress) -> Self {
        Self {
            bytes,
            progress,
            total: 0,
        }
    }

    /// Bytes read so far.
    pub fn total(&self) -> u64 {
        self.total
    }
}

impl Read for InputReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = retry(|| match self.bytes {
            Bytes::Plain(file) => (&mut &*file).read(buffer),
            Bytes::Snapshot(snapshot) => snapshot.read_at(self.total, buffer),
        })?;
        self.total += to_u64(count);
        self.progress.advance(to_u64(count));
        Ok(count)
    }
}

/// Tries again where a signal has ended the call.
pub(super) fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
