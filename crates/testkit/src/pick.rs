//! The expected elements of a slice, computed from its definition.
#![allow(
    clippy::cast_possible_truncation,
    reason = "arrays of tests fit in memory"
)]
#![allow(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::ops::Range;

/// Appends the elements of a box to `out`. How far the axes before have led is `at`: 0 at first.
pub fn pick(
    slice: &[Range<u64>],
    shape: &[u64],
    itemsize: usize,
    at: u64,
    whole: &[u8],
    out: &mut Vec<u8>,
) {
    let Some((range, rest)) = slice.split_first() else {
        let at = at as usize * itemsize;
        return out.extend_from_slice(&whole[at..at + itemsize]);
    };
    // The axes before an empty one may be of any length.
    if slice.iter().any(Range::is_empty) {
        return;
    }
    for position in range.clone() {
        let at = at * shape[0] + position;
        pick(rest, &shape[1..], itemsize, at, whole, out);
    }
}
