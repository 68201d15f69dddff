//! [`write_jsonl`]: a JSON value per line.

use super::cells::row_json;
use bloscpack_array::{Batch, Schema};
use bloscpack_array::{Progress, Source, check_empty_rows, for_each};
use bloscpack_error::Result;
use bloscpack_error::checked::in_memory;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write;

/// Writes a line of JSON for each row: an object with the columns of a table, or the row of an array.
///
/// Elements become JSON as in [`DType::value`](bloscpack_dtype::DType::value): NaN, NaT and missing values are null, infinite
/// floats are text.
///
/// ```
/// use bloscpack_datasets::CArray;
/// use bloscpack_exchange::{ArraySource, write_jsonl};
/// use bloscpack_storage::Memory;
///
/// let mut array = CArray::of::<f32>().row_shape(&[2]).create_in(Memory::new())?;
/// array.append_values(&[0.1f32, f32::NAN, -2.0, 0.25])?;
/// let mut lines = Vec::new();
/// write_jsonl(&mut ArraySource::new(&array)?, &mut lines, &mut |_| ())?;
/// assert_eq!(lines, b"[0.1,null]\n[-2.0,0.25]\n");
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns `Code::Usage` for more than 2^20 rows without bytes, and errors of the source and of the writer.
pub fn write_jsonl(
    source: &mut dyn Source,
    mut to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    check_empty_rows(source)?;
    let mut lines = String::new();
    for_each(source, progress, |schema, batch| {
        for row in 0..in_memory(batch.rows)? {
            put_line(schema, &batch, row, &mut lines)?;
            lines.push('\n');
            if lines.len() >= AT_ONCE {
                to.write_all(lines.as_bytes())?;
                lines.clear();
            }
        }
        Ok(())
    })?;
    to.write_all(lines.as_bytes())?;
    Ok(to.flush()?)
}

/// The number of bytes that are written at once.
const AT_ONCE: usize = 1 << 16;

/// Appends the JSON of a row.
fn put_line(schema: &Schema, batch: &Batch, row: usize, line: &mut String) -> Result<()> {
    let columns = schema.columns.iter().zip(&batch.columns);
    if !schema.is_table {
        for (column, bytes) in columns.take(1) {
            row_json(column, bytes, row, line)?;
        }
        return Ok(());
    }
    line.push('{');
    for (at, (column, bytes)) in columns.enumerate() {
        if at > 0 {
            line.push(',');
        }
        // Writing to a string does not fail.
        let _ = write!(line, "{}:", Value::from(column.name.as_str()));
        match batch.cells(at).json(row) {
            // Writing to a string does not fail.
            Some(json) => drop(write!(line, "{json}")),
            None => row_json(column, bytes, row, line)?,
        }
    }
    line.push('}');
    Ok(())
}
