//! [`CArray`]: an array in a directory.

mod blocks;
mod builder;
mod change;
mod read;

use super::layout::{self, DatasetLayout, Note};
use super::leaf::{Leaf, Spec};
use super::options::DatasetOptions;
use crate::wire::Attributes;
use blosc1::Fault;
use bloscpack_dtype::{DType, boxes::to_usize};
use bloscpack_error::{Category, Error, Result};
use bloscpack_storage::{Access, JournaledStore, Key};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use blocks::Blocks;
pub use builder::CArrayBuilder;

/// An array of elements of one type, of one or more axes, compressed in a directory.
///
/// Rows, which are what the first axis counts, can be appended and cut off; any box of elements can be read and set. What is
/// changed is seen by this `CArray` at once, and by others when [`flush`](Self::flush) has made all of it permanent as a whole;
/// what was not flushed when a `CArray` is dropped has never been.
///
/// ```
/// use bloscpack_datasets::CArray;
/// use bloscpack_storage::MemoryStore;
///
/// let store = MemoryStore::new();
/// let mut array = CArray::of::<f64>().chunk_rows(100).create_in(store.clone())?;
/// let walk: Vec<f64> = (0..1000).map(|i| f64::from(i) / 4.0).collect();
/// array.append_values(&walk)?;
/// array.flush()?;
///
/// let array = CArray::open_in(store)?;
/// assert_eq!(array.shape(), [1000]);
/// assert_eq!(array.to_vec::<f64>(500..503)?, [125.0, 125.25, 125.5]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct CArray {
    home: Home,
    leaf: Leaf,
    attributes: Attributes,
    notes: Vec<Note>,
    /// How many rows everybody sees.
    flushed_rows: u64,
}

/// Where a dataset lies, and whether it may be changed.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub root: Arc<JournaledStore>,
    pub at: Key,
    pub layout: DatasetLayout,
    pub access: Access,
    /// A column, whose table has to be asked to add rows.
    pub in_table: bool,
    /// Whether a change failed halfway, so that nothing of it may be made permanent. All columns of a table share it.
    pub failed: Arc<AtomicBool>,
}

impl Home {
    /// Refuses to change what was opened for reading, before anything is touched, and what a change has failed of.
    pub fn check_writable(&self) -> Result<()> {
        match self.access {
            Access::Write if self.failed.load(Ordering::Relaxed) => Err(Error::usage(
                "an earlier change failed halfway: open the dataset again, which is as it was last flushed",
            )),
            Access::Write => Ok(()),
            Access::Read => Err(Error::usage(
                "the dataset was opened for reading: open it for changes",
            )),
        }
    }

    /// The outcome of a change. What is refused has changed nothing; anything else may have been done in part.
    pub fn tried<T>(&self, done: Result<T>) -> Result<T> {
        if done.as_ref().is_err_and(|error| {
            !matches!(error.category(), Category::Usage | Category::Unsupported)
        }) {
            self.failed.store(true, Ordering::Relaxed);
        }
        done
    }
}

impl CArray {
    /// Opens the array in this directory for reading.
    ///
    /// # Errors
    /// As [`DatasetOptions::open`], and wrong usage if it is a table.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        DatasetOptions::new().array(path.as_ref(), Access::Read)
    }

    /// Opens the array in this directory for reading and changing it.
    ///
    /// # Errors
    /// As [`DatasetOptions::edit`], and wrong usage if it is a table.
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        DatasetOptions::new().array(path.as_ref(), Access::Write)
    }

    /// Opens the array at the root of a store for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(store: impl bloscpack_storage::Store + 'static) -> Result<Self> {
        DatasetOptions::new().open_in(store)?.into_array()
    }

    /// Opens the array at the root of a store for reading and changing it.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    pub fn edit_in(store: impl bloscpack_storage::Store + 'static) -> Result<Self> {
        DatasetOptions::new().edit_in(store)?.into_array()
    }

    /// Opens what is known to be an array.
    pub(super) fn open_beneath(home: Home, options: &DatasetOptions) -> Result<Self> {
        let parts = layout::open_array(home.layout, &home.root, &home.at, options.lenient)?;
        let (found, limit) = (parts.spec.grid.nbytes(), options.means.limits.total);
        if found > limit {
            let what = format!("content of {found} bytes, over the limit `total` of {limit}");
            return Err(crate::error::dataset(Fault::OverLimit, what));
        }
        let leaf = Leaf::new(Arc::clone(&home.root), parts.spec, options.means);
        Ok(Self {
            home,
            flushed_rows: leaf.grid().rows(),
            leaf,
            attributes: parts.attributes,
            notes: parts.notes,
        })
    }

    /// A column that is described with its table.
    pub(super) fn of_spec(home: Home, spec: Spec, options: &DatasetOptions) -> Self {
        let leaf = Leaf::new(Arc::clone(&home.root), spec, options.means);
        Self {
            home,
            flushed_rows: leaf.grid().rows(),
            leaf,
            attributes: Attributes::default(),
            notes: Vec::new(),
        }
    }

    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.leaf.spec().dtype
    }

    /// Elements along each axis, rows first.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.leaf.grid().shape()
    }

    /// Elements along the first axis.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.leaf.grid().rows()
    }

    /// Bytes of a row.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        to_usize(self.leaf.grid().row_bytes())
    }

    /// Elements of a chunk along each axis.
    #[must_use]
    pub fn chunk_shape(&self) -> &[u64] {
        self.leaf.grid().chunk_shape()
    }

    /// Number of chunks.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.leaf.grid().chunks()
    }

    /// How it lies in its directory.
    #[must_use]
    pub fn layout(&self) -> DatasetLayout {
        self.home.layout
    }

    /// Bytes of its elements.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.leaf.grid().nbytes()
    }

    /// How many bytes its chunks take, as the dataset itself says: some writers count oddly, and after some changes it is negative.
    #[must_use]
    pub fn stated_cbytes(&self) -> i64 {
        self.leaf.spec().cbytes
    }

    /// What a new element is, or a row of them, where nothing else is said: bytes of the dtype. Nothing if they are zeros.
    #[must_use]
    pub fn default_element(&self) -> Option<&[u8]> {
        self.leaf.spec().default.as_deref()
    }

    /// What its users have said about it.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// What is not as it should be, and does not keep it from being read.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.notes
            .iter()
            .map(|note| (note.path.as_str(), note.what.as_str()))
    }

    /// Whether it has fewer rows than everybody sees.
    pub(super) fn has_fewer_rows(&self) -> bool {
        self.rows() < self.flushed_rows
    }

    /// Everybody sees the rows that it has.
    pub(super) fn set_flushed(&mut self) {
        self.flushed_rows = self.rows();
    }

    /// As a column of the table that lies there.
    pub(super) fn in_table(mut self, table: &Home) -> Self {
        self.home.in_table = true;
        self.home.failed = Arc::clone(&table.failed);
        self
    }

    pub(super) fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    pub(super) fn leaf_mut(&mut self) -> &mut Leaf {
        &mut self.leaf
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }
}
