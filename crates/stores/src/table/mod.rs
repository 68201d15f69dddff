//! [`StoreTable`]: a table in a store.
//!
//! ```text
//!  position        0      1      2      3      4
//!  _valid_rows     true   false  true   true   false         three rows
//!  _cols/n         5      (9)    7      8      (0)           values in parentheses are not part of the table
//! ```

mod column;
mod items;
mod schema;
mod sentinel;

pub use column::ColumnData;
pub use schema::{ColumnKind, ComputedColumn, ItemKind, StoreColumn};

pub(super) use column::{slice, typed, words};
pub(super) use items::{BATCHES, Items, LENGTHS, LISTS, METALAYERS as ITEMS};
pub(super) use schema::{BATCH_ROWS, Layout, NO_WORD, Nulls, accepts};
pub(super) use sentinel::Sentinel;

use super::{FrameStore, INDEXES, META, join};
use crate::error::{at, damaged, not_found, over_limit, unsupported};
use bloscpack_array::msgpack::Value;
use bloscpack_dtype::DType;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Category, Error, Result};
use bloscpack_frames::{Frame, NdArray};
use column::ColumnReader;
use serde_json::Value as Json;
use std::ops::Range;
use std::sync::Arc;

/// The array that is true at positions that are rows.
pub(super) const VALID_ROWS: &str = "_valid_rows";
/// The folder of the columns.
pub(super) const COLUMNS: &str = "_cols";
/// The frame with the user's attributes.
pub(super) const ATTRIBUTES: &str = "_vlmeta";
/// Positions whose liveness is read at once.
const WINDOW: u64 = 1 << 20;
/// Positions between two entries of the table of row counts.
const SEEK_STEP: usize = 1 << 16;
/// Positions whose values are verified at once.
const STEP: u64 = 1 << 15;
/// Bytes of elements that are verified at once.
const MOST_BYTES: u64 = 16 << 20;
/// The maximum number of positions. A few bytes may claim more, and counting their rows would take minutes.
const MAX_POSITIONS: u64 = 1 << 34;

