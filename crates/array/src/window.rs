//! [`Window`]: a slice of an array as an array of its own.

use crate::strided::{self, Strided, strides};
use crate::{Array, Description, Grid, bytes_of, check, lens};
use bloscpack_dtype::DType;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// A slice of an array, optionally with steps, as an array of its own. Its indices begin at 0.
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
    /// The step along each axis; `None` if all are 1.
    steps: Option<Vec<u64>>,
    grid: Grid,
}

impl<A: Array> Window<A> {
    /// A view of this slice, one range per axis.
    ///
    /// # Errors
    /// Returns `Code::OutOfBounds` for a slice that is not within the array.
    pub fn new(array: A, slice: &[Range<u64>]) -> Result<Self> {
        Self::with_steps(array, slice, &[])
    }

    /// A view that keeps every `step`th position of the slice along each axis, beginning with the first. Axes without a step
    /// keep all.
    ///
    /// Reading decompresses the whole box, and copies the wanted positions out of it.
    ///
    /// ```
    /// # use bloscpack_array::{Array, Flat, Window};
    /// # use bloscpack_dtype::DType;
    /// let array = Flat::new(vec![1, 2, 3, 4, 5, 6], DType::U8, &[3, 2], false)?;
    /// let window = Window::with_steps(array, &[0..3, 1..2], &[2])?;
    /// assert_eq!(window.read_slice(&[0..2, 0..1])?, [2, 6]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `Code::OutOfBounds` for a slice that is not within the array, and `Code::Usage` for a step of 0.
    pub fn with_steps(array: A, slice: &[Range<u64>], steps: &[u64]) -> Result<Self> {
        array.grid().check(slice)?;
        if steps.contains(&0) {
            return Err(Error::usage("a step of 0"));
        }
        let ones = std::iter::repeat_n(1, slice.len().saturating_sub(steps.len()));
        let steps: Vec<u64> = steps.iter().copied().chain(ones).collect();
        let shape: Vec<u64> = lens(slice)
            .iter()
            .zip(&steps)
            .map(|(len, step)| len.div_ceil(*step))
            .collect();
        let chunk = array.grid().chunk_shape().iter().zip(&shape);
        let chunk = chunk
            .map(|(chunk, len)| (*chunk).min(*len).max(1))
            .collect();
        Ok(Self {
            grid: Grid::new(shape, chunk),
            within: slice.to_vec(),
            steps: Some(steps).filter(|steps| steps.iter().any(|step| *step != 1)),
            array,
        })
    }
}

impl<A: Array> Window<A> {
    /// Reads the whole box, and copies every `step`th position along each axis.
    fn read_steps(&self, slice: &[Range<u64>], steps: &[u64], out: &mut [u8]) -> Result<()> {
        let itemsize = in_memory(self.dtype().itemsize())?;
        let wanted: Vec<usize> = lens(slice)
            .into_iter()
            .map(in_memory)
            .collect::<Result<_>>()?;
        if out.len() != in_memory(bytes_of(slice, self.dtype().itemsize()))? {
            return Err(Error::usage("a buffer of another length than the slice"));
        }
        if wanted.contains(&0) {
            return Ok(());
        }
        let axes = slice.iter().zip(&self.within).zip(steps);
        let whole: Vec<Range<u64>> = axes
            .map(|((range, within), step)| {
                let first = within.start + range.start * step;
                first..first + (range.end - range.start - 1) * step + 1
            })
            .collect();
        let bytes = self.array.read_slice(&whole)?;
        let lens: Vec<usize> = lens(&whole)
            .into_iter()
            .map(in_memory)
            .collect::<Result<_>>()?;
        let strides_of_box = strides(&lens, itemsize);
        let from: Vec<usize> = strides_of_box
            .iter()
            .zip(steps)
            .map(|(stride, step)| Ok(stride.saturating_mul(in_memory(*step)?)))
            .collect::<Result<_>>()?;
        let from = Strided {
            bytes: &*bytes,
            start: 0,
            strides: &from,
        };
        let to = strides(&wanted, itemsize);
        let to = Strided {
            bytes: out,
            start: 0,
            strides: &to,
        };
        strided::copy(&wanted, itemsize, from, to)
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
        if let Some(steps) = &self.steps {
            return self.read_steps(slice, steps, out);
        }
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
