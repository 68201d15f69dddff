//! [`ArraySource`]: an array, or a slice of it, as rows.

use super::{Batch, Schema, Source, check_rows, first_len, next_rows, row_shape};
use crate::schema::Column;
use crate::{Array, Attributes, check, lens};
use bloscpack_error::Result;
use std::ops::Range;

/// Reads an array, or a slice of it, as a [`Source`] of one column. The first axis is the rows; an array without axes is one
/// row.
///
/// ```
/// use bloscpack_array::{ArraySource, Flat, Source};
/// use bloscpack_dtype::DType;
///
/// let array = Flat::new(vec![0, 0, 1, 0, 2, 0, 3, 0], DType::U16, &[4], false)?;
/// let mut source = ArraySource::new(&array)?.slice(&[1..3])?;
/// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
/// assert_eq!(batch.columns, [[1, 0, 2, 0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ArraySource<A> {
    array: A,
    schema: Schema,
    rows: u64,
    rest: Range<u64>,
    /// The slice along the axes after the first.
    within: Vec<Range<u64>>,
}

impl<A: Array> ArraySource<A> {
    /// The whole array with its attributes. If the attribute `bloscpack.missing` is true, NaN represents missing values.
    ///
    /// # Errors
    /// Returns damage of the attributes.
    pub fn new(array: A) -> Result<Self> {
        let attributes = array.description()?.attributes;
        let has_missing = attributes.has_missing();
        let source = Self::of(array).attributes(attributes);
        Ok(if has_missing {
            source.nan_as_null()
        } else {
            source
        })
    }

    /// The whole array without attributes.
    #[must_use]
    pub fn of(array: A) -> Self {
        let shape = array.grid().shape();
        let (rows, row_shape) = (first_len(shape), row_shape(shape));
        let mut schema = Schema::array(array.dtype().clone(), row_shape);
        schema.is_scalar = shape.is_empty();
        Self {
            schema,
            rows,
            rest: 0..rows,
            within: row_shape.iter().map(|axis| 0..*axis).collect(),
            array,
        }
    }

    /// The array.
    pub fn array(&self) -> &A {
        &self.array
    }

    /// Names its column, instead of `value`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        for column in &mut self.schema.columns {
            name.clone_into(&mut column.name);
        }
        self
    }

    /// Replaces the attributes.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.schema.attributes = attributes;
        self
    }

    /// Reads NaN and NaT as missing values.
    #[must_use]
    pub fn nan_as_null(mut self) -> Self {
        let columns = std::mem::take(&mut self.schema.columns).into_iter();
        self.schema.columns = columns.map(Column::nan_as_null).collect();
        self
    }

    /// Restricts it to these rows of the array.
    ///
    /// # Errors
    /// Returns `Code::Usage` for rows past the end.
    pub fn range(mut self, rows: Range<u64>) -> Result<Self> {
        check_rows(&rows, first_len(self.array.grid().shape()))?;
        self.rows = rows.end - rows.start;
        // Without its element, it is an array of no rows.
        self.schema.is_scalar &= self.rows == 1;
        self.rest = rows;
        Ok(self)
    }

    /// Restricts it to a slice of the array, one range per axis; axes without a range are whole.
    ///
    /// # Errors
    /// Returns `Code::OutOfBounds` for more ranges than axes, or a range outside its axis.
    pub fn slice(mut self, slice: &[Range<u64>]) -> Result<Self> {
        let (rows, within) = checked_slice(self.array.grid().shape(), slice)?;
        for column in &mut self.schema.columns {
            column.row_shape = lens(&within);
        }
        self.within = within;
        self.range(rows)
    }
}

/// A range for each axis, the first one separately. An array without axes has the rows 0..1.
pub(crate) fn checked_slice(
    shape: &[u64],
    slice: &[Range<u64>],
) -> Result<(Range<u64>, Vec<Range<u64>>)> {
    // Axes without a range are whole.
    let others = shape.iter().skip(slice.len()).map(|len| 0..*len);
    let ranges: Vec<Range<u64>> = slice.iter().cloned().chain(others).collect();
    check(&ranges, shape)?;
    match ranges.split_first() {
        Some((rows, within)) => Ok((rows.clone(), within.to_vec())),
        None => Ok((0..1, Vec::new())),
    }
}

impl<A: Array> Source for ArraySource<A> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let stride = first_len(self.array.grid().chunk_shape());
        let row_bytes = self.schema.row_bytes();
        let Some(rows) = next_rows(&mut self.rest, row_bytes, stride, bytes) else {
            return Ok(None);
        };
        let count = rows.end - rows.start;
        let mut slice = vec![rows];
        slice.extend(self.within.iter().cloned());
        // An array without axes has one element, which is its only row.
        slice.truncate(self.array.grid().shape().len());
        let read = self.array.read_slice(&slice);
        let columns = vec![read.inspect_err(|_| self.rest = 0..0)?];
        Ok(Some(Batch::new(&self.schema, count, columns)))
    }
}
