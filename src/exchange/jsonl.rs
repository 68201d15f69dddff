//! JSON lines: a value on each line.

use super::cells::row_value;
use super::schema::{Batch, Schema};
use super::source::{Progress, Source, check_empty_rows, for_each, to_usize};
use crate::error::Result;
use serde_json::{Map, Value};
use std::io::Write;

/// Writes a line of JSON for each row: an object with the columns of a table, or the row of an array itself.
///
/// What JSON has no number for is null, as [`DType::value`](crate::DType::value) has it; infinite floats are that, too.
///
/// ```
/// use bloscpack::dataset::CArray;
/// use bloscpack::exchange::{ArraySource, write_jsonl};
/// use bloscpack::storage::MemoryStore;
///
/// let mut array = CArray::of::<f32>().row_shape(&[2]).create_in(MemoryStore::new())?;
/// array.append_values(&[0.1f32, f32::NAN, -2.0, 0.25])?;
/// let mut lines = Vec::new();
/// write_jsonl(&mut ArraySource::new(&array), &mut lines, &mut |_| ())?;
/// assert_eq!(lines, b"[0.1,null]\n[-2.0,0.25]\n");
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Wrong usage for more than a million rows that have no bytes; those of the source; those of the writer.
pub fn write_jsonl(
    source: &mut dyn Source,
    mut to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    check_empty_rows(source)?;
    let mut lines = Vec::new();
    for_each(source, progress, |schema, batch| {
        for row in 0..to_usize(batch.rows) {
            let value = line(schema, &batch, row);
            serde_json::to_writer(&mut lines, &value).map_err(std::io::Error::from)?;
            lines.push(b'\n');
            if lines.len() >= AT_ONCE {
                to.write_all(&lines)?;
                lines.clear();
            }
        }
        Ok(())
    })?;
    to.write_all(&lines)?;
    Ok(to.flush()?)
}

/// Bytes that are written at once.
const AT_ONCE: usize = 1 << 16;

fn line(schema: &Schema, batch: &Batch, row: usize) -> Value {
    let columns = schema.columns.iter().zip(&batch.columns);
    let mut values = columns.map(|(column, bytes)| (column, row_value(column, bytes, row)));
    if !schema.is_table {
        return values.next().map_or(Value::Null, |(_, value)| value);
    }
    let members: Map<_, _> = values
        .map(|(column, value)| (column.name.clone(), value))
        .collect();
    Value::Object(members)
}
