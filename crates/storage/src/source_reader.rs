//! [`SourceReader`]: reads a [`ReadAt`] source in order.

use crate::ReadAt;
use crate::convert::{end_of, to_u64};
use std::io::{self, Read, Seek, SeekFrom};

/// Reads a [`ReadAt`] source in order, and seeks in it. It does not buffer.
///
/// Several readers can share one source, each with its own position. Seeking past the end is allowed; reads
/// there return 0 bytes.
///
/// ```
/// use bloscpack_storage::SourceReader;
/// use std::io::{Read, Seek, SeekFrom};
/// let mut reader = SourceReader::new(b"0123456789".as_slice());
/// reader.seek(SeekFrom::End(-3))?;
/// let mut rest = String::new();
/// reader.read_to_string(&mut rest)?;
/// assert_eq!(rest, "789");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SourceReader<S> {
    source: S,
    at: u64,
}

impl<S> SourceReader<S> {
    /// A reader at position 0 of the source.
    pub fn new(source: S) -> Self {
        Self { source, at: 0 }
    }
}

impl<S: ReadAt> Read for SourceReader<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.source.read_at(self.at, buf)?;
        self.at = end_of(self.at, to_u64(len))?;
        Ok(len)
    }
}

impl<S: ReadAt> Seek for SourceReader<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = seek_target(to, self.at, || self.source.size())?;
        Ok(self.at)
    }
}

/// The position after a seek from position `here`. `size` is only called for a seek from the end.
///
/// # Errors
/// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) for a position before the first byte or after 2^64-1,
/// and the error of `size`.
pub fn seek_target(
    to: SeekFrom,
    here: u64,
    size: impl FnOnce() -> io::Result<u64>,
) -> io::Result<u64> {
    let (from, by) = match to {
        SeekFrom::Start(at) => return Ok(at),
        SeekFrom::Current(by) => (here, by),
        SeekFrom::End(by) => (size()?, by),
    };
    from.checked_add_signed(by).ok_or_else(|| {
        let what = "seek to a position before the first byte or after 2^64-1";
        io::Error::new(io::ErrorKind::InvalidInput, what)
    })
}
