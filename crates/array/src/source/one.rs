//! [`OneArray`]: the elements of a source, for a target that stores one array.

use super::Source;
use crate::Cells;
use crate::schema::{Batch, Column, Schema};
use bloscpack_error::{Error, Result};

/// Reads a source that is one array of fixed-length elements, for a target that stores nothing else.
///
/// It refuses several columns, values of varying length and missing values. [`FixedSource`](super::FixedSource) turns the last
/// two into elements.
///
/// ```
/// use bloscpack_array::{ArraySource, Flat, OneArray};
/// use bloscpack_dtype::DType;
///
/// let array = Flat::new(vec![1, 2, 3, 4, 5, 6], DType::U8, &[3, 2], false)?;
/// let mut source = ArraySource::new(&array)?.range(1..3)?;
/// let mut rows = OneArray::new(&mut source)?;
/// assert_eq!(rows.shape(), [2, 2]);
/// assert_eq!(rows.next_elements(1 << 20)?.ok_or("no rows")?, [3, 4, 5, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OneArray<'a> {
    source: &'a mut dyn Source,
    schema: Schema,
    column: Column,
    shape: Vec<u64>,
    done: u64,
}

impl std::fmt::Debug for OneArray<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("OneArray");
        let shown = shown.field("column", &self.column);
        shown.field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl<'a> OneArray<'a> {
    /// Takes the only column of the source, whose number of rows must be known.
    ///
    /// # Errors
    /// Returns `Code::Usage` unless there is exactly one column, for values of varying length, and for an unknown number of
    /// rows.
    pub fn new(source: &'a mut dyn Source) -> Result<Self> {
        let schema = source.schema().clone();
        let column = schema.only("an array has one column")?.clone();
        if column.varying.is_some() {
            return Err(unsuitable(&column, "values of varying length"));
        }
        Ok(Self {
            shape: schema.shape(source.known_rows()?)?,
            source,
            schema,
            column,
            done: 0,
        })
    }

    /// The name, dtype and row shape of the elements.
    #[must_use]
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// The schema of the source.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The shape of the array; empty for a single element without axes.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The elements of the next rows in C order: about `bytes` bytes, but at least one row. `None` after the last.
    ///
    /// # Errors
    /// Returns the errors of the source, and `Code::Usage` for a missing value and for another number of rows than the source
    /// announced.
    pub fn next_elements(&mut self, bytes: usize) -> Result<Option<Vec<u8>>> {
        let rows = self.source.known_rows()?;
        let Some(mut batch) = self.source.next_batch(bytes)? else {
            return if self.done == rows {
                Ok(None)
            } else {
                Err(changed(rows, self.done))
            };
        };
        batch.check(&self.schema)?;
        refuse_missing(&self.schema, &batch)?;
        self.done = self.done.saturating_add(batch.rows);
        if self.done > rows {
            return Err(changed(rows, self.done));
        }
        let elements = batch.columns.pop();
        let elements = elements.ok_or_else(|| Error::bug("an array is not one column"))?;
        Ok(Some(elements))
    }
}

/// The error for a source that gave another number of rows than it announced.
pub(crate) fn changed(expected: u64, found: u64) -> Error {
    Error::usage(format!(
        "source changed while being read: expected {expected} rows, got {found}"
    ))
}

/// Refuses missing values and values of varying length, for a target that cannot store them. NaN and NaT are accepted.
///
/// # Errors
/// Returns `Code::Usage` with the name of the column.
pub fn refuse_missing(schema: &Schema, batch: &Batch) -> Result<()> {
    for (number, column) in schema.columns.iter().enumerate() {
        match batch.cells(number) {
            Cells::Present(present) if !column.is_filled() && present.contains(&false) => {
                return Err(unsuitable(column, "missing values"));
            }
            Cells::Varying(_) => return Err(unsuitable(column, "values of varying length")),
            _ => {}
        }
    }
    Ok(())
}

fn unsuitable(column: &Column, what: &str) -> Error {
    let name = &column.name;
    Error::usage(format!(
        "column {name:?} has {what}, which cannot be stored there"
    ))
}
