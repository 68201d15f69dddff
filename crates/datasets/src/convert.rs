//! Conversions between lengths in memory, `usize`, and lengths in files, `u64`.

use crate::error::DatasetError;
use bloscpack_error::Result;
pub(crate) use bloscpack_wire::internal::{to_u64, to_usize};

/// A length in a file, as a length in memory.
///
/// # Errors
/// Returns [`DatasetError::OutOfMemory`] if no memory of this platform is that long.
pub(crate) fn in_memory(len: u64) -> Result<usize> {
    usize::try_from(len).map_err(|_| DatasetError::OutOfMemory { bytes: len }.into())
}

/// Zeros, if there is memory for them. They take none until they are written.
///
/// # Errors
/// Returns [`DatasetError::OutOfMemory`].
pub(crate) fn zeroed<T: bytemuck::Zeroable>(count: u64) -> Result<Vec<T>> {
    let bytes = count.saturating_mul(to_u64(size_of::<T>()));
    bytemuck::try_zeroed_vec(in_memory(count)?)
        .map_err(|()| DatasetError::OutOfMemory { bytes }.into())
}
