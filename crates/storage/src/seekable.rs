//! [`Seekable`]: anything that reads and seeks, read at any position.

use crate::ReadAt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

/// Makes a [`ReadAt`] source of a reader that seeks. A mutex serialises the threads: each read seeks first.
///
/// ```
/// use bloscpack_storage::{ReadAt, Seekable};
/// let source = Seekable::new(std::io::Cursor::new(b"0123456789"));
/// let mut two = [0; 2];
/// source.read_exact_at(7, &mut two)?;
/// assert_eq!(&two, b"78");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Seekable<R> {
    reader: Mutex<R>,
}

impl<R> Seekable<R> {
    /// Wraps a reader. Positions count from the reader's own position 0, wherever its cursor is now.
    pub fn new(reader: R) -> Self {
        Self {
            reader: Mutex::new(reader),
        }
    }

    /// Returns the reader. The position of its cursor is unspecified.
    pub fn into_inner(self) -> R {
        // A panic while reading leaves only the cursor at an unknown position, and every read sets it.
        self.reader
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Read + Seek + Send> ReadAt for Seekable<R> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.seek(SeekFrom::Start(at))?;
        reader.read(buf)
    }

    fn size(&self) -> io::Result<u64> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.seek(SeekFrom::End(0))
    }
}
