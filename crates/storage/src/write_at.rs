//! [`WriteAt`]: bytes put at a position.

use super::ReadAt;
use std::fs::File;
use std::io;

/// A file that can be written at any position.
///
/// What was written may be lost by a crash, in part and in any order, until [`sync`](Self::sync)
/// has returned.
///
/// ```
/// use bloscpack_storage::{Folder, Memory, ReadAt, WriteAt};
/// let file = Memory::new().create("numbers".as_ref(), None)?;
/// file.write_all_at(4, b"45")?;
/// file.sync()?;
/// assert_eq!(file.size()?, 6);
/// file.set_len(5)?;
/// let mut all = [1; 5];
/// file.read_exact_at(0, &mut all)?;
/// assert_eq!(&all, b"\0\0\0\x004");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait WriteAt: ReadAt {
    /// Writes some of these bytes, at least one if there are any, from position `at` on; a gap
    /// behind the old end becomes zeros. Returns how many bytes it were.
    ///
    /// # Errors
    /// Those of the file.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file off at this length, or lengthens it with zeros.
    ///
    /// # Errors
    /// Those of the file.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Returns when all that was written, and the length, would outlive a power cut.
    ///
    /// # Errors
    /// Those of the file. What was written since the last success may then be lost, even if a
    /// later call succeeds: nobody may go on as if nothing had happened.
    fn sync(&self) -> io::Result<()>;

    /// Writes all of these bytes from position `at` on.
    ///
    /// # Errors
    /// [`WriteZero`](io::ErrorKind::WriteZero) if the file takes no more, and those of the file.
    fn write_all_at(&self, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_at(at, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => {
                    bytes = bytes.get(len..).unwrap_or_default();
                    at = at.saturating_add(u64::try_from(len).unwrap_or(0));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl WriteAt for File {
    #[cfg(unix)]
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(self, bytes, at)
    }

    #[cfg(windows)]
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(self, bytes, at)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        retry(|| Self::set_len(self, len))
    }

    fn sync(&self) -> io::Result<()> {
        retry(|| self.sync_all())
    }
}

/// Does it again as long as a signal comes between.
pub(super) fn retry<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
