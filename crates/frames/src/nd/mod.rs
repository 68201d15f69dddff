//! [`NdArray`]: an n-dimensional array in a frame.

mod builder;
mod copy;
#[cfg(feature = "ndarray")]
mod interop;
mod like;
mod read;
mod refresh;
mod resize;
mod select;
mod splice;
mod store;
mod typed;
mod write;

use crate::Frame;
use crate::part::FramePart;
use crate::wire::array::ArrayMeta;
use crate::wire::kind::ArrayKind;
use bloscpack::Options;
use bloscpack_array::{Chunked, Geometry};
use bloscpack_dtype::DType;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::ReadAt;
use std::path::Path;
use store::{FrameChunks, grid_of};

pub use builder::NdArrayBuilder;

/// An n-dimensional array of up to 8 axes (Caterva) or 16 (`b2nd`), compressed in chunks that are cut into blocks.
///
/// ```text
///              axis 1: chunks of 5, blocks of 2
///             +---+---+---+ +---+---+---+       each block is compressed on its own;
///    axis 0   |   |   | . | |   |   | . |       a chunk is stored as whole blocks: 6 where it has 5 elements.
///             +---+---+---+ +---+---+---+       The excess (.) is padding, and so is what lies past the end of the array
///                chunk 0       chunk 1
/// ```
///
/// | to | method |
/// |---|---|
/// | create an array | [`of_type`](Self::of_type), [`builder`](Self::builder), [`like`](Self::like) |
/// | open one | [`open`](Self::open), [`edit`](Self::edit), [`open_with`](Self::open_with) for settings |
/// | read a slice as Rust values | [`to_vec`](Self::to_vec), [`read`](Self::read) |
/// | read a slice as bytes | [`read_slice`](Self::read_slice), [`read_slice_into`](Self::read_slice_into) |
/// | read or set elements anywhere | [`select`](Self::select), [`set_selection`](Self::set_selection) |
/// | write a slice | [`write`](Self::write), [`write_slice`](Self::write_slice), [`fill_slice`](Self::fill_slice) |
/// | change the shape | [`resize`](Self::resize), [`append`](Self::append), [`insert`](Self::insert), [`delete`](Self::delete), [`squeeze`](Self::squeeze) |
/// | keep the changes | [`flush`](Self::flush), [`to_bytes`](Self::to_bytes) |
///
/// A *slice* is a range of elements along each axis. Its bytes are in C order (the last axis varies fastest), and in the byte
/// order of the dtype; the methods for Rust values convert the byte order. An empty range is allowed; a range past the end is
/// [`Code::OutOfBounds`].
///
/// Chunks are numbered in C order. Chunks that were read only in part are kept in memory, up to the [cache](Options::cache())
/// size in the options (64 MiB by default).
///
/// An array that was created or opened for changing shows its own changes at once. Other readers see them after
/// [`flush`](Self::flush), which applies all of them atomically. Changes that were not flushed are lost when the array is
/// dropped.
///
/// ```
/// use bloscpack_frames::NdArray;
///
/// let mut array = NdArray::of_type::<i32>(&[4, 6]).in_memory()?;
/// array.write(&[1..3, 2..4], &[1, 2, 3, 4])?;
/// array.resize(&[3, 6])?;
/// assert_eq!(array.to_vec::<i32>(&[0..3, 2..4])?, [0, 0, 1, 2, 3, 4]);
///
/// let bytes = array.to_bytes()?;
/// assert_eq!(NdArray::from_bytes(bytes)?.shape(), [3, 6]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct NdArray {
    chunks: Chunked<FrameChunks>,
    meta: ArrayMeta,
    dtype: Option<DType>,
    /// The dtype, or void elements if it is unknown.
    elements: DType,
    /// Whether the first data that is written decides the filters.
    filters_by_data: bool,
}

impl NdArray {
    /// The array in a frame. Reads nothing: the shapes are compared with the header of the frame.
    ///
    /// # Errors
    /// Returns [`Code::NotAnArray`] for a frame without an array, and [`Damaged`](bloscpack_error::Category::Damaged),
    /// [`Code::CutShort`] or [`Code::Unsupported`] for a description that is invalid or does not fit the frame.
    pub fn of(frame: Frame) -> Result<Self> {
        let meta = frame.array_meta()?.ok_or_else(|| {
            Error::new(
                Code::NotAnArray,
                "this frame contains no array: it has neither a \"caterva\" nor a \"b2nd\" metalayer",
            )
        })?;
        meta.check(frame.header())?;
        let grid = grid_of(&meta, frame.typesize()).ok_or_else(|| {
            let (part, found) = (
                FramePart::Array(meta.kind),
                format!("{:?}", meta.block_shape),
            );
            let expected = "less than all memory";
            part.damaged(None, "block shape", found, expected)
        })?;
        let dtype = meta
            .dtype
            .as_ref()
            .and_then(|dtype| DType::parse(&dtype.text).ok());
        let fits = |dtype: &DType| dtype.itemsize() == u64::from(frame.typesize());
        let dtype = dtype.filter(fits);
        let elements = match &dtype {
            Some(dtype) => dtype.clone(),
            None => DType::void(frame.typesize().into())?,
        };
        let (resources, context) = (frame.coder.resources.clone(), frame.coder.context);
        let store = FrameChunks::new(frame, grid.block_len);
        let chunks = Chunked::new(store, grid, &resources).context(context);
        Ok(Self {
            chunks,
            meta,
            dtype,
            elements,
            filters_by_data: false,
        })
    }

