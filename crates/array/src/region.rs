//! [`Region`]: a box of elements, and functions on boxes.

use bloscpack_error::checked::{len_of, to_u64};
use bloscpack_error::{Code, Error, Result};
use std::fmt::Display;
use std::ops::{Deref, Range};

/// The target size of a batch in bytes: 16 MiB.
pub const BATCH: usize = 16 << 20;

/// A box of the elements of an array: one range per axis, in elements.
///
/// It dereferences to a slice of ranges, which most functions take.
///
/// ```
/// use bloscpack_array::Region;
/// let region = Region::of_rows(2..5, &[10, 100]);
/// assert_eq!(region.ranges, [2..5, 0..100]);
/// assert_eq!((region.shape(), region.bytes(8)), (vec![3, 100], 2400));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// One range per axis. An axis at a single position has length 1.
    pub ranges: Vec<Range<u64>>,
}

impl Deref for Region {
    type Target = [Range<u64>];

    fn deref(&self) -> &[Range<u64>] {
        &self.ranges
    }
}

impl From<Vec<Range<u64>>> for Region {
    fn from(ranges: Vec<Range<u64>>) -> Self {
        Self { ranges }
    }
}

impl Region {
    /// All elements of an array of this shape.
    #[must_use]
    pub fn all(shape: &[u64]) -> Self {
        Self {
            ranges: shape.iter().map(|&len| 0..len).collect(),
        }
    }

    /// These rows, with all elements along the other axes. The rows are not checked against the shape.
    #[must_use]
    pub fn of_rows(rows: Range<u64>, shape: &[u64]) -> Self {
        let mut all = Self::all(shape);
        if let Some(first) = all.ranges.first_mut() {
            *first = rows;
        }
        all
    }

    /// The number of elements along each axis; 0 for a range that ends before it begins.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        lens(self)
    }

    /// The bytes of its elements. Saturates at `u64::MAX`, which no allocation satisfies.
    #[must_use]
    pub fn bytes(&self, itemsize: u64) -> u64 {
        bytes_of(self, itemsize)
    }

    /// Passes the region to `take` in C order, in parts of at most 16 MiB, or of one element if that is longer.
    ///
    /// Where possible, parts begin at chunk boundaries, so each chunk is decompressed once.
    ///
    /// ```
    /// use bloscpack_array::Region;
    /// let mut sizes = Vec::new();
    /// Region::all(&[2, 3 << 20]).for_each_part(8, &[1, 1 << 20], |part| {
    ///     sizes.push(part.bytes(8) >> 20);
    ///     Ok::<_, bloscpack_error::Error>(())
    /// })?;
    /// assert_eq!(sizes, [16, 8, 16, 8]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the first error of `take`, after which no part follows.
    pub fn for_each_part<E>(
        &self,
        itemsize: u64,
        chunk_shape: &[u64],
        mut take: impl FnMut(&Self) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        if self.ranges.iter().any(Range::is_empty) {
            return Ok(());
        }
        split(&mut self.clone(), 0, itemsize, chunk_shape, &mut take)
    }
}

/// The number of elements along each axis of a region.
#[must_use]
pub fn lens(region: &[Range<u64>]) -> Vec<u64> {
    region.iter().map(len_of).collect()
}

/// The index of the first element of a region.
#[must_use]
pub fn starts(region: &[Range<u64>]) -> Vec<u64> {
    region.iter().map(|range| range.start).collect()
}

/// The bytes of a region. Saturates at `u64::MAX`, which no allocation satisfies.
#[must_use]
pub fn bytes_of(region: &[Range<u64>], itemsize: u64) -> u64 {
    // A shape may claim any number of bytes; saturated, the number is refused where memory is allocated.
    region
        .iter()
        .map(len_of)
        .fold(itemsize, u64::saturating_mul)
}

/// The intersection of two regions of the same array; empty along an axis where they do not overlap.
///
/// ```
/// use bloscpack_array::common;
/// assert_eq!(common(&[0..4, 0..4], &[2..6, 1..3]).ranges, [2..4, 1..3]);
/// assert!(common(&[0..4], &[5..8])[0].is_empty());
/// ```
#[must_use]
pub fn common(one: &[Range<u64>], other: &[Range<u64>]) -> Region {
    let axes = one.iter().zip(other);
    let ranges = axes.map(|(one, other)| {
        let start = one.start.max(other.start);
        start..one.end.min(other.end).max(start)
    });
    Region {
        ranges: ranges.collect(),
    }
}

/// Shifts a region so that `origin` becomes index 0. The region must not begin before `origin` on any axis.
///
/// ```
/// use bloscpack_array::relative;
/// assert_eq!(relative(&[12..15, 0..4], &[10, 0]).ranges, [2..5, 0..4]);
/// ```
#[must_use]
pub fn relative(region: &[Range<u64>], origin: &[u64]) -> Region {
    let axes = region.iter().zip(origin);
    let ranges = axes.map(|(range, begin)| range.start - begin..range.end - begin);
    Region {
        ranges: ranges.collect(),
    }
}

/// The product, if it is at most 2^63-1. Factors of 0 are left out of this check: an empty array with rows of too many bytes is
/// refused, too.
///
/// ```
/// use bloscpack_array::product;
/// assert_eq!((product([3, 5]), product([3, 0, 5])), (Some(15), Some(0)));
/// assert_eq!(product([1 << 62, 0, 2]), None);
/// ```
#[must_use]
pub fn product(factors: impl IntoIterator<Item = u64>) -> Option<u64> {
    let mut is_empty = false;
    let product = factors.into_iter().try_fold(1u64, |product, factor| {
        is_empty |= factor == 0;
        product.checked_mul(factor.max(1))
    })?;
    i64::try_from(product).ok()?;
    Some(if is_empty { 0 } else { product })
}

/// Checks that ranges are a region of an array of this shape.
///
/// # Errors
/// Returns [`Code::OutOfBounds`] for another number of ranges, and for one that is not inside its axis or ends before it
/// begins.
pub fn check(ranges: &[Range<u64>], shape: &[u64]) -> Result<()> {
    let mut axes = ranges.iter().zip(shape);
    let fits = ranges.len() == shape.len()
        && axes.all(|(range, len)| range.start <= range.end && range.end <= *len);
    if fits {
        Ok(())
    } else {
        Err(outside(format!("the slice {ranges:?}"), shape))
    }
}

/// The error for a request outside an array of this shape; `asked` describes the request.
pub fn outside(asked: impl Display, shape: &[u64]) -> Error {
    let message = format!("{asked} is outside of an array of shape {shape:?}");
    Error::new(Code::OutOfBounds, message)
}

/// Splits the part along the first axis with several positions, and along further axes if that is not enough.
fn split<E>(
    part: &mut Region,
    axis: usize,
    itemsize: u64,
    chunk_shape: &[u64],
    take: &mut impl FnMut(&Region) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let most = to_u64(BATCH);
    let Some(whole) = part.ranges.get(axis).cloned() else {
        return take(part);
    };
    let inner = part.ranges.iter().skip(axis + 1);
    // A shape may claim any number of bytes. If `each` saturates, no position fits, and the inner axes are split.
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
        // After the first, parts begin at multiples of `step`.
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
    use super::{BATCH, Region, product};

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
    fn products_do_not_overflow() {
        assert_eq!(product([]), Some(1));
        assert_eq!(product([3, 0, 5]), Some(0));
        assert_eq!(product([1 << 62, 2]), None);
        assert_eq!(product([1 << 62, 0, 2]), None);
        assert_eq!(product([1 << 60, 4]), Some(1 << 62));
    }
}
