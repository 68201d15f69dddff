//! [`CTable`]: a table of columns with equally many rows.

mod builder;
mod change;
mod names;
mod read;

use crate::carray::CArray;
use crate::dataset_layout::DatasetLayout;
use crate::handle::Handle;
use crate::layout::{self, ColumnSource};
use crate::wire::Attributes;
use bloscpack_array::Resources;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::Key;
use std::sync::OnceLock;

pub use builder::CTableBuilder;
pub use read::TableBlocks;

/// A table in a directory: named columns with equally many rows, each a [`CArray`].
///
/// A `CTable` sees its own changes at once. Others see them after [`flush`](Self::flush), which makes the changes of all
/// columns permanent atomically. Changes that were not flushed are lost when it is dropped.
///
/// In the layouts `bcolz` and `blz`, a column is opened when it is first used, so that a table of many columns opens quickly.
/// All columns share threads and cache.
///
/// ```
/// use bloscpack_datasets::{CArray, CTable};
/// use bloscpack_storage::Memory;
///
/// let store = Memory::new();
/// let mut table = CTable::builder()
///     .column("day", CArray::of::<u32>())
///     .column("price", CArray::of::<f64>())
///     .create_in(store.clone())?;
/// let (days, prices) = ([20u32, 21], [1.5f64, 1.25]);
/// let (day_bytes, price_bytes) = (days.map(u32::to_le_bytes), prices.map(f64::to_le_bytes));
/// table.append(&[day_bytes.as_flattened(), price_bytes.as_flattened()])?;
/// table.flush()?;
///
/// let table = CTable::open_in(store)?;
/// assert_eq!(table.names(), ["day", "price"]);
/// assert_eq!(table.column("price")?.to_vec::<f64>(0..2)?, prices);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct CTable {
    handle: Handle,
    names: Vec<String>,
    columns: Vec<Column>,
    attributes: Attributes,
    warnings: Vec<String>,
    lenient: bool,
    resources: Resources,
}

/// A column, opened on demand.
#[derive(Debug)]
struct Column {
    /// Its folder, if the column is a dataset of its own.
    at: Option<Key>,
    array: OnceLock<CArray>,
    /// Its number of rows, if that was read before the column was opened.
    rows: OnceLock<u64>,
}

impl Column {
    fn opened(array: CArray) -> Self {
        let handle = array.handle();
        let is_dataset = handle.layout.columns_are_datasets();
        Self {
            at: is_dataset.then(|| handle.at.clone()),
            array: OnceLock::from(array),
            rows: OnceLock::new(),
        }
    }
}

impl CTable {
    /// Opens the table at a handle.
    pub(crate) fn open_beneath(
        handle: Handle,
        lenient: bool,
        resources: &Resources,
    ) -> Result<Self> {
        let layout = handle.layout.files()?;
        let description = layout.open_table(&handle.files, &handle.at)?;
        let count = description.columns.len();
        let (mut names, mut columns) = (Vec::new(), Vec::new());
        for column in description.columns {
            names.push(column.name);
            columns.push(match column.source {
                ColumnSource::Own(at) => Column {
                    at: Some(at),
                    array: OnceLock::new(),
                    rows: OnceLock::new(),
                },
                ColumnSource::Shared(spec) => {
                    let column = CArray::of_spec(handle.clone(), *spec, resources, count)?;
                    Column::opened(column.in_table(&handle))
                }
            });
        }
        Ok(Self {
            handle,
            names,
            columns,
            attributes: description.attributes,
            warnings: description.warnings,
            lenient,
            resources: resources.clone(),
        })
    }

    /// The column names, in order. Nested columns, which only the layouts of the documents have, have a dot between the levels:
    /// `position.lat`.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The layout of the directory.
    #[must_use]
    pub fn layout(&self) -> DatasetLayout {
        self.handle.layout
    }

