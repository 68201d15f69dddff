//! [`CArrayBuilder`]: creates arrays.

use super::CArray;
use crate::create::{begin, new_store};
use crate::dataset_layout::DatasetLayout;
use crate::files::Files;
use crate::handle::Handle;
use crate::index::{check_elements, check_layout};
use crate::layout;
use crate::new::{NewArray, NewDataset};
use crate::superchunk::SuperchunkOptions;
use crate::wire::{Attributes, ChunkBase, default_chunk_rows};
use blosc1::{ChunkSettings, Compressor, Filter};
use bloscpack::Options;
use bloscpack_array::{Column, Resources, Schema};
use bloscpack_dtype::{DType, native::Element};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, Key, Store};
use bloscpack_wire::Checksum;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a chunk if no number of rows is expected.
const CHUNK_BYTES: u64 = 1 << 20;
/// Default chunks per superchunk in the layouts that allow several.
const CHUNKS_PER_FILE: NonZeroU64 = NonZeroU64::MIN.saturating_add(15);
/// A dtype with a longer name, in bytes, is parsed again to check that readers accept it.
const LONG_NAME: usize = 1 << 20;

/// Creates an array; a chain of calls that ends in [`create`](Self::create) or [`create_in`](Self::create_in).
///
/// | setting | default |
/// |---|---|
/// | [`row_shape`](Self::row_shape) | a row is one element |
/// | [`layout`](Self::layout) | `Bcolz` |
/// | [`chunk_rows`](Self::chunk_rows) | by `expected_rows`, or 1 MiB |
/// | [`compressor`](Self::compressor), [`level`](Self::level), [`filter`](Self::filter) | as [`ChunkSettings`] |
/// | [`default_element`](Self::default_element) | zeros |
/// | [`index`](Self::index) | no index |
/// | [`checksum`](Self::checksum) (only `BlzDocument` and `CarrayDocument`) | crc32 |
/// | [`offsets`](Self::offsets), [`spare`](Self::spare), [`superchunk`](Self::superchunk) (likewise) | true, 0, 16 |
///
/// Settings are checked by `create`. A column of a table is described by the same builder; see
/// [`CTable::builder`](crate::CTable::builder).
///
/// ```
/// use bloscpack_datasets::{CArray, DatasetLayout};
/// use bloscpack_storage::Memory;
/// use blosc1::Compressor;
///
/// let array = CArray::of::<u16>()
///     .row_shape(&[480, 640])
///     .layout(DatasetLayout::Bcolz)
///     .compressor(Compressor::Zstd)
///     .create_in(Memory::new())?;
/// assert_eq!(array.shape(), [0, 480, 640]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CArrayBuilder {
    dtype: DType,
    row_shape: Vec<u64>,
    chunks: ChunkLength,
    expected_rows: Option<u64>,
    default: Vec<u8>,
    settings: ChunkSettings,
    superchunk_options: SuperchunkOptions,
    chunks_per_file: NonZeroU64,
    index: bool,
    new: NewDataset,
}

/// The chosen length of chunks.
#[derive(Debug, Clone)]
enum ChunkLength {
    /// By the expected number of rows.
    Auto,
    Rows(u64),
    Shape(Vec<u64>),
}

impl CArray {
    /// Begins a new array of elements of this dtype, in its byte order.
    #[must_use]
    pub fn builder(dtype: DType) -> CArrayBuilder {
        CArrayBuilder::new(dtype)
    }

    /// Begins a new array of values of a Rust type, stored little-endian.
    #[must_use]
    pub fn of<T: Element>() -> CArrayBuilder {
        CArrayBuilder::new(T::DTYPE)
    }

    /// Begins a new array with the dtype, row shape, chunk shape, compression, default, attributes and layout of this one, but
    /// without its rows and its index.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    ///
    /// let array = CArray::of::<f32>().row_shape(&[3]).create_in(Memory::new())?;
    /// let other = array.like().create_in(Memory::new())?;
    /// assert_eq!((other.dtype(), other.shape()), (array.dtype(), array.shape()));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    #[must_use]
    pub fn like(&self) -> CArrayBuilder {
        let spec = self.storage.spec();
        let mut builder = CArrayBuilder {
            row_shape: spec.grid.row_shape().to_vec(),
            chunks: ChunkLength::Shape(self.chunk_shape().to_vec()),
            expected_rows: Some(self.rows()),
            default: spec.default.clone().unwrap_or_default(),
            ..CArrayBuilder::new(spec.dtype.clone()).stored_as(self)
        };
        builder.new.attributes = self.attributes.clone();
        builder.new.layout = self.handle.layout;
        builder
    }
}

