//! CSV as in RFC 4180, with column names in the first line, and JSON lines.

mod block;
mod guess;
mod input;
mod json;
mod read;
mod text;

use bloscpack_array::{Progress, Source, check_empty_rows, for_each};
use bloscpack_error::Result;
use bloscpack_error::checked::in_memory;
use std::io::{self, Write};
use text::row_cell;

pub use json::NextLine;
pub use read::open_records;
pub(super) use read::{open_csv, open_json_lines, open_tsv};

/// Writes CSV: a line with the column names, then one line per row.
///
/// Elements are written as [`DType::write_text`](bloscpack_dtype::DType::write_text) does, but bytes that are not UTF-8
/// unchanged. Rows of several elements become JSON lists, missing values empty cells. Cells with commas, quotes or line ends
/// are quoted.
///
/// ```
/// use bloscpack_datasets::{CArray, CTable};
/// use bloscpack_exchange::{write_csv};
/// use bloscpack_dtype::DType;
/// use bloscpack_storage::Memory;
///
/// let mut table = CTable::builder()
///     .column("what", CArray::builder(DType::bytes(4)?))
///     .column("price", CArray::of::<f64>())
///     .create_in(Memory::new())?;
/// let prices = [1.5f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat();
/// table.append(&[b"a,b\0\"\0\0\0", &prices])?;
/// let mut text = Vec::new();
/// write_csv(&mut table.source()?, &mut text, &mut |_| ())?;
/// assert_eq!(text, b"what,price\n\"a,b\",1.5\n\"\"\"\",nan\n");
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns `Code::Usage` for more than 2^20 rows without bytes, and errors of the source and of the writer.
pub fn write_csv(
    source: &mut dyn Source,
    to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    write_separated(source, b',', to, progress)
}

/// Writes CSV with tabs in place of commas.
///
/// # Errors
/// Returns the errors of [`write_csv`].
pub fn write_tsv(
    source: &mut dyn Source,
    to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    write_separated(source, b'\t', to, progress)
}

fn write_separated(
    source: &mut dyn Source,
    delimiter: u8,
    mut to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    check_empty_rows(source)?;
    let mut builder = csv::WriterBuilder::new();
    builder.delimiter(delimiter);
    let names = source.schema().columns.iter().map(|column| &column.name);
    // Outside quotes, a reader would take these for the separator.
    let is_misleading = names.clone().any(|name| name.contains([';', '\t']));
    let style = if is_misleading {
        csv::QuoteStyle::Always
    } else {
        csv::QuoteStyle::Necessary
    };
    let mut head = builder.quote_style(style).from_writer(&mut to);
    head.write_record(names).map_err(io::Error::from)?;
    head.flush()?;
    drop(head);
    let mut writer = builder
        .quote_style(csv::QuoteStyle::Necessary)
        .from_writer(to);
    let mut cell = Vec::new();
    for_each(source, progress, |schema, batch| {
        for row in 0..in_memory(batch.rows)? {
            for (number, column) in schema.columns.iter().enumerate() {
                row_cell(column, &batch, number, row, &mut cell)?;
                writer.write_field(&cell).map_err(io::Error::from)?;
            }
            writer
                .write_record(None::<&[u8]>)
                .map_err(io::Error::from)?;
        }
        Ok(())
    })?;
    Ok(writer.flush()?)
}

/// The position of a line, for errors.
fn place(line: u64) -> String {
    format!("CSV: line {line}")
}
