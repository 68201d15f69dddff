//! Orthogonal selection: elements at any positions of each axis.

use super::NdArray;
use super::grid::{Positions, lens};
use bloscpack_dtype::{boxes::to_usize, strided::strides};
use bloscpack_error::{Error, Result};
use std::collections::BTreeMap;
use std::ops::Range;

/// Positions of one axis that lie in the same chunk, each with where it is in the selection.
type Picked = Vec<(u64, usize)>;

impl NdArray {
    /// The elements at these positions of each axis, in C order: those of the first axis' first position come first. Positions
    /// may come in any order, and more than once. Each chunk is read once.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::builder(&[3, 4], 1).in_memory()?;
    /// array.write_slice(&[0..3, 0..4], &[0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23])?;
    /// assert_eq!(array.select(&[&[2, 0], &[1, 1, 3]])?, [21, 21, 23, 1, 1, 3]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) for another number of axes, and positions that they do not have; as
    /// [`read_slice`](Self::read_slice).
    pub fn select(&self, positions: &[&[u64]]) -> Result<Vec<u8>> {
        let (itemsize, sizes) = (self.grid.itemsize, self.check_positions(positions)?);
        let len = selection_len(&sizes, itemsize)?;
        let mut out = Vec::new();
        let room = out.try_reserve_exact(len);
        room.map_err(|_| {
            Error::usage(format!("no memory for {len} bytes: select less at a time"))
        })?;
        out.resize(len, 0);
        let steps = strides(&sizes, itemsize);
        for picked in self.picked(positions) {
            let slice = bounds(&picked);
            let part = self.read_slice(&slice)?;
            each_element((&slice, &picked), &steps, itemsize, |from, to| {
                if let (Some(from), Some(to)) = (
                    part.get(from..from.saturating_add(itemsize)),
                    out.get_mut(to..to.saturating_add(itemsize)),
                ) {
                    to.copy_from_slice(from);
                }
            });
        }
        Ok(out)
    }

    /// Sets the elements at these positions of each axis, in C order; where one comes more than once, the last counts.
    ///
    /// # Errors
    /// As [`select`](Self::select) and [`write_slice`](Self::write_slice).
    pub fn set_selection(&mut self, positions: &[&[u64]], data: &[u8]) -> Result<()> {
        let (itemsize, sizes) = (self.grid.itemsize, self.check_positions(positions)?);
        if selection_len(&sizes, itemsize)? != data.len() {
            let found = data.len();
            return Err(Error::usage(format!(
                "{found} bytes for a selection of {sizes:?} elements"
            )));
        }
        self.frame.begin()?;
        let steps = strides(&sizes, itemsize);
        for (number, picked) in self.picked(positions).enumerate() {
            let slice = bounds(&picked);
            let read = self.read_slice(&slice);
            let mut part = match number {
                0 => read?,
                _ => self.frame.or_fail(read)?,
            };
            each_element((&slice, &picked), &steps, itemsize, |to, from| {
                if let (Some(from), Some(to)) = (
                    data.get(from..from.saturating_add(itemsize)),
                    part.get_mut(to..to.saturating_add(itemsize)),
                ) {
                    to.copy_from_slice(from);
                }
            });
            let written = self.write_slice(&slice, &part);
            match number {
                0 => written?,
                _ => self.frame.or_fail(written)?,
            }
        }
        Ok(())
    }

    /// How many positions there are along each axis.
    fn check_positions(&self, positions: &[&[u64]]) -> Result<Vec<usize>> {
        let shape = self.shape();
        let mut axes = positions.iter().zip(shape);
        let fits = axes.all(|(positions, len)| positions.iter().all(|at| at < len));
        match fits && positions.len() == shape.len() {
            true => Ok(positions.iter().map(|positions| positions.len()).collect()),
            false => Err(Error::usage(format!(
                "positions that an array of shape {shape:?} does not have"
            ))),
        }
    }

    /// The positions by chunk: for each chunk that has any, those along each axis.
    fn picked<'a>(&self, positions: &'a [&'a [u64]]) -> impl Iterator<Item = Vec<Picked>> + use<> {
        let axes = positions.iter().zip(&self.grid.chunk);
        let axes: Vec<Vec<Picked>> = axes
            .map(|(positions, chunk)| {
                let mut chunks: BTreeMap<u64, Picked> = BTreeMap::new();
                for (index, at) in (0..).zip(*positions) {
                    let chunk = at.checked_div(*chunk).unwrap_or(0);
                    chunks.entry(chunk).or_default().push((*at, index));
                }
                chunks.into_values().collect()
            })
            .collect();
        let counts = axes
            .iter()
            .map(|chunks| 0..u64::try_from(chunks.len()).unwrap_or(0));
        Positions::new(counts.collect()).map(move |at| {
            let picked = axes
                .iter()
                .zip(at)
                .map(|(chunks, at)| chunks.get(to_usize(at)));
            picked
                .map(|picked| picked.cloned().unwrap_or_default())
                .collect()
        })
    }
}

fn selection_len(sizes: &[usize], itemsize: usize) -> Result<usize> {
    let len = match sizes.contains(&0) {
        true => Some(0),
        false => sizes
            .iter()
            .try_fold(itemsize, |len, size| len.checked_mul(*size)),
    };
    let len = len.filter(|len| isize::try_from(*len).is_ok());
    len.ok_or_else(|| Error::usage("the selection has more bytes than memory"))
}

/// The smallest box with all these positions.
fn bounds(picked: &[Picked]) -> Vec<Range<u64>> {
    let axes = picked.iter().map(|picked| {
        let first = picked.iter().map(|(at, _)| *at).min().unwrap_or(0);
        let last = picked.iter().map(|(at, _)| *at).max().unwrap_or(0);
        first..last.saturating_add(1)
    });
    axes.collect()
}

/// Calls for each picked element, with where it lies in the bytes of the box and in those of the selection.
fn each_element(
    (slice, picked): (&[Range<u64>], &[Picked]),
    steps: &[usize],
    itemsize: usize,
    mut each: impl FnMut(usize, usize),
) {
    let inside = strides(&lens(slice), itemsize);
    // Where each position lies in both, axis by axis.
    let axes: Vec<Vec<(usize, usize)>> = picked
        .iter()
        .zip(slice)
        .zip(inside.iter().zip(steps))
        .map(|((picked, range), (inside, step))| {
            let places = picked.iter().map(|(at, index)| {
                let at = to_usize(at.saturating_sub(range.start));
                (at.saturating_mul(*inside), index.saturating_mul(*step))
            });
            places.collect()
        })
        .collect();
    descend(&axes, (0, 0), &mut each);
}

fn descend(
    axes: &[Vec<(usize, usize)>],
    (part, all): (usize, usize),
    each: &mut impl FnMut(usize, usize),
) {
    let Some((first, rest)) = axes.split_first() else {
        return each(part, all);
    };
    for (in_part, in_all) in first {
        descend(
            rest,
            (part.saturating_add(*in_part), all.saturating_add(*in_all)),
            each,
        );
    }
}
