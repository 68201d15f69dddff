//! [`ImportOptions`]: what a file of another program does not store.

#[cfg(any(feature = "csv", feature = "record-batches"))]
use bloscpack_array::is_value_of_nothing;
use bloscpack_array::{Column, ItemKind, row_shape};
use bloscpack_datasets::{CArray, CTable};
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_stores::{ColumnKind, StoreColumn};
use std::collections::BTreeMap;

/// What a file of another program does not store: types of text columns, values for missing cells, the separator. Formats
/// ignore options that they have no use for; a column that does not exist is an error of opening.
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
    /// The given types, by column.
    pub(super) types: BTreeMap<String, Column>,
    /// The values of missing cells, by column.
    pub(super) fills: BTreeMap<String, String>,
    /// The value of missing cells in other columns that need one.
    pub(super) fill_rest: Option<String>,
    pub(super) delimiter: Option<u8>,
    pub(super) has_header: bool,
    /// The names of columns, for a file without a header.
    pub(super) names: Vec<String>,
    pub(super) missing: Vec<String>,
    /// The array to read of an archive.
    pub(super) member: Option<String>,
    /// Whether missing values stay missing.
    pub(super) keeps_missing: bool,
    /// Whether lists of several lengths in JSON lines stay lists.
    pub(super) keeps_lists: bool,
    /// Whether rows are counted before the first one is read.
    pub(super) is_counted: bool,
    threads: Option<usize>,
}

/// The default words for a missing value among numbers, times and booleans.
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
            keeps_lists: false,
            is_counted: true,
            threads: None,
        }
    }
}

impl ImportOptions {
    /// Types are guessed, separators detected, column names in the first line, and missing cells NaN, NaT or empty.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the type of a column. In CSV and JSON lines it may be any type. In Arrow and Parquet it must suit the column's, for
    /// example `U10` for strings. `S` and `U` without a length (itemsize 0) get the length of the longest value.
    #[must_use]
    pub fn dtype(self, name: impl Into<String>, dtype: DType) -> Self {
        self.column(Column::new(name, dtype))
    }

    /// Reads only the array with this name of a `.npz`. Without it, all arrays are the columns of a table.
    #[must_use]
    pub fn member(mut self, name: impl Into<String>) -> Self {
        self.member = Some(name.into());
        self
    }

    /// Sets the type of a column and the shape of its rows; the cells of CSV are then JSON lists.
    #[must_use]
    pub fn column(mut self, column: Column) -> Self {
        self.types.insert(column.name.clone(), column);
        self
    }

    /// Keeps missing values missing, unless a fill value is given, for a target that can store them such as
    /// [`import_store`](crate::import_store), and lists of JSON lines lists. Empty strings of CSV are not missing.
    #[must_use]
    pub fn keep_missing(mut self) -> Self {
        (self.keeps_missing, self.keeps_lists) = (true, true);
        self
    }

    /// Makes lists of several lengths in JSON lines text, for a target that can store missing values but no lists.
    #[must_use]
    pub fn lists_as_text(mut self) -> Self {
        self.keeps_lists = false;
        self
    }

    /// Sets the number of threads that parse text; one per processor by default, at least 1.
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

    /// Takes the names and types of all columns from a table of python-blosc2, to append to it. Missing values stay missing.
    ///
    /// # Errors
    /// Returns an error for a type that cannot be made.
    pub fn for_store(mut self, columns: &[StoreColumn]) -> Result<Self> {
        self.names = columns.iter().map(|column| column.name.clone()).collect();
        self.is_counted = false;
        for column in columns {
            let (dtype, row_shape) = match &column.kind {
                ColumnKind::Fixed { dtype, row_shape } => (dtype.clone(), row_shape.clone()),
                // As long as the longest.
                ColumnKind::Varying(ItemKind::Text) => (DType::parse("<U0")?, Vec::new()),
                ColumnKind::Varying(kind) => {
                    self = self.column(Column::with_values(&column.name, kind.clone()));
                    continue;
                }
                _ => continue,
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

    /// Takes the names and types of all columns from a table, to append to it. Text is then read once: the number of
    /// [rows](bloscpack_array::Source::rows) is unknown before the end.
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

    /// Takes the type of the column with this name from an array, to append to it.
    #[must_use]
    pub fn for_array(mut self, name: &str, array: &CArray) -> Self {
        self.is_counted = false;
        let mut column = Column::new(name, array.dtype().clone());
        column.row_shape = row_shape(array.shape()).to_vec();
        self.column(column)
    }

    /// Sets the value of missing cells in a column, as text. Without it, missing floats become NaN, times NaT and strings
    /// empty; a missing integer or boolean is an error.
    #[must_use]
    pub fn fill(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.fills.insert(name.into(), text.into());
        self
    }

    /// Sets the value of missing cells in columns whose type has none for them, such as integers and booleans, unless
    /// [`fill`](Self::fill) sets one.
    #[must_use]
    pub fn fill_all(mut self, text: impl Into<String>) -> Self {
        self.fill_rest = Some(text.into());
        self
    }

    /// Sets the separator of CSV cells. By default it is detected in the first line: a comma, else a semicolon, else a tab. In
    /// `.tsv` files it is a tab.
    #[must_use]
    pub fn delimiter(mut self, byte: u8) -> Self {
        self.delimiter = Some(byte);
        self
    }

    /// Sets whether the first line of CSV contains the column names; true by default. Without them, columns have the names of
    /// the table that is appended to, or `f0`, `f1`, … as in NumPy.
    #[must_use]
    pub fn header(mut self, has_header: bool) -> Self {
        self.has_header = has_header;
        self
    }

    /// Sets the words for a missing value in columns of numbers, times and booleans, besides empty cells: `NA`, `N/A`, `n/a`,
    /// `#N/A`, `NULL` and `null` by default. In columns of text they are text.
    #[must_use]
    pub fn missing(mut self, cells: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.missing = cells.into_iter().map(Into::into).collect();
        self
    }

    /// The name of a column by its number, for a file without names.
    #[cfg(feature = "csv")]
    pub(super) fn name_of(&self, number: usize) -> String {
        let known = self.names.get(number).cloned();
        known.unwrap_or_else(|| format!("f{number}"))
    }

    #[cfg(any(feature = "csv", feature = "record-batches"))]
    /// The value of missing cells in a column; `None` if it follows from the type.
    pub(super) fn filling(&self, column: &Column) -> Option<String> {
        let of_itself = column.row_shape.is_empty() && is_value_of_nothing(&column.dtype);
        let rest = self.fill_rest.as_ref().filter(|_| !of_itself);
        self.fills.get(&column.name).or(rest).cloned()
    }
}
