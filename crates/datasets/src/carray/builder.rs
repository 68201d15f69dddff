//! [`CArrayBuilder`]: a new array.

use super::{CArray, Home};
use crate::create::{Target, begin};
use crate::layout::{self, DatasetLayout};
use crate::leaf::{Leaf, Press};
use crate::new::{NewArray, NewFraming};
use crate::options::DatasetOptions;
use crate::wire::{Attributes, ChunkBase, default_chunk_rows};
use blosc1::{ChunkSettings, Compressor, Filter};
use bloscpack_dtype::{DType, native::Element};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, JournaledStore, Key, Store};
use bloscpack_wire::Checksum;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a chunk where nothing is known of how long the array will be.
const CHUNK: u64 = 1 << 20;
/// Chunks of a superchunk in the layouts that have several.
const PER_FILE: NonZeroU64 = NonZeroU64::MIN.saturating_add(15);

/// A dtype whose name is longer may not be read again.
const LONG_NAME: usize = 1 << 20;

/// What a new array is to be; ends in [`create`](Self::create).
///
/// ```
/// use bloscpack_datasets::{CArray, DatasetLayout};
/// use bloscpack_storage::MemoryStore;
/// use blosc1::Compressor;
/// use bloscpack_wire::Checksum;
///
/// let array = CArray::of::<u16>()
///     .row_shape(&[480, 640])
///     .layout(DatasetLayout::BlzDocument)
///     .compressor(Compressor::Zstd)
///     .checksum(Checksum::Sha256)
///     .spare(64)
///     .create_in(MemoryStore::new())?;
/// assert_eq!(array.shape(), [0, 480, 640]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CArrayBuilder {
    dtype: DType,
    row_shape: Vec<u64>,
    chunk_rows: Option<u64>,
    chunk_shape: Option<Vec<u64>>,
    expected_rows: Option<u64>,
    default: Vec<u8>,
    press: Press,
    checksum: Option<Checksum>,
    offsets: bool,
    spare: u32,
    per_file: Option<NonZeroU64>,
    attributes: Attributes,
    layout: DatasetLayout,
    replace: bool,
    options: DatasetOptions,
}

impl CArray {
    /// A new array of elements of this dtype.
    #[must_use]
    pub fn builder(dtype: DType) -> CArrayBuilder {
        CArrayBuilder::new(dtype)
    }

    /// A new array of values of this type.
    #[must_use]
    pub fn of<T: Element>() -> CArrayBuilder {
        CArrayBuilder::new(T::DTYPE)
    }

    /// A new array that is as this one, but for its elements.
    #[must_use]
    pub fn like(&self) -> CArrayBuilder {
        let spec = self.leaf.spec();
        let framing = spec.container.framing();
        CArrayBuilder {
            row_shape: self.shape().get(1..).unwrap_or_default().to_vec(),
            chunk_rows: None,
            chunk_shape: Some(self.chunk_shape().to_vec()),
            expected_rows: Some(self.rows()),
            default: spec.default.clone().unwrap_or_default(),
            press: spec.press,
            checksum: framing.map(|framing| framing.checksum),
            offsets: framing.is_none_or(|framing| framing.offsets),
            spare: framing.map_or(0, |framing| framing.spare),
            per_file: framing.map(|_| spec.per_file),
            attributes: self.attributes.clone(),
            layout: self.home.layout,
            ..CArrayBuilder::new(spec.dtype.clone())
        }
    }
}

impl CArrayBuilder {
    fn new(dtype: DType) -> Self {
        let ChunkSettings {
            compressor,
            level,
            filter,
            ..
        } = ChunkSettings::default();
        Self {
            dtype,
            row_shape: Vec::new(),
            chunk_rows: None,
            chunk_shape: None,
            expected_rows: None,
            default: Vec::new(),
            press: Press {
                compressor,
                level,
                filter,
            },
            checksum: None,
            offsets: true,
            spare: 0,
            per_file: None,
            attributes: Attributes::default(),
            layout: DatasetLayout::default(),
            replace: false,
            options: DatasetOptions::default(),
        }
    }

