//! Conversions between lengths in memory (`usize`) and lengths and positions in files (`u64`).

use std::io;

/// `usize` fits into `u64` on every supported platform.
const _: () = assert!(usize::BITS <= u64::BITS);

/// Converts a length in memory to a length in a file.
pub(crate) const fn to_u64(len: usize) -> u64 {
    len as u64
}

/// Converts a length in a file to a length in memory.
///
/// # Errors
/// Returns [`OutOfMemory`](io::ErrorKind::OutOfMemory) if it exceeds `usize`.
pub(crate) fn to_usize(len: u64) -> io::Result<usize> {
    usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

/// The smaller of a length in a file and a length in memory.
pub(crate) fn min_len(in_file: u64, in_memory: usize) -> usize {
    // A length beyond `usize` exceeds any length in memory.
    usize::try_from(in_file).map_or(in_memory, |len| len.min(in_memory))
}

/// The first `most` bytes of a buffer, or all of it if it is shorter.
pub(crate) fn prefix(buf: &mut [u8], most: u64) -> &mut [u8] {
    let len = min_len(most, buf.len());
    buf.split_at_mut(len).0
}

/// `at + len`.
///
/// # Errors
/// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if the sum exceeds 2^64-1.
pub(crate) fn end_of(at: u64, len: u64) -> io::Result<u64> {
    at.checked_add(len).ok_or_else(|| {
        let what = format!("{len} bytes from position {at} on end after the last position, 2^64-1");
        io::Error::new(io::ErrorKind::InvalidInput, what)
    })
}
