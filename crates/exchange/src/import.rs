//! A source into a dataset.

use super::schema::{Batch, Column, Schema, names};
use super::source::{Progress, Source, for_each};
use bloscpack_datasets::{CArray, CTable};
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};

/// Appends all rows of a source to a table, whose columns are found by their names, and flushes it.
///
/// Types must be the same except for byte order. Nothing that was appended is kept if it fails and the table is
/// dropped.
///
/// # Errors
/// Returns wrong usage for other columns than the table has, or of other types, and errors of the source and of the table.
pub fn import_table(
    source: &mut dyn Source,
    table: &mut CTable,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let places = places(source.schema(), table)?;
    for_each(source, progress, |schema, mut batch| {
        turn(schema, &mut batch, &places);
        let columns: Vec<&[u8]> = places
            .iter()
            .filter_map(|place| batch.columns.get(place.from).map(Vec::as_slice))
            .collect();
        table.append(&columns)
    })?;
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
    let places = [Place {
        from: 0,
        dtype: array.dtype().clone(),
    }];
    for_each(source, progress, |schema, mut batch| {
        turn(schema, &mut batch, &places);
        let rows = batch.columns.first().map_or(&[][..], Vec::as_slice);
        array.append(rows)
    })?;
    array.flush()
}

/// For a column of the table, where its rows come from, and what they are to be.
struct Place {
    from: usize,
    dtype: DType,
}

fn places(schema: &Schema, table: &CTable) -> Result<Vec<Place>> {
    let mut places = Vec::new();
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
        places.push(Place { from, dtype });
    }
    match schema.columns.len() == places.len() {
        true => Ok(places),
        false => Err(Error::usage(format!(
            "the table has columns {}, but the input has {}",
            table.names().join(", "),
            names(&schema.columns)
        ))),
    }
}

/// Refuses rows that are not those of the array, but for the order of their bytes.
fn check(column: &Column, array: &CArray) -> Result<()> {
    let row_shape = array.shape().get(1..).unwrap_or_default();
    let same = turned(&column.dtype, array.dtype()).is_some();
    match same && column.row_shape == row_shape {
        true => Ok(()),
        false => Err(Error::usage(format!(
            "column {:?} has rows of {} {:?}, expected {} {row_shape:?}",
            column.name,
            column.dtype,
            column.row_shape,
            array.dtype(),
        ))),
    }
}

/// How elements become those of another type; `None` if they cannot.
fn turned(from: &DType, to: &DType) -> Option<bool> {
    if from == to {
        return Some(false);
    }
    let plain = from.fields().is_none() && to.fields().is_none();
    let same = from.kind() == to.kind() && from.itemsize() == to.itemsize();
    (plain && same).then_some(true)
}

fn turn(schema: &Schema, batch: &mut Batch, places: &[Place]) {
    for place in places {
        let (Some(column), Some(bytes)) = (
            schema.columns.get(place.from),
            batch.columns.get_mut(place.from),
        ) else {
            continue;
        };
        if turned(&column.dtype, &place.dtype) == Some(true) {
            column.dtype.to_little(bytes);
            place.dtype.to_little(bytes);
        }
    }
}
