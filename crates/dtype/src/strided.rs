//! Boxes of elements copied between arrays in memory whose axes lie apart by any number of bytes.

/// A box in an array: the bytes, where the box begins in them, and how far apart elements are along each axis.
#[derive(Debug)]
pub struct Place<'a, B> {
    /// The bytes of the array.
    pub bytes: B,
    /// The byte at which the box begins.
    pub start: usize,
    /// Bytes from an element to the next along each axis.
    pub strides: &'a [usize],
}

/// Bytes from an element to the next along each axis of an array in C order.
pub fn strides(shape: &[usize], itemsize: usize) -> Vec<usize> {
    let mut step = itemsize;
    let mut strides: Vec<usize> = shape
        .iter()
        .rev()
        .map(|len| {
            let stride = step;
            step = step.saturating_mul(*len);
            stride
        })
        .collect();
    strides.reverse();
    strides
}

/// Copies a box of so many elements along each axis. What would lie outside of either array is not copied; callers see to it
/// that nothing does.
pub fn copy(lens: &[usize], itemsize: usize, from: Place<'_, &[u8]>, to: Place<'_, &mut [u8]>) {
    let Some((outer, run)) = runs(lens, itemsize, &[from.strides, to.strides]) else {
        return;
    };
    let (last, outer) = match outer.split_last() {
        Some((last, outer)) => (*last, outer),
        None => (1, outer),
    };
    let axis = outer.len();
    let (from_step, to_step) = (stride(from.strides, axis), stride(to.strides, axis));
    walk(outer, &[from.strides, to.strides], &mut |[
        from_at,
        to_at,
    ]| {
        let (from_at, to_at) = (
            from.start.saturating_add(from_at),
            to.start.saturating_add(to_at),
        );
        let line = Line {
            count: last,
            from_at,
            from_step,
            to_at,
            to_step,
        };
        line.copy(run, from.bytes, to.bytes);
    });
}

/// Fills a box with an element, over and over.
pub fn fill(lens: &[usize], element: &[u8], to: Place<'_, &mut [u8]>) {
    let Some((outer, run)) = runs(lens, element.len(), &[to.strides]) else {
        return;
    };
    let is_zero = element.iter().all(|byte| *byte == 0);
    walk(outer, &[to.strides], &mut |[at]| {
        let at = to.start.saturating_add(at);
        let Some(part) = to.bytes.get_mut(at..at.saturating_add(run)) else {
            return;
        };
        match is_zero {
            true => part.fill(0),
            false => part
                .chunks_exact_mut(element.len())
                .for_each(|to| to.copy_from_slice(element)),
        }
    });
}

/// The axes that have to be gone through one by one, and the bytes that lie side by side in all arrays then; nothing if the
/// box is empty.
fn runs<'a>(
    lens: &'a [usize],
    itemsize: usize,
    strides: &[&[usize]],
) -> Option<(&'a [usize], usize)> {
    if lens.contains(&0) || itemsize == 0 {
        return None;
    }
    let (mut outer, mut run) = (lens, itemsize);
    while let Some((len, rest)) = outer.split_last() {
        // An axis of one element lies anyhow.
        let is_dense = |strides: &&[usize]| stride(strides, rest.len()) == run;
        if *len > 1 && !strides.iter().all(is_dense) {
            break;
        }
        run = run.saturating_mul(*len);
        outer = rest;
    }
    Some((outer, run))
}

fn stride(strides: &[usize], axis: usize) -> usize {
    strides.get(axis).copied().unwrap_or(0)
}

/// Goes through all positions of these axes, with how far they lie from the first one in each array.
fn walk<const N: usize>(
    lens: &[usize],
    strides: &[&[usize]; N],
    each: &mut impl FnMut([usize; N]),
) {
    let mut at = vec![0usize; lens.len()];
    let mut offsets = [0usize; N];
    loop {
        each(offsets);
        // On to the next position, the last axis first.
        let mut axis = lens.len();
        loop {
            let Some(below) = axis.checked_sub(1) else {
                return;
            };
            axis = below;
            let (Some(position), Some(len)) = (at.get_mut(axis), lens.get(axis)) else {
                return;
            };
            *position = position.saturating_add(1);
            if *position < *len {
                for (offset, strides) in offsets.iter_mut().zip(strides) {
                    *offset = offset.saturating_add(stride(strides, axis));
                }
                break;
            }
            *position = 0;
            let back = len.saturating_sub(1);
            for (offset, strides) in offsets.iter_mut().zip(strides) {
                *offset = offset.saturating_sub(stride(strides, axis).saturating_mul(back));
            }
        }
    }
}

/// Runs of bytes along one axis.
struct Line {
    count: usize,
    from_at: usize,
    from_step: usize,
    to_at: usize,
    to_step: usize,
}

impl Line {
    fn copy(&self, run: usize, from: &[u8], to: &mut [u8]) {
        match run {
            1 => self.fixed::<1>(from, to),
            2 => self.fixed::<2>(from, to),
            4 => self.fixed::<4>(from, to),
            8 => self.fixed::<8>(from, to),
            16 => self.fixed::<16>(from, to),
            _ => self.each(|from_at, to_at| {
                if let (Some(from), Some(to)) = (
                    from.get(from_at..from_at.saturating_add(run)),
                    to.get_mut(to_at..to_at.saturating_add(run)),
                ) {
                    to.copy_from_slice(from);
                }
            }),
        }
    }

    /// A length that the compiler knows takes one instruction instead of a call.
    fn fixed<const N: usize>(&self, from: &[u8], to: &mut [u8]) {
        self.each(|from_at, to_at| {
            let from = from.get(from_at..).and_then(<[u8]>::first_chunk::<N>);
            let to = to.get_mut(to_at..).and_then(<[u8]>::first_chunk_mut::<N>);
            if let (Some(from), Some(to)) = (from, to) {
                *to = *from;
            }
        });
    }

    #[inline]
    fn each(&self, mut copy: impl FnMut(usize, usize)) {
        let (mut from_at, mut to_at) = (self.from_at, self.to_at);
        for _ in 0..self.count {
            copy(from_at, to_at);
            from_at = from_at.saturating_add(self.from_step);
            to_at = to_at.saturating_add(self.to_step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, copy, fill, strides};

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
                Place {
                    bytes: &from,
                    start,
                    strides: &from_strides,
                },
                Place {
                    bytes: &mut to,
                    start: 0,
                    strides: &to_strides,
                },
            );
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
            Place {
                bytes: &[1, 2, 3, 4],
                start: 0,
                strides: &[],
            },
            Place {
                bytes: &mut to,
                start: 0,
                strides: &[],
            },
        );
        assert_eq!(to, [1, 2, 3, 4]);
    }

    #[test]
    fn a_box_is_filled_and_nothing_beside_it() {
        let mut to = [9; 12];
        fill(
            &[2, 1],
            &[1, 2],
            Place {
                bytes: &mut to,
                start: 2,
                strides: &[6, 2],
            },
        );
        assert_eq!(to, [9, 9, 1, 2, 9, 9, 9, 9, 1, 2, 9, 9]);
        fill(
            &[2, 0],
            &[1, 2],
            Place {
                bytes: &mut to,
                start: 0,
                strides: &[6, 2],
            },
        );
        assert_eq!(to[..2], [9, 9]);
    }
}
