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
/// A *slice* is a range of elements along each axis. Its bytes are in C order: the last axis varies fastest.
///
/// This `NdArray` shows its own changes at once. Other readers see them after [`flush`](Self::flush), which applies all of them
/// atomically. Changes that were not flushed are lost when the array is dropped.
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
    /// The dtype, or void elements.
    elements: DType,
}

impl NdArray {
    /// The array in a frame.
    ///
    /// # Errors
    /// Returns [`Code::NotAnArray`] for a frame without an array, and
    /// [`Category::Damaged`](bloscpack_error::Category::Damaged), [`Code::CutShort`] or [`Code::Unsupported`] for a description
    /// that does not fit the frame.
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
        let (resources, shuffle_meta) = (frame.coder.resources.clone(), frame.coder.shuffle_meta);
        let store = FrameChunks::new(frame, grid.block_len);
        let chunks = Chunked::new(store, grid, &resources).shuffle_meta(shuffle_meta);
        Ok(Self {
            chunks,
            meta,
            dtype,
            elements,
        })
    }

    /// Opens the array at this path for reading, with default options: a file, or the directory of a sparse frame.
    ///
    /// # Errors
    /// Returns the errors of [`of`](Self::of) and of [`Frame::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::of(Frame::open(path)?)
    }

    /// Opens the array at this path for reading and changing it, with default options.
    ///
    /// # Errors
    /// Returns the errors of [`of`](Self::of) and of [`Frame::edit`].
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Self::of(Frame::edit(path)?)
    }

    /// Opens the array at this path for reading.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::of(Frame::open_with(path, options)?)
    }

    /// Opens the array at this path for reading and changing it.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit).
    pub fn edit_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::of(Frame::edit_with(path, options)?)
    }

    /// Opens an array in a contiguous frame in memory for reading.
    ///
    /// # Errors
    /// Returns the errors of [`of`](Self::of) and of [`Frame::from_bytes`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::of(Frame::from_bytes(bytes)?)
    }

    /// Opens an array for reading in a contiguous frame, in anything that can be read at any position.
    ///
    /// # Errors
    /// Returns the errors of [`of`](Self::of) and of [`Frame::read_with`].
    pub fn read_from(source: impl ReadAt + Send + Sync + 'static) -> Result<Self> {
        Self::of(Frame::read_with(source, &Options::new())?)
    }

    /// The frame that contains the array. Its chunks may lack changes that were not flushed.
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

    /// The frame that contains the array, with all changes; this does not flush them. Its metadata can be changed freely. Its
    /// chunks belong to the array: with another number of them, the frame does not contain an array any more.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn into_frame(mut self) -> Result<Frame> {
        if !self.chunks.store().dirty.is_empty() {
            self.spill()?;
        }
        Ok(self.chunks.into_store().frame)
    }

    /// Elements along each axis. An array without axes has a single element.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.meta.shape
    }

    /// Elements of a chunk along each axis.
    #[must_use]
    pub fn chunk_shape(&self) -> &[u32] {
        &self.meta.chunk_shape
    }

    /// Elements of a block along each axis.
    #[must_use]
    pub fn block_shape(&self) -> &[u32] {
        &self.meta.block_shape
    }

    /// Element size in bytes.
    #[must_use]
    pub fn itemsize(&self) -> u32 {
        self.frame().typesize()
    }

    /// The dtype of the elements. `None` if the frame has none, as in Caterva, or if this library cannot parse it.
    #[must_use]
    pub fn dtype(&self) -> Option<&DType> {
        self.dtype.as_ref()
    }

    /// The dtype as it is spelled in the file.
    #[must_use]
    pub fn dtype_text(&self) -> Option<&str> {
        self.meta.dtype.as_ref().map(|dtype| dtype.text.as_str())
    }

    /// Whether it is a Caterva or a `b2nd` array.
    #[must_use]
    pub fn kind(&self) -> ArrayKind {
        self.meta.kind
    }

    /// Bytes of all elements, uncompressed; `u64::MAX` for more.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        let lens = self.shape().iter();
        lens.fold(self.itemsize().into(), |bytes: u64, len| {
            bytes.saturating_mul(*len)
        })
    }

    /// Sets a metalayer in the header.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_metalayer`].
    pub fn set_metalayer(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        self.frame_mut().set_metalayer(name, bytes)
    }

    /// Sets a metalayer in the trailer, which may have any length.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_vlmetalayer`].
    pub fn set_vlmetalayer(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.frame_mut().set_vlmetalayer(name, bytes)
    }

    /// Removes a metalayer from the trailer, and returns whether there was one with this name.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::remove_vlmetalayer`].
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        self.frame_mut().remove_vlmetalayer(name)
    }

    /// Makes all changes since the last flush permanent, atomically.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.spill()?;
        self.frame_mut().flush()
    }

    /// The array as bytes of a contiguous frame, with all changes.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::to_bytes`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        self.frame().check_state()?;
        self.spill()?;
        self.frame_mut().to_bytes()
    }
}