impl CArrayBuilder {
    /// Begins a new array of the only column of a schema, with the schema's attributes.
    ///
    /// # Errors
    /// Returns a usage error if the schema has several columns, or none.
    pub fn of_schema(schema: &Schema) -> Result<Self> {
        let column = schema.only("an array has one column")?;
        Ok(Self::of_column(column).attributes(schema.attributes.clone()))
    }

    /// Begins a new array with the dtype and row shape of a column of a schema.
    #[must_use]
    pub fn of_column(column: &Column) -> Self {
        CArray::builder(column.dtype.clone()).row_shape(&column.row_shape)
    }

    /// Changes the dtype to a wider one. The default is padded with zeros.
    pub(crate) fn widened(mut self, dtype: DType) -> Result<Self> {
        if !self.default.is_empty() {
            self.default.resize(in_memory(dtype.itemsize())?, 0);
        }
        self.dtype = dtype;
        Ok(self)
    }

    fn new(dtype: DType) -> Self {
        Self {
            dtype,
            row_shape: Vec::new(),
            chunks: ChunkLength::Auto,
            expected_rows: None,
            default: Vec::new(),
            settings: ChunkSettings::default(),
            superchunk_options: SuperchunkOptions::default(),
            chunks_per_file: CHUNKS_PER_FILE,
            index: false,
            new: NewDataset::default(),
        }
    }

    /// The number of elements of a row along each axis after the first; at least 1 each. By default a row is one element.
    #[must_use]
    pub fn row_shape(mut self, shape: &[u64]) -> Self {
        self.row_shape = shape.to_vec();
        self
    }

    /// The number of rows of a chunk; at least 1, and at most [`MAX_NBYTES`](blosc1::MAX_NBYTES) bytes. By default it follows
    /// from [`expected_rows`](Self::expected_rows), or is 1 MiB of rows if that is not set.
    #[must_use]
    pub fn chunk_rows(mut self, rows: u64) -> Self {
        self.chunks = ChunkLength::Rows(rows);
        self
    }

    /// The number of elements of a chunk along each axis, rows first. Except in [`DatasetLayout::CarrayDocument`], it must be
    /// whole rows. The last call of `chunk_rows` and `chunk_shape` counts.
    #[must_use]
    pub fn chunk_shape(mut self, shape: &[u64]) -> Self {
        self.chunks = ChunkLength::Shape(shape.to_vec());
        self
    }

    /// The expected number of rows, from which the chunk length is chosen as in bcolz (in the layout `Blz`, as in BLZ). It is
    /// stored, and does not limit the array.
    #[must_use]
    pub fn expected_rows(mut self, rows: u64) -> Self {
        self.expected_rows = Some(rows);
        self
    }

    /// The default that [`CArray::resize`] appends, and that pads chunks in the layout `CarrayDocument`: the bytes of one
    /// element, or of a row (except in `CarrayDocument`). Zeros by default. At most 1 MiB.
    #[must_use]
    pub fn default_element(mut self, bytes: &[u8]) -> Self {
        self.default = bytes.to_vec();
        self
    }

