//! [`FieldsSource`]: the fields of elements as columns.

use super::{Batch, BoxedSource, Schema, Source};
use crate::schema::Column;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Code, Error, Result};

/// An array whose elements have fields, as a table that has them as columns.
pub struct FieldsSource<'a> {
    inner: BoxedSource<'a>,
    schema: Schema,
    itemsize: usize,
    /// Where each field begins in an element.
    starts: Vec<usize>,
}

impl std::fmt::Debug for FieldsSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("FieldsSource");
        shown.field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<'a> FieldsSource<'a> {
    /// Splits an array of one axis whose elements have fields; anything else stays as it is.
    pub(super) fn split(inner: BoxedSource<'a>) -> Result<BoxedSource<'a>> {
        let schema = inner.schema();
        let [column] = schema.columns.as_slice() else {
            return Ok(inner);
        };
        let Some(fields) = column
            .dtype
            .fields()
            .filter(|_| !schema.is_table && column.row_shape.is_empty())
        else {
            return Ok(inner);
        };
        let (mut columns, mut starts) = (Vec::new(), Vec::new());
        for field in fields {
            let mut part = Column::new(&field.name, field.dtype.clone());
            part.row_shape.clone_from(&field.shape);
            if column.nan_is_null {
                part = part.nan_as_null();
            }
            let end = field.offset.checked_add(part.row_bytes());
            if end.is_none_or(|end| end > column.dtype.itemsize()) {
                return Err(Error::new(
                    Code::Damaged,
                    format!("field {:?} reaches outside of its element", field.name),
                ));
            }
            starts.push(in_memory(field.offset)?);
            columns.push(part);
        }
        let itemsize = in_memory(column.dtype.itemsize())?;
        let mut split = Schema::table(columns);
        split.attributes = schema.attributes.clone();
        Ok(Box::new(Self {
            inner,
            schema: split,
            itemsize,
            starts,
        }))
    }
}

impl Source for FieldsSource<'_> {
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
            return Err(Error::bug("elements with fields are not one column"));
        };
        let mut columns = Vec::new();
        for (field, start) in self.schema.columns.iter().zip(&self.starts) {
            let len = in_memory(field.row_bytes())?;
            let mut column = Vec::new();
            // Elements without bytes have no fields with any.
            for element in elements.chunks_exact(self.itemsize.max(1)) {
                let part = element.get(*start..).and_then(|rest| rest.get(..len));
                column.extend_from_slice(
                    part.ok_or_else(|| {
                        Error::bug(format!("{len} bytes at {start} of an element"))
                    })?,
                );
            }
            columns.push(column);
        }
        Ok(Some(Batch::new(&self.schema, batch.rows, columns)))
    }
}
