//! A source into a dataset.

use bloscpack_array::Cells;
use bloscpack_array::{Batch, Column, Schema, names, row_shape};
use bloscpack_array::{Progress, Source, for_each, refuse_missing};
use bloscpack_datasets::{CArray, CTable};
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use std::collections::BTreeSet;

/// Appends all rows of a source to a table, whose columns are found by their names, and flushes it.
///
/// Types must be the same except for byte order. Columns with missing values, for which the source has NaN or "not a time", are
/// [noted](CTable::set_has_missing). Nothing that was appended is kept if it fails and the table is
/// dropped.
///
/// # Errors
/// Returns wrong usage for other columns than the table has, or of other types, and for missing values, of which
/// [`FixedSource`](crate::FixedSource) makes elements; errors of the source and of the table.
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

/// Appends all rows of a source with one column to an array, and flushes it.
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

/// The columns with missing values, for which NaN or "not a time" stands.
#[derive(Default)]
struct Missing(BTreeSet<String>);

impl Missing {
    /// Looks at a batch, and refuses one whose bytes do not stand for what is missing.
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

/// For a column of the table, the column of the source that its rows come from, and the type that they get.
struct ColumnMapping {
    from: usize,
    dtype: DType,
}

impl ColumnMapping {
    /// The error of a batch without the column.
    fn missing(&self) -> Error {
        Error::bug(format!(
            "a batch without column {} of its schema",
            self.from
        ))
    }
}

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

/// Refuses rows that are not those of the array, but for the order of their bytes.
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

/// Whether elements become those of the other type with the order of their bytes reversed; `None` if they cannot.
fn has_other_order(from: &DType, to: &DType) -> Option<bool> {
    if from == to {
        return Some(false);
    }
    let plain = from.fields().is_none() && to.fields().is_none();
    let same = from.kind() == to.kind() && from.itemsize() == to.itemsize();
    (plain && same).then_some(true)
}

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
