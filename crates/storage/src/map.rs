//! [`Map`]: a file mapped into memory, with the cargo feature `mmap`.
#![allow(
    unsafe_code,
    reason = "mapping a file is a promise about other programs"
)]

use super::ReadAt;
use memmap2::Mmap;
use std::fs::File;
use std::io;

/// A file that the system shows as memory: reading it is a copy and no call into the system.
///
/// # What other programs do
///
/// A map is only right for files that nobody changes meanwhile, and no library can make sure of that:
///
/// - If the file is made shorter, on Unix the next access behind its new end ends **the whole
///   process** with the signal `SIGBUS`; so does a disk or network that fails. Nothing turns this
///   into an [`io::Error`]. (Windows refuses to shorten a mapped file.)
/// - If bytes are changed, they change under a reader that has already checked them: a digest can be
///   right and the data that follows wrong. To the compiler that is undefined behaviour, as the
///   slice of [`as_ref`](AsRef::as_ref) is not supposed to change at all.
/// - Bytes that are added stay unseen: the length is that of the moment of opening.
///
/// That holds for changes by this process, too. A file that is replaced by renaming another over it
/// does no harm: the map keeps the old one. Where any of that may happen, give the [`File`] itself,
/// which is read by position: what was read then stays as it was read, and all that goes wrong is an
/// error.
///
/// ```no_run
/// use bloscpack::IndexedReader;
/// use bloscpack_storage::Map;
/// use std::fs::File;
///
/// let map = Map::open(&File::open("walk.blp")?)?;
/// let reader = IndexedReader::open(&map)?;
/// let mut number = [0; 8];
/// reader.read_exact_at(8 * 1000, &mut number)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Map {
    bytes: Mmap,
}

impl Map {
    /// Maps a whole regular file as it is now; the `File` may be closed afterwards.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for what is no regular file and has no length
    /// to map, as a pipe; those of the system, if there is no room for so long a file in the address
    /// space, or the file system has no maps.
    pub fn open(file: &File) -> io::Result<Self> {
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "only a regular file can be mapped into memory; read it as a stream",
            ));
        }
        // SAFETY: the map is for reading only, and nothing here changes the file. That nobody else
        // does cannot be made sure of; the type's documentation leaves it to the caller.
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
