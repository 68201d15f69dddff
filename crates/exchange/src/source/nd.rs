//! [`NdSource`]: an n-dimensional array of a frame, or a box of it.

use super::array::{checked_slice, lens};
use super::{Batch, Schema, Source, first_len, next_rows, row_shape};
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use bloscpack_frames::NdArray;
use std::ops::Range;

/// An array of a Blosc2 frame, or a box of it. One without axes is a row.
///
/// ```
/// use bloscpack_exchange::{NdSource, Source};
/// use bloscpack_frames::NdArray;
///
/// let array = NdArray::of_type::<i16>(&[30, 4]).in_memory()?;
/// let mut source = NdSource::new(&array)?.slice(&[10..20])?;
/// assert_eq!((source.rows(), source.schema().row_bytes()), (10, 8));
/// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
/// assert_eq!(batch.columns, [array.read_slice(&[10..20, 0..4])?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NdSource<'a> {
    array: &'a NdArray,
    schema: Schema,
    rows: u64,
    rest: Range<u64>,
    /// Bytes along the axes after the first.
    within: Vec<Range<u64>>,
}

impl<'a> NdSource<'a> {
    /// The whole array. Elements without a dtype, as in Caterva frames, are void.
    ///
    /// # Errors
    /// Returns an error for elements without a dtype of 2 GiB and more.
    pub fn new(array: &'a NdArray) -> Result<Self> {
        let row_shape = row_shape(array.shape());
        let dtype = match array.dtype() {
            Some(dtype) => dtype.clone(),
            None => DType::void(array.itemsize().into())?,
        };
        let rows = first_len(array.shape());
        Ok(Self {
            array,
            schema: Schema::array(dtype, row_shape),
            rows,
            rest: 0..rows,
            within: row_shape.iter().map(|axis| 0..*axis).collect(),
        })
    }

    /// Sets the dtype of its elements, whatever the file says.
    ///
    /// # Errors
    /// Returns wrong usage for a type of another size.
    pub fn dtype(mut self, dtype: DType) -> Result<Self> {
        let itemsize = u64::from(self.array.itemsize());
        if dtype.itemsize() != itemsize {
            return Err(Error::usage(format!(
                "{dtype} has {} bytes, but the elements have {itemsize}",
                dtype.itemsize()
            )));
        }
        for column in &mut self.schema.columns {
            column.dtype = dtype.clone();
        }
        Ok(self)
    }

    /// Only this box of it, a range for each axis; axes that are not named are whole.
    ///
    /// # Errors
    /// Returns wrong usage for more axes than there are, or a range outside of its axis.
    pub fn slice(mut self, slice: &[Range<u64>]) -> Result<Self> {
        let (rows, within) = checked_slice(self.array.shape(), slice)?;
        for column in &mut self.schema.columns {
            column.row_shape = lens(&within);
        }
        self.rows = rows.end - rows.start;
        (self.rest, self.within) = (rows, within);
        Ok(self)
    }
}

impl Source for NdSource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let stride = first_len(self.array.chunk_shape());
        let row_bytes = self.schema.row_bytes();
        let Some(rows) = next_rows(&mut self.rest, row_bytes, stride.into(), bytes) else {
            return Ok(None);
        };
        let mut slice = vec![rows.clone()];
        slice.extend(self.within.iter().cloned());
        slice.truncate(self.array.shape().len());
        let read = self.array.read_slice(&slice).inspect_err(|_| {
            self.rest = 0..0;
        })?;
        Ok(Some(Batch {
            rows: rows.end - rows.start,
            columns: vec![read],
            ..Batch::default()
        }))
    }
}
