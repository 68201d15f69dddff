//! [`NdArray`]: an n-dimensional array in a frame.

mod builder;
mod copy;
mod grid;
mod like;
#[cfg(feature = "ndarray")]
mod ndarray;
mod read;
mod resize;
mod select;
mod shapes;
mod splice;
mod typed;
mod write;

use super::{Frame, FrameOptions};
use crate::wire::{ArrayKind, ArrayMeta};
use blosc1::Fault;
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use grid::Grid;
use std::collections::BTreeMap;
use std::path::Path;

pub use builder::NdArrayBuilder;
pub use shapes::{Caches, default_shapes};

/// An array of up to 8 axes (Caterva) or 16 (`b2nd`), compressed in chunks that are cut into blocks.
///
/// Boxes of elements are read and set; axes grow, shrink, and get or lose a stretch anywhere. What is changed is seen by this
/// `NdArray` at once, and by others when [`flush`](Self::flush) has made all of it permanent as a whole; what was not flushed
/// when it is dropped has never been.
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
    frame: Frame,
    meta: ArrayMeta,
    grid: Grid,
    dtype: Option<DType>,
    /// Chunks that were changed and are not compressed yet, by number.
    dirty: BTreeMap<u64, Vec<u8>>,
}

impl NdArray {
    /// The array in a frame.
    ///
    /// # Errors
    /// [`Unsupported`](bloscpack_error::Category::Unsupported) if the frame holds no array; [`Damaged`](bloscpack_error::Category::Damaged) if
    /// what describes it does not fit the frame.
    pub fn of(frame: Frame) -> Result<Self> {
        let Some(meta) = frame.array_meta()? else {
            let what =
                "this frame holds no array: it has neither a \"caterva\" nor a \"b2nd\" layer";
            return Err(crate::error::frame(Fault::Unsupported, what));
        };
        meta.check(frame.header())?;
        let grid = Grid::of(&meta, frame.typesize());
        let dtype = meta
            .dtype
            .as_ref()
            .and_then(|dtype| DType::parse(&dtype.text).ok());
        let fits = |dtype: &DType| dtype.itemsize() == u64::from(frame.typesize());
        Ok(Self {
            dtype: dtype.filter(fits),
            frame,
            meta,
            grid,
            dirty: BTreeMap::new(),
        })
    }

    /// Opens the array at this path for reading: a file, or the directory of a sparse frame.
    ///
    /// # Errors
    /// As [`FrameOptions::open_array`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        FrameOptions::new().open_array(path)
    }

    /// Opens the array at this path for reading and changing it.
    ///
    /// # Errors
    /// As [`FrameOptions::edit_array`].
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        FrameOptions::new().edit_array(path)
    }

    /// An array in a contiguous frame in memory, for reading.
    ///
    /// # Errors
    /// As [`of`](Self::of) and [`FrameOptions::read`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::of(Frame::from_bytes(bytes)?)
    }

    /// An array in a contiguous frame in anything that is read at any position.
    ///
    /// # Errors
    /// As [`of`](Self::of) and [`FrameOptions::read`].
    pub fn read_from(source: impl ReadAt + Send + Sync + 'static) -> Result<Self> {
        Self::of(Frame::read_from(source)?)
    }

    /// The frame that it lies in. What was changed and not flushed may not be in its chunks yet.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The frame that it lies in, with all changes, of which none is flushed by this. Its metadata can be changed through it; its
    /// chunks are the array's, and with another number of them it is no array any more.
    ///
    /// # Errors
    /// Those of compressing what was changed, and of keeping it.
    pub fn into_frame(mut self) -> Result<Frame> {
        if !self.dirty.is_empty() {
            self.spill()?;
        }
        Ok(self.frame)
    }

    /// Elements along each axis; none for an array of a single element without axes.
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

    /// Bytes of an element.
    #[must_use]
    pub fn itemsize(&self) -> u32 {
        self.frame.typesize()
    }

    /// What an element is; nothing where that is not told, as in Caterva, or in words that are not known.
    #[must_use]
    pub fn dtype(&self) -> Option<&DType> {
        self.dtype.as_ref()
    }

    /// What an element is, in the words of the file.
    #[must_use]
    pub fn dtype_text(&self) -> Option<&str> {
        self.meta.dtype.as_ref().map(|dtype| dtype.text.as_str())
    }

    /// Whether it is an array of Caterva, or of what came after it.
    #[must_use]
    pub fn kind(&self) -> ArrayKind {
        self.meta.kind
    }

    /// Bytes of all elements; more than can be counted is `u64::MAX`.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        let lens = self.shape().iter();
        lens.fold(self.itemsize().into(), |bytes: u64, len| {
            bytes.saturating_mul(*len)
        })
    }

    /// Sets a layer of metadata before the chunks.
    ///
    /// # Errors
    /// As [`Frame::set_metalayer`].
    pub fn set_metalayer(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        self.frame.set_metalayer(name, bytes)
    }

    /// Sets a layer of metadata behind the chunks.
    ///
    /// # Errors
    /// As [`Frame::set_vlmetalayer`].
    pub fn set_vlmetalayer(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.frame.set_vlmetalayer(name, bytes)
    }

    /// Removes a layer of metadata behind the chunks; whether there was one.
    ///
    /// # Errors
    /// As [`Frame::remove_vlmetalayer`].
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        self.frame.remove_vlmetalayer(name)
    }

    /// Makes all changes since the last flush permanent, as a whole or not at all.
    ///
    /// # Errors
    /// As [`Frame::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.spill()?;
        self.frame.flush()
    }

    /// The array as bytes of a contiguous frame, with all changes.
    ///
    /// # Errors
    /// As [`Frame::to_bytes`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        self.frame.check_state()?;
        self.spill()?;
        self.frame.to_bytes()
    }
}