    /// The compressor of the chunks. `Bcolz` refuses Snappy, and `Blz` refuses Zstandard.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.settings.compressor = compressor;
        self
    }

    /// The compression level, 0 (no compression) to 9 (smallest).
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.settings.level = level;
        self
    }

    /// The filter that is applied to each block before compression. `Blz` refuses bitshuffle.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.settings.filter = filter;
        self
    }

    /// The checksum of each chunk; crc32 by default. Ignored in `Bcolz` and `Blz`, which have no checksums.
    #[must_use]
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.superchunk_options.checksum = checksum;
        self
    }

    /// Whether superchunks contain an offset table with the positions of their chunks; true by default. Without one, readers
    /// follow the chunks' lengths. Ignored in `Bcolz` and `Blz`.
    #[must_use]
    pub fn offsets(mut self, offsets: bool) -> Self {
        self.superchunk_options.offsets = offsets;
        self
    }

    /// Bytes left free after each chunk, so that a longer chunk can replace it in place; 0 by default. Requires an offset
    /// table. Ignored in `Bcolz` and `Blz`.
    #[must_use]
    pub fn spare(mut self, bytes: u32) -> Self {
        self.superchunk_options.spare = bytes;
        self
    }

    /// Chunks per superchunk; 16 by default. Ignored in `Bcolz` and `Blz`, whose superchunks contain one chunk.
    #[must_use]
    pub fn superchunk(mut self, chunks: NonZeroU64) -> Self {
        self.chunks_per_file = chunks;
        self
    }

    /// Whether to keep an [`Index`](crate::Index) of the array; false by default. Each flush then computes the statistics of
    /// the superchunks that it writes. Only `Bcolz` and `Blz` have indexes, and only for single elements with an order.
    #[must_use]
    pub fn index(mut self, index: bool) -> Self {
        self.index = index;
        self
    }

    /// The user's attributes; none by default.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.new.attributes = attributes;
        self
    }

    /// The layout of the directory; [`DatasetLayout::Bcolz`] by default.
    #[must_use]
    pub fn layout(mut self, layout: DatasetLayout) -> Self {
        self.new.layout = layout;
        self
    }

    /// Whether to replace a dataset that exists in the same place; false by default. The old one stays until the first flush.
    /// Other files in the directory are kept.
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

    /// Creates the array in a directory. The directory is created if it is missing; its parent must exist. The array has no
    /// rows. Others see it after the first [`flush`](CArray::flush).
    ///
    /// # Errors
    /// * [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if the directory contains a dataset and
    ///   [`replace`](Self::replace) is false, or if it contains anything else
    /// * a usage error for settings that the layout cannot store, and for the directory of a column
    /// * [`Code::NotBuilt`](bloscpack_error::Code::NotBuilt) for a layout that this build does not support
    /// * [`Code::NoIndex`](bloscpack_error::Code::NoIndex) for an index of an array that cannot have one
    /// * [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if another process has the directory open for changes
    /// * any error of the file system
    pub fn create(self, path: impl AsRef<Path>) -> Result<CArray> {
        let store = new_store(path.as_ref())?;
        self.create_at(store)
    }

    /// Creates the array at the root of a store, such as [`Memory`](bloscpack_storage::Memory).
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_in(self, store: impl Store + 'static) -> Result<CArray> {
        self.create_at(Arc::new(store))
    }

    fn create_at(self, store: Arc<dyn Store>) -> Result<CArray> {
        let new = self.plan(self.new.layout)?;
        let files = begin(store, &self.new)?;
        let resources = Resources::new(&self.new.options);
        self.create_beneath(&files, &Key::root(), self.new.layout, new, (&resources, 1))
    }

    /// Creates an array in a folder without a dataset.
    pub(crate) fn create_beneath(
        &self,
        files: &Arc<Files>,
        at: &Key,
        layout: DatasetLayout,
        new: NewArray,
        (resources, columns): (&Resources, usize),
    ) -> Result<CArray> {
        let layout_files = layout.files()?;
        let spec = layout_files.new_array(crate::files::below(at, &["data"])?, &new)?;
        layout_files.put_array(files, at, &spec)?;
        layout_files.put_attributes(files, at, &new.attributes)?;
        let handle = Handle::new(Arc::clone(files), at.clone(), layout, Access::Write);
        let mut array = CArray {
            attributes: new.attributes,
            ..CArray::of_spec(handle, spec, resources, columns)?
        };
        if self.index {
            array.storage.note_writes(true);
        }
        Ok(array)
    }

    /// Requests an index if the elements have an order.
    pub(crate) fn with_index_if_possible(self) -> Self {
        let index = self.index || check_elements(&self.dtype, &self.row_shape).is_ok();
        Self { index, ..self }
    }

    /// Copies compression and superchunk settings from another array.
    pub(crate) fn stored_as(self, other: &CArray) -> Self {
        let spec = other.storage.spec();
        let options = spec.container.options();
        Self {
            settings: spec.settings,
            superchunk_options: options.copied().unwrap_or_default(),
            chunks_per_file: match options {
                Some(_) => spec.chunks_per_file,
                None => CHUNKS_PER_FILE,
            },
            ..self
        }
    }

    /// Sets the expected number of rows, unless the caller has set it.
    pub(crate) fn expecting(mut self, rows: u64) -> Self {
        self.expected_rows.get_or_insert(rows);
        self
    }

    /// Decides all properties, and refuses those that no layout can store. The layout checks its own restrictions later.
    pub(crate) fn plan(&self, layout: DatasetLayout) -> Result<NewArray> {
        self.check_settings()?;
        self.check_dtype()?;
        if self.index {
            check_layout(layout)?;
            check_elements(&self.dtype, &self.row_shape)?;
        }
        let row_bytes = self.row_bytes()?;
        let default = self.checked_default(row_bytes)?;
        let (chunk_rows, chunk_shape) = self.chunk_length(layout, row_bytes);
        let chunks_per_file = match layout {
            DatasetLayout::Bcolz | DatasetLayout::Blz => NonZeroU64::MIN,
            DatasetLayout::BlzDocument | DatasetLayout::CarrayDocument => self.chunks_per_file,
        };
        Ok(NewArray {
            dtype: self.dtype.clone(),
            row_shape: self.row_shape.clone(),
            row_bytes,
            chunk_shape,
            expected_rows: self.expected_rows.unwrap_or(chunk_rows),
            default,
            settings: self.settings,
            attributes: self.new.attributes.clone(),
            chunks_per_file,
            superchunk_options: self.superchunk_options,
        })
    }

    fn check_settings(&self) -> Result<()> {
        let ChunkSettings {
            compressor, level, ..
        } = self.settings;
        if level > 9 {
            return Err(Error::usage(format!("level is {level}, should be 0 to 9")));
        }
        if !compressor.is_available() {
            let name = compressor.name();
            return Err(Error::usage(format!("this build does not support {name}")));
        }
        Ok(())
    }

    fn check_dtype(&self) -> Result<()> {
        if self.dtype.has_object() {
            return Err(Error::usage(
                "this is an object dtype (Python pointers) and cannot be stored",
            ));
        }
        // A dtype can be valid although its name is too long to be parsed. Checking takes time, so only long names are parsed.
        let name = self.dtype.to_string();
        if name.len() > LONG_NAME && DType::parse(&name).is_err() {
            let len = name.len();
            return Err(Error::usage(format!(
                "a dtype of {len} characters is too long to be read again"
            )));
        }
        Ok(())
    }

    /// Bytes of a row.
    fn row_bytes(&self) -> Result<u64> {
        let mut axes = self.row_shape.iter();
        let bytes = axes.try_fold(self.dtype.itemsize(), |bytes, len| bytes.checked_mul(*len));
        match bytes {
            // The product may overflow before an axis of 0 is reached.
            _ if self.row_shape.contains(&0) || self.dtype.itemsize() == 0 => {
                Err(Error::usage("rows of no bytes cannot be stored"))
            }
            Some(bytes) => Ok(bytes),
            None => Err(Error::usage(format!(
                "rows of shape {:?} are too long",
                self.row_shape
            ))),
        }
    }

    fn checked_default(&self, row_bytes: u64) -> Result<Option<Vec<u8>>> {
        let (len, itemsize) = (to_u64(self.default.len()), self.dtype.itemsize());
        if len != 0 && len != itemsize && len != row_bytes {
            return Err(Error::usage(format!(
                "a default of {len} bytes, but elements have {itemsize}"
            )));
        }
        let is_zero = self.default.iter().all(|byte| *byte == 0);
        let default = (!is_zero).then(|| self.default.clone());
        if !layout::is_short_default(&self.dtype, default.as_deref(), &self.row_shape) {
            return Err(Error::usage(format!(
                "a default of {len} bytes is too long to be read again"
            )));
        }
        Ok(default)
    }

    /// The rows and the shape of a chunk.
    fn chunk_length(&self, layout: DatasetLayout, row_bytes: u64) -> (u64, Vec<u64>) {
        let base = match layout {
            DatasetLayout::Blz => ChunkBase::Base1024,
            _ => ChunkBase::Base4096,
        };
        let rows = match (&self.chunks, self.expected_rows) {
            (ChunkLength::Rows(rows), _) => *rows,
            (_, Some(expected)) => default_chunk_rows(base, expected, row_bytes),
            (_, None) => (CHUNK_BYTES / row_bytes).max(1),
        };
        let shape = match &self.chunks {
            ChunkLength::Shape(shape) => shape.clone(),
            _ => std::iter::once(rows)
                .chain(self.row_shape.iter().copied())
                .collect(),
        };
        (rows, shape)
    }
}
