//! [`Dataset`]: an array or a table.

use crate::carray::CArray;
use crate::ctable::CTable;
use crate::dataset_layout::DatasetLayout;
use crate::wire::Attributes;
use bloscpack_error::{Code, Error, Result};

/// An array or a table.
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
    /// The number of rows.
    ///
    /// # Errors
    /// Returns the errors of [`CTable::rows`]; none for an array.
    pub fn rows(&self) -> Result<u64> {
        match self {
            Self::Array(array) => Ok(array.rows()),
            Self::Table(table) => table.rows(),
        }
    }

    /// The layout of its directory.
    #[must_use]
    pub fn layout(&self) -> DatasetLayout {
        match self {
            Self::Array(array) => array.layout(),
            Self::Table(table) => table.layout(),
        }
    }

    /// The attributes that users attached to it.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        match self {
            Self::Array(array) => array.attributes(),
            Self::Table(table) => table.attributes(),
        }
    }

    /// Everything unusual about its small files that does not prevent reading it.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Array(array) => array.warnings(),
            Self::Table(table) => table.warnings(),
        }
    }

    /// Whether its last writer was interrupted in a change. A dataset that is opened for changes has completed it; one that
    /// is opened for reading is read as if it were complete.
    #[must_use]
    pub fn was_interrupted(&self) -> bool {
        let handle = match self {
            Self::Array(array) => array.handle(),
            Self::Table(table) => table.handle(),
        };
        handle.files.was_interrupted()
    }

    /// The array.
    ///
    /// # Errors
    /// Returns a usage error if it is a table.
    pub fn into_array(self) -> Result<CArray> {
        match self {
            Self::Array(array) => Ok(*array),
            Self::Table(_) => Err(Error::new(
                Code::NeedsColumn,
                "this is a table: name one of its columns",
            )),
        }
    }

    /// The table.
    ///
    /// # Errors
    /// Returns a usage error if it is an array.
    pub fn into_table(self) -> Result<CTable> {
        match self {
            Self::Table(table) => Ok(*table),
            Self::Array(_) => Err(Error::new(Code::NotATable, "this is an array, not a table")),
        }
    }
}
