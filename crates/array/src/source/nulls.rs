//! [`NullsSource`]: NaN as missing values.

use super::{Batch, BoxedSource, Schema, Source};
use crate::Cells;
use crate::schema::Column;
use bloscpack_error::Result;

/// A source in whose columns NaN and "not a time" stand for missing values.
pub struct NullsSource<'a> {
    inner: BoxedSource<'a>,
    schema: Schema,
}

impl<'a> NullsSource<'a> {
    pub fn new(inner: BoxedSource<'a>) -> Self {
        let mut schema = inner.schema().clone();
        let columns = schema.columns.into_iter();
        schema.columns = columns.map(Column::nan_as_null).collect();
        Self { inner, schema }
    }
}

impl Source for NullsSource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        self.inner.rows()
    }

    fn warnings(&self) -> &[String] {
        self.inner.warnings()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let Some(mut batch) = self.inner.next_batch(bytes)? else {
            return Ok(None);
        };
        batch.check(self.inner.schema())?;
        batch.cells.resize(batch.columns.len(), Cells::Elements);
        let columns = self.schema.columns.iter().zip(&batch.columns);
        for ((column, bytes), cells) in columns.zip(&mut batch.cells) {
            match (&mut *cells, column.cells(bytes)) {
                (Cells::Present(present), Cells::Present(numbers)) => {
                    let both = present.iter_mut().zip(numbers);
                    both.for_each(|(present, number)| *present &= number);
                }
                (Cells::Elements, found) => *cells = found,
                _ => {}
            }
        }
        Ok(Some(batch))
    }
}
