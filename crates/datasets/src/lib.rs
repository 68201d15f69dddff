//! Datasets: arrays and tables that lie in directories.
//!
//! [`CArray`] is an array of elements of one type, [`CTable`] has such arrays as columns; a [`Dataset`] is one of the two. They
//! read and write four [layouts](DatasetLayout): those that bcolz, BLZ and carray really write, and those that two of their
//! documents describe.

#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod carray;
mod create;
mod ctable;
mod error;
mod grid;
mod layout;
mod leaf;
mod new;
mod options;
mod remove;
mod repair;
mod superchunk;
mod survey;
mod verify;
mod walk;
pub mod wire;

pub use crate::wire::Attributes;
pub use bloscpack_dtype::Element;
pub use carray::{Blocks, CArray, CArrayBuilder};
pub use ctable::{CTable, CTableBuilder, TableBlocks};
pub use error::DatasetError;
pub use layout::DatasetLayout;
pub use options::DatasetOptions;
pub use repair::{Finding, Remedy, RepairOptions, Uncounted};
pub use survey::ArraySurvey;
pub use verify::{DatasetReport, Oddity};
pub use walk::{Found, walk};

use blosc1::Fault;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, JournaledStore, Key};
use carray::Home;
use std::path::Path;
use std::sync::Arc;

/// An array or a table.
#[derive(Debug)]
pub enum Dataset {
    /// An array.
    Array(Box<CArray>),
    /// A table.
    Table(Box<CTable>),
}

impl Dataset {
    /// Opens the dataset in this directory for reading.
    ///
    /// ```
    /// use bloscpack_datasets::Dataset;
    /// let dataset = Dataset::open("../../testdata/datasets/bcolz/py2_int64")?;
    /// assert!(matches!(dataset, Dataset::Array(_)));
    /// assert_eq!(dataset.rows()?, 1000);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`DatasetOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        DatasetOptions::new().open(path)
    }

    /// Opens the dataset in this directory for reading and changing it.
    ///
    /// # Errors
    /// As [`DatasetOptions::edit`].
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        DatasetOptions::new().edit(path)
    }

    pub(crate) fn open_beneath(
        root: &Arc<JournaledStore>,
        at: &Key,
        options: &DatasetOptions,
        access: Access,
    ) -> Result<Self> {
        let Some(sign) = layout::detect(root, at)? else {
            let what = "no dataset is here: a directory with meta/sizes, meta/shape or __rootdirs__ in it would be one";
            return Err(error::dataset(Fault::Unsupported, what));
        };
        let in_table = *at != Key::root();
        let home = Home {
            root: Arc::clone(root),
            at: at.clone(),
            layout: sign.layout,
            access,
            in_table,
            failed: Arc::default(),
        };
        Ok(match sign.is_table {
            true => Self::Table(Box::new(CTable::open_beneath(home, options)?)),
            false => Self::Array(Box::new(CArray::open_beneath(home, options)?)),
        })
    }

    /// How many rows it has.
    ///
    /// # Errors
    /// As [`CTable::rows`]; an array always knows.
    pub fn rows(&self) -> Result<u64> {
        match self {
            Self::Array(array) => Ok(array.rows()),
            Self::Table(table) => table.rows(),
        }
    }

    /// How it lies in its directory.
    #[must_use]
    pub fn layout(&self) -> DatasetLayout {
        match self {
            Self::Array(array) => array.layout(),
            Self::Table(table) => table.layout(),
        }
    }

    /// What its users have said about it.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        match self {
            Self::Array(array) => array.attributes(),
            Self::Table(table) => table.attributes(),
        }
    }

    /// The array.
    ///
    /// # Errors
    /// Wrong usage if it is a table.
    pub fn into_array(self) -> Result<CArray> {
        match self {
            Self::Array(array) => Ok(*array),
            Self::Table(_) => Err(Error::usage("this is a table: name one of its columns")),
        }
    }

    /// The table.
    ///
    /// # Errors
    /// Wrong usage if it is an array.
    pub fn into_table(self) -> Result<CTable> {
        match self {
            Self::Table(table) => Ok(*table),
            Self::Array(_) => Err(Error::usage("this is an array, not a table")),
        }
    }
}
