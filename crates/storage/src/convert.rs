//! Conversions between lengths in memory, `usize`, and lengths and positions in files, `u64`.

use std::io;

/// Lengths in memory fit into lengths of files on every platform that builds this.
const _: () = assert!(usize::BITS <= u64::BITS);

/// A length in memory, as a length in a file.
pub(crate) const fn to_u64(len: usize) -> u64 {
    len as u64
}

/// A length in a file, as a length in memory.
///
/// # Errors
/// Returns [`OutOfMemory`](io::ErrorKind::OutOfMemory) if no memory of this platform is that long.
pub(crate) fn to_usize(len: u64) -> io::Result<usize> {
    usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

/// The smaller of a length in a file and a length in memory.
pub(crate) fn min_len(in_file: u64, in_memory: usize) -> usize {
    // A length that does not fit into `usize` is longer than anything in memory.
    usize::try_from(in_file).map_or(in_memory, |len| len.min(in_memory))
}

/// The first bytes of a buffer: `most`, or all if there are fewer.
pub(crate) fn prefix(buf: &mut [u8], most: u64) -> &mut [u8] {
    let len = min_len(most, buf.len());
    buf.split_at_mut(len).0
}

/// The position after `len` bytes from position `at` on.
///
/// # Errors
/// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if positions do not go that far.
pub(crate) fn end_of(at: u64, len: u64) -> io::Result<u64> {
    at.checked_add(len).ok_or_else(|| {
        let what = format!("{len} bytes from position {at} on end after the last position, 2^64-1");
        io::Error::new(io::ErrorKind::InvalidInput, what)
    })
}
