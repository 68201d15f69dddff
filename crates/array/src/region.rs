//! [`Region`]: a box of elements.

use bloscpack_error::checked::{len_of, to_u64};
use bloscpack_error::{Code, Error, Result};
use std::fmt::Display;
use std::ops::{Deref, Range};

/// Bytes of elements that are in memory at once while a region is read.
pub const BATCH: usize = 16 << 20;

/// A box of the elements of an array: a range along each axis.
///
/// Borrowed, it is a slice of ranges.
///
/// ```
/// use bloscpack_array::Region;
/// let region = Region::of_rows(2..5, &[10, 100]);
/// assert_eq!(region.ranges, [2..5, 0..100]);
/// assert_eq!((region.shape(), region.bytes(8)), (vec![3, 100], 2400));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// A range for each axis. An axis at a single position has length 1.
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

    /// These rows of an array of this shape.
    #[must_use]
    pub fn of_rows(rows: Range<u64>, shape: &[u64]) -> Self {
        let mut all = Self::all(shape);
        if let Some(first) = all.ranges.first_mut() {
            *first = rows;
        }
        all
    }

    /// Elements along each axis.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        lens(self)
    }

    /// Bytes of its elements; `u64::MAX` for more, which no memory has room for.
    #[must_use]
    pub fn bytes(&self, itemsize: u64) -> u64 {
        bytes_of(self, itemsize)
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
        mut take: impl FnMut(&Self) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        if self.ranges.iter().any(Range::is_empty) {
            return Ok(());
        }
        split(&mut self.clone(), 0, itemsize, chunk_shape, &mut take)
    }
}

/// Elements of a region along each axis.
#[must_use]
pub fn lens(region: &[Range<u64>]) -> Vec<u64> {
    region.iter().map(len_of).collect()
}

/// The index of the first element of a region.
#[must_use]
pub fn starts(region: &[Range<u64>]) -> Vec<u64> {
    region.iter().map(|range| range.start).collect()
}

/// Bytes of a region; `u64::MAX` for more, which no memory has room for.
#[must_use]
pub fn bytes_of(region: &[Range<u64>], itemsize: u64) -> u64 {
    // A shape may claim any number of bytes. More than there can be are as good as the highest number.
    region
        .iter()
        .map(len_of)
        .fold(itemsize, u64::saturating_mul)
}

/// The intersection of two regions.
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

/// A region relative to an origin, which it does not precede.
#[must_use]
pub fn relative(region: &[Range<u64>], origin: &[u64]) -> Region {
    let axes = region.iter().zip(origin);
    let ranges = axes.map(|(range, begin)| range.start - begin..range.end - begin);
    Region {
        ranges: ranges.collect(),
    }
}

/// The product, if it is at most 2^63-1. A zero does not hide that the product of the others is too large: the bytes of a row of
/// an array without rows are bounded, too.
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

/// Refuses ranges that are not a region of an array of this shape.
///
/// # Errors
/// Returns wrong usage for another number of ranges, and for one that is not inside its axis.
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

/// The error for elements that an array of this shape does not have.
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
