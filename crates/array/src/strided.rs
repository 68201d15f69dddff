//! Copies boxes of elements between arrays in memory, with any strides.

use bloscpack_error::{Error, Result};

/// A box of elements in the bytes of an array.
#[derive(Debug)]
pub struct Strided<'a, B> {
    /// The bytes of the whole array.
    pub bytes: B,
    /// The position of the first byte of the box.
    pub start: usize,
    /// Bytes from one element to the next along each axis.
    pub strides: &'a [usize],
}

/// The strides of an array in C order, in bytes. A stride that exceeds all memory is `usize::MAX`; [`copy`] and [`fill`] refuse
/// to use it.
#[must_use]
pub fn strides(shape: &[usize], itemsize: usize) -> Vec<usize> {
    let mut step = itemsize;
    let mut strides: Vec<usize> = shape
        .iter()
        .rev()
        .map(|len| {
            let stride = step;
            // Saturates, as documented.
            step = step.saturating_mul(*len);
            stride
        })
        .collect();
    strides.reverse();
    strides
}

/// Copies a box with `lens` elements along each axis. The strides of the two arrays may differ, for example to transpose.
///
/// ```
/// use bloscpack_array::strided::{Strided, copy};
/// // 2 rows of 3 in C order become 2 rows of 3 in Fortran order.
/// let mut out = [0; 6];
/// let from = Strided { bytes: &[1, 2, 3, 4, 5, 6][..], start: 0, strides: &[3, 1] };
/// let to = Strided { bytes: &mut out[..], start: 0, strides: &[1, 2] };
/// copy(&[2, 3], 1, from, to)?;
/// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns `Code::Bug`, and copies nothing, if one of the arrays does not contain the box.
pub fn copy(
    lens: &[usize],
    itemsize: usize,
    from: Strided<'_, &[u8]>,
    to: Strided<'_, &mut [u8]>,
) -> Result<()> {
    check(lens, itemsize, (from.start, from.strides), from.bytes.len())?;
    check(lens, itemsize, (to.start, to.strides), to.bytes.len())?;
    let Some((outer, run)) = dense(lens, itemsize, &[from.strides, to.strides]) else {
        return Ok(());
    };
    let (count, outer) = match outer.split_last() {
        Some((last, outer)) => (*last, outer),
        None => (1, outer),
    };
    let axis = outer.len();
    let (from_step, to_step) = (stride(from.strides, axis), stride(to.strides, axis));
    walk(outer, &[from.strides, to.strides], &mut |[
        from_at,
        to_at,
    ]| {
        let row = Row {
            count,
            from_at: from.start + from_at,
            from_step,
            to_at: to.start + to_at,
            to_step,
        };
        row.copy(run, from.bytes, to.bytes);
        Ok(())
    })
}

/// Sets every element of a box with `lens` elements along each axis.
///
/// # Errors
/// Returns `Code::Bug`, and sets nothing, if the array does not contain the box.
pub fn fill(lens: &[usize], element: &[u8], to: Strided<'_, &mut [u8]>) -> Result<()> {
    check(lens, element.len(), (to.start, to.strides), to.bytes.len())?;
    let is_zero = element.iter().all(|byte| *byte == 0);
    runs(lens, element.len(), &[to.strides], |[at], run| {
        let at = to.start + at;
        let part = &mut to.bytes[at..at + run];
        if is_zero {
            part.fill(0)
        } else {
            part.chunks_exact_mut(element.len())
                .for_each(|to| to.copy_from_slice(element))
        }
        Ok(())
    })
}

/// Calls `each` for every run of bytes that is contiguous in all arrays, with its distance from the first byte of the box in
/// each array, and its length.
pub(crate) fn runs<const N: usize, E>(
    lens: &[usize],
    itemsize: usize,
    strides: &[&[usize]; N],
    mut each: impl FnMut([usize; N], usize) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    match dense(lens, itemsize, strides) {
        Some((outer, run)) => walk(outer, strides, &mut |at| each(at, run)),
        None => Ok(()),
    }
}

