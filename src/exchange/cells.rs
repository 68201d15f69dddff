//! Rows as values.

use super::schema::Column;
use super::source::to_usize;
use crate::wire::DType;
#[cfg(any(feature = "csv", feature = "arrow"))]
use crate::wire::dtype::Kind;
use serde_json::Value;

/// The bytes of a row of a column.
pub(super) fn row_of<'a>(column: &Column, bytes: &'a [u8], row: usize) -> &'a [u8] {
    let len = to_usize(column.row_bytes());
    let start = row.saturating_mul(len);
    bytes
        .get(start..start.saturating_add(len))
        .unwrap_or_default()
}

/// A row as a value; of more than one element as lists within lists.
pub(super) fn row_value(column: &Column, bytes: &[u8], row: usize) -> Value {
    nested(&column.dtype, &column.row_shape, row_of(column, bytes, row))
}

fn nested(dtype: &DType, shape: &[u64], bytes: &[u8]) -> Value {
    let Some((len, within)) = shape.split_first() else {
        return dtype.value(bytes);
    };
    match bytes.len().checked_div(to_usize(*len)) {
        None | Some(0) => Value::Array(Vec::new()),
        Some(each) => bytes
            .chunks_exact(each)
            .map(|bytes| nested(dtype, within, bytes))
            .collect(),
    }
}

/// Whether no text at all is a value.
#[cfg(any(feature = "csv", feature = "arrow"))]
pub(super) fn is_value_of_nothing(dtype: &DType) -> bool {
    matches!(
        dtype.kind(),
        Kind::Float
            | Kind::Complex
            | Kind::Bytes
            | Kind::Text
            | Kind::Datetime(_)
            | Kind::Timedelta(_)
    )
}
