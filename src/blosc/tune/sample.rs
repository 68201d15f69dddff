//! Which part of the data is looked at.

use std::ops::Range;

/// Bytes of a piece, and how many there are at the most: 1 MiB in all.
pub(super) const PIECE: usize = 128 << 10;
pub(super) const PIECES: usize = 8;
/// Pieces begin at multiples of this, so at the beginning of an element of any size that is tried.
const ALIGN: u64 = 48;

/// Where the pieces of a sample lie in data of this many bytes: at most 8, of at most 128 KiB, evenly
/// spread from the beginning to the end. Of data up to 1 MiB they are all of it.
///
/// ```
/// use bloscpack::blosc::sample_places;
///
/// assert_eq!(sample_places(1000), [0..1000]);
/// let places = sample_places(1 << 40);
/// assert_eq!((places.len(), places[0].start), (8, 0));
/// assert!(places[7].end > (1 << 40) - 100);
/// ```
#[must_use]
pub fn sample_places(len: u64) -> Vec<Range<u64>> {
    let (piece, pieces) = (PIECE as u64, PIECES as u64);
    if len <= piece * pieces {
        let starts = (0..len.div_ceil(piece)).map(|number| number * piece);
        return starts.map(|start| start..len.min(start + piece)).collect();
    }
    // The last piece ends with the data; it is divided first lest the product overflows.
    let step = (len - piece) / (pieces - 1);
    let starts = (0..pieces).map(|number| number * step / ALIGN * ALIGN);
    starts.map(|start| start..start + piece).collect()
}

#[cfg(test)]
mod tests {
    use super::{PIECE, PIECES, sample_places};

    #[test]
    fn pieces_are_in_order_within_the_data_and_never_more_than_a_mebibyte() {
        let whole = (PIECE * PIECES) as u64;
        for len in [
            0,
            1,
            127,
            131_072,
            131_073,
            whole - 1,
            whole,
            whole + 1,
            u64::MAX,
        ] {
            let places = sample_places(len);
            let sum: u64 = places.iter().map(|place| place.end - place.start).sum();
            assert_eq!(sum, len.min(whole), "{len}");
            assert!(places.iter().all(|place| place.end <= len), "{len}");
            let starts: Vec<_> = places.iter().map(|place| place.start).collect();
            assert!(starts.is_sorted(), "{len}");
        }
    }
}
