//! Boxes of elements that are copied between windows onto the same array, in C order.

use bloscpack_error::Error;
use std::ops::Range;

/// A copy that would leave the bytes of an array. Always a bug of the caller, which has checked the
/// box before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("box outside of the bytes of its array: {what}")]
pub struct OutOfBounds {
    what: String,
}

impl OutOfBounds {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

impl From<OutOfBounds> for Error {
    fn from(error: OutOfBounds) -> Self {
        Self::bug(error.to_string())
    }
}

/// A run of bytes that are contiguous in both windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Where it begins in the window that is copied from.
    pub from: usize,
    /// Where it begins in the window that is copied to.
    pub to: usize,
    /// Its length in bytes.
    pub len: usize,
}

/// A part of an array that is in memory, in C order.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The length along each axis.
    pub shape: &'a [u64],
    /// The index in the array of its first element.
    pub origin: &'a [u64],
}

/// Calls `each` for every run of a box of elements, which both windows contain.
///
/// # Errors
/// Returns [`OutOfBounds`] if one of the windows does not contain the box, or does not fit into
/// memory; and the first error of `each`.
pub fn runs<E: From<OutOfBounds>>(
    wanted: &[Range<u64>],
    (from, to): (Window<'_>, Window<'_>),
    itemsize: u64,
    mut each: impl FnMut(Run) -> Result<(), E>,
) -> Result<(), E> {
    if wanted.iter().any(Range::is_empty) {
        return Ok(());
    }
    let (from, to) = (
        Layout::of(from, wanted, itemsize)?,
        Layout::of(to, wanted, itemsize)?,
    );
    let lens: Vec<u64> = wanted.iter().map(|range| range.end - range.start).collect();
    // The last axes that are complete in both windows are part of one run.
    let mut split = lens.len();
    let mut run = itemsize;
    for (axis, len) in lens.iter().enumerate().rev() {
        split = axis;
        run *= len;
        if !from.is_whole(axis, *len) || !to.is_whole(axis, *len) {
            break;
        }
    }
    let (outer, _) = lens.split_at(split);
    let mut at = vec![0; outer.len()];
    loop {
        each(Run {
            from: narrow(from.offset(&at))?,
            to: narrow(to.offset(&at))?,
            len: narrow(run)?,
        })?;
        if !advance(&mut at, outer) {
            return Ok(());
        }
    }
}

/// Where the elements of a box are in the bytes of a window. None of its numbers exceeds the length
/// of the window in bytes, which is one in memory.
struct Layout<'a> {
    shape: &'a [u64],
    /// Bytes from an element to the next along each axis.
    strides: Vec<u64>,
    /// The position of the first element of the box.
    start: u64,
}

impl<'a> Layout<'a> {
    fn of(window: Window<'a>, wanted: &[Range<u64>], itemsize: u64) -> Result<Self, OutOfBounds> {
        let Window { shape, origin } = window;
        let outside = || {
            let what = format!("{wanted:?} of a window of {shape:?} elements at {origin:?}");
            OutOfBounds::new(what)
        };
        if shape.len() != wanted.len() || origin.len() != wanted.len() {
            return Err(outside());
        }
        let (mut strides, mut start, mut stride) = (vec![0; shape.len()], 0, itemsize);
        let axes = wanted.iter().zip(shape).zip(origin).zip(&mut strides);
        for (((range, len), origin), place) in axes.rev() {
            let end = origin.checked_add(*len).ok_or_else(outside)?;
            if range.start < *origin || range.end > end {
                return Err(outside());
            }
            *place = stride;
            let next = stride.checked_mul(*len).ok_or_else(outside)?;
            // Less than `next`, and the sum less than that of the window.
            start += (range.start - origin) * stride;
            stride = next;
        }
        narrow(stride)?;
        Ok(Self {
            shape,
            strides,
            start,
        })
    }

    /// Whether a box of this length along an axis contains all of the window along it.
    fn is_whole(&self, axis: usize, len: u64) -> bool {
        self.shape.get(axis) == Some(&len)
    }

    /// The position of an element of the box.
    fn offset(&self, at: &[u64]) -> u64 {
        let steps = at.iter().zip(&self.strides);
        steps.fold(self.start, |sum, (at, stride)| sum + at * stride)
    }
}

/// Advances to the next position in C order; false after the last.
fn advance(at: &mut [u64], lens: &[u64]) -> bool {
    for (at, len) in at.iter_mut().zip(lens).rev() {
        *at += 1;
        if *at < *len {
            return true;
        }
        *at = 0;
    }
    false
}

