//! The filter bytedelta: each byte as its difference, modulo 256, from the one before it in the same stream.
//!
//! ```text
//! block     stream 0 | stream 1 | … | stream w - 1 | rest        w streams of n / w bytes each
//! result    byte i of a stream = byte i - byte i - 1 (byte 0 unchanged)
//! ```
//!
//! The streams are what a shuffle of elements of `w` bytes leaves. The rest, fewer than `w` bytes, stays unchanged.

/// Bytes that the first version of the filter took as one step.
const STEP: usize = 16;

/// Applies the filter to a block of `width` streams.
pub(crate) fn apply(width: usize, src: &[u8], dst: &mut [u8]) {
    each_stream(width, src, dst, |from, to| {
        let mut before = 0;
        for (to, byte) in to.iter_mut().zip(from) {
            *to = byte.wrapping_sub(before);
            before = *byte;
        }
    });
}

/// Undoes the filter.
pub(crate) fn undo(width: usize, src: &[u8], dst: &mut [u8]) {
    each_stream(width, src, dst, sum);
}

/// Undoes the first version of the filter, as processors with vectors of 16 bytes applied it: the last `n % 16` bytes of a
/// stream are a stream of their own.
pub(crate) fn undo_first_version(width: usize, src: &[u8], dst: &mut [u8]) {
    each_stream(width, src, dst, |from, to| {
        let whole = from.len() - from.len() % STEP;
        let ((from, from_rest), (to, to_rest)) = (from.split_at(whole), to.split_at_mut(whole));
        sum(from, to);
        sum(from_rest, to_rest);
    });
}

/// Calls `act` with each stream of the source and its place in the destination, and copies the rest.
fn each_stream(width: usize, src: &[u8], dst: &mut [u8], mut act: impl FnMut(&[u8], &mut [u8])) {
    let width = width.max(1);
    let len = src.len() / width;
    let (streams, rest) = src.split_at(len * width);
    let (places, rest_place) = dst.split_at_mut(len * width);
    if len > 0 {
        let pairs = streams.chunks_exact(len).zip(places.chunks_exact_mut(len));
        pairs.for_each(|(from, to)| act(from, to));
    }
    rest_place.copy_from_slice(rest);
}

/// Replaces each byte by the sum of all bytes up to it.
///
/// Eight bytes at once, as two words with four lanes of 16 bits: a product with [`LANES`] adds to each lane all lanes below it,
/// and no sum leaves its lane.
fn sum(src: &[u8], dst: &mut [u8]) {
    let mut before = 0_u64;
    let (words, rest) = src.as_chunks::<8>();
    let (places, rest_place) = dst.as_chunks_mut::<8>();
    for (to, from) in places.iter_mut().zip(words) {
        let word = u64::from_le_bytes(*from);
        let even = (word & LOW_BYTES).wrapping_mul(LANES);
        let odd = (word >> 8 & LOW_BYTES).wrapping_mul(LANES);
        let base = (before & 0xFF) * LANES;
        before += (even >> 48) + (odd >> 48);
        let even_sums = even + (odd << 16) + base;
        let odd_sums = even + odd + base;
        *to = (even_sums & LOW_BYTES | (odd_sums & LOW_BYTES) << 8).to_le_bytes();
    }
    let [mut before, ..] = before.to_le_bytes();
    for (to, byte) in rest_place.iter_mut().zip(rest) {
        before = before.wrapping_add(*byte);
        *to = before;
    }
}

const LANES: u64 = 0x0001_0001_0001_0001;
const LOW_BYTES: u64 = 0x00FF_00FF_00FF_00FF;

#[cfg(test)]
mod tests {
    use super::{apply, undo, undo_first_version};

    /// Bytes without a pattern, so that sums wrap around at all positions.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn differences_are_within_a_stream() {
        let mut out = [0; 7];
        apply(3, &[10, 7, 1, 2, 200, 199, 5], &mut out);
        assert_eq!(out, [10, 253, 1, 1, 200, 255, 5]);
    }

    #[test]
    fn every_width_and_length_is_undone() {
        for width in [1, 2, 3, 4, 8, 12, 255] {
            for len in (0..70).chain([1000, 4099]) {
                let data = noise(len);
                let (mut filtered, mut back) = (vec![0; len], vec![0; len]);
                apply(width, &data, &mut filtered);
                undo(width, &filtered, &mut back);
                assert_eq!(back, data, "{len} bytes in {width} streams");
            }
        }
    }

    #[test]
    fn the_first_version_restarts_after_the_last_16_bytes() {
        let mut filtered = [1; 20];
        let mut back = [0; 20];
        undo_first_version(1, &filtered, &mut back);
        assert_eq!(back[15..], [16, 1, 2, 3, 4]);
        filtered[16..].fill(0);
        undo_first_version(1, &filtered, &mut back);
        assert_eq!(back[15..], [16, 0, 0, 0, 0]);
    }
}
