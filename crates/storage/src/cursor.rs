//! [`Cursor`]: a source that is read at positions, read in order.

use super::ReadAt;
use std::io::{self, Read, Seek, SeekFrom};

/// Reads a source from one position on, and seeks in it.
#[derive(Debug, Clone)]
pub struct Cursor<S> {
    source: S,
    at: u64,
}

impl<S> Cursor<S> {
    /// A cursor at the source's first byte.
    pub fn new(source: S) -> Self {
        Self { source, at: 0 }
    }
}

impl<S: ReadAt> Read for Cursor<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.source.read_at(self.at, buf)?;
        self.at = self.at.saturating_add(u64::try_from(len).unwrap_or(0));
        Ok(len)
    }
}

impl<S: ReadAt> Seek for Cursor<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = target(to, self.at, || self.source.size())?;
        Ok(self.at)
    }
}

/// The position that a seek leads to.
pub fn target(to: SeekFrom, here: u64, size: impl FnOnce() -> io::Result<u64>) -> io::Result<u64> {
    let (from, by) = match to {
        SeekFrom::Start(at) => return Ok(at),
        SeekFrom::Current(by) => (here, by),
        SeekFrom::End(by) => (size()?, by),
    };
    from.checked_add_signed(by).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "a seek to before the first byte",
        )
    })
}
