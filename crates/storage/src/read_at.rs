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
/// Implemented for [`File`], for bytes in memory (`[u8]`, arrays, [`Vec`], [`Bytes`]), and for references,
/// [`Box`] and [`Arc`] of sources. [`Seekable`](crate::Seekable) wraps a reader that seeks;
/// [`SourceReader`](crate::SourceReader) wraps a source as a reader that seeks.
///
/// Positions and lengths are in bytes. An implementation provides [`read_at`](Self::read_at) and
/// [`size`](Self::size). One that must wait for each read, such as a network client, should also provide
/// [`read_ranges`](Self::read_ranges) and [`will_read`](Self::will_read).
///
/// ```
/// use bloscpack_storage::ReadAt;
/// let bytes = b"0123456789".as_slice();
/// let mut two = [0; 2];
/// bytes.read_exact_at(4, &mut two)?;
/// assert_eq!((&two, bytes.size()?), (b"45", 10));
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait ReadAt: Send + Sync {
    /// Reads up to `buf.len()` bytes from position `at` and returns how many were read, which may be fewer at
    /// any time. It returns 0 only at or after the end, or if `buf` is empty.
    ///
    /// # Errors
    /// Returns any error of the source. After [`Interrupted`](io::ErrorKind::Interrupted), nothing was read and
    /// the caller may try again.
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// The current length in bytes. The length of a file may change between calls.
    ///
    /// # Errors
    /// Returns any error of the source.
    fn size(&self) -> io::Result<u64>;

    /// Fills `buf` with the bytes from position `at`. Interrupted reads are repeated.
    ///
    /// # Errors
    /// Returns [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the source ends before `buf` is full, and any
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

    /// The `len` bytes from position `at`. By default they are read into new memory; a source that holds them
    /// in memory returns them without a copy.
    ///
    /// ```
    /// use bloscpack_storage::ReadAt;
    /// assert_eq!(b"0123456789".read_bytes(7, 2)?, b"78".as_slice());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_exact_at`](Self::read_exact_at). `len` bytes are allocated before reading,
    /// so check a length that comes from untrusted input first.
    fn read_bytes(&self, at: u64, len: usize) -> io::Result<Bytes> {
        let mut bytes = vec![0; len];
        self.read_exact_at(at, &mut bytes)?;
        Ok(bytes.into())
    }

    /// Fills several buffers, each with the bytes from its position. By default they are read one after
    /// another; a source that must wait for each read fetches all of them at once.
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
    /// Returns the errors of [`read_exact_at`](Self::read_exact_at). The content of all buffers is then
    /// unspecified.
    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        ranges
            .iter_mut()
            .try_for_each(|(at, buf)| self.read_exact_at(*at, buf))
    }

    /// Announces ranges that will be read soon, in about this order. A source that must wait for each read may
    /// begin to fetch them; the default ignores them. Ranges past the end and errors are ignored: the read
    /// itself reports an error.
    fn will_read(&self, ranges: &[Range<u64>]) {
        let _ = ranges;
    }
}

/// A source of any type, shared by threads.
pub type SharedSource = Arc<dyn ReadAt>;

/// Bytes that [`for_each_step`] reads at once.
const STEP: usize = 1 << 16;

/// Passes the `len` bytes from position `at` to `take`, in steps of up to 64 KiB.
///
/// # Errors
/// Returns [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the source ends before, and any error of the
/// source.
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

/// As [`for_each_step`], in pieces of up to `step` bytes. `take` also gets the number of bytes before the
/// piece.
pub(crate) fn for_each_piece<S: ReadAt + ?Sized>(
    source: &S,
    (at, len): (u64, u64),
    step: usize,
    mut take: impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    // After this check, `at + done` cannot overflow.
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

/// Implements [`ReadAt`] for owners of bytes in memory.
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

/// Implements [`ReadAt`] for pointers to sources.
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

/// Reads by position. The file's cursor is not used and does not move.
#[cfg(unix)]
impl ReadAt for File {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buf, at)
    }

    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}

/// Reads by position. This moves the file's cursor, which nothing in this crate uses.
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

/// Converts the error of reading locked bytes on Windows into `ResourceBusy`.
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
