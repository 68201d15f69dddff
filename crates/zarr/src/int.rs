//! Products of lengths.

use bloscpack_array::product;

/// Bytes of a box with these lengths; `None` for more than 2^63-1.
pub(crate) fn byte_len(lens: &[u64], itemsize: u64) -> Option<u64> {
    product(lens.iter().copied().chain([itemsize]))
}
