//! [`WriteAt`]: a file that is written at any position.

use crate::ReadAt;
use crate::convert::{end_of, to_u64};
use crate::error::bug;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// A file that can be written at any position.
///
/// Until [`sync`](Self::sync) has returned, a crash may undo any part of what was written, in any
/// order.
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
    /// Writes some of these bytes from position `at` on, at least one if there are any, and returns
    /// how many were written. If `at` is after the end, the bytes between become zeros.
    ///
    /// # Errors
    /// Returns any error of the file. [`Interrupted`](io::ErrorKind::Interrupted) means that
    /// nothing was written and the caller may try again.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Truncates the file to this length, or extends it with zeros.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Returns when everything that was written, and the length, would survive a power cut.
    ///
    /// # Errors
    /// Returns any error of the file. Everything written since the last successful call may then
    /// be lost, even if a later call succeeds, so that the caller must not continue as if nothing
    /// had happened.
    fn sync(&self) -> io::Result<()>;

    /// Reserves space for this many bytes from position `at` on, so that writing them cannot fail for lack of it. Nothing that
    /// can be read changes, not even the length. Where there is no such call, nothing is reserved.
    ///
    /// # Errors
    /// Returns [`StorageFull`](io::ErrorKind::StorageFull) and the like, and any error of the file.
    fn reserve(&self, at: u64, len: u64) -> io::Result<()> {
        let _ = (at, len);
        Ok(())
    }

    /// Writes all of these bytes from position `at` on.
    ///
    /// # Errors
    /// Returns [`WriteZero`](io::ErrorKind::WriteZero) if the file takes no more bytes, and any
    /// error of the file. Some of the bytes may then have been written.
    fn write_all_at(&self, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_at(at, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => {
                    let rest = bytes.get(len..);
                    bytes = rest
                        .ok_or_else(|| bug(format!("{len} bytes written, of {}", bytes.len())))?;
                    at = end_of(at, to_u64(len))?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<T: WriteAt + ?Sized> WriteAt for Arc<T> {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        (**self).write_at(at, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        (**self).set_len(len)
    }

    fn reserve(&self, at: u64, len: u64) -> io::Result<()> {
        (**self).reserve(at, len)
    }

    fn sync(&self) -> io::Result<()> {
        (**self).sync()
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
            .map_err(crate::read_at::busy_if_locked)
    }

    #[cfg(not(any(unix, windows)))]
    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        retry(|| Self::set_len(self, len))
    }

    fn reserve(&self, at: u64, len: u64) -> io::Result<()> {
        reserve_in_file(self, at, len)
    }

    fn sync(&self) -> io::Result<()> {
        sync_file(self)
    }
}

#[cfg(any(target_os = "android", target_os = "linux"))]
pub(crate) fn reserve_in_file(file: &File, at: u64, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    if len == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, at, len) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
        // Any other error is that of a file system without reservations, or will show when the bytes are written.
        _ => Ok(()),
    }
}

#[cfg(not(any(target_os = "android", target_os = "linux")))]
pub(crate) fn reserve_in_file(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}

/// Repeats an operation as long as signals interrupt it.
pub(crate) fn retry<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Returns when all of a file or directory would survive a power cut.
///
/// On macOS a sync of the standard library is `F_FULLFSYNC`, which empties the cache of the disk. File systems of a network
/// do not have it: with them, `fsync` is all that can be done.
///
/// # Errors
/// Returns any error of the file.
pub fn sync_file(file: &File) -> io::Result<()> {
    retry(|| match file.sync_all() {
        #[cfg(target_vendor = "apple")]
        Err(error) if has_no_full_sync(&error) => Ok(rustix::fs::fsync(file)?),
        done => done,
    })
}

#[cfg(target_vendor = "apple")]
fn has_no_full_sync(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENOTSUP | libc::EINVAL | libc::ENOTTY)
    )
}

/// Whether this is the error of a file system that cannot sync a directory, because it has nothing to sync there. On macOS,
/// `ENOTSUP` is not what the standard library takes for "unsupported".
#[cfg(unix)]
pub(crate) fn cannot_sync(error: &io::Error) -> bool {
    let unsupported = [io::ErrorKind::InvalidInput, io::ErrorKind::Unsupported];
    unsupported.contains(&error.kind()) || error.raw_os_error() == Some(libc::ENOTSUP)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that breaks the contract of `write_at`.
    struct Boasting;

    impl ReadAt for Boasting {
        fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
            Ok(0)
        }

        fn size(&self) -> io::Result<u64> {
            Ok(0)
        }
    }

    impl WriteAt for Boasting {
        fn write_at(&self, _: u64, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len() + 1)
        }

        fn set_len(&self, _: u64) -> io::Result<()> {
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reservation_changes_nothing_that_can_be_read() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(0, b"abc").unwrap();
        for (at, len) in [(3, 1 << 20), (0, 1), (1 << 20, 10), (7, 0)] {
            file.reserve(at, len).unwrap();
        }
        assert_eq!(file.size().unwrap(), 3);
        let mut bytes = [0; 3];
        file.read_exact_at(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"abc");
    }

    #[test]
    fn a_file_that_reports_more_than_it_was_given_is_an_error() {
        let error = Boasting.write_all_at(0, b"abc").unwrap_err();
        assert!(
            error.to_string().contains("4 bytes written, of 3"),
            "{error}"
        );
    }
}
