//! [`SplitSource`]: fields of elements, or positions of rows, as columns.

use super::{Batch, BoxedSource, Schema, Source};
use crate::schema::Column;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Code, Error, Result};

/// The maximum number of columns that a text format is read with.
const MAX_COLUMNS: u64 = 1 << 16;

/// An array as a table: each column is a part of every row, a field or a position along the second axis.
///
/// Made by `fields` and `rows_as_columns` of [`Source`].
pub struct SplitSource<'a> {
    inner: BoxedSource<'a>,
    schema: Schema,
    /// Bytes of a row of the array.
    row_bytes: usize,
    /// The position of each column in a row, in bytes.
    starts: Vec<usize>,
}

impl std::fmt::Debug for SplitSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("SplitSource");
        shown.field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<'a> SplitSource<'a> {
    /// See `fields` of `dyn Source`.
    pub(super) fn fields(inner: BoxedSource<'a>) -> Result<BoxedSource<'a>> {
        let schema = inner.schema();
        let [column] = schema.columns.as_slice() else {
            return Ok(inner);
        };
        let fields = column.dtype.fields();
        let is_plain = !schema.is_table && column.row_shape.is_empty();
        let Some(fields) = fields.filter(|_| is_plain) else {
            return Ok(inner);
        };
        let (mut columns, mut starts) = (Vec::new(), Vec::new());
        for field in fields {
            let mut part = Column::new(&field.name, field.dtype.clone());
            part.row_shape.clone_from(&field.shape);
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
        Self::of(inner, columns, starts)
    }

    /// See `rows_as_columns` of `dyn Source`.
    pub(super) fn rows(inner: BoxedSource<'a>) -> Result<BoxedSource<'a>> {
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
        let columns = (0..len).map(|number| Column::new(name(number), column.dtype.clone()));
        let columns = columns.collect();
        let itemsize = in_memory(column.dtype.itemsize())?;
        let starts = (0..in_memory(len)?).map(|number| number * itemsize);
        let starts = starts.collect();
        Self::of(inner, columns, starts)
    }

    fn of(
        inner: BoxedSource<'a>,
        mut columns: Vec<Column>,
        starts: Vec<usize>,
    ) -> Result<BoxedSource<'a>> {
        let whole = inner.schema();
        if whole.columns.iter().any(|column| column.nan_is_null) {
            columns = columns.into_iter().map(Column::nan_as_null).collect();
        }
        let mut schema = Schema::table(columns);
        schema.attributes = whole.attributes.clone();
        Ok(Box::new(Self {
            row_bytes: in_memory(whole.row_bytes())?,
            inner,
            schema,
            starts,
        }))
    }
}

impl Source for SplitSource<'_> {
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
        let Some(batch) = self.inner.next_batch(bytes)? else {
            return Ok(None);
        };
        batch.check(self.inner.schema())?;
        let [rows] = batch.columns.as_slice() else {
            return Err(Error::bug("an array is not one column"));
        };
        let mut columns = Vec::with_capacity(self.starts.len());
        for (column, start) in self.schema.columns.iter().zip(&self.starts) {
            let len = in_memory(column.row_bytes())?;
            let mut parts = Vec::with_capacity(in_memory(batch.rows)?.saturating_mul(len));
            // Rows without bytes have no parts with bytes.
            for row in rows.chunks_exact(self.row_bytes.max(1)) {
                let part = row.get(*start..).and_then(|rest| rest.get(..len));
                let part =
                    part.ok_or_else(|| Error::bug(format!("{len} bytes at {start} of a row")))?;
                parts.extend_from_slice(part);
            }
            columns.push(parts);
        }
        Ok(Some(Batch::new(&self.schema, batch.rows, columns)))
    }
}