    /// Elements of a row along each axis behind the first; none, so that a row is an element, by default.
    #[must_use]
    pub fn row_shape(mut self, shape: &[u64]) -> Self {
        self.row_shape = shape.to_vec();
        self
    }

    /// Rows of a chunk. By default it follows from [`expected_rows`](Self::expected_rows) as in bcolz, else it is what 1 MiB holds.
    #[must_use]
    pub fn chunk_rows(mut self, rows: u64) -> Self {
        self.chunk_rows = Some(rows);
        self.chunk_shape = None;
        self
    }

    /// Elements of a chunk along each axis. In all layouts but the carray proposal chunks have whole rows.
    #[must_use]
    pub fn chunk_shape(mut self, shape: &[u64]) -> Self {
        self.chunk_shape = Some(shape.to_vec());
        self.chunk_rows = None;
        self
    }

    /// How many rows there will be, which the length of chunks is chosen by.
    #[must_use]
    pub fn expected_rows(mut self, rows: u64) -> Self {
        self.expected_rows = Some(rows);
        self
    }

    /// What new elements are where nothing else is said, as bytes of the dtype; zeros by default.
    #[must_use]
    pub fn default_element(mut self, bytes: &[u8]) -> Self {
        self.default = bytes.to_vec();
        self
    }

