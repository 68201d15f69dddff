//! Conversions between integers, none of which loses anything.

use crate::error::{Checked, ZarrError};
pub(crate) use bloscpack_array::product;
pub(crate) use bloscpack_wire::internal::to_u64;
#[cfg(feature = "lz4")]
pub(crate) use bloscpack_wire::internal::to_usize;

/// A length as one in memory.
pub(crate) fn in_memory(bytes: u64) -> Checked<usize> {
    usize::try_from(bytes).map_err(|_| ZarrError::NoMemory { bytes })
}

/// Bytes of so many elements along each axis, if they are at most 2^63-1.
pub(crate) fn byte_len(lens: &[u64], itemsize: u64) -> Option<u64> {
    product(lens.iter().copied().chain([itemsize]))
}
