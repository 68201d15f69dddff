//! Boxes of elements, copied between arrays of different shapes.

use std::ops::Range;

/// A run of bytes that lie side by side in both arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Where it begins in the one.
    pub from: usize,
    /// Where it begins in the other.
    pub to: usize,
    /// Its length in bytes.
    pub len: usize,
}

/// An array in memory, in C order: its shape, and where its first element lies in the whole.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The length along each axis.
    pub shape: &'a [u64],
    /// The index of the first element in the whole.
    pub origin: &'a [u64],
}

/// Goes through a box of elements that lies in both frames, run by run.
pub fn runs<E>(
    wanted: &[Range<u64>],
    (from, to): (Frame<'_>, Frame<'_>),
    itemsize: u64,
    mut each: impl FnMut(Run) -> Result<(), E>,
) -> Result<(), E> {
    let lens: Vec<u64> = wanted
        .iter()
        .map(|range| range.end.saturating_sub(range.start))
        .collect();
    if lens.contains(&0) {
        return Ok(());
    }
    // The last axes that are whole in both are one run.
    let mut split = wanted.len().saturating_sub(1);
    let is_whole = |axis: usize| {
        let len = lens.get(axis);
        from.shape.get(axis) == len && to.shape.get(axis) == len
    };
    while split > 0 && is_whole(split) {
        split = split.saturating_sub(1);
    }
    let run = lens
        .iter()
        .skip(split)
        .fold(itemsize, |run, len| run.saturating_mul(*len));
    let steps = |frame: &Frame<'_>| strides(frame.shape, itemsize);
    let (from_steps, to_steps) = (steps(&from), steps(&to));
    let start = |frame: &Frame<'_>, steps: &[u64]| {
        let at = wanted.iter().zip(frame.origin).zip(steps);
        at.fold(0u64, |sum, ((range, origin), step)| {
            sum.saturating_add(range.start.saturating_sub(*origin).saturating_mul(*step))
        })
    };
    let (from_start, to_start) = (start(&from, &from_steps), start(&to, &to_steps));
    let mut at = vec![0u64; split];
    loop {
        let offset = |steps: &[u64]| {
            at.iter().zip(steps).fold(0u64, |sum, (at, step)| {
                sum.saturating_add(at.saturating_mul(*step))
            })
        };
        each(Run {
            from: to_usize(from_start.saturating_add(offset(&from_steps))),
            to: to_usize(to_start.saturating_add(offset(&to_steps))),
            len: to_usize(run),
        })?;
        if !step(&mut at, &lens) {
            return Ok(());
        }
    }
}

/// Goes on to the next position in C order; false behind the last.
fn step(at: &mut [u64], lens: &[u64]) -> bool {
    for (at, len) in at.iter_mut().zip(lens).rev() {
        *at = at.saturating_add(1);
        if *at < *len {
            return true;
        }
        *at = 0;
    }
    false
}

/// Bytes from an element to the next along each axis.
fn strides(shape: &[u64], itemsize: u64) -> Vec<u64> {
    let mut steps = vec![itemsize; shape.len()];
    let mut step = itemsize;
    for (place, len) in steps.iter_mut().zip(shape).rev() {
        *place = step;
        step = step.saturating_mul(*len);
    }
    steps
}

/// A position in memory, which cannot be beyond what memory there is.
pub fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Frame, Run, runs};

    #[test]
    fn a_box_is_cut_into_the_longest_runs() {
        let mut found = Vec::new();
        let from = Frame {
            shape: &[4, 5],
            origin: &[2, 0],
        };
        let to = Frame {
            shape: &[2, 5],
            origin: &[3, 0],
        };
        runs(&[3..5, 0..5], (from, to), 2, |run| {
            found.push(run);
            Ok::<_, ()>(())
        })
        .unwrap();
        assert_eq!(
            found,
            [Run {
                from: 10,
                to: 0,
                len: 20
            }]
        );
        found.clear();
        runs(&[3..5, 1..3], (from, to), 2, |run| {
            found.push(run);
            Ok::<_, ()>(())
        })
        .unwrap();
        assert_eq!(
            found,
            [
                Run {
                    from: 12,
                    to: 2,
                    len: 4
                },
                Run {
                    from: 22,
                    to: 12,
                    len: 4
                }
            ]
        );
    }
}
