//! [`ReadAt`]: bytes at a position.

use std::fs::File;
use std::io;
use std::sync::Arc;

/// A source of bytes that can be read at any position, by several threads at once.
///
/// ```
/// use bloscpack_storage::ReadAt;
/// let bytes = b"0123456789".as_slice();
/// let mut two = [0; 2];
/// bytes.read_exact_at(4, &mut two)?;
/// assert_eq!((&two, bytes.size()?), (b"45", 10));
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait ReadAt {
    /// Reads up to as many bytes as `buf` holds, from position `at` on, and returns how many it
    /// were: 0 only at or behind the end, or for an empty `buf`.
    ///
    /// # Errors
    /// Those of the source.
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Bytes of the source as it is now.
    ///
    /// # Errors
    /// Those of the source.
    fn size(&self) -> io::Result<u64>;

    /// Fills `buf` from position `at` on.
    ///
    /// # Errors
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the source ends before, and those of the
    /// source.
    fn read_exact_at(&self, mut at: u64, mut buf: &mut [u8]) -> io::Result<()> {
        while !buf.is_empty() {
            match self.read_at(at, buf) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(len) => {
                    buf = buf.get_mut(len..).unwrap_or_default();
                    at = at.saturating_add(u64::try_from(len).unwrap_or(0));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Bytes taken at once by [`for_each_step`].
const STEP: u64 = 1 << 16;

/// Reads a stretch of a source in steps of bounded length.
pub fn for_each_step<S: ReadAt>(
    source: &S,
    at: u64,
    len: u64,
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let (mut done, mut buffer) = (0u64, Vec::new());
    while done < len {
        let step = len.saturating_sub(done).min(STEP);
        buffer.resize(usize::try_from(step).unwrap_or(0), 0);
        source.read_exact_at(at.saturating_add(done), &mut buffer)?;
        take(&buffer);
        done = done.saturating_add(step);
    }
    Ok(())
}

impl ReadAt for [u8] {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..));
        io::Read::read(&mut rest.unwrap_or_default(), buf)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(u64::try_from(self.len()).unwrap_or(u64::MAX))
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.as_slice().read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.as_slice().size()
    }
}

/// What points to a source is one.
macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<T: ReadAt + ?Sized> ReadAt for $pointer {
            fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
                (**self).read_at(at, buf)
            }

            fn size(&self) -> io::Result<u64> {
                (**self).size()
            }
        }
    )*};
}
pointers!(&T, Box<T>, Arc<T>);

/// By position, where the file stands does not matter and does not change.
#[cfg(unix)]
impl ReadAt for File {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buf, at)
    }

    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}

/// By position; where the file stands changes, which this crate does not rely on.
#[cfg(windows)]
impl ReadAt for File {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buf, at)
    }

    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}