/// A table in a store, open for reading. [`FrameStore::table`] opens one.
///
/// Columns have *positions*, some of which are rows. Deleted rows leave their positions behind; [`live`](Self::live) tells
/// which positions are rows. All columns have the same positions.
///
/// ```
/// use bloscpack::Options;
/// use bloscpack_dtype::DType;
/// use bloscpack_storage::DiskStore;
/// use bloscpack_stores::{ColumnData, ColumnKind, FrameStore, StoreColumn, TableWriter};
/// use std::sync::Arc;
///
/// let temp = tempfile::tempdir()?;
/// let kind = ColumnKind::Fixed { dtype: DType::I16, row_shape: vec![] };
/// let columns = [StoreColumn::new("n", kind, false)?];
/// let mut writer = TableWriter::create(temp.path(), &columns, None, |array| array)?;
/// writer.append(2, &[ColumnData::Fixed { bytes: vec![1, 0, 2, 0], present: None }])?;
/// writer.finish()?;
///
/// let store = Arc::new(DiskStore::open(temp.path())?);
/// let table = Arc::new(FrameStore::open(store, Options::new())?).table("")?;
/// assert_eq!((table.rows(), table.columns()[0].stored_kind.as_str()), (2, "int16"));
/// assert_eq!(table.live(0..2)?, [true, true]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
pub struct StoreTable {
    tree: Arc<FrameStore>,
    path: String,
    columns: Vec<StoreColumn>,
    computed: Vec<ComputedColumn>,
    schema: String,
    /// Which positions are rows; `None` if all are, as in arrays of objects.
    valid: Option<NdArray>,
    positions: u64,
    rows: u64,
    /// The number of rows before each position that is a multiple of `SEEK_STEP`.
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
    /// Opens the table in a folder: reads `_meta` and the schema, and counts the rows.
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
            valid: Some(valid),
            positions,
            rows: 0,
            rows_before: Vec::new(),
        };
        table.count_rows()?;
        Ok(table)
    }

    /// The objects in the frame at a path, as a table of one column.
    pub(super) fn of_objects(tree: Arc<FrameStore>, path: &str) -> Result<Self> {
        let items = Items::open(&tree, path)?;
        let rows = items.len();
        Ok(Self {
            path: path.to_owned(),
            columns: vec![StoreColumn::of_objects(items.list()?.as_ref())],
            computed: Vec::new(),
            schema: Json::Null.to_string(),
            valid: None,
            positions: rows,
            rows,
            rows_before: (0..rows).step_by(SEEK_STEP).collect(),
            tree,
        })
    }

    /// Reads all of `_valid_rows`: counts the rows, and fills the table for [`seek`](Self::seek).
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

    /// Where to look for a row: a position, and how many rows lie between that position and the row. The position is a multiple
    /// of 65,536.
    ///
    /// For a row past the end, the position is the last such multiple.
    #[must_use]
    pub fn seek(&self, row: u64) -> (u64, u64) {
        let after = self.rows_before.partition_point(|before| *before <= row);
        let step = after.saturating_sub(1);
        let before = self.rows_before.get(step).copied().unwrap_or(0);
        (to_u64(step) * to_u64(SEEK_STEP), row - before)
    }

    /// The columns in the order of the schema, without the [computed](Self::computed) ones.
    #[must_use]
    pub fn columns(&self) -> &[StoreColumn] {
        &self.columns
    }

    /// The columns without data, which python-blosc2 computes from others. They are never computed here.
    #[must_use]
    pub fn computed(&self) -> &[ComputedColumn] {
        &self.computed
    }

    /// The number of rows, without deleted ones.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of positions of each column. Each may be a row.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// The schema as JSON. The numbers `NaN`, `Infinity` and `-Infinity` of Python are the strings `nan`, `inf` and `-inf`.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The user's attributes, in the order of the file; none if the table has no `_vlmeta`.
    ///
    /// # Errors
    /// Returns any damage to the frame that contains them.
    pub fn attributes(&self) -> Result<Vec<(String, Value)>> {
        if self.valid.is_none() {
            return Items::open(&self.tree, &self.path)?.attributes();
        }
        self.tree.attributes_at(&join(&self.path, ATTRIBUTES))
    }

    /// The indexes that a user of python-blosc2 has made, as names of columns and kinds, such as `full`. The summaries that it
    /// makes by itself are left out.
    #[must_use]
    pub fn indexes(&self) -> Vec<(String, String)> {
        let folder = join(&self.path, INDEXES);
        let files = self.tree.members.keys().filter_map(|path| {
            let (column, file) = path
                .strip_prefix(&folder)?
                .strip_prefix('/')?
                .rsplit_once('/')?;
            let (kind, _) = file.split_once('.')?;
            let mut columns = self.columns.iter();
            let column = columns.find(|found| found.path == column)?;
            Some((column.name.clone(), kind.to_owned()))
        });
        let mut indexes: Vec<_> = files.filter(|(_, kind)| kind != "summary").collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes
    }

    /// Whether each of these positions is a row.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for positions past the end, and any damage to
    /// `_valid_rows`.
    pub fn live(&self, positions: Range<u64>) -> Result<Vec<bool>> {
        let path = join(&self.path, VALID_ROWS);
        let Some(valid) = &self.valid else {
            let count = positions
                .end
                .min(self.positions)
                .saturating_sub(positions.start);
            return Ok(vec![true; in_memory(count)?]);
        };
        let bytes = valid.read_slice(&[positions]).map_err(at(&path))?;
        Ok(bytes.iter().map(|byte| *byte != 0).collect())
    }

    /// Reads every value between the first and the last row of each batch of positions, and returns the first damage of each
    /// column.
    ///
    /// Columns of a kind that is not read are skipped. [`FrameStore::verify`] also checks the frames themselves.
    #[must_use]
    pub fn verify(&self) -> Vec<Error> {
        let numbers = 0..self.columns.len();
        let damages = numbers.filter_map(|number| self.verify_column(number).err());
        damages
            .filter(|error| error.category() != Category::Unsupported)
            .collect()
    }

    /// Reads all values of a column.
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

    /// A reader for some columns, by their index in [`columns`](Self::columns), in any order. Opens their arrays, and reads the
    /// strings of dictionaries.
    ///
    /// # Errors
    /// Returns [`Code::NotFound`](bloscpack_error::Code::NotFound) for an index past the last column,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) with the name of the column for values that are not read, and
    /// any damage.
    pub fn reader(&self, columns: &[usize]) -> Result<TableReader> {
        let readers = columns.iter().map(|number| {
            let column = self
                .columns
                .get(*number)
                .ok_or_else(|| not_found(&format!("column {number}")))?;
            let path = match self.valid {
                Some(_) => join(&join(&self.path, COLUMNS), &column.path),
                None => self.path.clone(),
            };
            ColumnReader::open(&self.tree, column, &path)
                .map_err(|error| error.in_file(format!("column {}", column.name)))
        });
        Ok(TableReader {
            columns: readers.collect::<Result<_>>()?,
        })
    }
}

