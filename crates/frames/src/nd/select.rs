//! Orthogonal selection: elements at any positions of each axis.

use super::NdArray;
use crate::error::check_len;
use bloscpack_array::strided::strides;
use bloscpack_array::{Positions, outside, sizes as lens};
use bloscpack_error::checked::{in_memory, to_u64, zeros};
use bloscpack_error::{Error, Result};
use std::collections::BTreeMap;
use std::ops::Range;

/// The selected positions of one axis that lie in the same chunk.
#[derive(Debug, Clone)]
struct Picked {
    /// The smallest range that contains all of them.
    range: Range<u64>,
    /// Each position, with its index in the selection.
    positions: Vec<(u64, usize)>,
}

/// For each axis, the chunks that contain selected positions.
type Axes = Vec<Vec<Picked>>;

impl NdArray {
    /// The elements at the combinations of these positions, in C order: an orthogonal selection, like `array.oindex[..]` in
    /// Zarr.
    ///
    /// `positions` has a list for each axis. Positions may be in any order, and repeated; an empty list selects nothing. The
    /// result has the shape of the lengths of the lists. Each chunk is read once, one after another.
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
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for another number of axes and for positions outside
    /// of the array, [`Code::Usage`](bloscpack_error::Code::Usage) for a selection longer than memory, and the errors of
    /// [`read_slice`](Self::read_slice).
    pub fn select(&self, positions: &[&[u64]]) -> Result<Vec<u8>> {
        let (itemsize, sizes) = (self.grid().itemsize, self.check_positions(positions)?);
        let len = selection_len(&sizes, itemsize)?;
        let mut out = zeros(to_u64(len))?;
        let steps = strides(&sizes, itemsize);
        let axes = self.by_chunk(positions);
        for at in chunks_of(&axes) {
            let picked = picked_at(&axes, &at)?;
            let slice = bounds(&picked);
            let part = self.read_slice(&slice)?;
            each_element((&slice, &picked), &steps, itemsize, |from, to| {
                let from = part.get(from..from + itemsize);
                let to = out.get_mut(to..to + itemsize);
                copy_element(from, to)
            })?;
        }
        Ok(out)
    }

    /// Sets the elements at the combinations of these positions. `data` is in C order, as [`select`](Self::select) returns it.
    /// If a position is repeated, the last value wins.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::builder(&[3, 4], 1).in_memory()?;
    /// array.set_selection(&[&[2, 0], &[3]], &[7, 8])?;
    /// assert_eq!(array.read_slice(&[0..3, 3..4])?, [8, 0, 7]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`select`](Self::select) and [`write_slice`](Self::write_slice). If a chunk after the first fails,
    /// the array must be reopened.
    pub fn set_selection(&mut self, positions: &[&[u64]], data: &[u8]) -> Result<()> {
        let (itemsize, sizes) = (self.grid().itemsize, self.check_positions(positions)?);
        let expected = selection_len(&sizes, itemsize)?;
        check_len("data of a selection", data.len(), expected)?;
        self.frame_mut().begin()?;
        let steps = strides(&sizes, itemsize);
        let axes = self.by_chunk(positions);
        let mut is_first = true;
        for at in chunks_of(&axes) {
            let picked = picked_at(&axes, &at)?;
            let done = self.set_picked(&picked, &steps, data);
            if is_first {
                done?
            } else {
                self.frame_mut().or_poison(done)?
            }
            is_first = false;
        }
        Ok(())
    }

    /// Sets the selected elements of one chunk: reads the smallest slice that contains them, and writes it back.
    fn set_picked(&mut self, picked: &[&Picked], steps: &[usize], data: &[u8]) -> Result<()> {
        let itemsize = self.grid().itemsize;
        let slice = bounds(picked);
        let mut part = self.read_slice(&slice)?;
        each_element((&slice, picked), steps, itemsize, |to, from| {
            let from = data.get(from..from + itemsize);
            let to = part.get_mut(to..to + itemsize);
            copy_element(from, to)
        })?;
        self.write_slice(&slice, &part)
    }

