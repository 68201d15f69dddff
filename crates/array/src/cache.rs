//! [`ChunkCache`]: partly read chunks in memory, compressed, with the blocks that were decompressed so far.

use crate::store::{Buffer, Loaded};
use blosc1::internal::has_blocks;
use blosc1::{ChunkDecoder, ChunkError};
use bloscpack_error::checked::{slice_mut, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::sync::{Mutex, MutexGuard};
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError};

/// A chunk in memory. Threads that share it decompress each block once.
pub(crate) struct CachedChunk {
    content: Content,
    /// A place for each block, filled when the block is first needed. Empty for a chunk without separately compressed blocks.
    blocks: Vec<OnceLock<Box<[u8]>>>,
    /// Uncompressed bytes of the chunk.
    nbytes: usize,
    /// Uncompressed bytes of a block; the last block may be shorter.
    block_len: usize,
}

/// The part of a chunk that is in memory besides its decompressed blocks.
pub(crate) enum Content {
    /// One element, which every element of the chunk equals.
    Fill(Bytes),
    /// The uncompressed data.
    Data(Bytes),
    /// The complete Blosc chunk.
    Blosc(Bytes),
    /// Nothing: the store has to read missing blocks again.
    Blocks,
}

impl CachedChunk {
    /// Keeps what a store has loaded. If the chunk has blocks and `keeps_bytes` is false, its compressed bytes are dropped.
    pub(crate) fn new(loaded: Loaded, buffer: &Buffer<'_>, keeps_bytes: bool) -> Self {
        let bytes = buffer.bytes();
        let (content, count, nbytes, block_len) = match loaded {
            Loaded::Fill => (Content::Fill(buffer.keep()), 0, 0, 0),
            Loaded::Data => (Content::Data(buffer.keep()), 0, bytes.len(), 0),
            Loaded::Blosc {
                header,
                is_complete,
            } => {
                // The chunk contains 4 bytes for each block, which bounds the number that the header claims.
                let most = to_usize(header.nblocks()).min(bytes.len() / 4);
                let count = if has_blocks(bytes) { most } else { 0 };
                let content = if is_complete && (keeps_bytes || count == 0) {
                    Content::Blosc(buffer.keep())
                } else {
                    Content::Blocks
                };
                let nbytes = to_usize(header.nbytes);
                (content, count, nbytes, to_usize(header.blocksize))
            }
        };
        Self {
            content,
            blocks: std::iter::repeat_with(OnceLock::new).take(count).collect(),
            nbytes,
            block_len,
        }
    }

    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// Uncompressed bytes of a block; 0 for a chunk without separately compressed blocks.
    pub(crate) fn block_len(&self) -> usize {
        if self.blocks.is_empty() {
            0
        } else {
            self.block_len
        }
    }

    /// Bytes of memory without the decompressed blocks.
    fn weight(&self) -> usize {
        let bytes = match &self.content {
            Content::Fill(bytes) | Content::Data(bytes) | Content::Blosc(bytes) => bytes.len(),
            Content::Blocks => 0,
        };
        bytes + self.blocks.len() * size_of::<OnceLock<Box<[u8]>>>()
    }

    /// The `wanted` blocks that are not decompressed yet.
    pub(crate) fn missing(&self, wanted: &[u32]) -> Vec<u32> {
        let is_missing = |block: &&u32| self.block(**block).is_none();
        wanted.iter().filter(is_missing).copied().collect()
    }

    /// The data of a block; `None` if it is not decompressed yet.
    pub(crate) fn block(&self, number: u32) -> Option<&[u8]> {
        self.blocks
            .get(to_usize(number))?
            .get()
            .map(|block| &**block)
    }

    /// Decompresses blocks from the bytes of the chunk. Returns the number of bytes that they occupy.
    pub(crate) fn decode(
        &self,
        blocks: &[u32],
        bytes: &[u8],
        decoder: &mut ChunkDecoder,
    ) -> std::result::Result<usize, ChunkError> {
        let mut decoded = 0;
        for number in blocks.iter().copied() {
            let place = self.blocks.get(to_usize(number));
            let place = place.ok_or(ChunkError::BlockIndex {
                found: number,
                nblocks: u32::try_from(self.blocks.len()).unwrap_or(u32::MAX),
            })?;
            // The last block ends with the data.
            let begin = to_usize(number).saturating_mul(self.block_len);
            let len = self.nbytes.saturating_sub(begin).min(self.block_len);
            let mut block = vec![0; len].into_boxed_slice();
            decoder.decode_block(bytes, number, &mut block)?;
            // Another thread may have stored the block first.
            decoded += if place.set(block).is_ok() { len } else { 0 };
        }
        Ok(decoded)
    }

