//! Conversions between lengths in memory, `usize`, and lengths in files, `u64`.

use crate::error::DatasetError;
use bloscpack_error::Result;

/// Lengths in memory fit into lengths in files on every platform that builds this.
const _: () = assert!(usize::BITS <= u64::BITS);
/// The length of a chunk fits into memory on every platform that builds this.
const _: () = assert!(u32::BITS <= usize::BITS);

/// A length in memory, as a length in a file.
pub(crate) const fn to_u64(len: usize) -> u64 {
    len as u64
}

/// The length of a chunk or a part of one, as a length in memory.
pub(crate) const fn chunk_len(len: u32) -> usize {
    len as usize
}

/// A length in a file, as a length in memory.
///
/// # Errors
/// Returns [`DatasetError::OutOfMemory`] if no memory of this platform is that long.
pub(crate) fn to_usize(len: u64) -> Result<usize> {
    usize::try_from(len).map_err(|_| DatasetError::OutOfMemory { bytes: len }.into())
}

/// Zeros, if there is memory for them. They take none until they are written.
///
/// # Errors
/// Returns [`DatasetError::OutOfMemory`].
pub(crate) fn zeroed<T: bytemuck::Zeroable>(count: u64) -> Result<Vec<T>> {
    let bytes = count.saturating_mul(to_u64(size_of::<T>()));
    bytemuck::try_zeroed_vec(to_usize(count)?)
        .map_err(|()| DatasetError::OutOfMemory { bytes }.into())
}
