//! [`RowsSource`]: the elements of rows as columns.

use super::{Batch, BoxedSource, Schema, Source};
use crate::schema::Column;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, Result};

/// More columns than a text format is read with.
const MAX_COLUMNS: u64 = 1 << 16;

/// An array of two axes, as a table with a column for each position along the second.
pub struct RowsSource<'a> {
    inner: BoxedSource<'a>,
    schema: Schema,
    /// Bytes of an element.
    itemsize: usize,
}

impl std::fmt::Debug for RowsSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("RowsSource");
        shown.field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<'a> RowsSource<'a> {
    /// Splits the rows of an array of two axes into columns `value_0`, `value_1` and so on; anything else, and rows of no or of
    /// too many elements, stay as they are.
    pub(super) fn split(inner: BoxedSource<'a>) -> Result<BoxedSource<'a>> {
        let schema = inner.schema();
        let [column] = schema.columns.as_slice() else {
            return Ok(inner);
        };
        let &[len] = column.row_shape.as_slice() else {
            return Ok(inner);
        };
        if schema.is_table || column.dtype.itemsize() == 0 || !(1..=MAX_COLUMNS).contains(&len) {
            return Ok(inner);
        }
        let name = |number| format!("{}_{number}", column.name);
        let columns = (0..len).map(|number| {
            let one = Column::new(name(number), column.dtype.clone());
            if column.nan_is_null {
                one.nan_as_null()
            } else {
                one
            }
        });
        let itemsize = in_memory(column.dtype.itemsize())?;
        let mut split = Schema::table(columns.collect());
        split.attributes = schema.attributes.clone();
        Ok(Box::new(Self {
            inner,
            schema: split,
            itemsize,
        }))
    }
}

impl Source for RowsSource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        self.inner.rows()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let Some(batch) = self.inner.next_batch(bytes)? else {
            return Ok(None);
        };
        batch.check(self.inner.schema())?;
        let [elements] = batch.columns.as_slice() else {
            return Err(Error::bug("an array is not one column"));
        };
        let width = self.schema.columns.len();
        let mut columns = vec![Vec::with_capacity(elements.len() / width); width];
        let mut next = 0;
        for element in elements.chunks_exact(self.itemsize) {
            let column = columns.get_mut(next);
            column
                .ok_or_else(|| Error::bug(format!("column {next} of {width}")))?
                .extend_from_slice(element);
            next = (next + 1) % width;
        }
        Ok(Some(Batch::new(&self.schema, batch.rows, columns)))
    }
}
