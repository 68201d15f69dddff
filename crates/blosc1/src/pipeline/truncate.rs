//! The filters truncated precision and truncated integers, which set the lowest bits of numbers to zero. They cannot be undone.

/// The number of bits that can be truncated: those of the mantissa of a float, all of an integer. `None` if no such type has
/// `typesize` bytes.
pub(crate) const fn all_bits(is_float: bool, typesize: u8) -> Option<u8> {
    match (is_float, typesize) {
        (true, 4) => Some(23),
        (true, 8) => Some(52),
        (false, 1 | 2 | 4 | 8) => Some(8 * typesize),
        _ => None,
    }
}

/// The number of bits to set to zero if, of `all` bits, `bits` are to be kept or, if negative, dropped.
///
/// `None` if there are fewer bits, or if none would be left, which C-Blosc2 refuses.
pub(crate) const fn zeroed(all: u8, bits: i8) -> Option<u8> {
    let count = bits.unsigned_abs();
    if count > all {
        return None;
    }
    let zeroed = if bits >= 0 { all - count } else { count };
    if zeroed < all { Some(zeroed) } else { None }
}

/// Sets the lowest `zeroed` bits, fewer than 64, of each whole number to zero.
pub(crate) fn truncate(typesize: u8, zeroed: u8, block: &mut [u8]) {
    let mask = (u64::MAX << zeroed).to_le_bytes();
    let (mask, _) = mask.split_at(usize::from(typesize).min(mask.len()));
    for number in block.chunks_exact_mut(mask.len().max(1)) {
        for (byte, mask) in number.iter_mut().zip(mask) {
            *byte &= mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{all_bits, truncate, zeroed};

    #[test]
    fn bits_are_kept_or_cut() {
        assert_eq!(zeroed(23, 10), Some(13));
        assert_eq!(zeroed(23, -10), Some(10));
        assert_eq!(zeroed(52, 52), Some(0));
        assert_eq!(zeroed(23, 24), None);
        assert_eq!(zeroed(52, -53), None);
        assert_eq!(zeroed(23, 0), None);
        assert_eq!(zeroed(23, -23), None);
        assert_eq!(all_bits(true, 2), None);
        assert_eq!(all_bits(false, 2), Some(16));
        assert_eq!(all_bits(false, 16), None);
    }

    #[test]
    fn the_lowest_bits_become_zero() {
        let mut single = 1.999_f32.to_le_bytes().to_vec();
        truncate(4, 22, &mut single);
        assert_eq!(single, 1.5_f32.to_le_bytes());
        let mut double = [(-1.999_f64).to_le_bytes().as_slice(), &[0xFF]].concat();
        truncate(8, 51, &mut double);
        assert_eq!(
            double,
            [(-1.5_f64).to_le_bytes().as_slice(), &[0xFF]].concat()
        );
        let mut integers = [0xFF, 0xFF, 0x0F, 0xF1, 0xFF];
        truncate(2, 9, &mut integers);
        assert_eq!(integers, [0, 0xFE, 0, 0xF0, 0xFF]);
    }
}
