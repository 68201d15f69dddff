//! The filters of n-dimensional blocks: NDCELL, and the places of NDMEAN. The elements of each cell follow each other.
//!
//! ```text
//! block of 4 × 5, cells of 2      0  1 |  2  3 |  4        stored    0 1 5 6   2 3 7 8   4 9
//!                                 5  6 |  7  8 |  9
//!                                ------+-------+---                  10 11 15 16   …
//!                                10 11 | 12 13 | 14
//!                                15 16 | 17 18 | 19
//! ```
//!
//! Cells and the elements of a cell are in C order. Cells at the end of an axis are cut off.

use crate::ChunkError;
use std::ops::Range;

/// The maximum number of axes.
const MAX_AXES: usize = 8;

/// The shape of the blocks of an n-dimensional array, which a chunk does not contain.
///
/// The filters NDCELL and NDMEAN and the compressor ZFP of C-Blosc2 need it.
///
/// ```
/// use blosc1::BlockShape;
///
/// let shape = BlockShape::new(&[4, 5]).unwrap();
/// assert_eq!(shape.lengths(), [4, 5]);
/// assert!(BlockShape::new(&[4, 0]).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockShape {
    lengths: [u32; MAX_AXES],
    axes: u8,
}

impl BlockShape {
    /// The shape with these lengths, the slowest axis first. `None` unless there are 1 to 8 axes, all longer than 0, and
    /// fewer than 2³² elements.
    #[must_use]
    pub fn new(lengths: &[u32]) -> Option<Self> {
        let mut all = [1; MAX_AXES];
        all.get_mut(..lengths.len())?.copy_from_slice(lengths);
        let items = all.into_iter().try_fold(1_u32, u32::checked_mul);
        let axes = u8::try_from(lengths.len()).ok().filter(|axes| *axes > 0)?;
        items.filter(|items| *items > 0)?;
        Some(Self { lengths: all, axes })
    }

    /// The length of each axis in elements, the slowest first.
    #[must_use]
    pub fn lengths(&self) -> &[u32] {
        let (lengths, _) = self.lengths.split_at(self.axes.into());
        lengths
    }

    /// The number of elements of a block.
    #[must_use]
    pub fn items(&self) -> u32 {
        self.lengths.iter().product()
    }
}

/// How a block is cut into cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells {
    shape: BlockShape,
    /// The lengths of a cell.
    sides: [u32; MAX_AXES],
}

impl Cells {
    /// The cells of NDCELL. `None` if C-Blosc2 refuses them: a side of 0, or cells larger than the block.
    pub fn equal(shape: BlockShape, side: u8) -> Option<Self> {
        let side = u32::from(side);
        let cells = Self {
            shape,
            sides: [side; MAX_AXES],
        };
        let lengths = shape.lengths().iter();
        let size = lengths.fold(1_u64, |size, _| size.saturating_mul(side.into()));
        (side > 0 && size <= shape.items().into()).then_some(cells)
    }

    /// The cells of NDMEAN, cut to the block along each axis. `None` if C-Blosc2 refuses them: a side of 0 or above 127, or a block
    /// that is shorter than a cell along the first axis only, where C-Blosc2 loses the places of cells.
    pub fn fitted(shape: BlockShape, side: u8) -> Option<Self> {
        let side = i8::try_from(side).ok().filter(|side| *side > 0)?;
        let sides = shape
            .lengths
            .map(|length| length.min(side.unsigned_abs().into()));
        let (first, lengths) = (sides.first()?, shape.lengths);
        let is_lost = sides
            .iter()
            .zip(lengths)
            .any(|(side, length)| side > first && length > *side);
        (!is_lost).then_some(Self { shape, sides })
    }

    /// Calls `act` with each row of each cell, as its elements in the block. All rows together have as many elements as the
    /// block.
    fn rows(&self, mut act: impl FnMut(Range<usize>)) {
        let lengths = self.shape.lengths();
        let last = lengths.len() - 1;
        let mut strides = [1; MAX_AXES];
        for axis in (0..last).rev() {
            strides[axis] = strides[axis + 1] * lengths[axis + 1];
        }
        let position = |index: &[u32; MAX_AXES]| -> u32 {
            index
                .iter()
                .zip(strides)
                .take(last + 1)
                .map(|(i, stride)| i * stride)
                .sum()
        };
        let mut counts = [1; MAX_AXES];
        for axis in 0..=last {
            counts[axis] = lengths[axis].div_ceil(self.sides[axis]);
        }
        let mut cell = [0; MAX_AXES];
        loop {
            let mut first = cell;
            first
                .iter_mut()
                .zip(self.sides)
                .for_each(|(index, side)| *index *= side);
            let origin = position(&first);
            let mut extent = [1; MAX_AXES];
            for axis in 0..=last {
                let rest = lengths[axis] - cell[axis] * self.sides[axis];
                extent[axis] = rest.min(self.sides[axis]);
            }
            let width = std::mem::replace(&mut extent[last], 1) as usize;
            let mut row = [0; MAX_AXES];
            loop {
                let start = (origin + position(&row)) as usize;
                act(start..start + width);
                if !advance(&mut row, &extent) {
                    break;
                }
            }
            if !advance(&mut cell, &counts) {
                break;
            }
        }
    }

