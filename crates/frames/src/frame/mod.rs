//! [`Frame`]: compressed chunks of one size, and metalayers.

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

/// Blosc2's container for one byte string: compressed chunks of one size, and named metadata. The C libraries call it a
/// super-chunk with its frame.
///
/// Chunks are numbered from 0. Each contains [`chunk_size`](Self::chunk_size) bytes of data; the last may contain fewer. Each
/// is compressed on its own, so reading one does not decompress the others. The index is in memory: 16 bytes for each chunk.
///
/// | to | method |
/// |---|---|
/// | create a frame | [`builder`](Self::builder) |
/// | open one for reading | [`open`](Self::open), [`from_bytes`](Self::from_bytes), [`read_with`](Self::read_with), [`open_store`](Self::open_store) |
/// | open one for changing | [`edit`](Self::edit), [`edit_in`](Self::edit_in), [`edit_store`](Self::edit_store) |
/// | read data | [`chunk`](Self::chunk), [`read_chunk`](Self::read_chunk), [`read_range`](Self::read_range) |
/// | change chunks | [`append`](Self::append), [`replace`](Self::replace), [`insert`](Self::insert), [`remove`](Self::remove) |
/// | read or change metadata | [`metalayers`](Self::metalayers), [`set_metalayer`](Self::set_metalayer), [`vlmetalayer`](Self::vlmetalayer), [`set_vlmetalayer`](Self::set_vlmetalayer) |
/// | keep the changes | [`flush`](Self::flush), [`to_bytes`](Self::to_bytes) |
///
/// A frame that was created or opened for changing shows its own changes at once. Other readers see them after
/// [`flush`](Self::flush), which applies all of them atomically. Changes that were not flushed are lost when the frame is
/// dropped.
///
/// If a change fails halfway, all further calls that read or change chunks return [`Code::Reopen`]. The file keeps the content
/// of the last successful flush.
///
/// All reading methods take `&self`, and a frame can be shared between threads.
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
    /// Whether a flush or a change failed halfway, so that the content in memory is unknown.
    pub(crate) poisoned: bool,
    /// Whether the last writer was interrupted while it changed the frame.
    interrupted: bool,
    /// Opens the frame again, for [`refresh`](Self::refresh). Set if it was opened for reading by path or in a store.
    reopen: Option<Box<dyn Fn() -> Result<Self> + Send + Sync>>,
    virtual_data: Option<Box<Virtual>>,
}

impl Frame {
    /// The frame with this metadata in a storage. Reads the definition of a virtual frame from its metalayers.
    fn new(storage: Box<dyn FrameStorage>, meta: FrameMeta, options: &Options) -> Self {
        // Damage to the description is an error only for callers that ask for the array.
        let array = ArrayMeta::of(&meta.header.metalayers).ok().flatten();
        Self {
            storage,
            meta,
            coder: ChunkCoder::new(options, array.as_ref()),
            changed: false,
            poisoned: false,
            interrupted: false,
            reopen: None,
            virtual_data: None,
        }
        .with_virtual_data()
    }

    /// A builder for a new frame with elements of `typesize` bytes and chunks of `chunk_size` uncompressed bytes.
    ///
    /// `typesize` is at least 1. It guides the filters: `chunk_size` should be a multiple of it. `chunk_size` is 1 to
    /// 2,147,483,631; a few hundred KiB to a few MiB are a good choice. Both are checked when the frame is created.
    #[must_use]
    pub fn builder(typesize: u32, chunk_size: u32) -> FrameBuilder {
        FrameBuilder::new(typesize, chunk_size)
    }

    /// The header. [`frame_len`](FrameHeader::frame_len) and [`section_len`](FrameHeader::section_len) do not reflect changes
    /// before the next flush.
    #[must_use]
    pub fn header(&self) -> &FrameHeader {
        &self.meta.header
    }

    /// Whether the frame is one file or a directory.
    #[must_use]
    pub fn kind(&self) -> FrameKind {
        self.meta.header.kind
    }

    /// The number of chunks, including those that are not stored because the index describes them.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        to_u64(self.meta.places.len())
    }

    /// The compressor of new chunks; `None` for one that this crate does not know. Existing chunks may have other compressors:
    /// [`chunk_header`](Self::chunk_header) gives the compressor of one chunk.
    #[must_use]
    pub fn compressor(&self) -> Option<blosc1::Compressor> {
        crate::coder::compressor(self.header().codec)
    }

    /// Uncompressed bytes of a chunk; the last chunk may contain fewer. 0 for a frame without chunks whose header does not
    /// state it.
    #[must_use]
    pub fn chunk_size(&self) -> u32 {
        self.meta.header.chunk_size.unwrap_or(0)
    }

    /// Uncompressed bytes of all chunks.
    #[must_use]
    pub fn content_len(&self) -> u64 {
        self.meta.header.content_len
    }

    /// Bytes of an element.
    #[must_use]
    pub fn typesize(&self) -> u32 {
        self.meta.header.typesize
    }

    /// The metalayers of fixed length, which are in the header. For metalayers of varying length, see
    /// [`vlmetalayers`](Self::vlmetalayers).
    #[must_use]
    pub fn metalayers(&self) -> &Metalayers {
        &self.meta.header.metalayers
    }

    /// The description of the array in the frame; `None` if the frame contains no array.
    ///
    /// Parses the metalayer on every call. Does not compare it with the header; [`NdArray::of`](crate::NdArray::of) does.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let frame = NdArray::of_type::<u8>(&[4]).in_memory()?.into_frame()?;
    /// assert_eq!(frame.array_meta()?.map(|meta| meta.shape), Some(vec![4]));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::Metadata`], [`Code::CutShort`] or [`Code::Unsupported`] for a metalayer that does not describe an array.
    pub fn array_meta(&self) -> Result<Option<ArrayMeta>> {
        ArrayMeta::of(self.metalayers())
    }

    /// Whether the last writer was interrupted while it changed the frame. The new content is read, partly from the writer's
    /// journal; the next writer completes the change.
    ///
    /// Always false for frames that were not opened for reading by path or in a store.
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

    /// Refuses to continue with [`Code::Reopen`] if an earlier change failed halfway.
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

    /// Marks the frame as unusable if `done` is an error: a flush would make half of a change permanent.
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
