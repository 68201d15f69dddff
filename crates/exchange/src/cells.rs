//! The rows of columns, as bytes and as JSON text.

use bloscpack_array::Column;
use bloscpack_dtype::DType;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, Result};
use std::fmt::Write;

/// The bytes of a row of a column.
pub(super) fn row_of<'a>(column: &Column, bytes: &'a [u8], row: usize) -> Result<&'a [u8]> {
    let len = in_memory(column.row_bytes())?;
    row.checked_mul(len)
        .and_then(|start| bytes.get(start..)?.get(..len))
        .ok_or_else(|| {
            let there = bytes.len();
            Error::bug(format!(
                "row {row} of {len} bytes each in a batch of {there}"
            ))
        })
}

/// Appends a row as JSON; several elements become nested lists. Converts one element at a time, because a JSON value may take a
/// hundred times the memory of its bytes.
pub(super) fn row_json(column: &Column, bytes: &[u8], row: usize, text: &mut String) -> Result<()> {
    let bytes = row_of(column, bytes, row)?;
    nested(&column.dtype, &column.row_shape, bytes, text)
}

fn nested(dtype: &DType, shape: &[u64], bytes: &[u8], text: &mut String) -> Result<()> {
    let Some((len, within)) = shape.split_first() else {
        // Writing to a string does not fail.
        let _ = write!(text, "{}", dtype.value(bytes));
        return Ok(());
    };
    text.push('[');
    // A row without bytes is an empty list, whatever its shape.
    if !bytes.is_empty() {
        let each = bytes.len().checked_div(in_memory(*len)?);
        let each = each
            .filter(|each| *each > 0)
            .ok_or_else(|| Error::bug(format!("{} bytes in a list of {len}", bytes.len())))?;
        for (at, part) in bytes.chunks_exact(each).enumerate() {
            if at > 0 {
                text.push(',');
            }
            nested(dtype, within, part, text)?;
        }
    }
    text.push(']');
    Ok(())
}
