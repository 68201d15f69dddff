//! [`StoreTable`]: a table in a store.

mod column;
mod items;
mod schema;
mod sentinel;

pub use column::ColumnData;
pub use schema::{ColumnKind, ComputedColumn, ItemKind, StoreColumn};

pub(super) use column::{slice, typed, words};
pub(super) use schema::{Layout, Nulls};
pub(super) use sentinel::Sentinel;

use super::{FrameStore, META, join};
use crate::error::{at, damaged, not_found, over_limit, unsupported};
use bloscpack_array::msgpack::Value;
use bloscpack_dtype::DType;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Category, Error, Result};
use bloscpack_frames::{Frame, NdArray};
use column::ColumnReader;
use std::ops::Range;
use std::sync::Arc;

/// The array of true for each row.
pub(super) const VALID_ROWS: &str = "_valid_rows";
pub(super) const COLUMNS: &str = "_cols";
pub(super) const ATTRIBUTES: &str = "_vlmeta";
/// Positions that are looked at together.
const WINDOW: u64 = 1 << 20;
/// Positions between those at which the number of rows before them is known.
const SEEK_STEP: usize = 1 << 16;
/// Positions whose values are read together.
const STEP: u64 = 1 << 15;
/// Bytes of elements that are read together.
const MOST_BYTES: u64 = 16 << 20;
/// The most positions of a table. Counting the rows among more of them, which a few bytes may claim, would take minutes.
const MAX_POSITIONS: u64 = 1 << 34;

/// A table in a store: columns, and which of their positions are rows.
///
/// Deleted rows leave their positions; [`live`](Self::live) says which are rows.
pub struct StoreTable {
    tree: Arc<FrameStore>,
    path: String,
    columns: Vec<StoreColumn>,
    computed: Vec<ComputedColumn>,
    schema: String,
    valid: NdArray,
    positions: u64,
    rows: u64,
    /// The rows before every position that is a multiple of the step.
    rows_before: Vec<u64>,
}

impl std::fmt::Debug for StoreTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("StoreTable");
        shown
            .field("columns", &self.columns)
            .field("rows", &self.rows);
        shown.finish_non_exhaustive()
    }
}

impl StoreTable {
    pub(super) fn open(tree: Arc<FrameStore>, path: &str) -> Result<Self> {
        let meta_path = join(path, META);
        let meta = tree.frame(&meta_path)?;
        let text = |name| text(&meta, name, &meta_path);
        let kind = text("kind")?;
        if kind != "ctable" {
            let what = format!("an object of the kind {kind:?}, not a table");
            return Err(unsupported(meta_path, what));
        }
        match layer(&meta, "version", &meta_path)?.as_count() {
            Some(1) => {}
            version => {
                let what = format!("version {version:?} of a table (known is 1)");
                return Err(unsupported(&meta_path, what));
            }
        }
        let (schema, columns) = schema::parse(&text("schema")?, &meta_path)?;
        let valid_path = join(path, VALID_ROWS);
        let valid = array(&tree, &valid_path)?;
        let positions = match (valid.shape(), valid.dtype()) {
            ([positions], Some(dtype)) if *dtype == DType::BOOL => *positions,
            (shape, dtype) => {
                let found = dtype.map(ToString::to_string).unwrap_or_default();
                let what = format!("{found} of shape {shape:?}, expected bool of one axis");
                return Err(damaged(valid_path, what));
            }
        };
        if positions > MAX_POSITIONS {
            let what = format!("{positions} positions, over the limit of {MAX_POSITIONS}");
            return Err(over_limit(valid_path, what));
        }
        let mut table = Self {
            path: path.to_owned(),
            computed: ComputedColumn::all(&schema),
            schema: schema.to_string(),
            tree,
            columns,
            valid,
            positions,
            rows: 0,
            rows_before: Vec::new(),
        };
        table.count_rows()?;
        Ok(table)
    }

    fn count_rows(&mut self) -> Result<()> {
        let mut start = 0;
        while start < self.positions {
            let end = self.positions.min(start + WINDOW);
            for live in self.live(start..end)?.chunks(SEEK_STEP) {
                self.rows_before.push(self.rows);
                self.rows += to_u64(live.iter().filter(|live| **live).count());
            }
            start = end;
        }
        Ok(())
    }

    /// A position at or before that of a row, and how many rows lie between the two.
    #[must_use]
    pub fn seek(&self, row: u64) -> (u64, u64) {
        let after = self.rows_before.partition_point(|before| *before <= row);
        let step = after.saturating_sub(1);
        let before = self.rows_before.get(step).copied().unwrap_or(0);
        (to_u64(step) * to_u64(SEEK_STEP), row - before)
    }

