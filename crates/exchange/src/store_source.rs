//! [`StoreSource`]: a table in a python-blosc2 store as a source.

use bloscpack_array::{Batch, Cells, Column, ItemKind, Schema, Source, check_rows};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};
use bloscpack_stores::{ColumnData, ColumnKind, StoreColumn, StoreTable, TableReader, Value};
use std::ops::Range;

/// The maximum number of positions that are read at once.
const MOST: u64 = 1 << 20;

/// Reads the rows of a table in a python-blosc2 store, without deleted ones. Missing values are
/// [`Cells::Present`](crate::Cells::Present) flags or nil.
///
/// A *position* is a place in the columns; the row at it may have been deleted. See `docs/format-stores.md` in the repository.
#[derive(Debug)]
pub struct StoreSource<'a> {
    table: &'a StoreTable,
    schema: Schema,
    reader: TableReader,
    rows: u64,
    /// The next position to read, the number of rows to skip from there, and the number of rows to return after that.
    next: u64,
    skip: u64,
    left: u64,
}

impl<'a> StoreSource<'a> {
    /// Reads the columns with these names in this order, or all columns if there are none.
    ///
    /// # Errors
    /// Returns `Code::Usage` for a column that does not exist, [`Code::NotStored`] for a computed one, [`Code::Unsupported`]
    /// for one whose values are not read, and any damage.
    pub fn new(table: &'a StoreTable, names: &[impl AsRef<str>]) -> Result<Self> {
        let all = table.columns();
        let numbers: Vec<usize> = match names {
            [] => (0..all.len()).collect(),
            names => names
                .iter()
                .map(|name| number(table, name.as_ref()))
                .collect::<Result<_>>()?,
        };
        let chosen = numbers.iter().filter_map(|number| all.get(*number));
        Ok(Self {
            table,
            schema: Schema::table(chosen.map(column).collect()),
            reader: table.reader(&numbers)?,
            rows: table.rows(),
            next: 0,
            skip: 0,
            left: table.rows(),
        })
    }

    /// Restricts the source to these rows, not counting deleted ones.
    ///
    /// # Errors
    /// Returns `Code::Usage` for rows past the end.
    pub fn range(mut self, rows: Range<u64>) -> Result<Self> {
        check_rows(&rows, self.table.rows())?;
        self.rows = rows.end - rows.start;
        (self.next, self.skip) = self.table.seek(rows.start);
        self.left = self.rows;
        Ok(self)
    }

    /// The runs of selected rows among these positions, relative to the first position.
    fn wanted(&mut self, positions: &Range<u64>) -> Result<Vec<Range<usize>>> {
        if self.table.rows() == self.table.positions() {
            let all = 0..in_memory(positions.end - positions.start)?;
            return Ok(self.selected(all)?.into_iter().collect());
        }
        let live = self.table.live(positions.clone())?;
        let (mut runs, mut next) = (Vec::new(), 0);
        for run in live.chunk_by(|one, other| one == other) {
            let start = next;
            next += run.len();
            if run.first() == Some(&true) {
                runs.extend(self.selected(start..next)?);
            }
        }
        Ok(runs)
    }

    /// The selected part of these rows, which are not deleted. Counts it.
    fn selected(&mut self, run: Range<usize>) -> Result<Option<Range<usize>>> {
        let skipped = self.skip.min(to_u64(run.len()));
        let taken = self.left.min(to_u64(run.len()) - skipped);
        (self.skip, self.left) = (self.skip - skipped, self.left - taken);
        let start = run.start + in_memory(skipped)?;
        let selected = start..start + in_memory(taken)?;
        Ok((taken > 0).then_some(selected))
    }

