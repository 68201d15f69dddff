//! Blosc2 frames, and the n-dimensional arrays in them: Caterva's and those of python-blosc2 (`b2nd`).
//!
//! A [`Frame`] holds chunks of one size and a few named layers of metadata, in one file or, *sparse*, in a directory with a file
//! for each chunk. An [`NdArray`] is a frame whose metadata tells a shape: its chunks are boxes of elements, cut into smaller
//! boxes, the blocks, so that a slice is read with little more than what it holds.
//!
//! ```
//! use bloscpack_frames::NdArray;
//!
//! let mut array = NdArray::of_type::<f64>(&[100, 200, 300]).in_memory()?;
//! array.write(&[10..11, 0..200, 0..300], &vec![1.5; 60_000])?;
//! let corner: Vec<f64> = array.to_vec(&[9..11, 199..200, 298..300])?;
//! assert_eq!(corner, [0.0, 0.0, 1.5, 1.5]);
//! # Ok::<(), bloscpack_error::Error>(())
//! ```
//!
//! What is changed is seen through the same `Frame` or `NdArray` at once, and becomes permanent, all of it or none, with `flush`.

#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod change;
mod coders;
mod create;
mod error;
mod fetch;
mod home;
mod layers;
mod nd;
mod options;
mod outline;
mod read;
mod verify;
pub mod wire;

use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use coders::Coders;
use home::Home;
use outline::Outline;
use std::fmt;
use std::path::Path;

pub use crate::wire::{ArrayKind, ArrayMeta, FrameHeader, FrameKind, Metalayers};
pub use bloscpack_dtype::Element;
pub use create::FrameBuilder;
pub use nd::{Caches, NdArray, NdArrayBuilder, default_shapes};
pub use options::FrameOptions;
pub use verify::FrameReport;

/// Chunks of one size, and layers of metadata: what the Blosc 2 libraries call a super-chunk, and its frame.
///
/// ```
/// use bloscpack_frames::Frame;
///
/// let mut frame = Frame::builder(8, 80_000).in_memory()?;
/// frame.append(&[1; 80_000])?;
/// frame.append(&[2; 80_000])?;
/// frame.insert(1, &[3; 80_000])?;
/// frame.flush()?;
/// let bytes = frame.to_bytes()?;
///
/// let frame = Frame::from_bytes(bytes)?;
/// assert_eq!((frame.chunks(), frame.content_len()), (3, 240_000));
/// assert_eq!(frame.chunk(1)?, [3; 80_000]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
pub struct Frame {
    home: Box<dyn Home>,
    outline: Outline,
    coders: Coders,
    /// Whether anything was changed since the last flush.
    changed: bool,
    /// Whether a flush has failed, so that nobody knows what is there, or a change halfway.
    failed: bool,
    /// Whether its last writer was interrupted in a change.
    interrupted: bool,
}

impl Frame {
    fn new(home: Box<dyn Home>, outline: Outline, options: &FrameOptions) -> Result<Self> {
        let meta = ArrayMeta::of(&outline.header.metalayers);
        let kind = meta.ok().flatten().map(|meta| meta.kind);
        Ok(Self {
            home,
            outline,
            coders: Coders::new(options, kind),
            changed: false,
            failed: false,
            interrupted: false,
        })
    }

    /// Opens the frame at this path for reading.
    ///
    /// # Errors
    /// As [`FrameOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        FrameOptions::new().open(path)
    }

    /// Opens the frame at this path for reading and changing it.
    ///
    /// # Errors
    /// As [`FrameOptions::edit`].
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        FrameOptions::new().edit(path)
    }

    /// A contiguous frame in memory, for reading.
    ///
    /// # Errors
    /// As [`FrameOptions::read`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        FrameOptions::new().read(bytes)
    }

    /// A contiguous frame in anything that is read at any position.
    ///
    /// # Errors
    /// As [`FrameOptions::read`].
    pub fn read_from(source: impl ReadAt + Send + Sync + 'static) -> Result<Self> {
        FrameOptions::new().read(source)
    }

    /// How a new frame is to be: elements of `typesize` bytes, chunks of `chunk_size`.
    #[must_use]
    pub fn builder(typesize: u32, chunk_size: u32) -> FrameBuilder {
        FrameBuilder::new(typesize, chunk_size)
    }

    /// What its header says. After changes and before a flush, lengths in it are those of the last flush.
    #[must_use]
    pub fn header(&self) -> &FrameHeader {
        &self.outline.header
    }

    /// Whether it lies in one file or in a directory.
    #[must_use]
    pub fn kind(&self) -> FrameKind {
        self.outline.header.kind
    }

    /// How many chunks there are.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        u64::try_from(self.outline.places.len()).unwrap_or(u64::MAX)
    }

    /// Bytes of a chunk's data; the last may have fewer.
    #[must_use]
    pub fn chunk_size(&self) -> u32 {
        self.outline.header.chunk_size.unwrap_or(0)
    }

    /// Bytes of all data.
    #[must_use]
    pub fn content_len(&self) -> u64 {
        self.outline.header.content_len
    }

    /// Bytes of one element.
    #[must_use]
    pub fn typesize(&self) -> u32 {
        self.outline.header.typesize
    }

    /// The layers of metadata that stand before the chunks.
    #[must_use]
    pub fn metalayers(&self) -> &Metalayers {
        &self.outline.header.metalayers
    }

    /// The array that the frame's metadata tells of, if it does.
    ///
    /// # Errors
    /// [`Damaged`](bloscpack_error::Category::Damaged) if it is no such description.
    pub fn array_meta(&self) -> Result<Option<ArrayMeta>> {
        Ok(ArrayMeta::of(self.metalayers())?)
    }

    /// Whether its last writer was interrupted in a change, which is read through its journal. Of a frame that was opened for
    /// reading at a path or in a store; others cannot tell.
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// let frame = Frame::open("../../testdata/frames/caterva/x_vlmeta_s.cat")?;
    /// assert!(!frame.was_interrupted());
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    #[must_use]
    pub fn was_interrupted(&self) -> bool {
        self.interrupted
    }

    fn check_state(&self) -> Result<()> {
        match self.failed {
            true => Err(Error::usage(
                "an earlier error left the state of this frame unknown: open it again",
            )),
            false => Ok(()),
        }
    }

    /// After an error here nothing more is done: a flush would make half of a change permanent.
    fn or_fail<T>(&mut self, done: Result<T>) -> Result<T> {
        self.failed |= done.is_err();
        done
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("kind", &self.kind())
            .field("chunks", &self.chunks())
            .field("content_len", &self.content_len())
            .finish_non_exhaustive()
    }
}
