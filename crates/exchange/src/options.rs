//! [`ImportOptions`]: what a file of another format does not say itself.

#[cfg(any(feature = "csv", feature = "record-batches"))]
use bloscpack_array::is_value_of_nothing;
use bloscpack_array::{Column, row_shape};
use bloscpack_datasets::{CArray, CTable};
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_stores::{ColumnKind, StoreColumn};
use std::collections::BTreeMap;

/// Information that a file of another format lacks: types of text columns, values for missing cells.
///
/// ```
/// use bloscpack_dtype::DType;
/// use bloscpack_exchange::ImportOptions;
/// let options = ImportOptions::new()
///     .dtype("day", DType::parse("datetime64[D]")?)
///     .fill("volume", "0")
///     .delimiter(b';');
/// # let _ = options;
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(
    not(feature = "csv"),
    allow(
        dead_code,
        reason = "what only CSV, or only it and Arrow, have a use for"
    )
)]
pub struct ImportOptions {
    pub(super) types: BTreeMap<String, Column>,
    pub(super) fills: BTreeMap<String, String>,
    pub(super) fill_rest: Option<String>,
    pub(super) delimiter: Option<u8>,
    pub(super) has_header: bool,
    /// Names of columns that the file does not name.
    pub(super) names: Vec<String>,
    pub(super) missing: Vec<String>,
    /// The array of an archive.
    pub(super) member: Option<String>,
    /// Whether what is missing stays missing.
    pub(super) keeps_missing: bool,
    /// Whether rows are counted before the first is read.
    pub(super) is_counted: bool,
    threads: Option<usize>,
}

/// Cells that stand for a missing value among numbers, times and truth values.
const MISSING: [&str; 6] = ["NA", "N/A", "n/a", "#N/A", "NULL", "null"];

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            types: BTreeMap::new(),
            fills: BTreeMap::new(),
            fill_rest: None,
            delimiter: None,
            has_header: true,
            names: Vec::new(),
            missing: MISSING.map(str::to_owned).to_vec(),
            member: None,
            keeps_missing: false,
            is_counted: true,
            threads: None,
        }
    }
}

impl ImportOptions {
    /// Types guessed where the file has none, nothing in place of what is missing; separators noticed, names in the first line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The type of a column: of CSV any, of Arrow and Parquet for strings. `S` and `U` without a length (itemsize 0) take that of the longest.
    #[must_use]
    pub fn dtype(self, name: impl Into<String>, dtype: DType) -> Self {
        self.column(Column::new(name, dtype))
    }

    /// The name of the only array to read of a `.npz`; otherwise, all of them are the columns of a table.
    #[must_use]
    pub fn member(mut self, name: impl Into<String>) -> Self {
        self.member = Some(name.into());
        self
    }

    /// The type of a column of CSV whose cells are lists of this shape, as JSON.
    #[must_use]
    pub fn column(mut self, column: Column) -> Self {
        self.types.insert(column.name.clone(), column);
        self
    }

    /// Missing values stay missing, unless there is a value for them: for a target that can store that, as
    /// [`import_store`](crate::import_store). Empty strings of CSV are not missing.
    #[must_use]
    pub fn keep_missing(mut self) -> Self {
        self.keeps_missing = true;
        self
    }

    /// Threads that parse text; by default as many as there are processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    #[cfg(feature = "csv")]
    pub(super) fn workers(&self) -> usize {
        self.threads
            .unwrap_or_else(bloscpack_storage::parallel::processors)
    }

    /// The types of all columns as a table of python-blosc2 has them, to append to it.
    ///
    /// # Errors
    /// Returns the errors of types.
    pub fn for_store(mut self, columns: &[StoreColumn]) -> Result<Self> {
        self.names = columns.iter().map(|column| column.name.clone()).collect();
        self.is_counted = false;
        for column in columns {
            let (dtype, row_shape) = match &column.kind {
                ColumnKind::Fixed { dtype, row_shape } => (dtype.clone(), row_shape.clone()),
                // As long as the longest.
                _ => (DType::parse("<U0")?, Vec::new()),
            };
            let mut new = Column::new(&column.name, dtype);
            new.row_shape = row_shape;
            self = self.column(new);
        }
        Ok(self.keep_missing())
    }

    /// Whether missing values of a column stay missing.
    #[cfg(any(feature = "csv", feature = "record-batches"))]
    pub(super) fn keeps_missing(&self, column: &Column) -> bool {
        let is_filled = self.fills.contains_key(&column.name) || self.fill_rest.is_some();
        self.keeps_missing && !is_filled && column.row_shape.is_empty()
    }

    /// The types of all columns as this table has them, to append to it. Lines whose types are all known are read once, and not
    /// [counted](bloscpack_array::Source::rows) before.
    ///
    /// # Errors
    /// Returns errors of opening the columns.
    pub fn for_table(mut self, table: &CTable) -> Result<Self> {
        self.names = table.names().to_vec();
        self.is_counted = false;
        for name in table.names() {
            let array = table.column(name)?;
            let mut column = Column::new(name, array.dtype().clone());
            column.row_shape = row_shape(array.shape()).to_vec();
            self = self.column(column);
        }
        Ok(self)
    }

    /// The type of a column of this name as this array has it, to append to it.
    #[must_use]
    pub fn for_array(mut self, name: &str, array: &CArray) -> Self {
        self.is_counted = false;
        let mut column = Column::new(name, array.dtype().clone());
        column.row_shape = row_shape(array.shape()).to_vec();
        self.column(column)
    }

    /// The value of missing cells in this column, as text. Without it, floats are not a number, times "not a
    /// time", strings empty, and anything else is an error.
    #[must_use]
    pub fn fill(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.fills.insert(name.into(), text.into());
        self
    }

    /// The value of missing cells in integer and boolean columns without a value of their own.
    #[must_use]
    pub fn fill_all(mut self, text: impl Into<String>) -> Self {
        self.fill_rest = Some(text.into());
        self
    }

    /// The separator of CSV cells. Without it, that is a comma, unless the first line has none, but semicolons or, failing
    /// those, tabs; in files of tab-separated values it is a tab.
    #[must_use]
    pub fn delimiter(mut self, byte: u8) -> Self {
        self.delimiter = Some(byte);
        self
    }

    /// Whether the first line of CSV contains the names of the columns; true by default. Without it, they have the names of
    /// the table that is appended to, or `f0`, `f1` and so on, as NumPy names fields.
    #[must_use]
    pub fn header(mut self, has_header: bool) -> Self {
        self.has_header = has_header;
        self
    }

    /// The cells of CSV that stand for a missing value in columns of numbers, times and truth values, as empty ones do:
    /// `NA`, `N/A`, `n/a`, `#N/A`, `NULL` and `null` by default. In columns of text they are text.
    #[must_use]
    pub fn missing(mut self, cells: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.missing = cells.into_iter().map(Into::into).collect();
        self
    }

    /// The name of a column by its number, where the file has none.
    #[cfg(feature = "csv")]
    pub(super) fn name_of(&self, number: usize) -> String {
        let known = self.names.get(number).cloned();
        known.unwrap_or_else(|| format!("f{number}"))
    }

    #[cfg(any(feature = "csv", feature = "record-batches"))]
    /// The value of missing cells in a column, if it does not follow from the type.
    pub(super) fn filling(&self, column: &Column) -> Option<String> {
        let of_itself = column.row_shape.is_empty() && is_value_of_nothing(&column.dtype);
        let rest = self.fill_rest.as_ref().filter(|_| !of_itself);
        self.fills.get(&column.name).or(rest).cloned()
    }
}
