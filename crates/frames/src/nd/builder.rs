//! [`NdArrayBuilder`]: the settings of a new array.

use super::NdArray;
use super::store::grid_of;
use crate::error::check_len;
use crate::frame::InitialChunks;
use crate::part::FramePart;
use crate::wire::array::ArrayMeta;
use crate::wire::kind::ArrayKind;
use crate::wire::{ArrayDType, ChunkPlace};
use crate::{Frame, FrameBuilder};
use blosc1::{Compressor, FilterPipeline, MAX_NBYTES, SpecialValue, special_chunk};
use bloscpack::Options;
use bloscpack_array::{Caches, default_shapes};
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::checked::{to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Folder, Store};
use std::ffi::OsStr;
use std::path::Path;

/// The elements of a new array before anything is written to it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fill {
    Zeros,
    Uninit,
    Nan,
    Element(Vec<u8>),
}

/// The settings of a new array, made by [`NdArray::of_type`], [`NdArray::builder`] and [`NdArray::like`].
///
/// | setting | default |
/// |---|---|
/// | [`kind`](Self::kind) | [`ArrayKind::B2nd`] |
/// | [`dtype`](Self::dtype) | the element type, or raw bytes of the element size |
/// | [`chunk_shape`](Self::chunk_shape), [`block_shape`](Self::block_shape) | of [`default_shapes`] for [`caches`](Self::caches) |
/// | [`compressor`](Self::compressor), [`level`](Self::level), [`filters`](Self::filters) | LZ4 at its default level, shuffle |
/// | [`full`](Self::full), [`nans`](Self::nans), [`empty`](Self::empty) | zeros |
/// | [`options`](Self::options) | [`Options::default`] |
///
/// End the chain with [`in_memory`](Self::in_memory) or a method whose name begins with `create`. These methods check all
/// settings, and return an array that can be changed. Elements that are zero, NaN or undefined take no space.
///
/// ```
/// use blosc1::Compressor;
/// use bloscpack_frames::{ArrayKind, NdArray};
/// let array = NdArray::of_type::<f32>(&[1000, 50])
///     .kind(ArrayKind::Caterva)
///     .chunk_shape(&[200, 50])
///     .block_shape(&[20, 25])
///     .compressor(Compressor::Zstd)
///     .level(3)
///     .full(&1.5f32.to_le_bytes())
///     .in_memory()?;
/// assert_eq!(array.to_vec::<f32>(&[999..1000, 48..50])?, [1.5, 1.5]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NdArrayBuilder {
    shape: Vec<u64>,
    itemsize: u32,
    kind: ArrayKind,
    dtype: Option<ArrayDType>,
    chunk_shape: Option<Vec<u32>>,
    block_shape: Option<Vec<u32>>,
    caches: Caches,
    metalayers: Vec<(String, Vec<u8>)>,
    vlmetalayers: Vec<(String, Vec<u8>)>,
    fill: Fill,
    filters_by_data: bool,
    /// The settings of the frame. It gets the sizes of chunks and blocks when the array is created.
    frame: FrameBuilder,
}

impl NdArrayBuilder {
    /// Default settings for an array of this shape, with elements of `itemsize` bytes.
    pub(super) fn new(shape: &[u64], itemsize: u32) -> Self {
        Self {
            shape: shape.to_vec(),
            itemsize,
            kind: ArrayKind::B2nd,
            dtype: None,
            chunk_shape: None,
            block_shape: None,
            caches: Caches::default(),
            metalayers: Vec::new(),
            vlmetalayers: Vec::new(),
            fill: Fill::Zeros,
            filters_by_data: false,
            frame: FrameBuilder::new(itemsize, 0),
        }
    }