    /// Opens an array for reading, with default options. The path is a file, or the directory of a sparse frame.
    ///
    /// # Errors
    /// Returns the errors of [`of`](Self::of) and of [`Frame::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::of(Frame::open(path)?)
    }

    /// Opens an array for reading and changing it, with default options. It stays locked until it is dropped.
    ///
    /// # Errors
    /// Returns the errors of [`of`](Self::of) and of [`Frame::edit`].
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Self::of(Frame::edit(path)?)
    }

    /// Opens an array for reading, with these options. The path is a file, or the directory of a sparse frame.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::of(Frame::open_with(path, options)?)
    }

    /// Opens an array for reading and changing it, with these options.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit).
    pub fn edit_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::of(Frame::edit_with(path, options)?)
    }

    /// Opens an array for reading in the bytes of a contiguous frame, with default options.
    ///
    /// # Errors
    /// Returns the errors of [`of`](Self::of) and of [`Frame::from_bytes`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::of(Frame::from_bytes(bytes)?)
    }

    /// Opens an array for reading in a contiguous frame, from any source that can be read at any position, with default
    /// options. For other options, pass [`Frame::read_with`] to [`of`](Self::of).
    ///
    /// # Errors
    /// Returns the errors of [`of`](Self::of) and of [`Frame::read_with`].
    pub fn read_from(source: impl ReadAt + 'static) -> Result<Self> {
        Self::of(Frame::read_with(source, &Options::new())?)
    }

    /// The frame that contains the array. Its chunks lack changed elements that are still decompressed in memory; see
    /// [`write_slice`](Self::write_slice).
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.chunks.store().frame
    }

    fn frame_mut(&mut self) -> &mut Frame {
        &mut self.chunks.store_mut().frame
    }

    fn grid(&self) -> &Geometry {
        self.chunks.geometry()
    }

    /// The frame that contains the array, with all changes. This compresses them, but does not flush them.
    ///
    /// The metadata of the frame can be changed freely. Its chunks belong to the array: with another number of chunks, the
    /// frame no longer contains a valid array.
    ///
    /// # Errors
    /// Returns any I/O error, and [`Code::Reopen`] if an earlier change failed.
    pub fn into_frame(mut self) -> Result<Frame> {
        if !self.chunks.store().dirty.is_empty() {
            self.spill()?;
        }
        Ok(self.chunks.into_store().frame)
    }

    /// Elements along each axis. An array without axes has one element.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.meta.shape
    }

    /// Elements of a chunk along each axis. 0 is possible only where the array has no elements.
    #[must_use]
    pub fn chunk_shape(&self) -> &[u32] {
        &self.meta.chunk_shape
    }

    /// Elements of a block along each axis. 0 is possible only where the array has no elements.
    #[must_use]
    pub fn block_shape(&self) -> &[u32] {
        &self.meta.block_shape
    }

    /// Bytes of an element.
    #[must_use]
    pub fn itemsize(&self) -> u32 {
        self.frame().typesize()
    }

    /// The dtype of the elements. `None` if the frame does not store one, as in Caterva, if this crate cannot parse it, or if
    /// its size is not [`itemsize`](Self::itemsize).
    #[must_use]
    pub fn dtype(&self) -> Option<&DType> {
        self.dtype.as_ref()
    }

    /// The dtype in the spelling of the file; `None` if the frame does not store one.
    #[must_use]
    pub fn dtype_text(&self) -> Option<&str> {
        self.meta.dtype.as_ref().map(|dtype| dtype.text.as_str())
    }

    /// Whether the array is a Caterva or a `b2nd` array.
    #[must_use]
    pub fn kind(&self) -> ArrayKind {
        self.meta.kind
    }

    /// Uncompressed bytes of all elements; `u64::MAX` if they are more.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        let lens = self.shape().iter();
        lens.fold(self.itemsize().into(), |bytes: u64, len| {
            bytes.saturating_mul(*len)
        })
    }

    /// Sets a metalayer in the header of the frame. If it is new or its length changes, the next flush rewrites the whole file.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_metalayer`].
    pub fn set_metalayer(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        self.frame_mut().set_metalayer(name, bytes)
    }

    /// Sets a metalayer in the trailer of the frame. The value may have any length, and is compressed.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_vlmetalayer`].
    pub fn set_vlmetalayer(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.frame_mut().set_vlmetalayer(name, bytes)
    }

    /// Removes a metalayer from the trailer of the frame. Returns whether there was one with this name.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::remove_vlmetalayer`].
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        self.frame_mut().remove_vlmetalayer(name)
    }

    /// Compresses all changed chunks, and makes all changes since the last flush permanent, atomically.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.spill()?;
        self.frame_mut().flush()
    }

    /// The array as bytes of a contiguous frame, with all changes, flushed or not. Takes `&mut self` because it compresses
    /// changed chunks.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::to_bytes`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        self.frame().check_state()?;
        self.spill()?;
        self.frame_mut().to_bytes()
    }
}
