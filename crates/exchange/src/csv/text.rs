//! Rows as text, and back.

use crate::cells::{row_json, row_of};
use crate::int::to_u64;
use crate::schema::Column;
use bloscpack_dtype::{DType, DTypeError};
use serde_json::Value;

/// A row as text: an element as its dtype writes it, more of them as JSON.
pub(super) fn row_text(
    column: &Column,
    bytes: &[u8],
    row: usize,
    text: &mut String,
) -> bloscpack_error::Result<()> {
    match column.row_shape.is_empty() {
        true => column.dtype.write_text(row_of(column, bytes, row)?, text),
        false => row_json(column, bytes, row, text)?,
    }
    Ok(())
}

/// The reverse of [`row_text`], into the bytes of a row.
pub(super) fn parse_row(column: &Column, text: &str, row: &mut [u8]) -> Result<(), DTypeError> {
    if column.row_shape.is_empty() {
        return column.dtype.parse_text(text, row);
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| not_a_list(text, format!("a JSON list ({error})")))?;
    put_nested(&column.dtype, &column.row_shape, &value, row)
}

fn put_nested(
    dtype: &DType,
    shape: &[u64],
    value: &Value,
    bytes: &mut [u8],
) -> Result<(), DTypeError> {
    let Some((len, within)) = shape.split_first() else {
        return dtype.from_value(value, bytes);
    };
    let values = match value {
        Value::Array(values) if to_u64(values.len()) == *len => values,
        _ => {
            let expected = format!("a list of {len} values");
            return Err(not_a_list(&value.to_string(), expected));
        }
    };
    // Lists without bytes have no elements to read. Others have as many as they have values.
    if bytes.is_empty() {
        return Ok(());
    }
    let each = bytes.len() / values.len();
    values
        .iter()
        .zip(bytes.chunks_exact_mut(each))
        .try_for_each(|(value, bytes)| put_nested(dtype, within, value, bytes))
}

fn not_a_list(text: &str, expected: String) -> DTypeError {
    DTypeError::NotAValue {
        value: format!("{:?}", text.chars().take(60).collect::<String>()),
        expected,
    }
}
