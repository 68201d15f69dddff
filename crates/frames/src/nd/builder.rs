//! [`NdArrayBuilder`]: how a new array is to be.

use super::NdArray;
use super::grid::Grid;
use super::shapes::{Caches, default_shapes};
use crate::frame::Filling;
use crate::wire::{ArrayDType, ArrayKind, ArrayMeta, ChunkPlace};
use crate::{Frame, FrameBuilder, FrameOptions};
use blosc1::{Compressor, FilterPipeline, SpecialValue, special_chunk};
use bloscpack_dtype::{DType, Kind, boxes::to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Folder, Store};
use std::ffi::OsStr;
use std::path::Path;

/// What a new array holds before anything is written to it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Zeros,
    Uninit,
    Nan,
    Element(Vec<u8>),
}

/// How a new array is to be; made by [`NdArray::of_type`] and [`NdArray::builder`].
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
    kind: Option<ArrayKind>,
    dtype: Option<ArrayDType>,
    chunk_shape: Option<Vec<u32>>,
    block_shape: Option<Vec<u32>>,
    caches: Caches,
    compressor: Option<Compressor>,
    level: Option<u8>,
    filters: FilterPipeline,
    metalayers: Vec<(String, Vec<u8>)>,
    vlmetalayers: Vec<(String, Vec<u8>)>,
    content: Content,
    options: FrameOptions,
}

impl NdArrayBuilder {
    pub(super) fn new(shape: &[u64], itemsize: u32) -> Self {
        Self {
            shape: shape.to_vec(),
            itemsize,
            kind: None,
            dtype: None,
            chunk_shape: None,
            block_shape: None,
            caches: Caches::default(),
            compressor: None,
            level: None,
            filters: FilterPipeline::default(),
            metalayers: Vec::new(),
            vlmetalayers: Vec::new(),
            content: Content::Zeros,
            options: FrameOptions::default(),
        }
    }

    /// Whether it is an array of Caterva or of what came after it, `b2nd`, which tells what an element is. `b2nd` by default.
    #[must_use]
    pub fn kind(mut self, kind: ArrayKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// What an element is. Caterva has no place for it.
    #[must_use]
    pub fn dtype(mut self, dtype: DType) -> Self {
        let text = match dtype.kind() {
            Kind::Struct(_) => dtype.descr().unwrap_or_else(|_| dtype.code()),
            _ => dtype.code(),
        };
        self.dtype = Some(ArrayDType { format: 0, text });
        self
    }

    /// What an element is, in the words of another array.
    pub(super) fn said(mut self, dtype: Option<ArrayDType>) -> Self {
        self.dtype = dtype;
        self
    }

    /// Shapes of chunks and blocks by the caches again, whatever was said before.
    #[must_use]
    pub fn automatic_shapes(mut self) -> Self {
        (self.chunk_shape, self.block_shape) = (None, None);
        self
    }

    /// Elements of a chunk along each axis; by the caches if it is not said.
    #[must_use]
    pub fn chunk_shape(mut self, shape: &[u32]) -> Self {
        self.chunk_shape = Some(shape.to_vec());
        self
    }

    /// Elements of a block along each axis; by the caches if it is not said.
    #[must_use]
    pub fn block_shape(mut self, shape: &[u32]) -> Self {
        self.block_shape = Some(shape.to_vec());
        self
    }

    /// The caches by which the shapes of chunks and blocks are found.
    #[must_use]
    pub fn caches(mut self, caches: Caches) -> Self {
        self.caches = caches;
        self
    }

    /// What compresses; LZ4 by default.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = Some(compressor);
        self
    }

