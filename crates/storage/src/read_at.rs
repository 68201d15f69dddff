//! [`ReadAt`]: a source of bytes that is read at any position.

use crate::convert::{end_of, min_len, to_u64};
use crate::error::bug;
use bytes::Bytes;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// A source of bytes that can be read at any position, by several threads at once.
///
/// Implemented for [`File`], which is read by position, for bytes in memory, and for references and
/// smart pointers to sources. [`Seekable`](crate::Seekable) makes a source of anything that reads
/// and seeks, [`SourceReader`](crate::SourceReader) a reader that seeks of any source.
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
    /// Reads up to `buf.len()` bytes from position `at` on, and returns how many were read: 0 only
    /// at or after the end, or if `buf` is empty.
    ///
    /// # Errors
    /// Returns any error of the source. [`Interrupted`](io::ErrorKind::Interrupted) means that
    /// nothing was read and the caller may try again.
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// The current length of the source in bytes.
    ///
    /// # Errors
    /// Returns any error of the source.
    fn size(&self) -> io::Result<u64>;

    /// Fills `buf` with the bytes from position `at` on.
    ///
    /// # Errors
    /// Returns [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the source ends before, and any
    /// error of the source. The content of `buf` is then unspecified.
    fn read_exact_at(&self, mut at: u64, mut buf: &mut [u8]) -> io::Result<()> {
        while !buf.is_empty() {
            match self.read_at(at, buf) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(len) => {
                    let asked = buf.len();
                    let rest = buf.get_mut(len..);
                    buf = rest.ok_or_else(|| bug(format!("{len} bytes read, of {asked}")))?;
                    at = end_of(at, to_u64(len))?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The `len` bytes from position `at` on. A source that has them in memory implements this to hand them out without a
    /// copy.
    ///
    /// ```
    /// use bloscpack_storage::ReadAt;
    /// assert_eq!(b"0123456789".read_bytes(7, 2)?, b"78".as_slice());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_exact_at`](Self::read_exact_at). As many bytes of memory are taken as are asked for.
    fn read_bytes(&self, at: u64, len: usize) -> io::Result<Bytes> {
        let mut bytes = vec![0; len];
        self.read_exact_at(at, &mut bytes)?;
        Ok(bytes.into())
    }

    /// Fills several buffers, each with the bytes from its position on. A source that has to wait for each read implements
    /// this to fetch all of them at once.
    ///
    /// ```
    /// use bloscpack_storage::ReadAt;
    /// let (mut one, mut two) = ([0; 2], [0; 3]);
    /// b"0123456789".read_ranges(&mut [(7, &mut one), (2, &mut two)])?;
    /// assert_eq!((&one, &two), (b"78", b"234"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_exact_at`](Self::read_exact_at). The content of all buffers is then unspecified.
    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        ranges
            .iter_mut()
            .try_for_each(|(at, buf)| self.read_exact_at(*at, buf))
    }

    /// Announces that these bytes are going to be read, in about this order. A source that has to wait for each read may
    /// begin to fetch them; others ignore it. Positions after the end are ignored, too, and so is an error: the read itself
    /// reports it.
    fn will_read(&self, ranges: &[Range<u64>]) {
        let _ = ranges;
    }
}

/// A source of any kind that several threads share.
pub type SharedSource = Arc<dyn ReadAt + Send + Sync>;

/// Bytes that [`for_each_step`] reads at once.
const STEP: usize = 1 << 16;

/// Reads `len` bytes from position `at` on, and passes them to `take` in steps of up to 64 KiB.
///
/// # Errors
/// Returns [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the source ends before, and any error
/// of the source.
pub fn for_each_step<S: ReadAt>(
    source: &S,
    at: u64,
    len: u64,
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    for_each_piece(source, (at, len), STEP, |_, bytes| {
        take(bytes);
        Ok(())
    })
}

/// Reads `len` bytes from position `at` on, and passes them to `take` in pieces of up to `step`
/// bytes, each with the number of bytes before it.
pub(crate) fn for_each_piece<S: ReadAt + ?Sized>(
    source: &S,
    (at, len): (u64, u64),
    step: usize,
    mut take: impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    // No position below overflows.
    end_of(at, len)?;
    let (mut done, mut buffer) = (0, Vec::new());
    while done < len {
        buffer.resize(min_len(len - done, step), 0);
        source.read_exact_at(at + done, &mut buffer)?;
        take(done, &buffer)?;
        done += to_u64(buffer.len());
    }
    Ok(())
}

impl ReadAt for [u8] {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        match usize::try_from(at).ok().and_then(|at| self.get(at..)) {
            Some(mut rest) => io::Read::read(&mut rest, buf),
            None => Ok(0),
        }
    }

    fn size(&self) -> io::Result<u64> {
        Ok(to_u64(self.len()))
    }
}