    /// The number of positions along each axis. Refuses positions outside of the array.
    fn check_positions(&self, positions: &[&[u64]]) -> Result<Vec<usize>> {
        let shape = self.shape();
        if positions.len() != shape.len() {
            let asked = format!("a selection of {} axes", positions.len());
            return Err(outside(asked, shape));
        }
        for (axis, (positions, len)) in positions.iter().zip(shape).enumerate() {
            if let Some(at) = positions.iter().find(|at| *at >= len) {
                return Err(outside(format!("position {at} of axis {axis}"), shape));
            }
        }
        Ok(positions.iter().map(|positions| positions.len()).collect())
    }

    /// Groups the positions of each axis by chunk.
    fn by_chunk(&self, positions: &[&[u64]]) -> Axes {
        let axes = positions.iter().zip(self.grid().chunks.chunk_shape());
        axes.map(|(positions, chunk)| {
            let mut chunks: BTreeMap<u64, Picked> = BTreeMap::new();
            for (index, at) in positions.iter().copied().enumerate() {
                // The axis has elements, so the chunk length is not 0.
                let picked = chunks.entry(at / chunk.max(&1)).or_insert_with(|| Picked {
                    range: at..at + 1,
                    positions: Vec::new(),
                });
                picked.range = picked.range.start.min(at)..picked.range.end.max(at + 1);
                picked.positions.push((at, index));
            }
            chunks.into_values().collect()
        })
        .collect()
    }
}

/// The combinations of chunks that contain selected positions, each as an index for each axis.
fn chunks_of(axes: &Axes) -> Positions {
    Positions::new(axes.iter().map(|chunks| 0..to_u64(chunks.len())).collect())
}

/// The selected positions of each axis in one combination of chunks.
fn picked_at<'a>(axes: &'a Axes, at: &[u64]) -> Result<Vec<&'a Picked>> {
    let picked = axes.iter().zip(at).map(|(chunks, at)| {
        let picked = chunks.get(in_memory(*at)?);
        picked.ok_or_else(|| Error::bug(format!("{at} of {} chunks", chunks.len())))
    });
    picked.collect()
}

/// Bytes of a selection. Refuses one that does not fit memory.
fn selection_len(sizes: &[usize], itemsize: usize) -> Result<usize> {
    let len = if sizes.contains(&0) {
        Some(0)
    } else {
        sizes
            .iter()
            .try_fold(itemsize, |len, size| len.checked_mul(*size))
    };
    let len = len.filter(|len| isize::try_from(*len).is_ok());
    len.ok_or_else(|| Error::usage("the selection is longer than memory"))
}

/// The smallest slice that contains all these positions.
fn bounds(picked: &[&Picked]) -> Vec<Range<u64>> {
    picked.iter().map(|picked| picked.range.clone()).collect()
}

/// Copies an element. A missing one is a bug.
fn copy_element(from: Option<&[u8]>, to: Option<&mut [u8]>) -> Result<()> {
    match (from, to) {
        (Some(from), Some(to)) => {
            to.copy_from_slice(from);
            Ok(())
        }
        _ => Err(Error::bug("an element is outside of its selection")),
    }
}

/// Calls `each` for each selected element of a chunk, with its byte offset in `slice` and in the selection. `steps` are the
/// strides of the selection.
fn each_element(
    (slice, picked): (&[Range<u64>], &[&Picked]),
    steps: &[usize],
    itemsize: usize,
    mut each: impl FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let inside = strides(&lens(slice)?, itemsize);
    let mut axes: Vec<Vec<(usize, usize)>> = Vec::with_capacity(picked.len());
    for ((picked, range), (inside, step)) in picked.iter().zip(slice).zip(inside.iter().zip(steps))
    {
        let places = picked.positions.iter().map(|(at, index)| {
            let at = in_memory(at - range.start)?;
            Ok((at * inside, index * step))
        });
        axes.push(places.collect::<Result<_>>()?);
    }
    descend(&axes, (0, 0), &mut each)
}

/// Combines the offsets of all axes, the first axis outermost.
fn descend(
    axes: &[Vec<(usize, usize)>],
    (part, all): (usize, usize),
    each: &mut impl FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let Some((first, rest)) = axes.split_first() else {
        return each(part, all);
    };
    first
        .iter()
        .try_for_each(|(in_part, in_all)| descend(rest, (part + in_part, all + in_all), each))
}
