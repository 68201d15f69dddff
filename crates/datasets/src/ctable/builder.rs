//! [`CTableBuilder`]: creates tables.

use super::{CTable, Column, names};
use crate::carray::{CArray, CArrayBuilder};
use crate::create::{begin, new_store};
use crate::dataset_layout::DatasetLayout;
use crate::files::join;
use crate::handle::Handle;
use crate::index::check_layout;
use crate::new::NewDataset;
use crate::wire::Attributes;
use bloscpack::Options;
use bloscpack_array::{Resources, Schema};
use bloscpack_error::Result;
use bloscpack_storage::{Access, Key, Store};
use std::path::Path;
use std::sync::Arc;

/// Creates a table; a chain of calls that ends in [`create`](Self::create) or [`create_in`](Self::create_in).
///
/// Each column is a name and a [`CArrayBuilder`]. Layout, options and `replace` are set for the table and ignored in the
/// columns. In the layouts of the documents, columns have no attributes of their own, and the compression settings of the first
/// column are stored for all.
///
/// ```
/// use bloscpack_datasets::{CArray, CTable};
/// use bloscpack_storage::Memory;
///
/// let table = CTable::builder()
///     .chunk_rows(1000)
///     .column("lat", CArray::of::<f64>())
///     .column("lon", CArray::of::<f64>())
///     .create_in(Memory::new())?;
/// assert_eq!(table.names(), ["lat", "lon"]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CTableBuilder {
    columns: Vec<(String, CArrayBuilder)>,
    chunk_rows: Option<u64>,
    index: bool,
    new: NewDataset,
}

/// The default number of rows of a chunk in the layouts of the documents, where all columns share it.
const SHARED_CHUNK_ROWS: u64 = 1 << 16;

impl CTable {
    /// Begins a new table without columns.
    #[must_use]
    pub fn builder() -> CTableBuilder {
        CTableBuilder::default()
    }
}

impl CTableBuilder {
    /// Begins a new table with the columns and attributes of a schema. `each` may change the builder of each column.
    #[must_use]
    pub fn of_schema(
        schema: &Schema,
        mut each: impl FnMut(&bloscpack_array::Column, CArrayBuilder) -> CArrayBuilder,
    ) -> Self {
        let table = CTable::builder().attributes(schema.attributes.clone());
        schema.columns.iter().fold(table, |table, column| {
            table.column(&column.name, each(column, CArrayBuilder::of_column(column)))
        })
    }

    /// Adds a column after the others. The name becomes the name of a folder, and [`create`](Self::create) refuses names that
    /// are not valid for one. In the layouts of the documents, a dot nests the column: `position.lat` is the column `lat`
    /// inside `position`.
    #[must_use]
    pub fn column(mut self, name: impl Into<String>, array: CArrayBuilder) -> Self {
        self.columns.push((name.into(), array));
        self
    }

    /// The layout of the directory; [`DatasetLayout::Bcolz`] by default.
    #[must_use]
    pub fn layout(mut self, layout: DatasetLayout) -> Self {
        self.new.layout = layout;
        self
    }

    /// The number of rows of a chunk in all columns. By default each column's builder decides; in the layouts of the documents,
    /// where all columns share it, the default is 65,536.
    #[must_use]
    pub fn chunk_rows(mut self, rows: u64) -> Self {
        self.chunk_rows = Some(rows);
        self
    }

    /// Whether to keep an [`Index`](crate::Index) of each column that can have one; false by default. Only `Bcolz` and `Blz`
    /// have indexes.
    #[must_use]
    pub fn index(mut self, index: bool) -> Self {
        self.index = index;
        self
    }

    /// The user's attributes of the table; none by default.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.new.attributes = attributes;
        self
    }

    /// Whether to replace a dataset that exists in the same place; see [`CArrayBuilder::replace`].
    #[must_use]
    pub fn replace(mut self, replace: bool) -> Self {
        self.new.replace = replace;
        self
    }

    /// Threads, cache, limits and lock timeout, as for [`Dataset::edit_with`](crate::Dataset::edit_with).
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.new.options = options;
        self
    }

    /// Creates the table in a directory. The directory is created if it is missing; its parent must exist. The table has no
    /// rows. Others see it after the first [`flush`](CTable::flush).
    ///
    /// # Errors
    /// Returns the errors of [`CArrayBuilder::create`], and a usage error for column names that are not valid for a folder,
    /// that occur twice, or that would contain one another, and for a table without columns in the layouts of the
    /// documents.
    pub fn create(self, path: impl AsRef<Path>) -> Result<CTable> {
        self.check()?;
        let store = new_store(path.as_ref())?;
        self.create_at(store)
    }

    /// Creates the table at the root of a store, such as [`Memory`](bloscpack_storage::Memory).
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_in(self, store: impl Store + 'static) -> Result<CTable> {
        self.check()?;
        self.create_at(Arc::new(store))
    }

    fn check(&self) -> Result<()> {
        self.new.layout.files()?;
        if self.index {
            check_layout(self.new.layout)?;
        }
        let names = self.columns.iter().map(|(name, _)| name.as_str());
        names::check_all(self.new.layout, names)
    }

    fn create_at(self, store: Arc<dyn Store>) -> Result<CTable> {
        let NewDataset {
            layout,
            attributes,
            options,
            ..
        } = self.new.clone();
        let files = begin(store, &self.new)?;
        let mut table = CTable {
            handle: Handle::new(files, Key::root(), layout, Access::Write),
            names: Vec::new(),
            columns: Vec::new(),
            attributes,
            warnings: Vec::new(),
            lenient: options.lenient,
            resources: Resources::new(&options),
        };
        let count = self.columns.len();
        for (name, array) in self.columns {
            let array = if self.index {
                array.with_index_if_possible()
            } else {
                array
            };
            let column = table.new_column(&name, &array, self.chunk_rows, count)?;
            table.names.push(name);
            table.columns.push(Column::opened(column));
        }
        table.put_columns()?;
        table.put_attributes()?;
        table.group();
        Ok(table)
    }
}

impl CTable {
    /// Creates one of `columns` columns: as a dataset in its own folder, or described with the others.
    pub(super) fn new_column(
        &self,
        name: &str,
        array: &CArrayBuilder,
        chunk_rows: Option<u64>,
        columns: usize,
    ) -> Result<CArray> {
        let handle = &self.handle;
        let array = array.clone();
        let column = if handle.layout.columns_are_datasets() {
            let array = match chunk_rows {
                Some(rows) => array.chunk_rows(rows),
                None => array,
            };
            let new = array.plan(handle.layout)?;
            let at = join(&handle.at, name)?;
            handle.files.make_folders(&at)?;
            array.create_beneath(
                &handle.files,
                &at,
                handle.layout,
                new,
                (&self.resources, columns),
            )?
        } else {
            let new = array
                .chunk_rows(chunk_rows.unwrap_or(SHARED_CHUNK_ROWS))
                .plan(handle.layout)?;
            let layout = handle.layout.files()?;
            let spec = layout.new_column(&handle.at, name, &new)?;
            handle.files.make_folders(&spec.folder)?;
            CArray::of_spec(handle.clone(), spec, &self.resources, columns)?
        };
        // A deleted column of this name may have left superchunks and an index.
        column.storage().clear()?;
        column.clear_index()?;
        Ok(column.in_table(handle))
    }
}