    /// What compresses the chunks.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.press.compressor = compressor;
        self
    }

    /// 0 (not at all) to 9 (smallest).
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.press.level = level;
        self
    }

    /// What is done to a block beforehand.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.press.filter = filter;
        self
    }

    /// What is computed over each chunk. Only the two documented layouts have a place for it; there it is crc32 by default.
    #[must_use]
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = Some(checksum);
        self
    }

    /// Whether a table tells where the chunks of a superchunk begin: in the two documented layouts, by default yes.
    #[must_use]
    pub fn offsets(mut self, offsets: bool) -> Self {
        self.offsets = offsets;
        self
    }

    /// Bytes left free behind each chunk, so that it can be changed in its place: in the two documented layouts, with a table.
    #[must_use]
    pub fn spare(mut self, bytes: u32) -> Self {
        self.spare = bytes;
        self
    }

    /// Chunks of a superchunk: in the two documented layouts, 16 by default.
    #[must_use]
    pub fn superchunk(mut self, chunks: NonZeroU64) -> Self {
        self.per_file = Some(chunks);
        self
    }

    /// What its users say about it.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.attributes = attributes;
        self
    }

    /// How it lies in its directory.
    #[must_use]
    pub fn layout(mut self, layout: DatasetLayout) -> Self {
        self.layout = layout;
        self
    }

    /// Takes the place of the dataset that is there, if one is.
    #[must_use]
    pub fn replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// Threads, memory and limits.
    #[must_use]
    pub fn options(mut self, options: DatasetOptions) -> Self {
        self.options = options;
        self
    }

    /// Creates the array in this directory, which is made if it is not there; the one that it lies in has to be. Others see it
    /// after the first [`flush`](CArray::flush).
    ///
    /// # Errors
    /// [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if a dataset or anything else is there; wrong usage for what the
    /// layout has no place for; those of the file system.
    pub fn create(self, path: impl AsRef<Path>) -> Result<CArray> {
        let target = Target::of_path(path.as_ref())?;
        self.create_at(target)
    }

    /// Creates the array at the root of a store.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_in(self, store: impl Store + 'static) -> Result<CArray> {
        self.create_at(Target::of_store(Arc::new(store)))
    }

    fn create_at(self, target: Target) -> Result<CArray> {
        let new = self.plan(self.layout)?;
        let root = begin(target, self.replace, &self.options)?;
        self.create_beneath(&root, &Key::root(), self.layout, new)
    }

    /// Creates an array in a directory that is known to be free.
    pub(crate) fn create_beneath(
        &self,
        root: &Arc<JournaledStore>,
        at: &Key,
        layout: DatasetLayout,
        new: NewArray,
    ) -> Result<CArray> {
        let spec = layout::new_spec(layout, at, &new)?;
        layout::put_array(layout, root, at, &spec)?;
        layout::put_attributes(layout, root, at, &new.attributes)?;
        let home = Home {
            root: Arc::clone(root),
            at: at.clone(),
            layout,
            access: Access::Write,
            in_table: false,
            failed: Arc::default(),
        };
        let leaf = Leaf::new(Arc::clone(root), spec, self.options.means);
        Ok(CArray {
            home,
            leaf,
            attributes: new.attributes,
            notes: Vec::new(),
            flushed_rows: 0,
        })
    }

    /// The same, put into superchunks as those of another array.
    pub(crate) fn framed_as(self, other: &CArray) -> Self {
        let like = other.like();
        Self {
            press: like.press,
            checksum: like.checksum,
            offsets: like.offsets,
            spare: like.spare,
            per_file: like.per_file,
            ..self
        }
    }

    /// The same for so many rows, unless that was said.
    pub(crate) fn expecting(mut self, rows: u64) -> Self {
        self.expected_rows.get_or_insert(rows);
        self
    }

    /// Everything that was left open, decided.
    pub(crate) fn plan(&self, layout: DatasetLayout) -> Result<NewArray> {
        if self.dtype.has_object() {
            return Err(Error::usage(
                "Python objects are not written: a pickle is no data",
            ));
        }
        if self.press.level > 9 {
            return Err(Error::usage(format!(
                "level {}: 0 to 9 can be",
                self.press.level
            )));
        }
        if !self.press.compressor.is_available() {
            let name = self.press.compressor.name();
            return Err(Error::usage(format!("this build has no {name}")));
        }
        let itemsize = usize::try_from(self.dtype.itemsize()).unwrap_or(usize::MAX);
        // What can be shorter when it is read than when it is written; only a long one takes the time.
        let name = self.dtype.to_string();
        if name.len() > LONG_NAME && DType::parse(&name).is_err() {
            let len = name.len();
            return Err(Error::usage(format!(
                "a dtype of {len} characters is too long to be read again"
            )));
        }
        let is_zero = self.default.iter().all(|byte| *byte == 0);
        let row_len = self
            .row_shape
            .iter()
            .fold(1u64, |len, axis| len.saturating_mul(*axis));
        let row_bytes = row_len.saturating_mul(self.dtype.itemsize());
        if row_bytes == 0 {
            return Err(Error::usage("rows of no bytes cannot be stored"));
        }
        let len = self.default.len();
        let whole_row = usize::try_from(row_bytes) == Ok(len);
        if len != 0 && len != itemsize && !whole_row {
            return Err(Error::usage(format!(
                "a default of {len} bytes for elements of {itemsize}"
            )));
        }
        let default = (!is_zero).then(|| self.default.clone());
        if !layout::is_short_default(&self.dtype, default.as_deref(), &self.row_shape) {
            return Err(Error::usage(format!(
                "a default of {len} bytes is too long to be read again"
            )));
        }
        let chunk_rows = self.chunk_rows.or_else(|| {
            let base = if layout == DatasetLayout::Blz {
                ChunkBase::Base1024
            } else {
                ChunkBase::Base4096
            };
            self.expected_rows
                .map(|expected| default_chunk_rows(base, expected, row_bytes))
        });
        let chunk_rows = chunk_rows.unwrap_or((CHUNK / row_bytes).max(1));
        let of_rows = || {
            std::iter::once(chunk_rows)
                .chain(self.row_shape.iter().copied())
                .collect()
        };
        let per_file = match layout {
            DatasetLayout::Bcolz | DatasetLayout::Blz => NonZeroU64::MIN,
            DatasetLayout::BlzDocument | DatasetLayout::CarrayDocument => {
                self.per_file.unwrap_or(PER_FILE)
            }
        };
        Ok(NewArray {
            dtype: self.dtype.clone(),
            row_shape: self.row_shape.clone(),
            chunk_shape: self.chunk_shape.clone().unwrap_or_else(of_rows),
            expected_rows: self.expected_rows.unwrap_or(chunk_rows),
            default,
            press: self.press,
            attributes: self.attributes.clone(),
            framing: NewFraming {
                per_file,
                checksum: self.checksum.unwrap_or_default(),
                offsets: self.offsets,
                spare: self.spare,
            },
        })
    }
}