    /// Applies the filter: the elements of a block in the order of the cells.
    ///
    /// # Errors
    ///
    /// Returns [`ChunkError::Bug`] for a block of another shape.
    pub fn gather(&self, typesize: usize, src: &[u8], dst: &mut [u8]) -> Result<(), ChunkError> {
        self.check(typesize, src.len())?;
        let mut at = 0;
        self.rows(|row| {
            let bytes = &src[row.start * typesize..row.end * typesize];
            dst[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        });
        Ok(())
    }

    /// Undoes the filter.
    ///
    /// # Errors
    ///
    /// Returns the error of [`gather`](Self::gather).
    pub fn scatter(&self, typesize: usize, src: &[u8], dst: &mut [u8]) -> Result<(), ChunkError> {
        self.check(typesize, src.len())?;
        let mut at = 0;
        self.rows(|row| {
            let place = &mut dst[row.start * typesize..row.end * typesize];
            place.copy_from_slice(&src[at..at + place.len()]);
            at += place.len();
        });
        Ok(())
    }

    /// Refuses a block that has another shape.
    fn check(&self, typesize: usize, len: usize) -> Result<(), ChunkError> {
        let what = "a block has another length than its shape";
        let is_whole = self.shape.items() as usize * typesize == len;
        is_whole.then_some(()).ok_or(ChunkError::Bug { what })
    }
}

/// The next index in C order; `false` after the last one, which is followed by zeros.
fn advance(index: &mut [u32; MAX_AXES], lengths: &[u32; MAX_AXES]) -> bool {
    for (at, length) in index.iter_mut().zip(lengths).rev() {
        *at += 1;
        if *at < *length {
            return true;
        }
        *at = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{BlockShape, Cells};

    fn shape(lengths: &[u32]) -> BlockShape {
        BlockShape::new(lengths).unwrap()
    }

    #[test]
    fn elements_of_a_cell_follow_each_other() {
        let data: Vec<u8> = (0..20).collect();
        let mut out = [0; 20];
        let cells = Cells::equal(shape(&[4, 5]), 2).unwrap();
        cells.gather(1, &data, &mut out).unwrap();
        assert_eq!(out[..10], [0, 1, 5, 6, 2, 3, 7, 8, 4, 9]);
        let mut back = [0; 20];
        cells.scatter(1, &out, &mut back).unwrap();
        assert_eq!(back, *data);
    }

    #[test]
    fn every_number_of_axes_and_any_element_is_undone() {
        for lengths in [&[7][..], &[4, 5], &[3, 4, 5], &[2, 3, 2, 3], &[2; 8]] {
            let shape = shape(lengths);
            for (typesize, side) in [(1, 1), (3, 2), (8, 2), (4, 3)] {
                let Some(cells) = Cells::equal(shape, side) else {
                    continue;
                };
                let data: Vec<u8> = (0..shape.items() * typesize)
                    .map(|i| i.to_le_bytes()[0])
                    .collect();
                let (mut filtered, mut back) = (vec![0; data.len()], vec![0; data.len()]);
                cells
                    .gather(typesize as usize, &data, &mut filtered)
                    .unwrap();
                cells
                    .scatter(typesize as usize, &filtered, &mut back)
                    .unwrap();
                assert_eq!(back, data, "{lengths:?} in cells of {side}");
            }
        }
    }

    #[test]
    fn cells_that_c_blosc2_refuses_do_not_exist() {
        assert!(Cells::equal(shape(&[4, 4]), 0).is_none());
        assert!(Cells::equal(shape(&[4, 4]), 5).is_none());
        assert!(Cells::fitted(shape(&[4, 4]), 0).is_none());
        assert!(Cells::fitted(shape(&[4, 4]), 128).is_none());
        assert!(Cells::fitted(shape(&[4, 4]), 127).is_some());
    }

    #[test]
    fn a_shape_has_up_to_eight_axes_and_no_empty_one() {
        assert!(BlockShape::new(&[]).is_none());
        assert!(BlockShape::new(&[1; 9]).is_none());
        assert!(BlockShape::new(&[1 << 16, 1 << 16]).is_none());
        assert_eq!(shape(&[2; 8]).items(), 256);
    }
}
