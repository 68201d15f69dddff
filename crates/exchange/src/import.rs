//! [`import_array`] and [`import_table`]: append a source to a dataset.

use bloscpack_array::Cells;
use bloscpack_array::{Batch, Column, Schema, names, row_shape};
use bloscpack_array::{Progress, Source, for_each, refuse_missing};
use bloscpack_datasets::{CArray, CTable};
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use std::collections::BTreeSet;

/// Appends all rows of a source to a table, and flushes it. Columns are matched by name.
///
/// Types must be the same except for byte order. Columns in which values are missing, as NaN or NaT, are
/// [marked](CTable::set_has_missing). After an error nothing is flushed: drop the table to discard the appended rows.
///
/// # Errors
/// Returns `Code::Usage` for columns that the table does not have or lacks, for other types, and for missing values, which
/// [`FixedSource`](crate::FixedSource) turns into elements; errors of the source and of the table.
pub fn import_table(
    source: &mut dyn Source,
    table: &mut CTable,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let mappings = mappings(source.schema(), table)?;
    let mut missing = Missing::default();
    for_each(source, progress, |schema, mut batch| {
        missing.see(schema, &batch)?;
        match_byte_order(schema, &mut batch, &mappings)?;
        let columns = mappings.iter().map(|mapping| {
            let bytes = batch.columns.get(mapping.from);
            bytes.map(Vec::as_slice).ok_or_else(|| mapping.missing())
        });
        table.append(&columns.collect::<Result<Vec<_>>>()?)
    })?;
    for name in &missing.0 {
        table.set_has_missing(name)?;
    }
    table.flush()
}

/// Appends all rows of a source with one column to an array, and flushes it. Works like [`import_table`].
///
/// ```
/// use bloscpack_array::Flat;
/// use bloscpack_datasets::CArray;
/// use bloscpack_dtype::DType;
/// use bloscpack_exchange::{ArraySource, import_array};
/// use bloscpack_storage::Memory;
///
/// let numbers = Flat::new(vec![1, 2, 3], DType::U8, &[3], false)?;
/// let mut array = CArray::of::<u8>().create_in(Memory::new())?;
/// import_array(&mut ArraySource::new(&numbers)?, &mut array, &mut |_| ())?;
/// assert_eq!(array.read_rows(0..3)?, [1, 2, 3]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`import_table`].
pub fn import_array(
    source: &mut dyn Source,
    array: &mut CArray,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let column = source.schema().only("an array has one column")?;
    check(column, array)?;
    let mapping = ColumnMapping {
        from: 0,
        dtype: array.dtype().clone(),
    };
    let mut missing = Missing::default();
    for_each(source, progress, |schema, mut batch| {
        missing.see(schema, &batch)?;
        match_byte_order(schema, &mut batch, std::slice::from_ref(&mapping))?;
        let rows = batch.columns.first().ok_or_else(|| mapping.missing())?;
        array.append(rows)
    })?;
    if !missing.0.is_empty() {
        array.set_has_missing()?;
    }
    array.flush()
}

/// The columns in which NaN or NaT represents a missing value.
#[derive(Default)]
struct Missing(BTreeSet<String>);

impl Missing {
    /// Notes the missing values of a batch. Refuses a batch whose bytes do not represent them.
    fn see(&mut self, schema: &Schema, batch: &Batch) -> Result<()> {
        refuse_missing(schema, batch)?;
        for (number, column) in schema.columns.iter().enumerate() {
            let cells = batch.cells(number);
            let is_missing = matches!(cells, Cells::Present(present) if present.contains(&false));
            if is_missing && column.dtype.has_nan() {
                self.0.insert(column.name.clone());
            }
        }
        Ok(())
    }
}

/// The source's column for a column of the table, and the type that its elements get.
struct ColumnMapping {
    from: usize,
    dtype: DType,
}

impl ColumnMapping {
    /// The error for a batch without the column.
    fn missing(&self) -> Error {
        Error::bug(format!(
            "a batch without column {} of its schema",
            self.from
        ))
    }
}

/// The source's column for each column of the table.
fn mappings(schema: &Schema, table: &CTable) -> Result<Vec<ColumnMapping>> {
    let mut mappings = Vec::new();
    for name in table.names() {
        let from = schema
            .columns
            .iter()
            .position(|column| column.name == *name);
        let found = from.and_then(|from| Some((from, schema.columns.get(from)?)));
        let Some((from, column)) = found else {
            return Err(Error::usage(format!(
                "input has no column {name:?} (found: {})",
                names(&schema.columns)
            )));
        };
        let array = table.column(name)?;
        check(column, array)?;
        let dtype = array.dtype().clone();
        mappings.push(ColumnMapping { from, dtype });
    }
    if schema.columns.len() == mappings.len() {
        Ok(mappings)
    } else {
        Err(Error::usage(format!(
            "the table has columns {}, but the input has {}",
            table.names().join(", "),
            names(&schema.columns)
        )))
    }
}

/// Refuses a column whose rows differ from the array's in more than byte order.
fn check(column: &Column, array: &CArray) -> Result<()> {
    let row_shape = row_shape(array.shape());
    let same = has_other_order(&column.dtype, array.dtype()).is_some();
    if same && column.row_shape == row_shape {
        Ok(())
    } else {
        Err(Error::usage(format!(
            "column {:?} has rows of {} {:?}, expected {} {row_shape:?}",
            column.name,
            column.dtype,
            column.row_shape,
            array.dtype(),
        )))
    }
}

/// Whether elements convert to the other type by reversing their bytes; `None` if they do not convert.
fn has_other_order(from: &DType, to: &DType) -> Option<bool> {
    if from == to {
        return Some(false);
    }
    let plain = from.fields().is_none() && to.fields().is_none();
    let same = from.kind() == to.kind() && from.itemsize() == to.itemsize();
    (plain && same).then_some(true)
}

/// Converts the columns of a batch to the byte order of the table.
fn match_byte_order(schema: &Schema, batch: &mut Batch, mappings: &[ColumnMapping]) -> Result<()> {
    for mapping in mappings {
        let (Some(column), Some(bytes)) = (
            schema.columns.get(mapping.from),
            batch.columns.get_mut(mapping.from),
        ) else {
            return Err(mapping.missing());
        };
        if has_other_order(&column.dtype, &mapping.dtype) == Some(true) {
            column.dtype.to_little(bytes);
            mapping.dtype.to_little(bytes);
        }
    }
    Ok(())
}
