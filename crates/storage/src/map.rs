//! [`Map`]: a file mapped into memory, with the cargo feature `mmap`.
#![allow(
    unsafe_code,
    reason = "mapping a file is a promise about other programs, which the documentation asks of the caller"
)]

use crate::ReadAt;
use memmap2::Mmap;
use std::fs::File;
use std::io;

/// A file mapped into memory: reads copy from memory, without a system call. Needs the feature `mmap`.
///
/// # Changes by other programs
///
/// A map is only correct while nothing changes the file, and no library can ensure that:
///
/// - If the file becomes shorter, the next access past its new end terminates **the whole process** with the
///   signal `SIGBUS` on Unix; so does a failing disk or network. It cannot be turned into an [`io::Error`].
///   (Windows refuses to shorten a mapped file.)
/// - If bytes change, they change under a reader that has already checked them: a checksum may match although
///   the data used afterwards is wrong. It is undefined behaviour, because the slice of
///   [`as_ref`](AsRef::as_ref) must not change at all.
/// - Appended bytes are not visible: the length is that at opening.
///
/// This includes changes by the same process. Renaming another file over this one is harmless, because the map
/// keeps the old file. Where any of this may happen, read the [`File`] by position instead: the bytes that were
/// read stay unchanged, and every failure is an error.
///
/// ```no_run
/// use bloscpack_storage::{Map, ReadAt};
/// use std::fs::File;
///
/// let map = Map::open(&File::open("walk.blp")?)?;
/// let mut magic = [0; 4];
/// map.read_exact_at(0, &mut magic)?;
/// assert_eq!(&magic, b"blpk");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Map {
    bytes: Mmap,
}

impl Map {
    /// Maps a regular file with its current length. The `File` may be closed afterwards.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) for anything other than a regular file, such as a
    /// pipe, and any error of the system, for example if the address space is too small or the file system does
    /// not support maps.
    pub fn open(file: &File) -> io::Result<Self> {
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "only a regular file can be mapped into memory; read it as a stream",
            ));
        }
        // SAFETY: the map is for reading only, and nothing here changes the file. Nothing can
        // ensure that no other program does; the type's documentation leaves that to the caller.
        let bytes = unsafe { Mmap::map(file)? };
        Ok(Self { bytes })
    }
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl ReadAt for Map {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.as_ref().read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.as_ref().size()
    }
}
