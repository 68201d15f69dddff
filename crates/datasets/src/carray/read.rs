//! Elements out.

use super::{Blocks, CArray};
use crate::leaf::box_bytes;
use bloscpack_dtype::{
    boxes::to_usize,
    native::{self, Element},
};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// Bytes read at once where nobody knows yet whether they are there.
const STEP: u64 = 64 << 20;

impl CArray {
    /// The bytes of these rows, in C order and as the dtype has them.
    ///
    /// ```
    /// # use bloscpack_datasets::CArray;
    /// let array = CArray::open("../../testdata/datasets/bcolz/py2_int64")?;
    /// assert_eq!(array.read_rows(0..2)?.len(), 16);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Wrong usage if there are not so many rows; damage; an array of Python objects is unsupported.
    pub fn read_rows(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        self.leaf
            .grid()
            .check(&self.leaf.grid().of_whole_rows(rows.clone()))?;
        self.read_in_steps(&self.leaf.grid().of_whole_rows(rows))
    }

    /// Reads a box step by step, so that a lying shape takes no memory that no chunk fills.
    fn read_in_steps<T: bytemuck::Pod>(&self, slice: &[Range<u64>]) -> Result<Vec<T>> {
        self.leaf.grid().check(slice)?;
        let size = u64::try_from(size_of::<T>()).unwrap_or(1).max(1);
        let total = box_bytes(slice, self.leaf.grid().itemsize());
        let Some((rows, rest)) = slice.split_first() else {
            return Ok(Vec::new());
        };
        let per_row = total
            .checked_div(rows.end.saturating_sub(rows.start))
            .unwrap_or(0)
            .max(1);
        let at_once = (STEP / per_row)
            .max(1)
            .next_multiple_of(self.leaf.grid().band_rows());
        let too_large = |_| {
            Error::usage(format!(
                "{total} bytes do not fit into memory: read less at once"
            ))
        };
        self.leaf.check_plain()?;
        self.leaf.check_first(slice)?;
        // Zeros that are not touched cost nothing; what is not there is found out below.
        let all = bytemuck::try_zeroed_vec(to_usize(total / size));
        let (mut values, mut filled, mut row) = (all.unwrap_or_default(), 0usize, rows.start);
        while row < rows.end {
            // After the first, steps begin where bands do.
            let end = (row / at_once)
                .saturating_add(1)
                .saturating_mul(at_once)
                .min(rows.end);
            let step: Vec<Range<u64>> = std::iter::once(row..end)
                .chain(rest.iter().cloned())
                .collect();
            let len = to_usize(box_bytes(&step, self.leaf.grid().itemsize()) / size);
            let next = filled.saturating_add(len);
            if values.len() < next {
                values.try_reserve(len).map_err(too_large)?;
                values.resize(next, T::zeroed());
            }
            let out = values.get_mut(filled..next).unwrap_or_default();
            self.leaf.read_box(&step, bytemuck::cast_slice_mut(out))?;
            (filled, row) = (next, end);
        }
        Ok(values)
    }

    /// Reads these rows into `out`, which has [`row_bytes`](Self::row_bytes) for each.
    ///
    /// # Errors
    /// As [`read_rows`](Self::read_rows), and wrong usage for another length.
    pub fn read_rows_into(&self, rows: Range<u64>, out: &mut [u8]) -> Result<()> {
        self.leaf
            .read_box(&self.leaf.grid().of_whole_rows(rows), out)
    }

    /// The bytes of a box of elements, a range for each axis, in C order. Of a chunk only the blocks are decompressed that
    /// hold any.
    ///
    /// # Errors
    /// As [`read_rows`](Self::read_rows).
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.read_in_steps(slice)
    }

    /// Reads a box of elements into `out`, in C order.
    ///
    /// # Errors
    /// As [`read_slice`](Self::read_slice), and wrong usage for another length.
    pub fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.leaf.read_box(slice, out)
    }

    /// Reads a box of elements as values, in C order.
    ///
    /// ```
    /// # use bloscpack_datasets::CArray;
    /// let array = CArray::open("../../testdata/datasets/bcolz/py2_int64")?;
    /// let mut values = [0i64; 3];
    /// array.read(&[10..13], &mut values)?;
    /// assert_eq!(array.to_vec::<i64>(10..13)?, values);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_slice_into`](Self::read_slice_into), and wrong usage if the elements are of another type.
    pub fn read<T: Element>(&self, slice: &[Range<u64>], out: &mut [T]) -> Result<()> {
        native::check::<T>(self.dtype())?;
        self.leaf.read_box(slice, bytemuck::cast_slice_mut(out))?;
        native::turn(self.dtype(), out);
        Ok(())
    }

    /// The values of these rows.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn to_vec<T: Element>(&self, rows: Range<u64>) -> Result<Vec<T>> {
        native::check::<T>(self.dtype())?;
        let mut values = self.read_in_steps(&self.leaf.grid().of_whole_rows(rows))?;
        native::turn(self.dtype(), &mut values);
        Ok(values)
    }

    /// A box of elements as an array of the crate `ndarray`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    #[cfg(feature = "ndarray")]
    pub fn to_ndarray<T: Element>(&self, slice: &[Range<u64>]) -> Result<ndarray::ArrayD<T>> {
        native::check::<T>(self.dtype())?;
        let mut values: Vec<T> = self.read_in_steps(slice)?;
        native::turn(self.dtype(), &mut values);
        let shape: Vec<usize> = slice
            .iter()
            .map(|range| to_usize(range.end.saturating_sub(range.start)))
            .collect();
        ndarray::ArrayD::from_shape_vec(shape, values)
            .map_err(|error| Error::usage(error.to_string()))
    }

    /// Goes through these rows in blocks of so many bytes at most (but at least a row), in bounded memory.
    #[must_use]
    pub fn blocks(&self, rows: Range<u64>, bytes: usize) -> Blocks<'_> {
        Blocks::new(self, rows, bytes)
    }
}
