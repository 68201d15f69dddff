//! [`Frame`]: chunks of one size, and layers of metadata.

mod builder;
mod change;
mod copy;
mod fingerprint;
mod metalayers;
mod open;
mod read;
mod refresh;
mod varying;
mod verify;
mod virtual_data;

use crate::coder::ChunkCoder;
use crate::meta::FrameMeta;
use crate::storage::FrameStorage;
use crate::wire::array::ArrayMeta;
use crate::wire::header::FrameHeader;
use crate::wire::kind::FrameKind;
use crate::wire::metalayers::Metalayers;
use bloscpack::Options;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use std::fmt;

pub(crate) use builder::InitialChunks;

pub use builder::FrameBuilder;
pub use fingerprint::seal;
pub use varying::VaryingFrame;
pub use virtual_data::Virtual;
pub(crate) use virtual_data::own_layers;

/// Chunks of one size, and layers of metadata: the Blosc 2 libraries call it a super-chunk with its frame.
///
/// Chunks are numbered from 0. All contain [`chunk_size`](Self::chunk_size) bytes of data, except the last, which may contain
/// less. Each is compressed on its own, so that any of them is read without the others.
///
/// A frame that was opened for reading never changes. One that was created or opened with [`edit`](Self::edit) shows its own
/// changes at once; other readers see them after [`flush`](Self::flush), which applies all of them atomically. Changes that
/// were not flushed are lost when the frame is dropped.
///
/// All methods that read take `&self`, and a frame can be shared between threads.
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
    pub(crate) storage: Box<dyn FrameStorage>,
    pub(crate) meta: FrameMeta,
    pub(crate) coder: ChunkCoder,
    /// Whether anything was changed since the last flush.
    changed: bool,
    /// Whether a flush has failed, or a change halfway, so that the state is unknown.
    pub(crate) poisoned: bool,
    /// Whether the last writer was interrupted in a change.
    interrupted: bool,
    /// Opens the frame again, if it was opened for reading at a place where it may change.
    reopen: Option<Box<dyn Fn() -> Result<Self> + Send + Sync>>,
    virtual_data: Option<Box<Virtual>>,
}

impl Frame {
    fn new(storage: Box<dyn FrameStorage>, meta: FrameMeta, options: &Options) -> Self {
        // A damaged description is reported to callers that ask for the array.
        let array = ArrayMeta::of(&meta.header.metalayers).ok().flatten();
        Self {
            storage,
            meta,
            coder: ChunkCoder::new(options, array.map(|array| array.kind)),
            changed: false,
            poisoned: false,
            interrupted: false,
            reopen: None,
            virtual_data: None,
        }
        .with_virtual_data()
    }

    /// A builder for a new frame, with elements of `typesize` bytes and chunks of `chunk_size` bytes.
    ///
    /// The element size guides the filters; a chunk should be a multiple of it. Chunks of some hundred KiB to a few MiB are a
    /// good choice.
    #[must_use]
    pub fn builder(typesize: u32, chunk_size: u32) -> FrameBuilder {
        FrameBuilder::new(typesize, chunk_size)
    }

    /// The header. After changes, its lengths are out of date until the next flush.
    #[must_use]
    pub fn header(&self) -> &FrameHeader {
        &self.meta.header
    }

    /// Whether the frame is one file or a directory.
    #[must_use]
    pub fn kind(&self) -> FrameKind {
        self.meta.header.kind
    }

    /// The number of chunks.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        to_u64(self.meta.places.len())
    }

    /// The compressor of new chunks; `None` for one that this library does not have.
    #[must_use]
    pub fn compressor(&self) -> Option<blosc1::Compressor> {
        crate::coder::compressor(self.header().codec)
    }

    /// Bytes of data in a chunk; the last one may contain less. 0 in frames without chunks whose header does not say it.
    #[must_use]
    pub fn chunk_size(&self) -> u32 {
        self.meta.header.chunk_size.unwrap_or(0)
    }

    /// Bytes of data in all chunks, uncompressed.
    #[must_use]
    pub fn content_len(&self) -> u64 {
        self.meta.header.content_len
    }

    /// Element size in bytes.
    #[must_use]
    pub fn typesize(&self) -> u32 {
        self.meta.header.typesize
    }

    /// The fixed-length metalayers, which are in the header. Metalayers of variable length are in
    /// [`vlmetalayers`](Self::vlmetalayers).
    #[must_use]
    pub fn metalayers(&self) -> &Metalayers {
        &self.meta.header.metalayers
    }

    /// The description of the array in the frame; `None` for a frame that contains none.
    ///
    /// # Errors
    /// Returns [`Category::Damaged`](bloscpack_error::Category::Damaged), [`Code::CutShort`] or [`Code::Unsupported`] for a
    /// metalayer that describes no array.
    pub fn array_meta(&self) -> Result<Option<ArrayMeta>> {
        ArrayMeta::of(self.metalayers())
    }

    /// Whether the last writer was interrupted in a change. The changed frame is read, partly from its journal; the next
    /// writer completes the change.
    ///
    /// This is known of frames that were opened for reading by path or in a store.
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// # let temp = tempfile::tempdir()?;
    /// # let path = temp.path().join("frame");
    /// Frame::builder(8, 80_000).create(&path)?;
    /// assert!(!Frame::open(&path)?.was_interrupted());
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    #[must_use]
    pub fn was_interrupted(&self) -> bool {
        self.interrupted
    }

    pub(crate) fn check_state(&self) -> Result<()> {
        if self.poisoned {
            Err(
                Error::new(Code::Reopen, "an earlier change failed; reopen the frame")
                    .with_hint("all changes up to the last successful flush are kept"),
            )
        } else {
            Ok(())
        }
    }

    /// After an error here nothing more is done: a flush would make half of a change permanent.
    pub(crate) fn or_poison<T>(&mut self, done: Result<T>) -> Result<T> {
        self.poisoned |= done.is_err();
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