/// Positions of chunks or blocks within ranges along each axis, in C order.
#[derive(Debug, Clone)]
pub struct Positions {
    within: Vec<Range<u64>>,
    next: Option<Vec<u64>>,
}

impl Positions {
    /// The positions within these ranges.
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

/// The units of so many elements that a slice touches along each axis.
#[must_use]
pub fn units(wanted: &[Range<u64>], unit: &[u64]) -> Vec<Range<u64>> {
    let axes = wanted.iter().zip(unit);
    axes.map(|(range, len)| {
        if range.is_empty() || *len == 0 {
            0..0
        } else {
            range.start / len..range.end.div_ceil(*len)
        }
    })
    .collect()
}

/// A slice relative to an origin, which it does not precede.
#[must_use]
pub fn relative(wanted: &[Range<u64>], origin: &[u64]) -> Vec<Range<u64>> {
    let axes = wanted.iter().zip(origin);
    axes.map(|(range, begin)| range.start - begin..range.end - begin)
        .collect()
}

/// The intersection of two slices.
#[must_use]
pub fn common(one: &[Range<u64>], other: &[Range<u64>]) -> Vec<Range<u64>> {
    let axes = one.iter().zip(other);
    axes.map(|(one, other)| {
        let start = one.start.max(other.start);
        start..one.end.min(other.end).max(start)
    })
    .collect()
}

/// A position in memory.
fn narrow(position: u64) -> Result<usize, OutOfBounds> {
    let narrowed = usize::try_from(position);
    narrowed.map_err(|_| OutOfBounds::new(format!("{position} bytes do not fit into memory")))
}

#[cfg(test)]
mod tests {
    use super::{OutOfBounds, Run, Window, runs};
    use std::ops::Range;

    type Part<'a> = (&'a [u64], &'a [u64]);

    fn found(
        wanted: &[Range<u64>],
        from: Part<'_>,
        to: Part<'_>,
        itemsize: u64,
    ) -> Result<Vec<Run>, OutOfBounds> {
        let window = |(shape, origin)| Window { shape, origin };
        let mut found = Vec::new();
        runs(wanted, (window(from), window(to)), itemsize, |run| {
            found.push(run);
            Ok::<_, OutOfBounds>(())
        })?;
        Ok(found)
    }

    fn run(from: usize, to: usize, len: usize) -> Run {
        Run { from, to, len }
    }

    #[test]
    fn a_box_is_cut_into_the_longest_runs() {
        let (from, to): (Part<'_>, Part<'_>) = ((&[4, 5], &[2, 0]), (&[2, 5], &[3, 0]));
        let whole = found(&[3..5, 0..5], from, to, 2).unwrap();
        assert_eq!(whole, [run(10, 0, 20)]);
        let part = found(&[3..5, 1..3], from, to, 2).unwrap();
        assert_eq!(part, [run(12, 2, 4), run(22, 12, 4)]);
        assert_eq!(found(&[3..3, 1..3], from, to, 2).unwrap(), []);
        let scalar: Part<'_> = (&[], &[]);
        assert_eq!(found(&[], scalar, scalar, 8).unwrap(), [run(0, 0, 8)]);
    }

    #[test]
    fn axes_before_one_that_is_cut_are_gone_through() {
        let from: Part<'_> = (&[2, 2, 3], &[0, 0, 0]);
        let to: Part<'_> = (&[2, 2, 2], &[0, 0, 1]);
        let runs = found(&[0..2, 0..2, 1..3], from, to, 1).unwrap();
        let expected = [run(1, 0, 2), run(4, 2, 2), run(7, 4, 2), run(10, 6, 2)];
        assert_eq!(runs, expected);
    }

    #[test]
    fn a_box_outside_of_a_window_is_an_error() {
        let small: Part<'_> = (&[2, 5], &[3, 0]);
        let large: Part<'_> = (&[9, 9], &[0, 0]);
        for wanted in [[2..4, 0..5], [3..6, 0..5], [3..5, 0..6]] {
            assert!(found(&wanted, small, large, 2).is_err(), "{wanted:?}");
            assert!(found(&wanted, large, small, 2).is_err(), "{wanted:?}");
        }
        let one_axis = Range { start: 3, end: 5 };
        assert!(found(&[one_axis], small, large, 2).is_err());
        let huge: Part<'_> = (&[1 << 40, 1 << 40], &[0, 0]);
        assert!(found(&[3..5, 0..5], huge, large, 2).is_err());
        let last: Part<'_> = (&[2, 5], &[u64::MAX, 0]);
        assert!(found(&[3..5, 0..5], last, large, 2).is_err());
    }
}
