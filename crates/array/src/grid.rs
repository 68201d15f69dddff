//! [`Grid`]: an array cut into chunks, or a chunk cut into blocks.

use crate::region::{Region, check, common};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// The shape of an array and of its chunks. The last chunk along an axis may be short.
///
/// Chunks are numbered in C order from 0. The *position* of a chunk is its number along each axis. All lengths are in elements.
///
/// ```
/// use bloscpack_array::Grid;
/// let grid = Grid::new(vec![5, 7], vec![3, 3]);
/// assert_eq!((grid.counts(), grid.count()), (&[2, 3][..], Some(6)));
/// assert_eq!(grid.extent(&[1, 2]).ranges, [3..5, 6..7]);
/// assert_eq!((grid.number(&[1, 2]), grid.position(5)), (5, vec![1, 2]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    shape: Vec<u64>,
    chunk: Vec<u64>,
    counts: Vec<u64>,
}

/// A chunk, and the part of a region inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The position of the chunk.
    pub at: Vec<u64>,
    /// The number of the chunk.
    pub number: u64,
    /// The index of the chunk's first element in the array.
    pub origin: Vec<u64>,
    /// The part of the region inside the chunk, in indices of the array.
    pub region: Region,
}

impl Grid {
    /// A grid with these shapes, which must have the same number of axes. A chunk length of 0 is allowed along an axis without
    /// elements; the grid then has no chunks along it.
    #[must_use]
    pub fn new(shape: Vec<u64>, chunk: Vec<u64>) -> Self {
        let axes = shape.iter().zip(&chunk);
        let counts = axes.map(
            |(len, chunk)| {
                if *chunk == 0 { 0 } else { len.div_ceil(*chunk) }
            },
        );
        Self {
            counts: counts.collect(),
            shape,
            chunk,
        }
    }

    /// The shape of the array.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The shape of a full chunk.
    #[must_use]
    pub fn chunk_shape(&self) -> &[u64] {
        &self.chunk
    }

    /// Checks that an array of this shape can be appended along `axis`.
    ///
    /// # Errors
    /// Returns `Code::Usage` if the axis does not exist, the number of axes differs, or another axis has a different length.
    pub fn check_joins(&self, shape: &[u64], axis: usize) -> Result<()> {
        let mut others = shape.iter().zip(&self.shape).enumerate();
        let is_alike = shape.len() == self.shape.len()
            && axis < shape.len()
            && others.all(|(at, (found, expected))| at == axis || found == expected);
        if is_alike {
            return Ok(());
        }
        let expected = &self.shape;
        Err(Error::usage(format!(
            "an array of shape {shape:?} does not fit one of {expected:?} along axis {axis}"
        )))
    }