/// The length of a box in bytes, if it is contiguous in all arrays.
pub(crate) fn contiguous(lens: &[usize], itemsize: usize, strides: &[&[usize]]) -> Option<usize> {
    let (outer, run) = dense(lens, itemsize, strides)?;
    outer.is_empty().then_some(run)
}

/// Checks that an array of `len` bytes contains a box. No position in the box can then overflow.
fn check(
    lens: &[usize],
    itemsize: usize,
    (start, strides): (usize, &[usize]),
    len: usize,
) -> Result<()> {
    if lens.contains(&0) {
        return Ok(());
    }
    let mut axes = lens.iter().zip(strides);
    let end = start.checked_add(itemsize).and_then(|end| {
        axes.try_fold(end, |end, (len, stride)| {
            end.checked_add((len - 1).checked_mul(*stride)?)
        })
    });
    if lens.len() == strides.len() && end.is_some_and(|end| end <= len) {
        Ok(())
    } else {
        Err(Error::bug(format!(
            "{lens:?} elements of {itemsize} bytes from byte {start} on with strides {strides:?}, of {len} bytes"
        )))
    }
}

/// The axes along which runs are copied one by one, and the length of a run of bytes that is contiguous in all arrays; `None`
/// if the box has no bytes.
fn dense<'a>(
    lens: &'a [usize],
    itemsize: usize,
    strides: &[&[usize]],
) -> Option<(&'a [usize], usize)> {
    if lens.contains(&0) || itemsize == 0 {
        return None;
    }
    let (mut outer, mut run) = (lens, itemsize);
    while let Some((len, rest)) = outer.split_last() {
        // The stride of an axis with one element does not matter.
        let is_dense = |strides: &&[usize]| stride(strides, rest.len()) == run;
        if *len > 1 && !strides.iter().all(is_dense) {
            break;
        }
        run *= len;
        outer = rest;
    }
    Some((outer, run))
}

/// The stride of an axis; 0 for the axis after the last.
fn stride(strides: &[usize], axis: usize) -> usize {
    strides.get(axis).copied().unwrap_or(0)
}

/// Calls `each` for all positions along these axes, with the distance from the first one in each array.
fn walk<const N: usize, E>(
    lens: &[usize],
    strides: &[&[usize]; N],
    each: &mut impl FnMut([usize; N]) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut at = vec![0; lens.len()];
    let mut offsets = [0; N];
    loop {
        each(offsets)?;
        // To the next position, the last axis first.
        let mut axis = lens.len();
        loop {
            if axis == 0 {
                return Ok(());
            }
            axis -= 1;
            at[axis] += 1;
            if at[axis] < lens[axis] {
                for (offset, strides) in offsets.iter_mut().zip(strides) {
                    *offset += stride(strides, axis);
                }
                break;
            }
            at[axis] = 0;
            for (offset, strides) in offsets.iter_mut().zip(strides) {
                *offset -= stride(strides, axis) * (lens[axis] - 1);
            }
        }
    }
}

/// The runs of bytes along one axis.
struct Row {
    count: usize,
    from_at: usize,
    from_step: usize,
    to_at: usize,
    to_step: usize,
}

impl Row {
    fn copy(&self, run: usize, from: &[u8], to: &mut [u8]) {
        match run {
            1 => self.copy_fixed::<1>(from, to),
            2 => self.copy_fixed::<2>(from, to),
            4 => self.copy_fixed::<4>(from, to),
            8 => self.copy_fixed::<8>(from, to),
            16 => self.copy_fixed::<16>(from, to),
            _ => self.for_each(|from_at, to_at| {
                to[to_at..to_at + run].copy_from_slice(&from[from_at..from_at + run]);
            }),
        }
    }

    /// A length that the compiler knows makes the copy one instruction instead of a call.
    fn copy_fixed<const N: usize>(&self, from: &[u8], to: &mut [u8]) {
        self.for_each(|from_at, to_at| {
            to[to_at..to_at + N].copy_from_slice(&from[from_at..from_at + N]);
        });
    }

