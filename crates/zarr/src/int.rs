//! Conversions between integers, none of which loses anything.

use crate::error::{Checked, ZarrError};
pub(crate) use bloscpack_wire::internal::to_u64;
#[cfg(feature = "lz4")]
pub(crate) use bloscpack_wire::internal::to_usize;

/// A length as one in memory.
pub(crate) fn in_memory(bytes: u64) -> Checked<usize> {
    usize::try_from(bytes).map_err(|_| ZarrError::NoMemory { bytes })
}

/// The product, if it is at most 2^63-1. A zero does not hide that the product of the others is too large.
pub(crate) fn product(factors: &[u64]) -> Option<u64> {
    let mut nonzero = factors.iter().filter(|factor| **factor > 0);
    let product = nonzero.try_fold(1u64, |product, factor| product.checked_mul(*factor))?;
    i64::try_from(product).ok()?;
    Some(if factors.contains(&0) { 0 } else { product })
}

/// Bytes of so many elements along each axis, if they are at most 2^63-1.
pub(crate) fn byte_len(lens: &[u64], itemsize: u64) -> Option<u64> {
    let mut factors = lens.to_vec();
    factors.push(itemsize);
    product(&factors)
}

#[cfg(test)]
mod tests {
    use super::{byte_len, product};

    #[test]
    fn products_do_not_overflow() {
        assert_eq!(product(&[]), Some(1));
        assert_eq!(product(&[3, 0, 5]), Some(0));
        assert_eq!(product(&[1 << 62, 2]), None);
        assert_eq!(product(&[1 << 62, 0, 2]), None);
        assert_eq!(byte_len(&[1 << 60], 4), Some(1 << 62));
        assert_eq!(byte_len(&[1 << 60], 8), None);
    }
}
