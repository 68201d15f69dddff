//! The parts of the data that make up the sample.

use std::ops::Range;

/// Maximum length in bytes of all pieces together.
pub(super) const SAMPLE: usize = 1 << 20;
/// Number of pieces of longer data. There are few, since compressors need some distance to look back
/// to reach their full ratio.
const PIECES: u64 = 4;
/// Pieces begin at multiples of this: at the start of an element, for all sizes that are tried.
const ALIGN: u64 = 48;

/// The positions of the pieces in data of this many bytes.
pub(super) fn places(len: u64) -> Vec<Range<u64>> {
    let sample = SAMPLE as u64;
    if len <= sample {
        return Vec::from_iter((len > 0).then_some(0..len));
    }
    let piece = sample / PIECES;
    // The last piece ends with the data. Dividing first avoids an overflow of the product.
    let step = (len - piece) / (PIECES - 1);
    let starts = (0..PIECES).map(|number| number * step / ALIGN * ALIGN);
    starts.map(|start| start..start + piece).collect()
}

/// The pieces, truncated to the length of a sample in total.
pub(super) fn bounded<'a>(pieces: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let mut left = SAMPLE;
    let mut bounded = Vec::new();
    for piece in pieces {
        let piece = &piece[..piece.len().min(left)];
        left -= piece.len();
        if !piece.is_empty() {
            bounded.push(piece);
        }
    }
    bounded
}

#[cfg(test)]
mod tests {
    use super::{SAMPLE, bounded, places};

    #[test]
    fn pieces_are_in_order_within_the_data_and_never_more_than_a_mebibyte() {
        let whole = SAMPLE as u64;
        for len in [0, 1, 127, 131_073, whole - 1, whole, whole + 1, u64::MAX] {
            let places = places(len);
            let sum: u64 = places.iter().map(|place| place.end - place.start).sum();
            assert_eq!(sum, len.min(whole), "{len}");
            assert!(places.iter().all(|place| place.end <= len), "{len}");
            let starts: Vec<_> = places.iter().map(|place| place.start).collect();
            assert!(starts.is_sorted(), "{len}");
        }
    }

    #[test]
    fn no_more_than_a_mebibyte_is_used() {
        let long = vec![0; SAMPLE - 5];
        let lens = |pieces: &[&[u8]]| -> Vec<_> {
            bounded(pieces).iter().map(|piece| piece.len()).collect()
        };
        assert_eq!(
            lens(&[&long, &[1; 3], &[], &[2; 9], &long]),
            [SAMPLE - 5, 3, 2]
        );
        assert_eq!(lens(&[]), [0; 0]);
    }
}
