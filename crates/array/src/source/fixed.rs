//! [`FixedSource`]: a source of fixed-length elements, for a target that stores no others.

use super::{Batch, BoxedSource, Schema, Source};
use crate::BATCH;
use crate::Cells;
use crate::msgpack::Value;
use crate::schema::is_value_of_nothing;
use crate::schema::{Column, ItemKind};
use bloscpack_dtype::DType;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};

/// Replaces values of varying length and missing values by fixed-length elements.
///
/// Text becomes `U` of the longest text's length. A missing float becomes NaN, a missing time NaT, a missing string an empty
/// one; any other missing value is an error. To learn the lengths, the source is read twice:
///
/// ```
/// use bloscpack_array::{ArraySource, FixedSource, Flat, Source};
/// use bloscpack_dtype::DType;
///
/// let array = Flat::new(vec![1, 2, 3], DType::U8, &[3], false)?;
/// let longest = FixedSource::longest(Box::new(ArraySource::new(&array)?))?;
/// let mut source = FixedSource::new(Box::new(ArraySource::new(&array)?), &longest)?;
/// assert_eq!(source.next_batch(1 << 20)?.ok_or("no rows")?.columns, [[1, 2, 3]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FixedSource<'a> {
    source: BoxedSource<'a>,
    schema: Schema,
}

impl std::fmt::Debug for FixedSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FixedSource")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl<'a> FixedSource<'a> {
    /// Reads the whole source, and returns the number of characters of the longest text of each column. Empty, and reads
    /// nothing, if no column has values of varying length.
    ///
    /// # Errors
    /// Returns the errors of the source, and [`Code::CannotStore`] for values of varying length that are not text.
    pub fn longest(mut source: BoxedSource<'_>) -> Result<Vec<u64>> {
        if source.schema().has_varying() {
            longest(&mut *source)
        } else {
            Ok(Vec::new())
        }
    }

    /// Reads `source`, with text columns of the lengths that [`longest`](Self::longest) returned for it.
    ///
    /// [`next_batch`](Source::next_batch) returns [`Code::CannotStore`] for a missing value that no element represents, and
    /// `Code::Usage` for text that is longer than announced.
    ///
    /// # Errors
    /// Returns an error for text of 2 GiB and more.
    pub fn new(source: BoxedSource<'a>, longest: &[u64]) -> Result<Self> {
        let mut schema = source.schema().clone();
        for (column, chars) in schema.columns.iter_mut().zip(longest) {
            if column.varying.take().is_some() {
                column.dtype = DType::text((*chars).max(1))?;
            }
        }
        for column in &mut schema.columns {
            column.nan_is_null |= column.nullable && column.dtype.has_nan();
            column.nullable = false;
        }
        Ok(Self { source, schema })
    }
}

/// The number of characters of the longest text of each column.
fn longest(source: &mut dyn Source) -> Result<Vec<u64>> {
    let columns = source.schema().columns.clone();
    let is_other = |column: &&Column| !matches!(column.varying, None | Some(ItemKind::Text));
    if let Some(column) = columns.iter().find(is_other) {
        let name = &column.name;
        let what = "values of varying length, which cannot be stored there; choose others";
        return Err(Error::new(
            Code::CannotStore,
            format!("column {name:?} has {what}"),
        ));
    }
    let mut longest = vec![0; columns.len()];
    while let Some(batch) = source.next_batch(BATCH)? {
        for (number, longest) in longest.iter_mut().enumerate() {
            if let Cells::Varying(values) = batch.cells(number) {
                let lens = values.iter().filter_map(Value::as_text);
                let most = lens.map(|text| to_u64(text.chars().count())).max();
                *longest = most.unwrap_or(0).max(*longest);
            }
        }
    }
    Ok(longest)
}

impl Source for FixedSource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn warnings(&self) -> &[String] {
        self.source.warnings()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let Some(mut batch) = self.source.next_batch(bytes)? else {
            return Ok(None);
        };
        let columns = self.schema.columns.iter();
        let parts = columns.zip(&mut batch.columns).zip(&mut batch.cells);
        for ((column, bytes), cells) in parts {
            match cells {
                Cells::Elements => {}
                Cells::Present(present) => fill(column, bytes, present)?,
                Cells::Varying(values) => {
                    *bytes = texts(column, values)?;
                    *cells = Cells::Elements;
                }
            }
        }
        Ok(Some(batch))
    }
}

/// Writes NaN, NaT or an empty string where an element is missing.
fn fill(column: &Column, bytes: &mut [u8], present: &[bool]) -> Result<()> {
    if !present.contains(&false) {
        return Ok(());
    }
    if !is_value_of_nothing(&column.dtype) {
        let (name, dtype) = (&column.name, &column.dtype);
        let what = format!("missing values, and {dtype} has none for them");
        return Err(Error::new(
            Code::CannotStore,
            format!("column {name:?} has {what}"),
        ));
    }
    let mut element = vec![0; in_memory(column.dtype.itemsize())?];
    let parsed = column.dtype.parse_text("", &mut element);
    parsed.map_err(|error| Error::usage(error.to_string()))?;
    let row = in_memory(column.row_bytes())?.max(1);
    let rows = bytes.chunks_exact_mut(row).zip(present);
    for (row, _) in rows.filter(|(_, present)| !**present) {
        for place in row.chunks_exact_mut(element.len().max(1)) {
            place.copy_from_slice(&element);
        }
    }
    Ok(())
}

/// Texts as elements of type `U`.
fn texts(column: &Column, values: &[Value]) -> Result<Vec<u8>> {
    let size = in_memory(column.dtype.itemsize())?;
    let mut bytes = vec![0; size.saturating_mul(values.len())];
    for (place, value) in bytes.chunks_exact_mut(size.max(1)).zip(values) {
        let (places, _) = place.as_chunks_mut::<4>();
        let text = value.as_text().unwrap_or_default();
        if text.chars().count() > places.len() {
            return Err(Error::usage("the source has changed since it was measured"));
        }
        for (place, char) in places.iter_mut().zip(text.chars()) {
            *place = u32::from(char).to_le_bytes();
        }
    }
    Ok(bytes)
}