    /// Sets the kind of array (default [`ArrayKind::B2nd`]). Caterva arrays have 1 to 8 axes, elements of at most 255 bytes,
    /// and no dtype.
    #[must_use]
    pub fn kind(mut self, kind: ArrayKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the dtype of the elements (default: raw bytes of the element size). Caterva arrays do not store it.
    ///
    /// Its size is not compared with the element size. If they differ, [`NdArray::dtype`] is `None`.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::builder(&[10], 8).dtype(DType::parse("<M8[s]")?).in_memory()?;
    /// assert_eq!(array.dtype_text(), Some("<M8[s]"));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    #[must_use]
    pub fn dtype(mut self, dtype: DType) -> Self {
        let text = match dtype.kind() {
            Kind::Struct(_) => dtype.descr().unwrap_or_else(|_| dtype.code()),
            _ => dtype.code(),
        };
        self.dtype = Some(ArrayDType { format: 0, text });
        self
    }

    /// Sets the dtype in the spelling of another array.
    pub(super) fn array_dtype(mut self, dtype: Option<ArrayDType>) -> Self {
        self.dtype = dtype;
        self
    }

    /// Drops the shapes of chunks and blocks that were set: they are chosen for the [`caches`](Self::caches) again.
    #[must_use]
    pub fn automatic_shapes(mut self) -> Self {
        (self.chunk_shape, self.block_shape) = (None, None);
        self
    }

    /// Sets the elements of a chunk along each axis, at least 1 (default: [`default_shapes`]). A chunk, rounded up to whole
    /// blocks, is at most 2,147,483,631 bytes.
    #[must_use]
    pub fn chunk_shape(mut self, shape: &[u32]) -> Self {
        self.chunk_shape = Some(shape.to_vec());
        self
    }

    /// Sets the elements of a block along each axis: at least 1, and not more than a chunk has (default: [`default_shapes`],
    /// for the chunk shape). A chunk should be a multiple of it: the rest is padding.
    #[must_use]
    pub fn block_shape(mut self, shape: &[u32]) -> Self {
        self.block_shape = Some(shape.to_vec());
        self
    }

    /// Sets the processor caches for which shapes of chunks and blocks are chosen.
    #[must_use]
    pub fn caches(mut self, caches: Caches) -> Self {
        self.caches = caches;
        self
    }

    /// Sets the compressor (default LZ4). Blosc2 has no Snappy. A compressor that this build lacks is refused when the array is
    /// created.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.frame = self.frame.compressor(compressor);
        self
    }