    /// Reads the next rows.
    fn read(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let step = self.schema.rows_within(bytes).min(MOST);
        while self.left > 0 {
            let end = self.table.positions().min(self.next + step);
            if self.next >= end {
                return Err(Error::usage("the table has changed since it was opened"));
            }
            let positions = self.next..end;
            self.next = end;
            let wanted = self.wanted(&positions)?;
            if let (Some(first), Some(last)) = (wanted.first(), wanted.last()) {
                let (start, first) = (positions.start, first.start);
                let range = start + to_u64(first)..start + to_u64(last.end);
                let wanted = wanted.iter().map(|run| run.start - first..run.end - first);
                let wanted: Vec<Range<usize>> = wanted.collect();
                return self.batch(&range, &wanted).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads the rows in these runs of a range of positions.
    fn batch(&mut self, range: &Range<u64>, wanted: &[Range<usize>]) -> Result<Batch> {
        let mut batch = Batch {
            rows: to_u64(wanted.iter().map(Range::len).sum::<usize>()),
            ..Batch::default()
        };
        let read = self.reader.read(range)?;
        for (column, data) in self.schema.columns.iter().zip(read) {
            let (bytes, cells) = match (data, &column.varying) {
                (ColumnData::Fixed { bytes, present }, _) => {
                    let size = in_memory(column.row_bytes())?;
                    let present = present
                        .map(|present| pick(present, 1, wanted))
                        .transpose()?;
                    elements(pick(bytes, size, wanted)?, size, present)
                }
                (ColumnData::Varying(values), Some(kind)) => {
                    let values = pick(values, 1, wanted)?;
                    if let Some(value) = values.iter().find(|value| !fits(value, kind)) {
                        let what = format!("{value:?} in a column of {kind:?}");
                        let error = Error::new(Code::Value, what);
                        return Err(error.in_part(format_args!("column {}", column.name)));
                    }
                    (Vec::new(), Cells::Varying(values))
                }
                _ => return Err(Error::bug("values of another kind than their column")),
            };
            batch.columns.push(bytes);
            batch.cells.push(cells);
        }
        Ok(batch)
    }
}

impl Source for StoreSource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        self.read(bytes).inspect_err(|_| self.left = 0)
    }
}

/// The number of the column with this name.
fn number(table: &StoreTable, name: &str) -> Result<usize> {
    let columns = table.columns();
    if let Some(computed) = table.computed().iter().find(|column| column.name == name) {
        let what = format!(
            "computed as {:?}, and its values are not stored",
            computed.definition
        );
        let error = Error::new(Code::NotStored, what);
        return Err(error.in_part(format_args!("column {name}")));
    }
    let found = columns.iter().position(|column| column.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        Error::usage(format!(
            "no column {name:?} (there are {})",
            names.join(", ")
        ))
    })
}

/// The column of the schema for a column of the table.
fn column(column: &StoreColumn) -> Column {
    match &column.kind {
        ColumnKind::Fixed { dtype, row_shape } => Column {
            row_shape: row_shape.clone(),
            nullable: column.nullable,
            zone: column.timezone.clone(),
            ..Column::new(&column.name, dtype.clone())
        },
        ColumnKind::Varying(kind) => Column {
            is_dictionary: column.stored_kind == "dictionary",
            ..Column::with_values(&column.name, kind.clone())
        },
        _ => Column::with_values(&column.name, ItemKind::Any),
    }
}

/// The rows in these runs, each of `size` values. All of them are not copied.
fn pick<T: Clone>(values: Vec<T>, size: usize, wanted: &[Range<usize>]) -> Result<Vec<T>> {
    let bug = || Error::bug("fewer values than positions");
    let places =
        |run: &Range<usize>| Some(run.start.checked_mul(size)?..run.end.checked_mul(size)?);
    if let [run] = wanted
        && places(run) == Some(0..values.len())
    {
        return Ok(values);
    }
    let mut picked = Vec::with_capacity(values.len());
    for run in wanted {
        let run = places(run).and_then(|run| values.get(run));
        picked.extend_from_slice(run.ok_or_else(bug)?);
    }
    Ok(picked)
}

/// The bytes of rows. The bytes of a missing row are zeros.
fn elements(mut bytes: Vec<u8>, size: usize, present: Option<Vec<bool>>) -> (Vec<u8>, Cells) {
    let rows = bytes.chunks_mut(size.max(1));
    let missing = rows
        .zip(present.iter().flatten())
        .filter(|(_, present)| !**present);
    missing.for_each(|(row, _)| row.fill(0));
    (bytes, present.map_or(Cells::Elements, Cells::Present))
}

/// Whether a value is of this kind, or missing.
fn fits(value: &Value, kind: &ItemKind) -> bool {
    match (kind, value) {
        (_, Value::Nil)
        | (ItemKind::Any, _)
        | (ItemKind::Bool, Value::Bool(_))
        | (ItemKind::Int, Value::Int(_))
        | (ItemKind::UInt, Value::UInt(_))
        | (ItemKind::Float, Value::Float(_) | Value::Int(_))
        | (ItemKind::Text, Value::Text(_))
        | (ItemKind::Bytes, Value::Bytes(_)) => true,
        (ItemKind::UInt, Value::Int(number)) => *number >= 0,
        (ItemKind::List(item), Value::List(values)) => values.iter().all(|value| fits(value, item)),
        _ => false,
    }
}
