//! [`ChunkStore`]: supplies the chunks of an array.

use blosc1::ChunkHeader;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAhead, ReadAt};
use bytes::Bytes;
use std::fmt;

/// Supplies the chunks of an array: the trait that a format implements, so that [`Chunked`](crate::Chunked) can read its
/// arrays.
///
/// Chunks are numbered in C order. A store checks what it reads against the geometry of the array and against its limits before
/// it allocates, because a header alone may claim any length. Several threads call it at once.
pub trait ChunkStore: Send + Sync {
    /// Reads a chunk into `buffer`.
    ///
    /// For [`Want::Blocks`] of a chunk whose blocks are compressed separately, a store may read only these blocks, and none for
    /// an empty list. The buffer then has the length of the whole chunk, with the blocks at their positions and arbitrary bytes
    /// elsewhere.
    ///
    /// # Errors
    /// Returns any I/O error, and any damage to the chunk, including a chunk that should exist but does not.
    fn load(&self, chunk: u64, want: Want<'_>, buffer: &mut Buffer<'_>) -> Result<Loaded>;

    /// Adds the file and the position of a chunk to an error about its content.
    fn located(&self, chunk: u64, error: Error) -> Error;

    /// Announces that these chunks will be read, so that a slow source can begin to fetch them. Each comes with whether most of
    /// it is wanted. Does nothing by default.
    ///
    /// # Errors
    /// Returns an error for chunks that cannot exist.
    fn announce(&self, chunks: &mut dyn Iterator<Item = (u64, bool)>) -> Result<()> {
        let _ = chunks;
        Ok(())
    }

    /// Whether a chunk that was loaded for some blocks may serve other blocks from the cache, without a new call of
    /// [`load`](Self::load). True by default; false if other blocks of the chunk may be missing.
    fn may_keep(&self, chunk: u64) -> bool {
        let _ = chunk;
        true
    }

    /// The file that contains all chunks, if there is one: each thread then reads ahead in it.
    fn file(&self) -> Option<&dyn ReadAt> {
        None
    }
}

/// The part of a chunk that a reader needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want<'a> {
    /// The whole chunk.
    Whole,
    /// These blocks, in ascending order. An empty list asks only for a check of the chunk's header.
    Blocks(&'a [u32]),
}

/// What a store has put into a [`Buffer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// One element, which every element of the chunk equals: the chunk is not stored.
    Fill,
    /// The uncompressed elements of the whole chunk, including padding.
    Data,
    /// A Blosc chunk.
    Blosc {
        /// The parsed header of the chunk.
        header: ChunkHeader,
        /// Whether the buffer has all bytes of the chunk, and not only the wanted blocks.
        is_complete: bool,
    },
}

/// Receives the bytes of a chunk from a [`ChunkStore`]. A thread reuses it for one chunk after another.
pub struct Buffer<'a> {
    own: Vec<u8>,
    shared: Option<Bytes>,
    ahead: Option<ReadAhead<&'a dyn ReadAt>>,
}

/// The least number of bytes that are read after a jump in a file of many chunks.
const LEAST_READ: usize = 16 << 10;

impl<'a> Buffer<'a> {
    /// A buffer that uses the memory of `own`, and reads ahead in `file`.
    pub(crate) fn new(own: Vec<u8>, file: Option<&'a dyn ReadAt>) -> Self {
        Self {
            own,
            shared: None,
            ahead: file.map(|file| ReadAhead::new(file, LEAST_READ)),
        }
    }

    /// The bytes that the store has put in.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.shared.as_deref().unwrap_or(&self.own)
    }

    /// The vector to fill, with arbitrary content and length. Replaces bytes that were [set](Self::set).
    pub fn vec(&mut self) -> &mut Vec<u8> {
        self.shared = None;
        &mut self.own
    }

    /// The vector to fill, and a window that reads ahead in [the store's file](ChunkStore::file), if it has one.
    pub fn vec_and_file(&mut self) -> (&mut Vec<u8>, Option<&ReadAhead<&'a dyn ReadAt>>) {
        self.shared = None;
        (&mut self.own, self.ahead.as_ref())
    }

    /// Sets the bytes without a copy.
    pub fn set(&mut self, bytes: Bytes) {
        self.shared = Some(bytes);
    }

    /// The bytes, for the cache. The buffer keeps its memory.
    pub(crate) fn keep(&self) -> Bytes {
        match &self.shared {
            Some(bytes) => bytes.clone(),
            None => Bytes::copy_from_slice(&self.own),
        }
    }

    /// The memory, for the next buffer.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        self.own
    }
}

impl fmt::Debug for Buffer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("len", &self.bytes().len())
            .finish_non_exhaustive()
    }
}