    /// Sets the compression level, 0 to 9 (default: the default of the compressor).
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.frame = self.frame.level(level);
        self
    }

    /// The settings of a plain frame with this compressor, level, filters and options.
    #[must_use]
    pub fn into_frame(self) -> FrameBuilder {
        self.frame.sizes(1, 0)
    }

    /// Sets the filters, which rearrange the bytes of a block before it is compressed (default: shuffle).
    #[must_use]
    pub fn filters(mut self, filters: impl Into<FilterPipeline>) -> Self {
        self.frame = self.frame.filters(filters);
        self.filters_by_data = false;
        self
    }

    /// Lets the first data that is written decide whether bytedelta follows the [`filters`](Self::filters): if that makes a
    /// sample of it smaller by 3 % or more. Measurements often become 3 to 10 % smaller. Caterva cannot read bytedelta, so its
    /// arrays never get it; python-blosc2 reads it from 2.1 on.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let smooth: Vec<i32> = (0..100_000).map(|i| (1e6 * f64::from(i).sqrt()) as i32).collect();
    /// let mut array = NdArray::of_type::<i32>(&[100_000]).filters_by_data().in_memory()?;
    /// array.write(&[0..100_000], &smooth)?;
    /// assert_eq!(array.frame().header().filters[4..], [1, 35]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    #[must_use]
    pub fn filters_by_data(mut self) -> Self {
        self.filters_by_data = true;
        self
    }

    /// Adds a metalayer of fixed length to the header. Names are 1 to 31 bytes long; the name of the kind of array is reserved.
    /// Both are checked when the array is created.
    #[must_use]
    pub fn metalayer(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.to_owned(), bytes.into()));
        self
    }

    /// Adds a metalayer of varying length to the trailer. Names are 1 to 31 bytes long, which is checked when the array is
    /// created. python-blosc2 expects MessagePack in the value.
    #[must_use]
    pub fn vlmetalayer(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.vlmetalayers.push((name.to_owned(), bytes.into()));
        self
    }

    /// Sets the value of all elements (default: zeros). `element` is one element, in the byte order of the dtype, and at most
    /// 255 bytes long.
    ///
    /// Unless it is zero, each chunk is stored: a few bytes for each.
    #[must_use]
    pub fn full(mut self, element: &[u8]) -> Self {
        self.fill = Fill::Element(element.to_vec());
        self
    }

    /// Sets all elements to NaN. Only for elements of 4 or 8 bytes.
    #[must_use]
    pub fn nans(mut self) -> Self {
        self.fill = Fill::Nan;
        self
    }

    /// Leaves all elements undefined until they are written. This crate reads them as zeros.
    #[must_use]
    pub fn empty(mut self) -> Self {
        self.fill = Fill::Uninit;
        self
    }

    /// Sets threads, limits, cache and lock timeout of the array (default: [`Options::default`]).
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.frame = self.frame.options(options);
        self
    }

    /// Creates the array in a new file at this path. The file is written, synced and locked when this returns.
    ///
    /// # Errors
    /// Returns the errors of [`FrameBuilder::create`], and [`Usage`](bloscpack_error::Category::Usage) for shapes, metalayers
    /// and elements that are not possible.
    pub fn create(self, path: impl AsRef<Path>) -> Result<NdArray> {
        self.create_with(|frame| frame.create(path))
    }

    /// Creates the array in the new file `name` of a folder.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_in<F>(self, folder: F, name: &OsStr) -> Result<NdArray>
    where
        F: Folder<File: 'static> + 'static,
    {
        self.create_with(|frame| frame.create_in(folder, name))
    }

    /// Creates the array as a sparse frame, in a directory at this path. The directory is created; if it exists, it must be
    /// empty.
    ///
    /// # Errors
    /// Returns the errors of [`FrameBuilder::create_sparse`] and of [`create`](Self::create).
    pub fn create_sparse(self, path: impl AsRef<Path>) -> Result<NdArray> {
        self.create_with(|frame| frame.create_sparse(path))
    }

    /// Creates the array as a sparse frame, at the root of an empty store.
    ///
    /// # Errors
    /// Returns the errors of [`FrameBuilder::create_in_store`] and of [`create`](Self::create).
    pub fn create_in_store(self, store: impl Store + 'static) -> Result<NdArray> {
        self.create_with(|frame| frame.create_in_store(store))
    }

    /// Creates the array in memory. [`NdArray::to_bytes`] returns its bytes.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create), except I/O errors.
    pub fn in_memory(self) -> Result<NdArray> {
        self.create_with(FrameBuilder::in_memory)
    }

    /// Checks all settings, and creates the frame with its chunks and the metalayer that describes the array.
    fn create_with(self, create: impl FnOnce(FrameBuilder) -> Result<Frame>) -> Result<NdArray> {
        let meta = self.meta()?;
        let (chunk, block, chunks) = self.sizes(&meta)?;
        let initial = self.initial(chunk, block, chunks)?;
        let own = meta.kind.name();
        let mut frame = self.frame.sizes(chunk, block).initial(initial);
        frame = frame.metalayer(own, meta.encode()?)?;
        for (name, bytes) in self.metalayers {
            if name == own {
                return Err(Error::usage(format!(
                    "the metalayer {name:?} describes the array; it cannot be set"
                )));
            }
            frame = frame.metalayer(&name, bytes)?;
        }
        for (name, bytes) in &self.vlmetalayers {
            frame = frame.vlmetalayer(name, bytes)?;
        }
        let mut array = NdArray::of(create(frame)?)?;
        array.filters_by_data = self.filters_by_data && array.kind() == ArrayKind::B2nd;
        Ok(array)
    }

    /// The description of the array. Refuses what the kind of array cannot store, and impossible shapes.
    fn meta(&self) -> Result<ArrayMeta> {
        let kind = self.kind;
        if self.shape.is_empty() && kind == ArrayKind::Caterva {
            return Err(Error::usage("a Caterva array has at least one axis"));
        }
        if self.itemsize > u8::MAX.into() && kind == ArrayKind::Caterva {
            let itemsize = self.itemsize;
            return Err(Error::usage(format!(
                "elements of {itemsize} bytes do not fit a Caterva array (at most 255)"
            )));
        }
        let (chunk_shape, block_shape) = self.shapes();
        let is_zero = |shape: &Vec<u32>| shape.contains(&0);
        if is_zero(&chunk_shape) || is_zero(&block_shape) {
            return Err(Error::usage(
                "chunks and blocks must have at least one element along each axis",
            ));
        }
        let mut axes = block_shape.iter().zip(&chunk_shape);
        if axes.any(|(block, chunk)| block > chunk) {
            return Err(Error::usage(format!(
                "blocks of {block_shape:?} do not fit in chunks of {chunk_shape:?}: no block can be longer than its chunk"
            )));
        }
        Ok(ArrayMeta {
            kind,
            shape: self.shape.clone(),
            chunk_shape,
            block_shape,
            dtype: self.stored_dtype(),
        })
    }

    /// The shapes of chunks and blocks: those that were set, or the default ones.
    fn shapes(&self) -> (Vec<u32>, Vec<u32>) {
        let shapes = |shape: &[u64]| default_shapes(shape, self.itemsize, self.caches);
        let Some(chunk) = &self.chunk_shape else {
            let (chunk, block) = shapes(&self.shape);
            return (chunk, self.block_shape.clone().unwrap_or(block));
        };
        let block = self.block_shape.clone().unwrap_or_else(|| {
            let chunk: Vec<u64> = chunk.iter().map(|len| u64::from(*len)).collect();
            shapes(&chunk).1
        });
        (chunk.clone(), block)
    }

    /// The dtype as the file stores it. Without one, elements are raw bytes of their size.
    fn stored_dtype(&self) -> Option<ArrayDType> {
        let opaque = || ArrayDType {
            format: 0,
            text: format!("|V{}", self.itemsize),
        };
        match self.kind {
            ArrayKind::Caterva => None,
            ArrayKind::B2nd => Some(self.dtype.clone().unwrap_or_else(opaque)),
        }
    }

    /// Bytes of a chunk and of a block, and the number of chunks. Refuses sizes over the limits of the format or `offsets`.
    fn sizes(&self, meta: &ArrayMeta) -> Result<(u32, u32, u64)> {
        let part = || FramePart::Array(meta.kind);
        // Refuses shapes with different numbers of axes.
        meta.encode()?;
        if self.itemsize == 0 {
            return Err(part().cannot_store("itemsize", 0, "at least 1"));
        }
        let fits = |len: usize| u32::try_from(len).ok().filter(|len| *len <= MAX_NBYTES);
        let sized = grid_of(meta, self.itemsize).and_then(|grid| {
            let (chunk, block) = (fits(grid.chunk_len)?, fits(grid.block_len)?);
            Some((grid, chunk, block))
        });
        let (grid, chunk, block) = sized.ok_or_else(|| {
            let (shape, itemsize) = (meta.stored_chunk_shape(), self.itemsize);
            let found = format!("{shape:?} with elements of {itemsize} bytes");
            let expected = format!("at most {MAX_NBYTES} bytes");
            part().cannot_store("chunk shape", found, expected)
        })?;
        let most = self.frame.limits().offsets / 8;
        let chunks = grid.chunks.count().filter(|chunks| *chunks <= most);
        let chunks = chunks.filter(|chunks| {
            let bytes = chunks.checked_mul(to_u64(grid.chunk_len));
            bytes.is_some_and(|bytes| i64::try_from(bytes).is_ok())
        });
        let chunks = chunks.ok_or_else(|| {
            let found = format!("{:?} in chunks of {:?}", self.shape, meta.chunk_shape);
            let expected = format!("at most {most} chunks, the limit `offsets`");
            part().cannot_store("shape", found, expected)
        })?;
        Ok((chunk, block, chunks))
    }

    /// The chunks of the new array, by its initial elements.
    fn initial(&self, chunk: u32, block: u32, chunks: u64) -> Result<InitialChunks> {
        let special = |place| Ok(InitialChunks::Special(chunks, place));
        let element = match &self.fill {
            Fill::Element(element) => element,
            Fill::Nan if !matches!(self.itemsize, 4 | 8) => {
                return Err(Error::usage("only floats of 4 or 8 bytes can be NaN"));
            }
            Fill::Nan => return special(ChunkPlace::Nan),
            Fill::Uninit => return special(ChunkPlace::Uninit),
            Fill::Zeros => return special(ChunkPlace::Zeros),
        };
        let itemsize = to_usize(self.itemsize);
        check_len("data of an element", element.len(), itemsize)?;
        if element.iter().all(|byte| *byte == 0) {
            return special(ChunkPlace::Zeros);
        }
        let typesize = u8::try_from(self.itemsize).map_err(|_| {
            let itemsize = self.itemsize;
            Error::usage(format!(
                "an array cannot be filled with an element of {itemsize} bytes (at most 255)"
            ))
        })?;
        let value = SpecialValue::Value(element);
        let chunk = special_chunk(value, chunk, typesize, block)?;
        Ok(InitialChunks::Stored(chunks, chunk))
    }
}
