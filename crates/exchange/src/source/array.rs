//! [`ArraySource`]: an array, or a box of it.

use super::{Batch, Schema, Source, check_rows, first_len, next_rows, row_shape};
use bloscpack_datasets::CArray;
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// An array of a dataset, or a box of it.
///
/// ```
/// use bloscpack_datasets::CArray;
/// use bloscpack_exchange::{ArraySource, Source};
///
/// let array = CArray::open("../../testdata/datasets/bcolz/py2_int64")?;
/// let mut source = ArraySource::new(&array).range(10..20)?;
/// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
/// assert_eq!(batch.columns, [array.read_rows(10..20)?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ArraySource<'a> {
    array: &'a CArray,
    schema: Schema,
    rows: u64,
    rest: Range<u64>,
    /// Bytes along the axes after the first.
    within: Vec<Range<u64>>,
}

impl<'a> ArraySource<'a> {
    /// The whole array.
    #[must_use]
    pub fn new(array: &'a CArray) -> Self {
        let row_shape = row_shape(array.shape());
        let mut schema = Schema::array(array.dtype().clone(), row_shape);
        schema.attributes = array.attributes().clone();
        Self {
            array,
            schema,
            rows: array.rows(),
            rest: 0..array.rows(),
            within: row_shape.iter().map(|axis| 0..*axis).collect(),
        }
    }

    /// The name of its column where columns have names, instead of `value`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        for column in &mut self.schema.columns {
            name.clone_into(&mut column.name);
        }
        self
    }

    /// Only these rows.
    ///
    /// # Errors
    /// Returns wrong usage if there are not so many.
    pub fn range(mut self, rows: Range<u64>) -> Result<Self> {
        check_rows(&rows, self.array.rows())?;
        self.rows = rows.end - rows.start;
        self.rest = rows;
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
        self.within = within;
        self.range(rows)
    }
}

/// A range for each axis, the first apart.
pub(super) fn checked_slice(
    shape: &[u64],
    slice: &[Range<u64>],
) -> Result<(Range<u64>, Vec<Range<u64>>)> {
    if slice.len() > shape.len() {
        return Err(Error::usage(format!(
            "a slice of {} axes where there are {}",
            slice.len(),
            shape.len()
        )));
    }
    let mut ranges = Vec::new();
    for (axis, len) in shape.iter().enumerate() {
        // An axis that is not named is whole.
        let range = slice.get(axis).cloned().unwrap_or(0..*len);
        if range.start > range.end || range.end > *len {
            return Err(Error::usage(format!(
                "{}..{} of axis {axis}, which has {len}",
                range.start, range.end
            )));
        }
        ranges.push(range);
    }
    match ranges.split_first() {
        Some((rows, within)) => Ok((rows.clone(), within.to_vec())),
        None => Ok((0..1, Vec::new())),
    }
}

/// The lengths of ranges that [`checked_slice`] has found to be sound.
pub(super) fn lens(ranges: &[Range<u64>]) -> Vec<u64> {
    ranges.iter().map(|range| range.end - range.start).collect()
}

impl Source for ArraySource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let stride = first_len(self.array.chunk_shape());
        let row_bytes = self.schema.row_bytes();
        let Some(rows) = next_rows(&mut self.rest, row_bytes, stride, bytes) else {
            return Ok(None);
        };
        let mut slice = vec![rows.clone()];
        slice.extend(self.within.iter().cloned());
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
