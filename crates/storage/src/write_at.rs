//! [`WriteAt`]: a file that is written at any position.

use crate::ReadAt;
use crate::convert::{end_of, to_u64};
use crate::error::bug;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// A file that can be written at any position.
///
/// Writes are visible to readers at once, but a crash may undo any of them, in any order, until
/// [`sync`](Self::sync) has returned. Implemented for [`File`](std::fs::File) and
/// [`MemoryFile`](crate::MemoryFile).
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
    /// Writes some of these bytes from position `at`, at least one unless `bytes` is empty, and returns how
    /// many were written. If `at` is after the end, the bytes in between become zeros.
    ///
    /// # Errors
    /// Returns any error of the file. After [`Interrupted`](io::ErrorKind::Interrupted), nothing was written
    /// and the caller may try again.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Truncates the file to `len` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Blocks until the bytes and the length would survive a power cut. A new or renamed file also needs a sync
    /// of its folder ([`Folder::sync`](crate::Folder::sync)).
    ///
    /// # Errors
    /// Returns any error of the file. Everything written since the last successful call may then be lost, even
    /// if a later call succeeds. Do not continue as if the data were safe.
    fn sync(&self) -> io::Result<()>;

    /// Reserves space for `len` bytes from position `at`, so that writing them cannot fail for lack of space.
    /// Content and length do not change. Uses `fallocate` on Linux and Android; elsewhere, nothing is reserved.
    ///
    /// # Errors
    /// Returns [`StorageFull`](io::ErrorKind::StorageFull) or a similar error if there is not enough space.
    fn reserve(&self, at: u64, len: u64) -> io::Result<()> {
        let _ = (at, len);
        Ok(())
    }

    /// Writes all of these bytes from position `at`. Interrupted writes are repeated.
    ///
    /// # Errors
    /// Returns [`WriteZero`](io::ErrorKind::WriteZero) if the file accepts no more bytes, and any error of the
    /// file. Some of the bytes may then have been written.
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
        // Other errors mean that the file system has no reservations, or will occur again when the bytes are
        // written.
        _ => Ok(()),
    }
}

#[cfg(not(any(target_os = "android", target_os = "linux")))]
pub(crate) fn reserve_in_file(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}

/// Repeats an operation while signals interrupt it.
pub(crate) fn retry<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Blocks until the content of a file or directory would survive a power cut.
///
/// On macOS, the standard library's sync is `F_FULLFSYNC`, which also flushes the disk's cache. Network file
/// systems lack it; for them this falls back to `fsync`.
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

/// Whether this is the error of a file system that cannot sync directories and has nothing to sync there. On
/// macOS it is `ENOTSUP`, which the standard library does not map to `Unsupported`.
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