/// Bytes in memory are a source, whoever owns them.
macro_rules! bytes {
    ($([$($generic:tt)*] $owner:ty),*) => {$(
        impl<$($generic)*> ReadAt for $owner {
            fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
                AsRef::<[u8]>::as_ref(self).read_at(at, buf)
            }

            fn size(&self) -> io::Result<u64> {
                Ok(to_u64(self.len()))
            }
        }
    )*};
}
bytes!([] Vec<u8>, [] Bytes, [const LEN: usize] [u8; LEN]);

/// A pointer to a source is a source.
macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<T: ReadAt + ?Sized> ReadAt for $pointer {
            fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
                (**self).read_at(at, buf)
            }

            fn size(&self) -> io::Result<u64> {
                (**self).size()
            }

            fn read_bytes(&self, at: u64, len: usize) -> io::Result<Bytes> {
                (**self).read_bytes(at, len)
            }

            fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> io::Result<()> {
                (**self).read_ranges(ranges)
            }

            fn will_read(&self, ranges: &[Range<u64>]) {
                (**self).will_read(ranges);
            }
        }
    )*};
}
pointers!(&T, Box<T>, Arc<T>);

/// Reads by position, without regard to the file's cursor, which does not move.
#[cfg(unix)]
impl ReadAt for File {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buf, at)
    }

    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}

/// Reads by position. The file's cursor moves, but nothing in this crate relies on it.
#[cfg(windows)]
impl ReadAt for File {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let read = std::os::windows::fs::FileExt::seek_read(self, buf, at);
        read.map_err(busy_if_locked)
    }

    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}

/// The error of bytes that another handle has locked, on Windows, as that of a file that is busy.
#[cfg(windows)]
pub(crate) fn busy_if_locked(error: io::Error) -> io::Error {
    const LOCK_VIOLATION: i32 = 33;
    match error.raw_os_error() {
        Some(LOCK_VIOLATION) => crate::error::busy("another process has locked this file"),
        _ => error,
    }
}

/// Platforms without files, such as browsers, where this is never reached.
#[cfg(not(any(unix, windows)))]
impl ReadAt for File {
    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that breaks the contract of `read_at`.
    struct Boasting;

    impl ReadAt for Boasting {
        fn read_at(&self, _: u64, buf: &mut [u8]) -> io::Result<usize> {
            Ok(buf.len() + 1)
        }

        fn size(&self) -> io::Result<u64> {
            Ok(100)
        }
    }

    #[test]
    fn a_source_that_reports_more_than_it_was_asked_for_is_an_error() {
        let error = Boasting.read_exact_at(0, &mut [0; 8]).unwrap_err();
        assert!(error.to_string().contains("9 bytes read, of 8"), "{error}");
    }

    #[test]
    fn positions_past_the_last_are_an_error() {
        let error = for_each_step(&Boasting, u64::MAX, 2, |_| {}).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(b"ab".as_slice().read_at(u64::MAX, &mut [0; 2]).unwrap(), 0);
    }
}
