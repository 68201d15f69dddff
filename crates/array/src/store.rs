//! [`ChunkStore`]: where the chunks of an array are.

use blosc1::ChunkHeader;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAhead, StoreFile};
use bytes::Bytes;
use std::fmt;

/// Where the chunks of an array are: all that a format implements to have its arrays read by [`Chunked`](crate::Chunked).
///
/// Chunks are numbered in C order. A store checks what it reads against the geometry of the array and against its limits, so that
/// nobody allocates memory on a header alone.
pub trait ChunkStore: Send + Sync {
    /// Reads a chunk into `buffer`.
    ///
    /// Of a chunk whose blocks are compressed one by one, a store may read no more than the wanted ones: their bytes are where
    /// they are in the whole chunk, which the buffer has the length of.
    ///
    /// # Errors
    /// Returns any I/O error, and any damage to the chunk. A chunk that should be there and is not is an error, too.
    fn load(&self, chunk: u64, want: Want<'_>, buffer: &mut Buffer<'_>) -> Result<Loaded>;

    /// Adds the position and the file of a chunk to an error of its content.
    fn located(&self, chunk: u64, error: Error) -> Error;

    /// Announces that these chunks are going to be read, and whether the greater part of each is wanted.
    ///
    /// # Errors
    /// Returns an error for chunks that cannot be there.
    fn announce(&self, chunks: &mut dyn Iterator<Item = (u64, bool)>) -> Result<()> {
        let _ = chunks;
        Ok(())
    }

    /// Whether a chunk that was read for some of its blocks may be kept for others, without asking for those.
    fn may_keep(&self, chunk: u64) -> bool {
        let _ = chunk;
        true
    }

    /// The file that contains all chunks, if one does: each thread reads ahead in it.
    fn file(&self) -> Option<&dyn StoreFile> {
        None
    }
}

/// What is wanted of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want<'a> {
    /// All of it.
    Whole,
    /// These blocks, ascending.
    Blocks(&'a [u32]),
}

/// What a store has read into a [`Buffer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// An element: nothing is stored, and all elements are this one.
    Fill,
    /// The data of the chunk: all of its elements.
    Data,
    /// A Blosc chunk with this header.
    Blosc {
        /// The header of the chunk.
        header: ChunkHeader,
        /// Whether all of its bytes were read, not only those of the wanted blocks.
        is_complete: bool,
    },
}

/// The bytes that a store reads of a chunk. A thread uses it for one chunk after another.
pub struct Buffer<'a> {
    own: Vec<u8>,
    shared: Option<Bytes>,
    ahead: Option<ReadAhead<&'a dyn StoreFile>>,
}

/// Bytes that are read at once after a jump in a file of many chunks.
const LEAST_READ: usize = 16 << 10;

impl<'a> Buffer<'a> {
    /// A buffer that uses the memory of `own`, and reads ahead in this file.
    pub(crate) fn new(own: Vec<u8>, file: Option<&'a dyn StoreFile>) -> Self {
        Self {
            own,
            shared: None,
            ahead: file.map(|file| ReadAhead::new(file, LEAST_READ)),
        }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.shared.as_deref().unwrap_or(&self.own)
    }

    /// A vector for the bytes, which may have any content and length.
    pub fn vec(&mut self) -> &mut Vec<u8> {
        self.shared = None;
        &mut self.own
    }

    /// A vector for the bytes, and the file of the store, through a window that reads ahead.
    pub fn vec_and_file(&mut self) -> (&mut Vec<u8>, Option<&ReadAhead<&'a dyn StoreFile>>) {
        self.shared = None;
        (&mut self.own, self.ahead.as_ref())
    }

    /// Sets the bytes without copying them.
    pub fn set(&mut self, bytes: Bytes) {
        self.shared = Some(bytes);
    }

    /// The bytes, to be kept. The buffer keeps its memory.
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
