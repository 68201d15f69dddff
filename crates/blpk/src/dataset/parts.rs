//! Regions of an array, part by part in C order.

use std::ops::Range;

use super::BATCH;
use bloscpack::wire::internal::to_u64;

/// Passes the region, one part after another, to `take`. Each part has at most [`BATCH`] bytes, or one element.
///
/// As far as possible, parts begin where chunks do, so that no chunk is decompressed more often than necessary.
pub fn in_parts<E>(
    ranges: &[Range<u64>],
    itemsize: u64,
    chunk: &[u64],
    take: &mut impl FnMut(&[Range<u64>]) -> Result<(), E>,
) -> Result<(), E> {
    if ranges.iter().any(Range::is_empty) {
        return Ok(());
    }
    let mut part = ranges.to_vec();
    split(&mut part, 0, itemsize, chunk, take)
}

/// Splits the part along the first axis with several positions, and along further axes if that is not enough.
fn split<E>(
    part: &mut [Range<u64>],
    axis: usize,
    itemsize: u64,
    chunk: &[u64],
    take: &mut impl FnMut(&[Range<u64>]) -> Result<(), E>,
) -> Result<(), E> {
    let most = to_u64(BATCH);
    let Some(whole) = part.get(axis).cloned() else {
        return take(part);
    };
    let inner = part.iter().skip(axis + 1);
    // A shape may claim any number of bytes. Saturated, no position fits, and the inner axes are split.
    let each = inner.fold(itemsize, |bytes, range| {
        bytes.saturating_mul(range.end - range.start)
    });
    let band = chunk.get(axis).copied().unwrap_or(1).max(1);
    let fit = most / each.max(1);
    let step = if fit >= band {
        fit - fit % band
    } else {
        fit.max(1)
    };
    let mut start = whole.start;
    while start < whole.end {
        // After the first, parts begin at multiples.
        let next = (start / step).saturating_add(1).saturating_mul(step);
        let end = next.min(whole.end);
        part[axis] = start..end;
        if fit >= 1 {
            take(part)?;
        } else {
            split(part, axis + 1, itemsize, chunk, take)?;
        }
        start = end;
    }
    part[axis] = whole;
    Ok(())
}

/// The elements of the chunk with this number, in a grid of chunks that is counted in C order.
pub fn chunk(number: u64, shape: &[u64], chunk: &[u64]) -> Vec<Range<u64>> {
    let mut rest = number;
    let axes = shape.iter().zip(chunk).rev();
    let mut ranges: Vec<_> = axes
        .map(|(&len, &chunk)| {
            let chunk = chunk.max(1);
            let count = len.div_ceil(chunk).max(1);
            let start = (rest % count) * chunk;
            rest /= count;
            // Saturates: the array ends before.
            start..start.saturating_add(chunk).min(len)
        })
        .collect();
    ranges.reverse();
    ranges
}

#[cfg(test)]
mod tests {
    use super::{BATCH, chunk, in_parts};

    #[test]
    fn parts_are_the_region_in_order() {
        // Rows of 40 MiB, which do not fit, of 5 x 8 MiB.
        let (itemsize, ranges) = (1 << 20, [3..5, 1..6, 0..8]);
        let (mut expected, mut seen) = (Vec::new(), Vec::new());
        for i in 3..5u64 {
            for j in 1..6u64 {
                for k in 0..8u64 {
                    expected.push([i, j, k]);
                }
            }
        }
        let done: Result<(), ()> = in_parts(&ranges, itemsize, &[2, 2, 8], &mut |part| {
            let lens = part.iter().map(|range| range.end - range.start);
            assert!(lens.product::<u64>() * itemsize <= BATCH as u64);
            for i in part[0].clone() {
                for j in part[1].clone() {
                    for k in part[2].clone() {
                        seen.push([i, j, k]);
                    }
                }
            }
            Ok(())
        });
        assert_eq!((done, seen), (Ok(()), expected));
    }

    #[test]
    fn an_empty_region_has_no_parts() {
        let done: Result<(), ()> = in_parts(&[0..4, 2..2], 8, &[4, 4], &mut |_| Err(()));
        assert_eq!(done, Ok(()));
    }

    #[test]
    fn chunks_are_counted_along_the_last_axis_first() {
        // A grid of 2 by 3 chunks.
        assert_eq!(chunk(0, &[5, 7], &[3, 3]), [0..3, 0..3]);
        assert_eq!(chunk(2, &[5, 7], &[3, 3]), [0..3, 6..7]);
        assert_eq!(chunk(3, &[5, 7], &[3, 3]), [3..5, 0..3]);
    }
}
