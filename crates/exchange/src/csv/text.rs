//! Converts rows to cells, and back.

use crate::cells::{row_json, row_of};
use bloscpack_array::Cells;
use bloscpack_array::{Batch, Column};
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use bloscpack_stores::Value;
use serde_json::Value as Json;

/// Writes a row of a batch as a cell: an element as its dtype writes it, bytes that are not UTF-8 unchanged, several elements
/// as JSON.
pub(super) fn row_cell(
    column: &Column,
    batch: &Batch,
    number: usize,
    row: usize,
    cell: &mut Vec<u8>,
) -> Result<()> {
    cell.clear();
    let cells = batch.cells(number);
    if let Cells::Varying(values) = cells
        && let Some(Value::Bytes(bytes)) = values.get(row)
    {
        cell.extend_from_slice(bytes);
        return Ok(());
    }
    if let Some(text) = cells.text(row) {
        cell.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    let bytes = batch.columns.get(number).map_or(&[][..], Vec::as_slice);
    let element = row_of(column, bytes, row)?;
    if *column.dtype.kind() == Kind::Bytes && column.row_shape.is_empty() {
        let len = element.iter().rposition(|byte| *byte != 0);
        let string = element.get(..len.map_or(0, |last| last + 1));
        let string = string.unwrap_or_default();
        if std::str::from_utf8(string).is_err() {
            cell.extend_from_slice(string);
            return Ok(());
        }
    }
    // Reuses the memory of the cell, which is empty.
    let mut text = String::from_utf8(std::mem::take(cell)).unwrap_or_default();
    if column.row_shape.is_empty() {
        column.dtype.write_text(element, &mut text);
    } else {
        row_json(column, bytes, row, &mut text)?;
    }
    *cell = text.into_bytes();
    Ok(())
}

/// Parses a cell of [`row_cell`] into the bytes of a row.
pub(super) fn parse_row(column: &Column, text: &str, row: &mut [u8]) -> Result<()> {
    if column.row_shape.is_empty() {
        return Ok(column.dtype.parse_text(text, row)?);
    }
    let value: Json = serde_json::from_str(text)
        .map_err(|error| not_a_list(text, format!("a JSON list ({error})")))?;
    put_nested(&column.dtype, &column.row_shape, &value, row)
}

fn put_nested(dtype: &DType, shape: &[u64], value: &Json, bytes: &mut [u8]) -> Result<()> {
    let Some((len, within)) = shape.split_first() else {
        return Ok(dtype.from_value(value, bytes)?);
    };
    let values = match value {
        Json::Array(values) if to_u64(values.len()) == *len => values,
        _ => {
            let expected = format!("a list of {len} values");
            return Err(not_a_list(&value.to_string(), expected));
        }
    };
    // Lists without bytes have no elements to parse. Otherwise there are as many values as elements.
    if bytes.is_empty() {
        return Ok(());
    }
    let each = bytes.len() / values.len();
    values
        .iter()
        .zip(bytes.chunks_exact_mut(each))
        .try_for_each(|(value, bytes)| put_nested(dtype, within, value, bytes))
}

fn not_a_list(text: &str, expected: String) -> Error {
    let text: String = text.chars().take(60).collect();
    Error::new(Code::Value, format!("{text:?} is not {expected}"))
}