/// Reads the values of some columns of a table. [`StoreTable::reader`] makes one.
///
/// Of columns with batches, it keeps the last batch in memory: reading positions in ascending order decompresses each batch
/// once.
pub struct TableReader {
    columns: Vec<ColumnReader>,
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").finish_non_exhaustive()
    }
}

impl TableReader {
    /// The values of each column at these positions, whether or not they are rows, in the order of the columns of the reader.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_storage::DiskStore;
    /// use bloscpack_stores::{ColumnData, ColumnKind, FrameStore, ItemKind, StoreColumn, TableWriter, Value};
    /// use std::sync::Arc;
    ///
    /// let temp = tempfile::tempdir()?;
    /// let columns = [StoreColumn::new("word", ColumnKind::Varying(ItemKind::Text), true)?];
    /// let mut writer = TableWriter::create(temp.path(), &columns, None, |array| array)?;
    /// let words = ["one", "two", "three"].map(|word| Value::Text(word.to_owned()));
    /// writer.append(3, &[ColumnData::Varying(words.to_vec())])?;
    /// writer.finish()?;
    ///
    /// let store = Arc::new(FrameStore::open(Arc::new(DiskStore::open(temp.path())?), Options::new())?);
    /// let mut reader = store.table("")?.reader(&[0])?;
    /// assert_eq!(reader.read(&(1..3))?, [ColumnData::Varying(words[1..].to_vec())]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any damage, with the name of the column; [`Code::Damaged`](bloscpack_error::Code::Damaged) also for positions
    /// past the end of a column; and [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for more than 1 GiB of text.
    pub fn read(&mut self, positions: &Range<u64>) -> Result<Vec<ColumnData>> {
        let read = self.columns.iter_mut().map(|column| {
            let data = column.read(positions);
            data.map_err(|error| error.in_file(format!("column {}", column.name())))
        });
        read.collect()
    }
}

/// Opens the array at a path.
fn array(tree: &FrameStore, path: &str) -> Result<NdArray> {
    NdArray::of(tree.frame(path)?).map_err(at(path))
}

/// The value of a vlmetalayer, which must exist and be MessagePack.
pub(super) fn layer(frame: &Frame, name: &str, path: &str) -> Result<Value> {
    let bytes = frame.vlmetalayer(name).map_err(at(path))?;
    let bytes = bytes.ok_or_else(|| damaged(path, format!("no metalayer {name:?}")))?;
    Value::decode(&bytes).map_err(|error| damaged(path, format!("metalayer {name:?}: {error}")))
}

/// The text in a vlmetalayer.
fn text(frame: &Frame, name: &str, path: &str) -> Result<String> {
    match layer(frame, name, path)? {
        Value::Text(text) => Ok(text),
        _ => Err(damaged(path, format!("metalayer {name:?} is not text"))),
    }
}
