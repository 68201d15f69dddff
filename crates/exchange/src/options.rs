//! [`ImportOptions`]: what a file of another format does not say itself.

#[cfg(any(feature = "csv", feature = "arrow"))]
use super::cells::is_value_of_nothing;
use super::schema::{Column, row_shape};
use bloscpack_datasets::{CArray, CTable};
use bloscpack_dtype::DType;
use bloscpack_error::Result;
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
    pub(super) delimiter: u8,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            types: BTreeMap::new(),
            fills: BTreeMap::new(),
            fill_rest: None,
            delimiter: b',',
        }
    }
}

impl ImportOptions {
    /// Types guessed where the file has none, nothing in place of what is missing, commas.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The type of a column: of CSV any, of Arrow and Parquet for strings. `S` and `U` without a length (itemsize 0) take that of the longest.
    #[must_use]
    pub fn dtype(self, name: impl Into<String>, dtype: DType) -> Self {
        self.column(Column::new(name, dtype))
    }

    /// The type of a column of CSV whose cells are lists of this shape, as JSON.
    #[must_use]
    pub fn column(mut self, column: Column) -> Self {
        self.types.insert(column.name.clone(), column);
        self
    }

    /// The types of all columns as this table has them, to append to it.
    ///
    /// # Errors
    /// Returns errors of opening the columns.
    pub fn for_table(mut self, table: &CTable) -> Result<Self> {
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
    pub fn for_array(self, name: &str, array: &CArray) -> Self {
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

    /// The separator of CSV cells, instead of a comma.
    #[must_use]
    pub fn delimiter(mut self, byte: u8) -> Self {
        self.delimiter = byte;
        self
    }

    #[cfg(any(feature = "csv", feature = "arrow"))]
    /// The value of missing cells in a column, if it does not follow from the type.
    pub(super) fn filling(&self, column: &Column) -> Option<String> {
        let of_itself = column.row_shape.is_empty() && is_value_of_nothing(&column.dtype);
        let rest = self.fill_rest.as_ref().filter(|_| !of_itself);
        self.fills.get(&column.name).or(rest).cloned()
    }
}
