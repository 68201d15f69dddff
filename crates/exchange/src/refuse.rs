//! Errors for what a format has no place for.

use crate::error::unsupported_column;
use crate::format::Format;
use bloscpack_array::Cells;
use bloscpack_array::{Batch, Schema};
use bloscpack_error::Result;

/// Refuses columns of varying length, which the format has no place for.
pub(crate) fn refuse_varying(schema: &Schema, format: Format) -> Result<()> {
    let mut columns = schema.columns.iter();
    match columns.find(|column| column.varying.is_some()) {
        None => Ok(()),
        Some(column) => Err(unsupported_column(
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
            return Err(unsupported_column(format, &column.name, "a missing value"));
        }
    }
    Ok(())
}