    /// The user's attributes of the table; empty if there are none. Columns in `bcolz` and `blz` have their own.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Problems of the table's small files that do not prevent reading, such as a missing `__attrs__`. Each begins with the
    /// file's name. Columns have warnings of their own.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The number of rows of the shortest column. Columns of different lengths may remain after a crash of another program;
    /// such a table can be read and [repaired](crate::RepairOptions), but no rows or columns can be added. A table without
    /// columns has no rows.
    ///
    /// # Errors
    /// Returns any error of reading the columns' `meta/sizes`, which is read once for each column that is not open yet.
    pub fn rows(&self) -> Result<u64> {
        let columns = self.names.iter().zip(&self.columns);
        let rows = columns.map(|(name, column)| self.rows_of(name, column));
        rows.reduce(|one, other| Ok(one?.min(other?)))
            .unwrap_or(Ok(0))
    }

    /// The number of rows of a column, without opening it if possible.
    fn rows_of(&self, name: &str, column: &Column) -> Result<u64> {
        if let (None, Some(at)) = (column.array.get(), &column.at) {
            if let Some(rows) = column.rows.get() {
                return Ok(*rows);
            }
            let counted = layout::rows_of_array(&self.handle.files, at);
            if let Ok(rows) = counted {
                return Ok(*column.rows.get_or_init(|| rows));
            }
        }
        // Opening a damaged column gives a better message.
        self.column(name).map(CArray::rows)
    }

    /// Returns a column for reading, and opens it if necessary. It stays open as long as the table.
    ///
    /// # Errors
    /// Returns [`Code::NotFound`] if there is no column of this name, and any error of opening it.
    pub fn column(&self, name: impl AsRef<str>) -> Result<&CArray> {
        let name = name.as_ref();
        let column = self
            .columns
            .get(self.index(name)?)
            .ok_or_else(|| self.unknown(name))?;
        if let Some(array) = column.array.get() {
            return Ok(array);
        }
        let array = self.open_column(name, column)?;
        Ok(column.array.get_or_init(|| array))
    }

    fn open_column(&self, name: &str, column: &Column) -> Result<CArray> {
        let at = column
            .at
            .clone()
            .ok_or_else(|| Error::bug(format!("column {name:?} without a folder")))?;
        let files = &self.handle.files;
        let open = || {
            let kind = layout::detect(files, &at)?;
            // Only columns in `bcolz` and `blz` are datasets in folders of their own.
            let kind = kind.filter(|kind| !kind.is_table && kind.layout.columns_are_datasets());
            let kind = kind.ok_or_else(|| {
                Error::new(
                    Code::MissingFile,
                    "the folder of the column does not contain an array",
                )
            })?;
            let handle = Handle {
                at: at.clone(),
                layout: kind.layout,
                in_table: true,
                ..self.handle.clone()
            };
            CArray::open_beneath(handle, self.lenient, (&self.resources, self.names.len()))
        };
        open().map_err(|error| files.locate(&at, error))
    }

    /// Moves nested columns next to their siblings, the order in which the files list them.
    fn group(&mut self) {
        if self.handle.layout.columns_are_datasets() {
            return;
        }
        let order = names::grouped(&self.names);
        let mut columns: Vec<_> = order
            .into_iter()
            .zip(self.names.drain(..).zip(self.columns.drain(..)))
            .collect();
        columns.sort_by(|(one, _), (other, _)| one.cmp(other));
        (self.names, self.columns) = columns.into_iter().map(|(_, column)| column).unzip();
    }

    fn index(&self, name: &str) -> Result<usize> {
        self.names
            .iter()
            .position(|known| known == name)
            .ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Error {
        let names = self.names.join(", ");
        Error::new(
            Code::NotFound,
            format!("no column {name:?} (found: {names})"),
        )
    }

    /// The folders of columns that are datasets of their own.
    pub(crate) fn column_keys(&self) -> Vec<Key> {
        self.columns
            .iter()
            .filter_map(|column| column.at.clone())
            .collect()
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}
