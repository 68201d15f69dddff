//! [`copy`]: copies a region between two buffers in C order, each of which holds a window of the same array.

use crate::geometry::sizes;
use crate::strided::{self, Strided};
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// Copies a region from one buffer to another. Each buffer is given with its window, the region of the array whose elements it
/// holds in C order; both windows contain the region.
///
/// # Errors
/// Returns `Code::Bug`, and copies nothing, if a window does not contain the region or a buffer is shorter than its window's
/// part.
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

/// The places of a region in two windows; `None` if the region is empty.
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

/// Where a region begins in the bytes of a window. No number exceeds the window's length in bytes, which fits into memory.
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
        // The whole window is in memory, so nothing below overflows.
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

#[cfg(test)]
mod tests {
    use super::{Result, copy, in_memory};
    use crate::{Positions, bytes_of};
    use std::ops::Range;

    /// The shape and the origin of a window.
    type Part<'a> = (&'a [u64], &'a [u64]);

    /// Copies a region between windows, and compares every byte.
    fn copied(wanted: &[Range<u64>], from: Part<'_>, to: Part<'_>, itemsize: u64) -> Result<()> {
        let window = |(shape, origin): Part<'_>| -> Vec<Range<u64>> {
            let axes = shape.iter().zip(origin);
            // An origin at the end of all numbers has no elements after it.
            axes.map(|(len, begin)| *begin..begin.saturating_add(*len))
                .collect()
        };
        let (from, to) = (window(from), window(to));
        let bytes = |window: &[Range<u64>]| vec![0; in_memory(bytes_of(window, itemsize)).unwrap()];
        let mut source = bytes(&from);
        for (byte, number) in source.iter_mut().zip((1..=250u8).cycle()) {
            *byte = number;
        }
        let mut target = bytes(&to);
        let mut expected = target.clone();
        copy(wanted, (&from, &source), (&to, &mut target), itemsize)?;
        let place = |window: &[Range<u64>], at: &[u64]| {
            let axes = window.iter().zip(at);
            let number = axes.fold(0, |number, (range, at)| {
                number * (range.end - range.start) + at - range.start
            });
            in_memory(number * itemsize).unwrap()
        };
        let len = in_memory(itemsize).unwrap();
        for at in Positions::new(wanted.to_vec()) {
            let (from, to) = (place(&from, &at), place(&to, &at));
            expected[to..to + len].copy_from_slice(&source[from..from + len]);
        }
        assert_eq!(target, expected, "{wanted:?}");
        Ok(())
    }

    #[test]
    fn every_element_of_a_region_is_copied_and_no_other() {
        let (from, to): (Part<'_>, Part<'_>) = ((&[4, 5], &[2, 0]), (&[2, 5], &[3, 0]));
        for wanted in [[3..5, 0..5], [3..5, 1..3], [3..3, 1..3]] {
            copied(&wanted, from, to, 2).unwrap();
        }
        let scalar: Part<'_> = (&[], &[]);
        copied(&[], scalar, scalar, 8).unwrap();
        let from: Part<'_> = (&[2, 2, 3], &[0, 0, 0]);
        let to: Part<'_> = (&[2, 2, 2], &[0, 0, 1]);
        copied(&[0..2, 0..2, 1..3], from, to, 1).unwrap();
    }

    #[test]
    fn a_box_outside_of_a_window_is_an_error() {
        let small: Part<'_> = (&[2, 5], &[3, 0]);
        let large: Part<'_> = (&[9, 9], &[0, 0]);
        for wanted in [[2..4, 0..5], [3..6, 0..5], [3..5, 0..6]] {
            assert!(copied(&wanted, small, large, 2).is_err(), "{wanted:?}");
            assert!(copied(&wanted, large, small, 2).is_err(), "{wanted:?}");
        }
        let one_axis = Range { start: 3, end: 5 };
        assert!(copied(&[one_axis], small, large, 2).is_err());
        let window = |len: u64| vec![0..len, 0..len];
        let huge = copy(
            &[3..5, 0..5],
            (&window(1 << 40), &[]),
            (&window(9), &mut [0; 162]),
            2,
        );
        assert!(huge.is_err());
        let last: Part<'_> = (&[2, 5], &[u64::MAX, 0]);
        assert!(copied(&[3..5, 0..5], last, large, 2).is_err());
    }
}
