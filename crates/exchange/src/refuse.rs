//! Errors for what a format has no place for.

use crate::error::ExchangeError;
use crate::format::Format;
use crate::schema::{Batch, Schema};
use crate::values::Cells;
use bloscpack_error::Result;

/// Refuses columns of varying length, which the format has no place for.
pub(crate) fn refuse_varying(schema: &Schema, format: Format) -> Result<()> {
    let mut columns = schema.columns.iter();
    match columns.find(|column| column.varying.is_some()) {
        None => Ok(()),
        Some(column) => Err(unsupported(
            format,
            &column.name,
            "values of varying length",
        )),
    }
}

/// Refuses missing values, which the format has no place for, unless they are NaN or "not a time" in the batch.
pub(crate) fn refuse_missing(schema: &Schema, batch: &Batch, format: Format) -> Result<()> {
    for (number, column) in schema.columns.iter().enumerate() {
        if let Cells::Present(present) = batch.cells(number)
            && !column.is_filled()
            && present.contains(&false)
        {
            return Err(unsupported(format, &column.name, "a missing value"));
        }
    }
    Ok(())
}

fn unsupported(format: Format, column: &str, found: &str) -> bloscpack_error::Error {
    let (column, found) = (column.to_owned(), found.to_owned());
    ExchangeError::UnsupportedColumn {
        format,
        column,
        found,
    }
    .into()
}
