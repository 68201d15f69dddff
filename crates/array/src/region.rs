//! [`Region`]: a box of elements.

use bloscpack_error::checked::{len_of, to_u64};
use std::ops::Range;

/// Bytes of elements that are in memory at once while a region is read.
pub const BATCH: usize = 16 << 20;

/// A box of the elements of an array: a range along each axis.
///
/// ```
/// use bloscpack_array::Region;
/// let region = Region::of_rows(2..5, &[10, 100]);
/// assert_eq!(region.ranges, [2..5, 0..100]);
/// assert_eq!((region.shape(), region.bytes(8)), (vec![3, 100], 2400));
/// // The third chunk of a grid of 2 by 2 chunks.
/// assert_eq!(Region::of_chunk(2, &[10, 100], &[6, 60]).ranges, [6..10, 0..60]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// A range for each axis. An axis of which one position was asked for has length 1.
    pub ranges: Vec<Range<u64>>,
}

impl Region {
    /// All elements of an array of this shape.
    #[must_use]
    pub fn all(shape: &[u64]) -> Self {
        Self {
            ranges: shape.iter().map(|&len| 0..len).collect(),
        }
    }

    /// These rows of an array of this shape.
    #[must_use]
    pub fn of_rows(rows: Range<u64>, shape: &[u64]) -> Self {
        let mut all = Self::all(shape);
        if let Some(first) = all.ranges.first_mut() {
            *first = rows;
        }
        all
    }

    /// The elements of the chunk with this number, in a grid of chunks that is counted in C order.
    #[must_use]
    pub fn of_chunk(number: u64, shape: &[u64], chunk_shape: &[u64]) -> Self {
        let mut rest = number;
        let axes = shape.iter().zip(chunk_shape).rev();
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
        Self { ranges }
    }

    /// Elements along each axis.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.ranges.iter().map(len_of).collect()
    }

    /// Bytes of its elements; `u64::MAX` for more, which no memory has room for.
    #[must_use]
    pub fn bytes(&self, itemsize: u64) -> u64 {
        // A shape may claim any number of bytes. More than there can be are as good as the highest number.
        self.shape().into_iter().fold(itemsize, u64::saturating_mul)
    }

    /// Passes the region, one part after another in C order, to `take`. Each part has at most 16 MiB, or one element.
    ///
    /// As far as possible, parts begin where chunks do, so that no chunk is decompressed more often than necessary.
    ///
    /// # Errors
    /// Returns the first error of `take`.
    pub fn for_each_part<E>(
        &self,
        itemsize: u64,
        chunk_shape: &[u64],
        mut take: impl FnMut(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.ranges.iter().any(Range::is_empty) {
            return Ok(());
        }
        split(&mut self.clone(), 0, itemsize, chunk_shape, &mut take)
    }
}

/// Splits the part along the first axis with several positions, and along further axes if that is not enough.
fn split<E>(
    part: &mut Region,
    axis: usize,
    itemsize: u64,
    chunk_shape: &[u64],
    take: &mut impl FnMut(&Region) -> Result<(), E>,
) -> Result<(), E> {
    let most = to_u64(BATCH);
    let Some(whole) = part.ranges.get(axis).cloned() else {
        return take(part);
    };
    let inner = part.ranges.iter().skip(axis + 1);
    // A shape may claim any number of bytes. Saturated, no position fits, and the inner axes are split.
    let each = inner.fold(itemsize, |bytes, range| bytes.saturating_mul(len_of(range)));
    let band = chunk_shape.get(axis).copied().unwrap_or(1).max(1);
    let fit = most / each.max(1);
    let step = if fit >= band {
        fit - fit % band
    } else {
        fit.max(1)
    };
    let set = |part: &mut Region, range| {
        if let Some(axis) = part.ranges.get_mut(axis) {
            *axis = range;
        }
    };
    let mut start = whole.start;
    while start < whole.end {
        // After the first, parts begin at multiples.
        let next = (start / step).saturating_add(1).saturating_mul(step);
        let end = next.min(whole.end);
        set(part, start..end);
        if fit >= 1 {
            take(part)?
        } else {
            split(part, axis + 1, itemsize, chunk_shape, take)?
        }
        start = end;
    }
    set(part, whole);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BATCH, Region};

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
        let ranges = ranges.to_vec();
        let region = Region { ranges };
        let done: Result<(), ()> = region.for_each_part(itemsize, &[2, 2, 8], |part| {
            let part = &part.ranges;
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
        let ranges = vec![0..4, 2..2];
        let region = Region { ranges };
        let done: Result<(), ()> = region.for_each_part(8, &[4, 4], |_| Err(()));
        assert_eq!(done, Ok(()));
    }

    #[test]
    fn chunks_are_counted_along_the_last_axis_first() {
        // A grid of 2 by 3 chunks.
        assert_eq!(Region::of_chunk(0, &[5, 7], &[3, 3]).ranges, [0..3, 0..3]);
        assert_eq!(Region::of_chunk(2, &[5, 7], &[3, 3]).ranges, [0..3, 6..7]);
        assert_eq!(Region::of_chunk(3, &[5, 7], &[3, 3]).ranges, [3..5, 0..3]);
    }
}