    /// The columns, in their order, without the [computed](Self::computed) ones, which have no data.
    #[must_use]
    pub fn columns(&self) -> &[StoreColumn] {
        &self.columns
    }

    /// The columns that have no data: they are never computed here.
    #[must_use]
    pub fn computed(&self) -> &[ComputedColumn] {
        &self.computed
    }

    /// The rows, without those that were deleted.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The positions of its columns, each of which may be a row.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// The schema, as JSON.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The user's attributes.
    ///
    /// # Errors
    /// Returns any damage of the frame that contains them.
    pub fn attributes(&self) -> Result<Vec<(String, Value)>> {
        let path = join(&self.path, ATTRIBUTES);
        if self.tree.kind(&path).is_none() {
            return Ok(Vec::new());
        }
        let frame = self.tree.frame(&path)?;
        let names = frame.vlmetalayers();
        let pairs = names.map(|name| Ok((name.to_owned(), layer(&frame, name, &path)?)));
        pairs.collect()
    }

    /// Which of these positions are rows.
    ///
    /// # Errors
    /// Returns any damage.
    pub fn live(&self, positions: Range<u64>) -> Result<Vec<bool>> {
        let path = join(&self.path, VALID_ROWS);
        let bytes = self.valid.read_slice(&[positions]).map_err(at(&path))?;
        Ok(bytes.iter().map(|byte| *byte != 0).collect())
    }

    /// Reads every value of every row, and returns the first damage of each column.
    #[must_use]
    pub fn verify(&self) -> Vec<Error> {
        let numbers = 0..self.columns.len();
        let damages = numbers.filter_map(|number| self.verify_column(number).err());
        damages
            .filter(|error| error.category() != Category::Unsupported)
            .collect()
    }

    fn verify_column(&self, number: usize) -> Result<()> {
        let mut reader = self.reader(&[number])?;
        let row_bytes = self.columns.get(number).map_or(1, StoreColumn::row_bytes);
        let step = (MOST_BYTES / row_bytes.max(1)).clamp(1, STEP);
        let mut start = 0;
        while start < self.positions {
            let end = self.positions.min(start + step);
            let live = self.live(start..end)?;
            let first = live.iter().position(|live| *live);
            let last = live.iter().rposition(|live| *live);
            if let (Some(first), Some(last)) = (first, last) {
                reader.read(&(start + to_u64(first)..start + to_u64(last) + 1))?;
            }
            start = end;
        }
        Ok(())
    }

    /// A reader of the values of some columns, by their numbers.
    ///
    /// # Errors
    /// Returns [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for values that are not read, with the name of the
    /// column, and any damage.
    pub fn reader(&self, columns: &[usize]) -> Result<TableReader> {
        let readers = columns.iter().map(|number| {
            let column = self
                .columns
                .get(*number)
                .ok_or_else(|| not_found(&format!("column {number}")))?;
            let path = join(&join(&self.path, COLUMNS), &column.path);
            ColumnReader::open(&self.tree, column, &path)
                .map_err(|error| error.in_file(format!("column {}", column.name)))
        });
        Ok(TableReader {
            columns: readers.collect::<Result<_>>()?,
        })
    }
}

/// Reads values of some columns of a table.
pub struct TableReader {
    columns: Vec<ColumnReader>,
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").finish_non_exhaustive()
    }
}

impl TableReader {
    /// The values of each column at these positions, whether they are rows or not.
    ///
    /// # Errors
    /// Returns any damage, with the name of the column.
    pub fn read(&mut self, positions: &Range<u64>) -> Result<Vec<ColumnData>> {
        let read = self.columns.iter_mut().map(|column| {
            let data = column.read(positions);
            data.map_err(|error| error.in_file(format!("column {}", column.name())))
        });
        read.collect()
    }
}

/// The array at a path.
fn array(tree: &FrameStore, path: &str) -> Result<NdArray> {
    NdArray::of(tree.frame(path)?).map_err(at(path))
}

/// A metalayer of the trailer, which is one value.
fn layer(frame: &Frame, name: &str, path: &str) -> Result<Value> {
    let bytes = frame.vlmetalayer(name).map_err(at(path))?;
    let bytes = bytes.ok_or_else(|| damaged(path, format!("no metalayer {name:?}")))?;
    Value::decode(&bytes).map_err(|error| damaged(path, format!("metalayer {name:?}: {error}")))
}

fn text(frame: &Frame, name: &str, path: &str) -> Result<String> {
    match layer(frame, name, path)? {
        Value::Text(text) => Ok(text),
        _ => Err(damaged(path, format!("metalayer {name:?} is not text"))),
    }
}