    /// From 0 to 9; the compressor's own default if it is not said.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.level = Some(level);
        self
    }

    /// What is done to blocks beforehand; shuffle by default.
    #[must_use]
    pub fn filters(mut self, filters: impl Into<FilterPipeline>) -> Self {
        self.filters = filters.into();
        self
    }

    /// A layer of metadata before the chunks.
    #[must_use]
    pub fn metalayer(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.to_owned(), bytes.into()));
        self
    }

    /// A layer of metadata behind the chunks.
    #[must_use]
    pub fn vlmetalayer(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.vlmetalayers.push((name.to_owned(), bytes.into()));
        self
    }

    /// All elements are this one at first, instead of zeros.
    #[must_use]
    pub fn full(mut self, element: &[u8]) -> Self {
        self.content = Content::Element(element.to_vec());
        self
    }

    /// All elements are "not a number" at first; of floats of 4 and 8 bytes.
    #[must_use]
    pub fn nans(mut self) -> Self {
        self.content = Content::Nan;
        self
    }

    /// Nothing is said of elements that are never written. They are read as zeros.
    #[must_use]
    pub fn empty(mut self) -> Self {
        self.content = Content::Uninit;
        self
    }

    /// Threads, limits and patience of the array.
    #[must_use]
    pub fn options(mut self, options: FrameOptions) -> Self {
        self.options = options;
        self
    }

    /// Creates the array in a file at this path.
    ///
    /// # Errors
    /// As [`FrameBuilder::create`], and [`Usage`](bloscpack_error::Category::Usage) for shapes that cannot be.
    pub fn create(self, path: impl AsRef<Path>) -> Result<NdArray> {
        self.create_with(|frame| frame.create(path))
    }

    /// Creates the array in a file of a folder.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_in<F>(self, folder: F, name: &OsStr) -> Result<NdArray>
    where
        F: Folder<File: Send + Sync + 'static> + Send + Sync + 'static,
    {
        self.create_with(|frame| frame.create_in(folder, name))
    }

    /// Creates the array as a sparse frame, in a directory at this path.
    ///
    /// # Errors
    /// As [`FrameBuilder::create_sparse`], and as [`create`](Self::create).
    pub fn create_sparse(self, path: impl AsRef<Path>) -> Result<NdArray> {
        self.create_with(|frame| frame.create_sparse(path))
    }

    /// Creates the array as a sparse frame, at the root of a store.
    ///
    /// # Errors
    /// As [`FrameBuilder::create_in_store`], and as [`create`](Self::create).
    pub fn create_in_store(self, store: impl Store + 'static) -> Result<NdArray> {
        self.create_with(|frame| frame.create_in_store(store))
    }

    /// Creates the array in memory; [`NdArray::to_bytes`] gives it away.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn in_memory(self) -> Result<NdArray> {
        self.create_with(FrameBuilder::in_memory)
    }

    fn create_with(self, create: impl FnOnce(FrameBuilder) -> Result<Frame>) -> Result<NdArray> {
        let meta = self.meta()?;
        let grid = Grid::of(&meta, self.itemsize);
        let (chunk, block) = self.sizes(&grid)?;
        let chunks = self.chunks(&grid)?;
        let mut builder = Frame::builder(self.itemsize, chunk)
            .blocksize(block)
            .filters(self.filters)
            .options(self.options.clone())
            .metalayer(meta.kind.name(), meta.encode()?)?;
        for (name, bytes) in &self.metalayers {
            if *name == meta.kind.name() {
                return Err(Error::usage(format!(
                    "the layer {name:?} is the array's own"
                )));
            }
            builder = builder.metalayer(name, bytes.clone())?;
        }
        if let Some(compressor) = self.compressor {
            builder = builder.compressor(compressor);
        }
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        for (name, bytes) in &self.vlmetalayers {
            builder = builder.vlmetalayer(name, bytes)?;
        }
        let filling = self.filling(chunk, block)?;
        NdArray::of(create(builder.filled(chunks, filling))?)
    }

    /// What describes the array.
    fn meta(&self) -> Result<ArrayMeta> {
        let kind = self.kind.unwrap_or(ArrayKind::B2nd);
        if self.shape.is_empty() && kind == ArrayKind::Caterva {
            return Err(Error::usage("an array of Caterva has at least one axis"));
        }
        if self.itemsize > u8::MAX.into() && kind == ArrayKind::Caterva {
            let itemsize = self.itemsize;
            return Err(Error::usage(format!(
                "elements of {itemsize} bytes: those of Caterva have at most 255"
            )));
        }
        let (chunk, block) = default_shapes(&self.shape, self.itemsize, self.caches);
        let chunk_shape = self.chunk_shape.clone().unwrap_or(chunk);
        let block_shape = match &self.block_shape {
            Some(block) => block.clone(),
            None if self.chunk_shape.is_none() => block,
            None => {
                let chunk: Vec<u64> = chunk_shape.iter().map(|len| u64::from(*len)).collect();
                default_shapes(&chunk, self.itemsize, self.caches).1
            }
        };
        // What is never told is at least as long as what it is.
        let opaque = || ArrayDType {
            format: 0,
            text: format!("|V{}", self.itemsize),
        };
        let dtype = match kind {
            ArrayKind::Caterva => None,
            ArrayKind::B2nd => Some(self.dtype.clone().unwrap_or_else(opaque)),
        };
        let meta = ArrayMeta {
            kind,
            shape: self.shape.clone(),
            chunk_shape,
            block_shape,
            dtype,
        };
        let is_zero = |shape: &Vec<u32>| shape.contains(&0);
        if is_zero(&meta.chunk_shape) || is_zero(&meta.block_shape) {
            return Err(Error::usage(
                "chunks and blocks have at least one element along each axis",
            ));
        }
        let larger = meta
            .block_shape
            .iter()
            .zip(&meta.chunk_shape)
            .any(|(block, chunk)| block > chunk);
        if larger {
            return Err(Error::usage(format!(
                "blocks of {:?} in chunks of {:?}: none can be longer than its chunk",
                meta.block_shape, meta.chunk_shape
            )));
        }
        Ok(meta)
    }

    /// Bytes of a chunk and of a block.
    fn sizes(&self, grid: &Grid) -> Result<(u32, u32)> {
        let fits = |len: usize| {
            u32::try_from(len)
                .ok()
                .filter(|len| *len <= blosc1::MAX_NBYTES)
        };
        match (fits(grid.chunk_len), fits(grid.block_len)) {
            (Some(chunk), Some(block)) if self.itemsize > 0 => Ok((chunk, block)),
            _ => Err(Error::usage(format!(
                "chunks of {} bytes with elements of {}: up to {} can be, and at least one each",
                grid.chunk_len,
                self.itemsize,
                blosc1::MAX_NBYTES
            ))),
        }
    }

    /// How many chunks there are.
    fn chunks(&self, grid: &Grid) -> Result<u64> {
        if grid.counts.contains(&0) {
            return Ok(0);
        }
        let most = self.options.limits.offsets / 8;
        let chunks = grid
            .counts
            .iter()
            .try_fold(1u64, |all, count| all.checked_mul(*count));
        let bytes = |chunks: u64| chunks.checked_mul(u64::try_from(grid.chunk_len).ok()?);
        let fits = |chunks: &u64| {
            *chunks <= most && bytes(*chunks).is_some_and(|len| i64::try_from(len).is_ok())
        };
        chunks.filter(fits).ok_or_else(|| {
            Error::usage(format!(
                "the shape {:?} in chunks of {:?} would take more than {most} chunks, the limit `offsets`",
                self.shape, grid.chunk
            ))
        })
    }

    /// What all chunks are at first.
    fn filling(&self, chunk: u32, block: u32) -> Result<Filling> {
        let element = match &self.content {
            Content::Element(element) => element,
            Content::Nan if !matches!(self.itemsize, 4 | 8) => {
                return Err(Error::usage(
                    "only floats of 4 and 8 bytes can be no numbers",
                ));
            }
            Content::Nan => return Ok(Filling::Place(ChunkPlace::Nan)),
            Content::Uninit => return Ok(Filling::Place(ChunkPlace::Uninit)),
            Content::Zeros => return Ok(Filling::Place(ChunkPlace::Zeros)),
        };
        if element.len() != to_usize(self.itemsize.into()) {
            let found = element.len();
            return Err(Error::usage(format!(
                "{found} bytes for an element of {}",
                self.itemsize
            )));
        }
        if element.iter().all(|byte| *byte == 0) {
            return Ok(Filling::Place(ChunkPlace::Zeros));
        }
        Ok(Filling::Chunk(special_chunk(
            SpecialValue::Value(element),
            chunk,
            u8::try_from(self.itemsize).unwrap_or(1),
            block,
        )?))
    }
}
