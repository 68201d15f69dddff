//! [`MeaningSource`]: NaN as missing values, bytes as text, and a column as an array.

use super::{Batch, BoxedSource, Schema, Source};
use crate::BATCH;
use crate::Cells;
use crate::schema::Column;
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, Result};

/// A source whose columns are read differently: NaN and NaT ("not a time") as missing values, bytes as text, or the only column
/// as an array.
pub struct MeaningSource<'a> {
    inner: BoxedSource<'a>,
    schema: Schema,
}

impl<'a> MeaningSource<'a> {
    pub fn new(inner: BoxedSource<'a>) -> Self {
        let mut schema = inner.schema().clone();
        let columns = schema.columns.into_iter();
        schema.columns = columns.map(Column::nan_as_null).collect();
        Self { inner, schema }
    }

    pub fn as_array(inner: BoxedSource<'a>) -> Self {
        let mut schema = inner.schema().clone();
        schema.is_table = schema.columns.len() != 1;
        Self { inner, schema }
    }

    pub fn of_text(inner: BoxedSource<'a>, are_text: &[bool]) -> Self {
        let mut schema = inner.schema().clone();
        for (column, is_text) in schema.columns.iter_mut().zip(are_text) {
            column.is_text = *is_text;
        }
        Self { inner, schema }
    }
}

/// Reads the source, and returns for each column whether all of its elements are bytes (`S`) in UTF-8, including the fields of
/// structured elements. Stops early if no column qualifies.
///
/// Pass the result to `bytes_as_text` of a second source of the same rows.
///
/// ```
/// use bloscpack_array::{ArraySource, Flat, columns_of_text};
/// use bloscpack_dtype::DType;
///
/// let array = Flat::new(b"abcd".to_vec(), DType::bytes(2)?, &[2], false)?;
/// assert_eq!(columns_of_text(Box::new(ArraySource::new(&array)?))?, [true]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of the source.
pub fn columns_of_text(mut source: BoxedSource<'_>) -> Result<Vec<bool>> {
    let columns = source.schema().columns.clone();
    let mut are_text: Vec<bool> = columns.iter().map(Column::has_bytes).collect();
    while are_text.contains(&true)
        && let Some(batch) = source.next_batch(BATCH)?
    {
        let columns = columns.iter().zip(&batch.columns).zip(&mut are_text);
        for ((column, bytes), is_text) in columns.filter(|(_, is_text)| **is_text) {
            let mut elements = bytes.chunks(in_memory(column.dtype.itemsize())?.max(1));
            *is_text = elements.try_fold(true, |all, element| {
                Ok::<_, Error>(all && is_utf8(&column.dtype, element)?)
            })?;
        }
    }
    Ok(are_text)
}

/// Whether the bytes of an element, or of its fields, are UTF-8. Zeros at the end do not count.
fn is_utf8(dtype: &DType, element: &[u8]) -> Result<bool> {
    match dtype.kind() {
        Kind::Bytes => {
            let last = element.iter().rposition(|byte| *byte != 0);
            let text = last.and_then(|last| element.get(..=last));
            Ok(text.is_none_or(|text| std::str::from_utf8(text).is_ok()))
        }
        Kind::Struct(of) => of.fields.iter().try_fold(true, |all, field| {
            let (at, len) = (in_memory(field.offset)?, in_memory(field.dtype.itemsize())?);
            let count = in_memory(field.shape.iter().product())?;
            let bytes = element
                .get(at..)
                .ok_or_else(|| Error::bug("a field beyond its element"))?;
            let mut elements = bytes.chunks(len.max(1)).take(count);
            elements.try_fold(all, |all, element| {
                Ok(all && is_utf8(&field.dtype, element)?)
            })
        }),
        _ => Ok(true),
    }
}

impl Source for MeaningSource<'_> {
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
