//! [`TableWriter`]: writes the directory of a table.

use super::Settings;
use super::column::{ColumnWriter, Mask, Missing, Values, with};
use super::growing::{Grid, Growing};
use super::items::ItemsWriter;
use super::{meta, tree};
use crate::Value;
use crate::error::unsupported;
use crate::table::{
    BATCH_ROWS, COLUMNS, ColumnData, ColumnKind, LISTS, Layout, NO_WORD, StoreColumn, VALID_ROWS,
};
use bloscpack::Options;
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::{Error, Result};
use bloscpack_frames::NdArrayBuilder;
use bloscpack_storage::parallel;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a chunk and of a block, unless they have more bytes than the next two constants allow.
const ROWS: Grid = Grid {
    chunk: 1 << 20,
    block: 1 << 15,
};
/// The metalayer that says what the items of a frame are, unless they are lists.
const SCALARS: &str = "ctable_varlen_scalar";
/// Bytes of one chunk of every column together.
const MAX_CHUNKS: u64 = 64 << 20;
/// Bytes of a block of the widest column.
const MAX_BLOCK: u64 = 4 << 20;
/// The minimum number of rows in a chunk, however wide they are.
const MIN_ROWS: u32 = 256;

/// Writes a table of python-blosc2 into a directory, or adds rows to an existing one.
///
/// The directory is a valid table only after [`finish`](Self::finish) has returned. After an error, it cannot be used: write
/// into a directory with a temporary name. One chunk of each column is in memory.
///
/// ```
/// use bloscpack_dtype::DType;
/// use bloscpack::Options;
/// use bloscpack_stores::{ColumnData, ColumnKind, FrameStore, StoreColumn, TableWriter};
/// use bloscpack_storage::DiskStore;
/// use std::sync::Arc;
///
/// let temp = tempfile::tempdir()?;
/// let kind = ColumnKind::Fixed { dtype: DType::U8, row_shape: vec![] };
/// let columns = [StoreColumn::new("n", kind, true)?];
/// let mut table = TableWriter::create(temp.path(), &columns, None, |array| array)?;
/// let present = Some(vec![true, false, true]);
/// table.append(3, &[ColumnData::Fixed { bytes: vec![5, 0, 7], present: present.clone() }])?;
/// assert_eq!(table.finish()?, 3);
///
/// let store = DiskStore::open(temp.path())?;
/// let store = Arc::new(FrameStore::open(Arc::new(store), Options::new())?);
/// let read = store.table("")?.reader(&[0])?.read(&(0..3))?;
/// assert_eq!(read, [ColumnData::Fixed { bytes: vec![5, 0, 7], present }]);
/// assert!(store.verify("").is_sound());
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
pub struct TableWriter {
    /// The directory of the store.
    pub(super) root: PathBuf,
    /// The directory of the table, which may be a folder of the store.
    pub(super) folder: PathBuf,
    pub(super) columns: Vec<ColumnWriter>,
    /// The array `_valid_rows`.
    pub(super) valid: Growing,
    /// The number of rows so far.
    pub(super) rows: u64,
    pub(super) options: Options,
    /// The description of the columns.
    pub(super) kinds: Vec<StoreColumn>,
    /// The indexes that the table had.
    pub(super) dropped_indexes: Vec<(String, String)>,
    /// Whether the table has no description yet.
    pub(super) is_new: bool,
    /// The user's attributes of a new table.
    pub(super) attributes: Vec<(String, Value)>,
}

