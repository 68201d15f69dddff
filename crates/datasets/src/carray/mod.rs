//! [`CArray`]: an array in a directory.

mod blocks;
mod builder;
mod change;
#[cfg(feature = "ndarray")]
mod interop;
mod read;

use crate::array_storage::{ArraySpec, ArrayStorage};
use crate::dataset_layout::DatasetLayout;
use crate::handle::Handle;
use crate::wire::{Attributes, Index};
use bloscpack_array::Resources;
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use bloscpack_wire::Limit;
use std::sync::{Arc, OnceLock};

pub use blocks::Blocks;
pub(crate) use blocks::RowBlocks;
pub use builder::CArrayBuilder;

/// An array of elements of one dtype, with one or more axes, in the compressed files of a directory.
///
/// The first axis counts rows, which can be appended and cut off. Any box of elements can be read and set. Positions are
/// 0-based, elements are in C order, and bytes are in the byte order of the dtype.
///
/// A `CArray` sees its own changes at once. Others see them after [`flush`](Self::flush), which makes all of them permanent
/// atomically. Changes that were not flushed are lost when it is dropped. Appended rows that do not fill a chunk stay in memory
/// until they do, or until the next flush or read.
///
/// ```
/// use bloscpack_datasets::CArray;
/// use bloscpack_storage::Memory;
///
/// let store = Memory::new();
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
    handle: Handle,
    storage: ArrayStorage,
    attributes: Attributes,
    warnings: Vec<String>,
    /// The number of rows at the last flush, which others see.
    flushed_rows: u64,
    /// The index, read when zones are first requested.
    pub(crate) zones: OnceLock<Option<Index>>,
}

impl CArray {
    /// Opens the array at a handle, with the share of the resources of one of `columns` columns.
    pub(crate) fn open_beneath(
        handle: Handle,
        lenient: bool,
        (resources, columns): (&Resources, usize),
    ) -> Result<Self> {
        let layout = handle.layout.files()?;
        let description = layout.open_array(&handle.files, &handle.at, lenient)?;
        let (found, allowed) = (description.spec.grid.nbytes(), resources.limits.total);
        Error::check_limit(Limit::Total, found, allowed)?;
        let mut array = Self {
            attributes: description.attributes,
            warnings: description.warnings,
            ..Self::of_spec(handle, description.spec, resources, columns)?
        };
        array.keep_index()?;
        Ok(array)
    }

    /// Makes an array of its description. It may be one of several columns.
    pub(crate) fn of_spec(
        handle: Handle,
        spec: ArraySpec,
        resources: &Resources,
        columns: usize,
    ) -> Result<Self> {
        let storage = ArrayStorage::new(Arc::clone(&handle.files), spec, resources, columns)?;
        Ok(Self {
            handle,
            flushed_rows: storage.grid().rows(),
            storage,
            attributes: Attributes::default(),
            warnings: Vec::new(),
            zones: OnceLock::new(),
        })
    }

    /// The dtype of the elements.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.storage.spec().dtype
    }

    /// The number of elements along each axis, rows first; at least one axis. Axes after the first are at least 1.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.storage.grid().shape()
    }

    /// The number of rows: the length of the first axis.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.storage.grid().rows()
    }

    /// Uncompressed bytes of a row; at least 1.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        self.storage.grid().row_bytes()
    }

    /// The number of elements of a chunk along each axis. Chunks at the end of an axis contain fewer. Except in the layout
    /// `carray-doc`, a chunk contains whole rows.
    #[must_use]
    pub fn chunk_shape(&self) -> &[u64] {
        self.storage.grid().chunk_shape()
    }

    /// The number of chunks that the rows need.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.storage.grid().chunks()
    }

    /// The layout of the directory.
    #[must_use]
    pub fn layout(&self) -> DatasetLayout {
        self.handle.layout
    }

    /// Uncompressed bytes of all elements.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.storage.grid().nbytes()
    }

    /// Compressed bytes of the full chunks, as the dataset counts them. Real datasets contain wrong and negative counts;
    /// [`survey`](Self::survey) measures the files. In tables of `blz-doc`, the first column has the count of all columns;
    /// `carray-doc` stores no count, so that it begins at 0 when the array is opened.
    #[must_use]
    pub fn stated_cbytes(&self) -> i64 {
        self.storage.spec().cbytes
    }

    /// The default that [`resize`](Self::resize) appends: the bytes of one element, or of a whole row. `None` means zeros.
    #[must_use]
    pub fn default_element(&self) -> Option<&[u8]> {
        self.storage.spec().default.as_deref()
    }

    /// The user's attributes; empty if there are none, and for columns in the layouts of the documents.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Problems of the small files that do not prevent reading, such as a missing `__attrs__` or a default that is not a value
    /// of the dtype. Each begins with the file's name.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether it has fewer rows than at the last flush.
    pub(crate) fn has_fewer_rows(&self) -> bool {
        self.rows() < self.flushed_rows
    }

    /// Whether it has more or fewer rows than at the last flush.
    pub(crate) fn has_other_rows(&self) -> bool {
        self.rows() != self.flushed_rows
    }

    /// Notes that all rows were flushed.
    pub(crate) fn set_flushed(&mut self) {
        self.flushed_rows = self.rows();
    }

    /// Makes the array a column of a table.
    pub(crate) fn in_table(mut self, table: &Handle) -> Self {
        self.handle.in_table = true;
        self.handle.failed = Arc::clone(&table.failed);
        self
    }

    pub(crate) fn storage(&self) -> &ArrayStorage {
        &self.storage
    }

    pub(crate) fn storage_mut(&mut self) -> &mut ArrayStorage {
        self.zones = OnceLock::new();
        &mut self.storage
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}
