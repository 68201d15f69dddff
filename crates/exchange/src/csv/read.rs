//! Columns from the lines of a file.

use super::guess::Guess;
use super::input::Lines;
use super::text::parse_row;
use super::wrong;
use crate::cells::is_value_of_nothing;
use crate::options::ImportOptions;
use crate::schema::{Batch, Column, Schema};
use crate::source::{BoxedSource, Source, to_u64, to_usize};
use blosc1::Fault;
use bloscpack_dtype::Kind;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use csv::ByteRecord;
use std::collections::HashSet;
use std::sync::Arc;

/// A file of CSV.
struct CsvSource<S> {
    lines: Lines<S>,
    schema: Schema,
    fills: Vec<Option<String>>,
    rows: u64,
    done: u64,
}

/// Opens a file of CSV: looks at all of it to find out how many rows it has and of what types they are.
pub(crate) fn open_csv<S: ReadAt + 'static>(
    bytes: S,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    let bytes = Arc::new(bytes);
    let mut lines = Lines::new(&bytes, options.delimiter);
    let names = names(&mut lines)?;
    if let Some(name) = options.types.keys().find(|name| !names.contains(name)) {
        let what = format!("CSV: no column {name:?} (found: {})", names.join(", "));
        return Err(Error::usage(what));
    }
    let mut guesses: Vec<Guess> = names.iter().map(|_| Guess::new()).collect();
    let mut rows = 0u64;
    while let Some((_, cells)) = lines.next()? {
        let seen = guesses.iter_mut().zip(cells);
        seen.for_each(|(guess, cell)| guess.see(cell));
        rows = rows.saturating_add(1);
    }
    let columns = names.iter().zip(&guesses);
    let columns = columns
        .map(|(name, guess)| column(name, guess, options))
        .collect::<Result<Vec<_>>>()?;
    let fills = columns.iter().map(|column| options.filling(column));
    let fills = fills.collect();
    let mut lines = Lines::new(&bytes, options.delimiter);
    lines.next()?;
    Ok(Box::new(CsvSource {
        lines,
        schema: Schema::table(columns),
        fills,
        rows,
        done: 0,
    }))
}

/// Columns of a file; commas alone may make millions of them.
const MOST_COLUMNS: usize = 1 << 16;

/// The column names of the first line.
fn names<S: ReadAt>(lines: &mut Lines<S>) -> Result<Vec<String>> {
    let Some((line, cells)) = lines.next()? else {
        let what = "CSV: the file is empty: its first line should be the names of the columns";
        return Err(crate::error::exchange(Fault::CutShort, what));
    };
    // Each is a folder with files in it.
    if cells.len() > MOST_COLUMNS {
        let found = cells.len();
        let what = format!("CSV: {found} columns, the maximum is {MOST_COLUMNS}");
        return Err(crate::error::exchange(Fault::OverLimit, what));
    }
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    for cell in cells {
        let name = String::from_utf8(cell.to_vec()).map_err(|_| {
            wrong(
                line,
                &format!("\"{}\" is not a valid name", cell.escape_ascii()),
            )
        })?;
        if !known.insert(name.clone()) {
            return Err(wrong(line, &format!("two columns with the name {name:?}")));
        }
        names.push(name);
    }
    Ok(names)
}

/// A column of the type that was given or guessed.
fn column(name: &str, guess: &Guess, options: &ImportOptions) -> Result<Column> {
    let filled = options.fills.contains_key(name) || options.fill_rest.is_some();
    let Some(given) = options.types.get(name) else {
        return Ok(Column::new(name, guess.dtype(name, filled)?));
    };
    let mut column = given.clone();
    match (column.dtype.kind(), column.dtype.itemsize()) {
        (Kind::Bytes, 0) => column.dtype = guess.bytes(name)?,
        (Kind::Text, 0) => column.dtype = guess.text(name)?.with_order(column.dtype.order()),
        _ => {}
    }
    if column.dtype.has_object() {
        let what =
            format!("column {name:?}: Python objects cannot be stored: a pickle is not data");
        return Err(Error::usage(what));
    }
    Ok(column)
}

impl<S: ReadAt> CsvSource<S> {
    fn read(&mut self, rows: u64) -> Result<Batch> {
        let mut batch = Batch {
            rows: 0,
            columns: vec![Vec::new(); self.schema.columns.len()],
        };
        while batch.rows < rows {
            let Some((line, cells)) = self.lines.next()? else {
                break;
            };
            take(&self.schema, &self.fills, line, cells, &mut batch)?;
        }
        Ok(batch)
    }
}

/// Adds a row.
fn take(
    schema: &Schema,
    fills: &[Option<String>],
    line: u64,
    cells: &ByteRecord,
    batch: &mut Batch,
) -> Result<()> {
    let columns = schema.columns.iter().zip(fills);
    for ((column, fill), (cell, bytes)) in columns.zip(cells.iter().zip(&mut batch.columns)) {
        let start = bytes.len();
        let len = to_usize(column.row_bytes());
        bytes
            .try_reserve(len)
            .map_err(|_| Error::usage("a row is too large for memory"))?;
        bytes.resize(start.saturating_add(len), 0);
        let row = bytes.get_mut(start..).unwrap_or_default();
        put(column, fill.as_deref(), cell, row)
            .map_err(|why| wrong(line, &format!("column {:?}: {why}", column.name)))?;
    }
    batch.rows = batch.rows.saturating_add(1);
    Ok(())
}

fn put(
    column: &Column,
    fill: Option<&str>,
    cell: &[u8],
    row: &mut [u8],
) -> std::result::Result<(), String> {
    if cell.is_empty() && fill.is_none() && !is_value_of_nothing(&column.dtype) {
        return Err(format!(
            "the cell is empty, and {} has no value for that: say what to fill in",
            column.dtype
        ));
    }
    let text = match (std::str::from_utf8(cell), fill) {
        (Ok(""), Some(fill)) => fill,
        (Ok(text), _) => text,
        // Bytes that are not text stay as they are.
        (Err(_), _) if matches!(column.dtype.kind(), Kind::Bytes) => {
            let place = row.get_mut(..cell.len());
            place
                .ok_or_else(|| format!("{} bytes do not fit {}", cell.len(), column.dtype))?
                .copy_from_slice(cell);
            return Ok(());
        }
        (Err(_), _) => return Err(format!("\"{}\" is no UTF-8", cell.escape_ascii())),
    };
    parse_row(column, text, row).map_err(|error| error.to_string())
}

impl<S: ReadAt> Source for CsvSource<S> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let rest = self.rows.saturating_sub(self.done);
        let most = (to_u64(bytes) / self.schema.row_bytes().max(1)).max(1);
        if rest == 0 {
            return Ok(None);
        }
        let read = self.read(most.min(rest));
        let batch = read.inspect_err(|_| self.done = self.rows)?;
        self.done = self.done.saturating_add(batch.rows);
        match batch.rows {
            0 => Err(wrong(self.done, "the file was truncated while being read")),
            _ => Ok(Some(batch)),
        }
    }
}