impl std::fmt::Debug for TableWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter")
            .field("folder", &self.folder)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl TableWriter {
    /// Creates a table at the root of a store, in an empty directory.
    ///
    /// Chunks have `chunk_rows` rows. By default they have 1,048,576, halved until one chunk of every column together is at
    /// most 64 MiB, but at least 256. The arrays of text have chunks of their own. `settings` sets the compression of each
    /// array; `|array| array` keeps the defaults. Columns are compressed on all processors.
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for two columns with the same path,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for a column that cannot be written, the errors of
    /// [`NdArrayBuilder::create`] for settings that are not possible, and any I/O error.
    pub fn create(
        folder: &Path,
        columns: &[StoreColumn],
        chunk_rows: Option<u32>,
        settings: impl Fn(NdArrayBuilder) -> NdArrayBuilder + Send + Sync + 'static,
    ) -> Result<Self> {
        let mut paths: Vec<_> = columns.iter().map(|column| &column.path).collect();
        paths.sort_unstable();
        if let Some((name, _)) = paths.iter().zip(paths.iter().skip(1)).find(|(a, b)| a == b) {
            return Err(Error::usage(format!("two columns {name:?}")));
        }
        let settings: Settings = Arc::new(settings);
        let grid = grid(columns, chunk_rows);
        tree::create_tree(folder)?;
        let cols = folder.join(COLUMNS);
        let new = |column| new_column(&cols, column, grid, &settings);
        let valid = folder.join(format!("{VALID_ROWS}.b2nd"));
        Ok(Self {
            root: folder.to_owned(),
            folder: folder.to_owned(),
            columns: columns.iter().map(new).collect::<Result<_>>()?,
            valid: Growing::create(&valid, &DType::BOOL, &[], grid, &settings)?,
            rows: 0,
            options: Options::new(),
            kinds: columns.to_vec(),
            dropped_indexes: Vec::new(),
            is_new: true,
            attributes: Vec::new(),
        })
    }

    /// Sets the attributes of a new table, which python-blosc2 shows as its `vlmeta`. Names are 1 to 31 bytes long, which
    /// [`finish`](Self::finish) checks. An existing table keeps its own attributes.
    #[must_use]
    pub fn attributes(mut self, attributes: Vec<(String, Value)>) -> Self {
        self.attributes = attributes;
        self
    }

    /// The [indexes](crate::StoreTable::indexes) that the table had when it was [opened](Self::open). python-blosc2 has to make
    /// them again.
    #[must_use]
    pub fn dropped_indexes(&self) -> &[(String, String)] {
        &self.dropped_indexes
    }

    /// The columns, in the order of [`append`](Self::append).
    #[must_use]
    pub fn columns(&self) -> &[StoreColumn] {
        &self.kinds
    }

    /// Adds `rows` rows: the values of each column, in the order of the columns.
    ///
    /// Text is [`Value::Text`], and a missing value [`Value::Nil`].
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for another number of columns or values, values of another kind,
    /// and missing values in a column that is not nullable; and any I/O error. The directory cannot be used afterwards.
    pub fn append(&mut self, rows: u64, columns: &[ColumnData]) -> Result<()> {
        if columns.len() != self.columns.len() {
            let (found, expected) = (columns.len(), self.columns.len());
            return Err(Error::usage(format!(
                "{found} columns, expected {expected}"
            )));
        }
        let jobs: Vec<_> = self.columns.iter_mut().zip(columns).collect();
        let act = |(column, data): (&mut ColumnWriter, &ColumnData)| column.push(rows, data);
        parallel::map_in_order(self.options.workers(), jobs.into_iter(), act, Ok)?;
        self.valid.repeat(&[1], rows)?;
        self.rows += rows;
        Ok(())
    }

    /// Completes the table and syncs it: writes all rows that are still in memory, the description, and a fingerprint for each
    /// frame of the store. Returns the number of rows, including those that an existing table had.
    ///
    /// A table without rows gets one position that is not a row, because python-blosc2 doubles the number of positions when it
    /// needs more.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn finish(mut self) -> Result<u64> {
        if self.valid.rows() == 0 {
            // python-blosc2 doubles the number of positions when it needs more, and 0 would stay 0.
            self.columns
                .iter_mut()
                .try_for_each(ColumnWriter::push_dead)?;
            self.valid.push(&[0])?;
        }
        self.columns
            .into_iter()
            .try_for_each(ColumnWriter::finish)?;
        self.valid.finish()?;
        if self.is_new {
            meta::create(&self.folder, &self.kinds, self.rows, &self.attributes)?
        } else {
            meta::update(&self.folder, self.rows, &self.options)?
        }
        tree::seal_store(&self.root)?;
        Ok(self.rows)
    }
}

