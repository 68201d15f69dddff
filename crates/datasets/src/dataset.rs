//! [`Dataset`]: an array or a table.

use crate::carray::CArray;
use crate::ctable::CTable;
use crate::dataset_layout::DatasetLayout;
use crate::wire::Attributes;
use bloscpack_error::{Code, Error, Result};

/// An opened array or table.
///
/// Use it for paths that may contain either. [`CArray::open`] and [`CTable::open`] fail for the other kind.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::Dataset;
/// match Dataset::open("testdata/datasets/bcolz/table_mixed")? {
///     Dataset::Array(array) => println!("{} with {} rows", array.dtype(), array.rows()),
///     Dataset::Table(table) => println!("{} with {} rows", table.names().join(", "), table.rows()?),
/// }
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub enum Dataset {
    /// An array.
    Array(Box<CArray>),
    /// A table.
    Table(Box<CTable>),
}

impl Dataset {
    /// The number of rows; of a table, the rows of its shortest column.
    ///
    /// # Errors
    /// Returns the errors of [`CTable::rows`]. Cannot fail for an array.
    pub fn rows(&self) -> Result<u64> {
        match self {
            Self::Array(array) => Ok(array.rows()),
            Self::Table(table) => table.rows(),
        }
    }

    /// The layout of the directory.
    #[must_use]
    pub fn layout(&self) -> DatasetLayout {
        match self {
            Self::Array(array) => array.layout(),
            Self::Table(table) => table.layout(),
        }
    }

    /// The user's attributes; empty if there are none. Columns of a table have their own.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        match self {
            Self::Array(array) => array.attributes(),
            Self::Table(table) => table.attributes(),
        }
    }

    /// Problems of the small files that do not prevent reading, such as a missing `__attrs__`. Each begins with the file's
    /// name. Columns of a table have warnings of their own.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Array(array) => array.warnings(),
            Self::Table(table) => table.warnings(),
        }
    }

    /// Whether the last writer was interrupted while it committed a change. [`edit`](Self::edit) has then completed the change;
    /// a dataset opened for reading shows the completed change without writing it.
    #[must_use]
    pub fn was_interrupted(&self) -> bool {
        let handle = match self {
            Self::Array(array) => array.handle(),
            Self::Table(table) => table.handle(),
        };
        handle.files.was_interrupted()
    }

    /// Returns the array.
    ///
    /// # Errors
    /// Returns [`Code::NeedsColumn`] for a table.
    pub fn into_array(self) -> Result<CArray> {
        match self {
            Self::Array(array) => Ok(*array),
            Self::Table(_) => Err(Error::new(
                Code::NeedsColumn,
                "this is a table: name one of its columns",
            )),
        }
    }

    /// Returns the table.
    ///
    /// # Errors
    /// Returns [`Code::NotATable`] for an array.
    pub fn into_table(self) -> Result<CTable> {
        match self {
            Self::Table(table) => Ok(*table),
            Self::Array(_) => Err(Error::new(Code::NotATable, "this is an array, not a table")),
        }
    }
}
