//! Regions that are copied between buffers with the elements of two windows onto the same array, in C order.

use crate::strided::{self, Strided};
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// A run of bytes that are contiguous in both buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Where it begins in the buffer that is copied from.
    pub from: usize,
    /// Where it begins in the buffer that is copied to.
    pub to: usize,
    /// Its length in bytes.
    pub len: usize,
}

/// Copies a region. Each buffer has the elements of its window, which contains the region.
///
/// # Errors
/// Returns a bug, and copies nothing, if a window does not contain the region, or a buffer is too short for it.
pub fn copy(
    region: &[Range<u64>],
    (from, from_bytes): (&[Range<u64>], &[u8]),
    (to, to_bytes): (&[Range<u64>], &mut [u8]),
    itemsize: u64,
) -> Result<()> {
    let Some((from, to)) = places(region, (from, to), itemsize)? else {
        return Ok(());
    };
    let from = Strided {
        bytes: from_bytes,
        start: from.start,
        strides: &from.strides,
    };
    let to = Strided {
        bytes: to_bytes,
        start: to.start,
        strides: &to.strides,
    };
    strided::copy(&sizes(region)?, in_memory(itemsize)?, from, to)
}

/// Calls `each` for every run of a region that both windows contain.
///
/// # Errors
/// Returns a bug if a window does not contain the region, or does not fit into memory; and the first error of `each`.
pub fn runs(
    region: &[Range<u64>],
    (from, to): (&[Range<u64>], &[Range<u64>]),
    itemsize: u64,
    mut each: impl FnMut(Run) -> Result<()>,
) -> Result<()> {
    let Some((from, to)) = places(region, (from, to), itemsize)? else {
        return Ok(());
    };
    let strides = [from.strides.as_slice(), &to.strides];
    strided::runs(
        &sizes(region)?,
        in_memory(itemsize)?,
        &strides,
        |[from_at, to_at], len| {
            each(Run {
                from: from.start + from_at,
                to: to.start + to_at,
                len,
            })
        },
    )
}

/// The places of a region in two windows; nothing if it has no elements.
fn places(
    region: &[Range<u64>],
    (from, to): (&[Range<u64>], &[Range<u64>]),
    itemsize: u64,
) -> Result<Option<(Place, Place)>> {
    if region.iter().any(Range::is_empty) {
        return Ok(None);
    }
    let from = Place::of(region, from, itemsize)?;
    Ok(Some((from, Place::of(region, to, itemsize)?)))
}

/// Where a region is in the bytes of a window. None of its numbers exceeds the length of the window in bytes, which fits into memory.
struct Place {
    start: usize,
    strides: Vec<usize>,
}

impl Place {
    fn of(region: &[Range<u64>], window: &[Range<u64>], itemsize: u64) -> Result<Self> {
        let outside = || Error::bug(format!("{region:?} is not in a window of {window:?}"));
        let mut axes = region.iter().zip(window);
        let fits = region.len() == window.len()
            && axes.all(|(range, all)| all.start <= range.start && range.end <= all.end);
        // The window as a whole is in memory, so that nothing below overflows.
        let bytes = crate::bytes_of(window, itemsize);
        if !fits || isize::try_from(bytes).is_err() {
            return Err(outside());
        }
        let strides = strided::strides(&sizes(window)?, in_memory(itemsize)?);
        let before = region.iter().zip(window);
        let before = before.map(|(range, all)| in_memory(range.start - all.start));
        let mut start = 0;
        for (at, stride) in before.zip(&strides) {
            start += at? * stride;
        }
        Ok(Self { start, strides })
    }
}

/// Elements of a region along each axis, in memory.
fn sizes(region: &[Range<u64>]) -> Result<Vec<usize>> {
    region
        .iter()
        .map(|range| in_memory(range.end - range.start))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Result, Run, copy, in_memory, runs};
    use std::ops::Range;

    /// The shape and the origin of a window.
    type Part<'a> = (&'a [u64], &'a [u64]);

    fn found(
        wanted: &[Range<u64>],
        from: Part<'_>,
        to: Part<'_>,
        itemsize: u64,
    ) -> Result<Vec<Run>> {
        let window = |(shape, origin): Part<'_>| -> Vec<Range<u64>> {
            let axes = shape.iter().zip(origin);
            // An origin at the end of all numbers has no elements after it.
            axes.map(|(len, begin)| *begin..begin.saturating_add(*len))
                .collect()
        };
        let (from, to) = (window(from), window(to));
        let mut found = Vec::new();
        runs(wanted, (&from, &to), itemsize, |run| {
            found.push(run);
            Ok(())
        })?;
        // The copy of the same region moves the same bytes.
        let bytes =
            |window: &[Range<u64>]| vec![0; in_memory(crate::bytes_of(window, itemsize)).unwrap()];
        let (mut source, mut target) = (bytes(&from), bytes(&to));
        for (byte, number) in source.iter_mut().zip(1..=255u8) {
            *byte = number;
        }
        let mut expected = target.clone();
        for Run { from, to, len } in found.iter().copied() {
            expected[to..to + len].copy_from_slice(&source[from..from + len]);
        }
        copy(wanted, (&from, &source), (&to, &mut target), itemsize)?;
        assert_eq!(target, expected);
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
