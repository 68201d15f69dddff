//! The parts of the data that form the sample.

use std::ops::Range;

/// Maximum length in bytes of all pieces together.
pub(super) const SAMPLE: usize = 1 << 20;
/// Number of pieces of longer data. Few, since compressors reach their full ratio only after some
/// distance.
const PIECES: usize = 4;
/// Pieces begin at multiples of this: at the start of an element, for all typesizes that are tried.
const ALIGN: usize = 48;

/// The positions of the pieces in data of this many bytes.
pub(super) fn places(len: u64) -> Vec<Range<u64>> {
    let (sample, pieces, align) = (SAMPLE as u64, PIECES as u64, ALIGN as u64);
    if len <= sample {
        return Vec::from_iter((len > 0).then_some(0..len));
    }
    let piece = sample / pieces;
    // The last piece ends with the data. Division before multiplication avoids an overflow.
    let step = (len - piece) / (pieces - 1);
    let starts = (0..pieces).map(|number| number * step / align * align);
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

/// Windows of `len` bytes from all over the pieces: as many as a sample has pieces, or one of each
/// piece if there are more.
pub(super) fn windows<'a>(pieces: &[&'a [u8]], len: usize) -> Vec<&'a [u8]> {
    let each = (PIECES / pieces.len().max(1)).max(1);
    let mut windows = Vec::new();
    for piece in pieces {
        if piece.len() <= each * len {
            windows.push(*piece);
            continue;
        }
        let step = (piece.len() - len) / (each - 1).max(1);
        let starts = (0..each).map(|number| number * step / ALIGN * ALIGN);
        windows.extend(starts.map(|start| &piece[start..start + len]));
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::{SAMPLE, bounded, places, windows};

    #[test]
    fn windows_are_spread_over_the_pieces() {
        let piece: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        let starts = |pieces: &[&[u8]], len| -> Vec<_> {
            let windows = windows(pieces, len);
            let of = |window: &&[u8]| (window[0], window.len());
            windows.iter().map(of).collect()
        };
        // At 0, 3264, 6576 and 9888, which are multiples of 48.
        assert_eq!(
            starts(&[&piece], 100),
            [(0, 100), (192, 100), (176, 100), (160, 100)]
        );
        assert_eq!(starts(&[&piece, &piece[5..]], 100).len(), 4);
        assert_eq!(starts(&[&piece[..9]; 5], 9), [(0, 9); 5]);
        assert_eq!(starts(&[&piece[..300]], 100), [(0, 300)]);
        assert_eq!(starts(&[], 100), []);
    }

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