/// The rows of chunks and blocks, the same for all columns except text.
fn grid(columns: &[StoreColumn], chunk_rows: Option<u32>) -> Grid {
    let rows = columns.iter().map(|column| column.row_bytes().max(1));
    // Saturates: such rows are refused when their array is created.
    let (all, widest) = rows.fold((0u64, 1), |(all, widest), row| {
        (all.saturating_add(row), row.max(widest))
    });
    let fitting = |most: u32, row: u64, bytes: u64| {
        let halves = (0..u32::BITS).map(|halving| most >> halving);
        let mut halves = halves.filter(|rows| *rows >= MIN_ROWS);
        halves
            .find(|rows| u64::from(*rows).saturating_mul(row) <= bytes)
            .unwrap_or(MIN_ROWS)
    };
    let chunk = chunk_rows.unwrap_or_else(|| fitting(ROWS.chunk, all, MAX_CHUNKS));
    let block = fitting(ROWS.block, widest, MAX_BLOCK).min(chunk);
    Grid { chunk, block }
}

/// Creates the arrays of a column, without rows.
fn new_column(
    folder: &Path,
    column: &StoreColumn,
    grid: Grid,
    settings: &Settings,
) -> Result<ColumnWriter> {
    let path = folder.join(&column.path);
    let values = match &column.kind {
        ColumnKind::Fixed { dtype, row_shape } => {
            let array = with(&path, ".b2nd");
            let dtype = stored(dtype);
            Values::Fixed(Box::new(Growing::create(
                &array, &dtype, row_shape, grid, settings,
            )?))
        }
        ColumnKind::Varying(_) => varying(&path, column, grid, settings)?,
        ColumnKind::Unsupported(what) => {
            return Err(unsupported(&column.name, what));
        }
    };
    let mask = || Mask {
        path: with(&path, ".notnull.b2nd"),
        array: None,
        rows: 0,
        grid,
        settings: Arc::clone(settings),
    };
    Ok(ColumnWriter {
        name: column.name.clone(),
        values,
        nulls: match &column.layout {
            _ if !column.nullable => Missing::Refused,
            Layout::Codes(_) => Missing::Element(NO_WORD.to_le_bytes().to_vec()),
            Layout::Items(_) => Missing::Nil,
            _ => Missing::Mask(Box::new(mask())),
        },
    })
}

/// Creates the arrays or the frame of a column of values that vary in length.
fn varying(path: &Path, column: &StoreColumn, grid: Grid, settings: &Settings) -> Result<Values> {
    let items = |ending: &str, role: &str, about: Json| {
        let about = Value::of_json(&about.to_string())?;
        ItemsWriter::create(&with(path, ending), (role, &about), settings).map(Box::new)
    };
    let scalars = |kind: &str, nullable: bool| json!({"version": 1, "py_type": kind, "nullable": nullable, "batch_rows": BATCH_ROWS});
    Ok(match &column.layout {
        Layout::Codes(_) => Values::Codes {
            codes: Box::new(Growing::create(
                &with(path, ".b2nd"),
                &DType::I32,
                &[],
                grid,
                settings,
            )?),
            words: HashMap::new(),
            dictionary: items("_dict.b2b", SCALARS, scalars("str", false))?,
        },
        Layout::Items(description) => {
            let (role, about) = match column.stored_kind.as_str() {
                "list" => (LISTS, of_lists(description)),
                "vlbytes" => (SCALARS, scalars("bytes", column.nullable)),
                _ => (SCALARS, scalars("object", column.nullable)),
            };
            Values::Items {
                items: items(".b2b", role, about)?,
                description: description.clone(),
            }
        }
        _ => Values::new_text(path, settings)?,
    })
}

/// The metalayer of lists with this description.
fn of_lists(description: &Json) -> Json {
    let mut about = description.clone();
    if let Some(about) = about.as_object_mut() {
        about.remove("storage");
        about.insert("version".to_owned(), json!(1));
        about.insert("backend".to_owned(), json!("batch"));
    }
    about
}

/// The dtype of the array of a column. Timestamps are stored as int64.
fn stored(dtype: &DType) -> DType {
    match dtype.kind() {
        Kind::Datetime(_) => DType::I64,
        _ => dtype.clone(),
    }
}
