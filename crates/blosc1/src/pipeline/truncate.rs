//! The filter truncated precision, which sets the lowest bits of floating-point numbers to zero. It
//! cannot be undone.

/// Bits of the mantissa of a floating-point number of `typesize` bytes; `None` if there is no such
/// type.
pub(crate) const fn mantissa(typesize: u8) -> Option<u8> {
    match typesize {
        4 => Some(23),
        8 => Some(52),
        _ => None,
    }
}

/// The number of bits to set to zero if `bits` are to be kept or, if negative, dropped.
///
/// `None` if the mantissa has fewer bits, if none would be left, or if there is no such type.
pub(crate) const fn zeroed(typesize: u8, bits: i8) -> Option<u8> {
    let Some(all) = mantissa(typesize) else {
        return None;
    };
    let count = bits.unsigned_abs();
    if count > all {
        return None;
    }
    let zeroed = if bits >= 0 { all - count } else { count };
    // C-Blosc2 refuses to drop the whole mantissa.
    if zeroed < all { Some(zeroed) } else { None }
}

/// Sets the lowest `zeroed` bits, fewer than 64, of each number to zero.
pub(crate) fn truncate(typesize: u8, zeroed: u8, block: &mut [u8]) {
    let mask = u64::MAX << zeroed;
    if typesize == 4 {
        let [m0, m1, m2, m3, ..] = mask.to_le_bytes();
        keep([m0, m1, m2, m3], block);
    } else {
        keep(mask.to_le_bytes(), block);
    }
}

/// Clears the bits of each whole number of `W` bytes that are 0 in `mask`.
fn keep<const W: usize>(mask: [u8; W], block: &mut [u8]) {
    for word in block.as_chunks_mut::<W>().0 {
        for (byte, mask) in word.iter_mut().zip(mask) {
            *byte &= mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{truncate, zeroed};

    #[test]
    fn bits_are_kept_or_cut() {
        assert_eq!(zeroed(4, 10), Some(13));
        assert_eq!(zeroed(4, -10), Some(10));
        assert_eq!(zeroed(8, 52), Some(0));
        assert_eq!(zeroed(4, 24), None);
        assert_eq!(zeroed(8, -53), None);
        assert_eq!(zeroed(4, 0), None);
        assert_eq!(zeroed(4, -23), None);
        assert_eq!(zeroed(2, 1), None);
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
    }
}