    /// The number of chunks along each axis.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of chunks; `None` for 2^64 or more.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        if self.counts.contains(&0) {
            return Some(0);
        }
        let mut counts = self.counts.iter();
        counts.try_fold(1u64, |all, count| all.checked_mul(*count))
    }

    /// The region of all elements.
    #[must_use]
    pub fn whole(&self) -> Region {
        Region::all(&self.shape)
    }

    /// Makes a region of one range per axis, after [`check`](Self::check).
    ///
    /// # Errors
    /// Returns `Code::OutOfBounds` for another number of ranges, and for one that is not inside its axis.
    pub fn region(&self, ranges: &[Range<u64>]) -> Result<Region> {
        self.check(ranges)?;
        Ok(ranges.to_vec().into())
    }

    /// Checks that a region is inside the array. Empty ranges are allowed up to the end of their axis.
    ///
    /// # Errors
    /// Returns `Code::OutOfBounds` for another number of ranges, and for one that is not inside its axis or ends before it
    /// begins.
    pub fn check(&self, ranges: &[Range<u64>]) -> Result<()> {
        check(ranges, &self.shape)
    }

    /// Whether a chunk exists at this position.
    #[must_use]
    pub fn has(&self, at: &[u64]) -> bool {
        let mut axes = at.iter().zip(&self.counts);
        at.len() == self.counts.len() && axes.all(|(at, count)| at < count)
    }

    /// The number of the chunk at this position. Saturates at `u64::MAX`, which only a grid of 2^64 chunks reaches.
    #[must_use]
    pub fn number(&self, at: &[u64]) -> u64 {
        let axes = at.iter().zip(&self.counts);
        // Saturates, as documented.
        axes.fold(0, |number: u64, (at, count)| {
            number.saturating_mul(*count).saturating_add(*at)
        })
    }

    /// The position of the chunk with this number, which must be less than [`count`](Self::count).
    #[must_use]
    pub fn position(&self, number: u64) -> Vec<u64> {
        let mut rest = number;
        let axes = self.counts.iter().rev();
        let mut at: Vec<u64> = axes
            .map(|count| {
                let count = (*count).max(1);
                let at = rest % count;
                rest /= count;
                at
            })
            .collect();
        at.reverse();
        at
    }

    /// The index of the first element of the chunk at this position.
    #[must_use]
    pub fn origin(&self, at: &[u64]) -> Vec<u64> {
        let axes = at.iter().zip(&self.chunk);
        // Saturates past the end of every array.
        axes.map(|(at, len)| at.saturating_mul(*len)).collect()
    }

    /// The elements of the array that the chunk at this position holds; empty past the end of the array.
    #[must_use]
    pub fn extent(&self, at: &[u64]) -> Region {
        let axes = at.iter().zip(&self.chunk).zip(&self.shape);
        let ranges = axes.map(|((at, chunk), len)| {
            // Saturates past the end of every array.
            let begin = at.saturating_mul(*chunk).min(*len);
            begin..begin.saturating_add(*chunk).min(*len)
        });
        Region {
            ranges: ranges.collect(),
        }
    }

    /// The positions of the chunks that a region touches, in C order; none for an empty region.
    #[must_use]
    pub fn positions(&self, region: &[Range<u64>]) -> Positions {
        let axes = region.iter().zip(&self.chunk);
        let within = axes.map(|(range, len)| {
            if range.is_empty() || *len == 0 {
                0..0
            } else {
                range.start / len..range.end.div_ceil(*len)
            }
        });
        Positions::new(within.collect())
    }

    /// The number of chunks that a region touches. Saturates at `u64::MAX`.
    #[must_use]
    pub fn touched(&self, region: &[Range<u64>]) -> u64 {
        let axes = region.iter().zip(&self.chunk);
        // Saturates, as documented.
        axes.fold(1, |count: u64, (range, len)| {
            if range.is_empty() || *len == 0 {
                return 0;
            }
            count.saturating_mul(range.end.div_ceil(*len) - range.start / len)
        })
    }

    /// The part of a region inside the chunk at this position; empty if the region does not touch the chunk.
    #[must_use]
    pub fn part(&self, at: Vec<u64>, region: &[Range<u64>]) -> Part {
        Part {
            number: self.number(&at),
            origin: self.origin(&at),
            region: common(region, &self.extent(&at)),
            at,
        }
    }

    /// The chunks that a region touches, in C order, each with its part of the region.
    pub fn parts<'a>(&'a self, region: &'a [Range<u64>]) -> impl Iterator<Item = Part> + 'a {
        self.positions(region).map(|at| self.part(at, region))
    }

    /// Cuts the array along its first axes into regions of whole chunks, in C order. Each has at most `bytes` bytes, or one
    /// chunk if that is longer; a chunk has `chunk_bytes` bytes.
    ///
    /// ```
    /// use bloscpack_array::Grid;
    /// let grid = Grid::new(vec![5, 7], vec![2, 3]);
    /// let bands: Vec<_> = grid.bands(12, 40).map(|band| band.ranges).collect();
    /// assert_eq!(bands, [[0..2, 0..7], [2..4, 0..7], [4..5, 0..7]]);
    /// ```
    pub fn bands(&self, chunk_bytes: u64, bytes: u64) -> impl Iterator<Item = Region> + use<> {
        let all = self.counts.iter().map(|count| (*count).max(1));
        // An array of 2^64 bytes or more is cut like one of 2^64 bytes.
        let mut left = all.fold(chunk_bytes, u64::saturating_mul);
        // The first axes are cut into single chunks until the rest fits.
        let axes = self.counts.iter().zip(&self.chunk).zip(&self.shape);
        let steps = axes.map(|((count, chunk), len)| {
            let step = if left > bytes {
                left /= (*count).max(1);
                let chunks = (bytes / left.max(1)).max(1);
                chunk
                    .checked_mul(chunks)
                    .map_or(*len, |step| step.min(*len))
            } else {
                *len
            };
            step.max(1)
        });
        let bands = Self::new(self.shape.clone(), steps.collect());
        bands
            .positions(&bands.whole())
            .map(move |at| bands.extent(&at))
    }
}

