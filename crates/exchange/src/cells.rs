//! Rows as text.

use super::schema::Column;
use super::source::to_usize;
use bloscpack_dtype::DType;
#[cfg(any(feature = "csv", feature = "arrow"))]
use bloscpack_dtype::Kind;
use std::fmt::Write;

/// The bytes of a row of a column.
pub(super) fn row_of<'a>(column: &Column, bytes: &'a [u8], row: usize) -> &'a [u8] {
    let len = to_usize(column.row_bytes());
    let start = row.saturating_mul(len);
    bytes
        .get(start..start.saturating_add(len))
        .unwrap_or_default()
}

/// A row as JSON; of more than one element as lists within lists. Only one element at a time is a value in memory, which may
/// be a hundred times as large as its bytes.
pub(super) fn row_json(column: &Column, bytes: &[u8], row: usize, text: &mut String) {
    nested(
        &column.dtype,
        &column.row_shape,
        row_of(column, bytes, row),
        text,
    );
}

fn nested(dtype: &DType, shape: &[u64], bytes: &[u8], text: &mut String) {
    let Some((len, within)) = shape.split_first() else {
        // Writing to a string does not fail.
        let _ = write!(text, "{}", dtype.value(bytes));
        return;
    };
    text.push('[');
    let each = bytes.len().checked_div(to_usize(*len)).unwrap_or(0);
    if each > 0 {
        for (at, part) in bytes.chunks_exact(each).enumerate() {
            if at > 0 {
                text.push(',');
            }
            nested(dtype, within, part, text);
        }
    }
    text.push(']');
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
