//! [`FieldsSource`]: the fields of elements as columns.

use super::{Batch, BoxedSource, Schema, Source, to_usize};
use crate::schema::Column;
use blosc1::Fault;
use bloscpack_error::Result;

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
            let end = field.offset.checked_add(part.row_bytes());
            if end.is_none_or(|end| end > column.dtype.itemsize()) {
                let what = format!("field {:?} reaches outside of its element", field.name);
                return Err(crate::error::exchange(Fault::Damaged, what));
            }
            starts.push(to_usize(field.offset));
            columns.push(part);
        }
        let itemsize = to_usize(column.dtype.itemsize());
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

    fn rows(&self) -> u64 {
        self.inner.rows()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let Some(batch) = self.inner.next_batch(bytes)? else {
            return Ok(None);
        };
        let elements = batch.columns.first().map_or(&[][..], Vec::as_slice);
        let fields = self.schema.columns.iter().zip(&self.starts);
        let columns = fields.map(|(field, start)| {
            let len = to_usize(field.row_bytes());
            let elements = elements.chunks_exact(self.itemsize.max(1));
            let parts = elements.filter_map(|element| element.get(*start..)?.get(..len));
            parts.flatten().copied().collect()
        });
        Ok(Some(Batch {
            rows: batch.rows,
            columns: columns.collect(),
        }))
    }
}