/// Iterates over all positions within a range per axis, in C order.
#[derive(Debug, Clone)]
pub struct Positions {
    within: Vec<Range<u64>>,
    next: Option<Vec<u64>>,
}

impl Positions {
    /// All positions within these ranges; none if a range is empty, one empty position if there are no ranges.
    #[must_use]
    pub fn new(within: Vec<Range<u64>>) -> Self {
        let is_empty = within.iter().any(Range::is_empty);
        let first = within.iter().map(|range| range.start).collect();
        Self {
            within,
            next: (!is_empty).then_some(first),
        }
    }
}

impl Iterator for Positions {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        let at = self.next.take()?;
        let mut following = at.clone();
        for (position, range) in following.iter_mut().zip(&self.within).rev() {
            *position += 1;
            if *position < range.end {
                self.next = Some(following);
                break;
            }
            *position = range.start;
        }
        Some(at)
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test may fail")]
mod tests {
    use super::{Grid, Positions};

    /// Every element of a region is in the part of exactly one chunk, the one that the element is in.
    #[test]
    fn parts_divide_a_region_among_its_chunks() {
        let grid = Grid::new(vec![5, 7, 4], vec![2, 3, 4]);
        for region in [
            [0..5, 0..7, 0..4],
            [1..4, 2..6, 1..3],
            [2..4, 3..6, 0..1],
            [1..1, 0..7, 0..4],
        ] {
            let mut seen = Vec::new();
            let mut last = None;
            let touched = grid.parts(&region).count();
            assert_eq!(grid.touched(&region), u64::try_from(touched).unwrap());
            for part in grid.parts(&region) {
                assert!(last < Some(part.number), "{part:?}");
                last = Some(part.number);
                assert_eq!(grid.position(part.number), part.at);
                assert_eq!(grid.number(&part.at), part.number);
                assert!(grid.has(&part.at));
                assert_eq!(grid.origin(&part.at), part.origin);
                for at in Positions::new(part.region.ranges.clone()) {
                    let chunk = [at[0] / 2, at[1] / 3, at[2] / 4];
                    assert_eq!(part.at, chunk, "{at:?}");
                    seen.push(at);
                }
            }
            seen.sort_unstable();
            let all: Vec<Vec<u64>> = Positions::new(region.to_vec()).collect();
            assert_eq!(seen, all);
        }
    }

    #[test]
    fn extents_are_within_the_array_and_bands_are_all_of_it() {
        let grid = Grid::new(vec![5, 7], vec![2, 3]);
        assert_eq!(grid.extent(&[2, 2]).ranges, [4..5, 6..7]);
        assert_eq!(grid.extent(&[u64::MAX, 0]).ranges, [5..5, 0..3]);
        assert!(!grid.has(&[3, 0]) && !grid.has(&[0]));
        let bands = |bytes| -> Vec<_> {
            let bands = grid.bands(12, bytes);
            bands.map(|band| band.ranges).collect()
        };
        assert_eq!(bands(1000), [[0..5, 0..7]]);
        assert_eq!(bands(40), [[0..2, 0..7], [2..4, 0..7], [4..5, 0..7]]);
        assert_eq!(bands(1)[..3], [[0..2, 0..3], [0..2, 3..6], [0..2, 6..7]]);
        assert_eq!(bands(1).len(), 9);
    }

    #[test]
    fn arrays_without_elements_have_no_chunks() {
        let empty = Grid::new(vec![0, 1 << 62, 1 << 62], vec![0, 1, 1]);
        assert_eq!(empty.count(), Some(0));
        assert_eq!(empty.parts(&empty.whole()).count(), 0);
        assert_eq!(empty.whole().bytes(8), 0);
        let scalar = Grid::new(Vec::new(), Vec::new());
        assert_eq!((scalar.count(), scalar.whole().bytes(8)), (Some(1), 8));
        assert_eq!(scalar.parts(&scalar.whole()).count(), 1);
        let large = Grid::new(vec![1 << 40, 1 << 40], vec![1, 1]);
        assert_eq!(large.count(), None);
    }

    #[test]
    fn a_region_is_inside_the_array() {
        let grid = Grid::new(vec![5, 7], vec![2, 3]);
        assert!(grid.check(&[0..5, 7..7]).is_ok());
        let backwards = std::ops::Range { start: 3, end: 2 };
        for wrong in [&[0..6, 0..7][..], &[], &[backwards, 0..7]] {
            let error = grid.region(wrong).unwrap_err();
            assert_eq!(error.code(), bloscpack_error::Code::OutOfBounds);
        }
    }
}