    #[inline]
    fn for_each(&self, mut copy: impl FnMut(usize, usize)) {
        let (mut from_at, mut to_at) = (self.from_at, self.to_at);
        for _ in 0..self.count {
            copy(from_at, to_at);
            // Past the end of the array only after the last element.
            from_at = from_at.wrapping_add(self.from_step);
            to_at = to_at.wrapping_add(self.to_step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Strided, copy, fill, strides};

    /// Every box of a small array, element by element beside the copy.
    #[test]
    fn a_box_is_copied_element_by_element() {
        let (shape, itemsize) = ([3, 4, 5], 2);
        let from: Vec<u8> = (0..120).collect();
        let from_strides = strides(&shape, itemsize);
        assert_eq!(from_strides, [40, 10, 2]);
        for (lens, begin) in [
            ([2, 3, 4], [1, 1, 1]),
            ([1, 4, 5], [2, 0, 0]),
            ([3, 4, 1], [0, 0, 3]),
        ] {
            let to_strides = strides(&lens, itemsize);
            let mut to = vec![0; lens.iter().product::<usize>() * itemsize];
            let start = begin
                .iter()
                .zip(&from_strides)
                .map(|(at, step)| at * step)
                .sum();
            copy(
                &lens,
                itemsize,
                Strided {
                    bytes: &from,
                    start,
                    strides: &from_strides,
                },
                Strided {
                    bytes: &mut to,
                    start: 0,
                    strides: &to_strides,
                },
            )
            .unwrap();
            let mut expected = Vec::new();
            for x in 0..lens[0] {
                for y in 0..lens[1] {
                    for z in 0..lens[2] {
                        let at = (begin[0] + x) * 40 + (begin[1] + y) * 10 + (begin[2] + z) * 2;
                        expected.extend_from_slice(&from[at..at + 2]);
                    }
                }
            }
            assert_eq!(to, expected);
        }
    }

    #[test]
    fn a_box_without_axes_is_one_element() {
        let mut to = [0; 4];
        copy(
            &[],
            4,
            Strided {
                bytes: &[1, 2, 3, 4],
                start: 0,
                strides: &[],
            },
            Strided {
                bytes: &mut to,
                start: 0,
                strides: &[],
            },
        )
        .unwrap();
        assert_eq!(to, [1, 2, 3, 4]);
    }

    #[test]
    fn a_box_is_filled_and_nothing_beside_it() {
        let mut to = [9; 12];
        fill(
            &[2, 1],
            &[1, 2],
            Strided {
                bytes: &mut to,
                start: 2,
                strides: &[6, 2],
            },
        )
        .unwrap();
        assert_eq!(to, [9, 9, 1, 2, 9, 9, 9, 9, 1, 2, 9, 9]);
        fill(
            &[2, 0],
            &[1, 2],
            Strided {
                bytes: &mut to,
                start: 0,
                strides: &[6, 2],
            },
        )
        .unwrap();
        assert_eq!(to[..2], [9, 9]);
    }

    #[test]
    fn a_box_outside_of_an_array_is_an_error_and_nothing_is_copied() {
        let from = [1; 12];
        for (lens, start, strides) in [
            ([2, 3], 1, [6, 2]),
            ([3, 3], 0, [6, 2]),
            ([2, 4], 0, [6, 2]),
            ([2, 3], usize::MAX, [6, 2]),
            ([2, 3], 0, [usize::MAX, 2]),
        ] {
            let mut to = [0; 24];
            let source = Strided {
                bytes: from.as_slice(),
                start,
                strides: &strides,
            };
            let target = Strided {
                bytes: to.as_mut_slice(),
                start: 0,
                strides: &[8, 2],
            };
            assert!(copy(&lens, 2, source, target).is_err(), "{lens:?}");
            let target = Strided {
                bytes: &mut to[..12],
                start,
                strides: &strides,
            };
            assert!(fill(&lens, &[1, 1], target).is_err(), "{lens:?}");
            assert_eq!(to, [0; 24]);
        }
        let one_axis = Strided {
            bytes: from.as_slice(),
            start: 0,
            strides: &[2],
        };
        let mut to = [0; 12];
        let target = Strided {
            bytes: to.as_mut_slice(),
            start: 0,
            strides: &[6, 2],
        };
        assert!(copy(&[2, 3], 2, one_axis, target).is_err());
    }
}