    /// Copies the uncompressed bytes from `from` on; all blocks that they touch must be decompressed.
    pub(crate) fn read(&self, from: usize, out: &mut [u8]) -> Result<()> {
        let (mut at, mut done) = (from, 0);
        while done < out.len() {
            let number = at.checked_div(self.block_len);
            let number = number.ok_or_else(|| Error::bug("blocks of 0 bytes"))?;
            let block = u32::try_from(number)
                .ok()
                .and_then(|number| self.block(number));
            let rest = block.and_then(|block| block.get(at - number * self.block_len..));
            let rest = rest.filter(|rest| !rest.is_empty());
            let rest = rest.ok_or_else(|| Error::bug(format!("no byte {at} of a chunk")))?;
            let len = rest.len().min(out.len() - done);
            slice_mut(out, done..done + len)?.copy_from_slice(rest.split_at(len).0);
            (at, done) = (at + len, done + len);
        }
        Ok(())
    }
}

/// The number of the array in the cache, and the number of the chunk.
type Key = (u64, u64);

/// The most recently used chunks of one or several arrays, up to a number of bytes.
pub(crate) struct ChunkCache {
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<Key, Entry>,
    /// The chunks by the time of their last use, oldest first.
    order: BTreeMap<u64, Key>,
    bytes: usize,
    clock: u64,
    /// Arrays that were given a number so far.
    arrays: u64,
}

struct Entry {
    chunk: Arc<CachedChunk>,
    used_at: u64,
    bytes: usize,
}

impl ChunkCache {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            state: Mutex::default(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, key: Key) {
        if let Some(entry) = self.entries.remove(&key) {
            self.order.remove(&entry.used_at);
            self.bytes -= entry.bytes;
        }
    }

    fn shrink_to(&mut self, max_bytes: usize) {
        while self.bytes > max_bytes
            && let Some((_, key)) = self.order.pop_first()
        {
            self.remove(key);
        }
    }
}

/// One array's part of a cache that several arrays may share.
pub(crate) struct ArrayCache {
    cache: Arc<ChunkCache>,
    array: u64,
}

impl ArrayCache {
    pub(crate) fn new(cache: &Arc<ChunkCache>) -> Self {
        let mut state = cache.locked();
        state.arrays += 1;
        Self {
            array: state.arrays,
            cache: Arc::clone(cache),
        }
    }

    /// The size of the cache in bytes, for all arrays together.
    pub(crate) fn max_bytes(&self) -> usize {
        self.cache.max_bytes
    }

    pub(crate) fn get(&self, number: u64) -> Option<Arc<CachedChunk>> {
        let mut state = self.cache.locked();
        let (now, key) = (state.clock, (self.array, number));
        let entry = state.entries.get_mut(&key)?;
        let chunk = Arc::clone(&entry.chunk);
        // The most recently used chunk is in its place already.
        if entry.used_at + 1 != now {
            let before = std::mem::replace(&mut entry.used_at, now);
            state.order.remove(&before);
            state.order.insert(now, key);
            state.clock = now + 1;
        }
        Some(chunk)
    }

    /// Whether a chunk is in the cache. Asking does not count as a use.
    pub(crate) fn contains(&self, number: u64) -> bool {
        let state = self.cache.locked();
        state.entries.contains_key(&(self.array, number))
    }

    /// Adds or replaces a chunk, and drops the least recently used ones if the cache is full.
    pub(crate) fn put(&self, number: u64, chunk: &Arc<CachedChunk>) {
        let (bytes, key) = (chunk.weight(), (self.array, number));
        let mut state = self.cache.locked();
        state.remove(key);
        let used_at = state.clock;
        state.clock = used_at + 1;
        state.bytes += bytes;
        state.order.insert(used_at, key);
        let entry = Entry {
            chunk: Arc::clone(chunk),
            used_at,
            bytes,
        };
        state.entries.insert(key, entry);
        state.shrink_to(self.cache.max_bytes);
    }

    /// Adds the bytes of newly decompressed blocks to the size of a cached chunk.
    pub(crate) fn grown(&self, number: u64, by: usize) {
        let mut state = self.cache.locked();
        if let Some(entry) = state.entries.get_mut(&(self.array, number)) {
            entry.bytes += by;
            state.bytes += by;
            state.shrink_to(self.cache.max_bytes);
        }
    }

    /// Drops the chunks with these numbers, whose content has changed.
    pub(crate) fn forget(&self, numbers: Range<u64>) {
        let mut state = self.cache.locked();
        let is_gone = |key: &Key| key.0 == self.array && numbers.contains(&key.1);
        let gone: Vec<Key> = state.entries.keys().copied().filter(is_gone).collect();
        gone.into_iter().for_each(|key| state.remove(key));
    }
}

impl Drop for ArrayCache {
    fn drop(&mut self) {
        // The last array drops the whole cache.
        if Arc::strong_count(&self.cache) > 1 {
            self.forget(0..u64::MAX);
        }
    }
}

impl fmt::Debug for ArrayCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayCache")
            .field("max_bytes", &self.max_bytes())
            .finish_non_exhaustive()
    }
}
