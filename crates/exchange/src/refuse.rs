//! Refuses columns that a format cannot store.

use crate::format::Format;
use bloscpack_array::Cells;
use bloscpack_array::{Batch, Schema};
use bloscpack_error::{Code, Error, Result};

/// Refuses columns of varying length.
pub(crate) fn refuse_varying(schema: &Schema, format: Format) -> Result<()> {
    let mut columns = schema.columns.iter();
    match columns.find(|column| column.varying.is_some()) {
        None => Ok(()),
        Some(column) => Err(no_place(format, &column.name, "values of varying length")),
    }
}

/// Refuses missing values, except those that are NaN or NaT in the batch.
pub(crate) fn refuse_missing(schema: &Schema, batch: &Batch, format: Format) -> Result<()> {
    for (number, column) in schema.columns.iter().enumerate() {
        if let Cells::Present(present) = batch.cells(number)
            && !column.is_filled()
            && present.contains(&false)
        {
            return Err(no_place(format, &column.name, "a missing value"));
        }
    }
    Ok(())
}

fn no_place(format: Format, column: &str, found: &str) -> Error {
    let what = format!("{format} has no place for {found}: cast column {column:?} to another type");
    Error::new(Code::CannotStore, what)
}
