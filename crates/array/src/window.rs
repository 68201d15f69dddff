//! [`Window`]: a slice of an array as an array.

use crate::{Array, Description, Grid, check, lens};
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use std::ops::Range;

/// A slice of an array, which is an array itself.
///
/// ```
/// use bloscpack_array::{Array, Flat, Window};
/// use bloscpack_dtype::DType;
///
/// let array = Flat::new(vec![1, 2, 3, 4, 5, 6], DType::U8, &[3, 2], false)?;
/// let window = Window::new(array, &[1..3, 0..1])?;
/// assert_eq!(window.grid().shape(), [2, 1]);
/// assert_eq!(window.read_slice(&[0..2, 0..1])?, [3, 5]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct Window<A> {
    array: A,
    within: Vec<Range<u64>>,
    grid: Grid,
}

impl<A: Array> Window<A> {
    /// This slice of the array: a range for each axis.
    ///
    /// # Errors
    /// Returns wrong usage for a slice that is not within the array.
    pub fn new(array: A, slice: &[Range<u64>]) -> Result<Self> {
        array.grid().check(slice)?;
        let shape = lens(slice);
        let chunk = array.grid().chunk_shape().iter().zip(&shape);
        let chunk = chunk
            .map(|(chunk, len)| (*chunk).min(*len).max(1))
            .collect();
        Ok(Self {
            grid: Grid::new(shape, chunk),
            within: slice.to_vec(),
            array,
        })
    }
}

impl<A: Array> Array for Window<A> {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dtype(&self) -> &DType {
        self.array.dtype()
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        check(slice, self.grid.shape())?;
        let moved = slice.iter().zip(&self.within);
        let moved: Vec<Range<u64>> = moved
            .map(|(range, within)| range.start + within.start..range.end + within.start)
            .collect();
        self.array.read_slice_into(&moved, out)
    }

    fn description(&self) -> Result<Description> {
        self.array.description()
    }
}
