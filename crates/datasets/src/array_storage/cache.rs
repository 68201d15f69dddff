//! [`ChunkCache`]: chunks that were read recently, as they are stored, with those of their blocks that were decompressed.

use super::pool::Decoders;
use crate::superchunk::StoredChunk;
use blosc1::ChunkError;
use blosc1::internal::has_blocks;
use bloscpack_error::checked::to_usize;
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::sync::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError};

/// A chunk in memory.
pub(super) struct CachedChunk {
    stored: StoredChunk,
    /// Each block is decompressed when it is first needed. Empty for a chunk without blocks to decompress.
    blocks: Vec<OnceLock<Vec<u8>>>,
}

impl CachedChunk {
    pub(super) fn new(stored: StoredChunk) -> Self {
        let header = &stored.header;
        let count = match has_blocks(&stored.bytes) {
            // The chunk contains 4 bytes for each block, which bounds their number.
            true => to_usize(header.nblocks()).min(stored.bytes.len() / 4),
            false => 0,
        };
        let blocks = std::iter::repeat_with(OnceLock::new).take(count).collect();
        Self { stored, blocks }
    }

    /// Bytes that it takes, without its blocks.
    fn weight(&self) -> usize {
        self.stored.bytes.len() + self.blocks.len() * size_of::<OnceLock<Vec<u8>>>()
    }

    /// Fills `out` with the data from byte `from` on. Returns the number of bytes that were decompressed for it and are kept.
    pub(super) fn read(&self, from: usize, out: &mut [u8], decoders: &Decoders) -> Result<usize> {
        let header = &self.stored.header;
        let nbytes = to_usize(header.nbytes);
        if from > nbytes || out.len() > nbytes - from {
            let len = out.len();
            let found = format!("{len} bytes from byte {from} of a chunk of {nbytes}");
            return Err(Error::bug(found));
        }
        if self.blocks.is_empty() {
            let start = u32::try_from(from)
                .map_err(|_| Error::bug(format!("byte {from} of a chunk of {nbytes}")))?;
            decoders.with(|decoder| decoder.decode_range(&self.stored.bytes, start, out))?;
            return Ok(0);
        }
        let block_len = to_usize(header.blocksize);
        let (mut at, mut rest, mut decoded) = (from, out, 0);
        while !rest.is_empty() {
            let index = at
                .checked_div(block_len)
                .ok_or_else(|| Error::bug("blocks of 0 bytes"))?;
            let (block, new) = self.block(index, block_len, decoders)?;
            let data = block.split_at_checked(at - index * block_len);
            let (_, data) = data.filter(|(_, data)| !data.is_empty()).ok_or_else(|| {
                let len = block.len();
                Error::bug(format!("byte {at} in block {index}, which has {len} bytes"))
            })?;
            let len = rest.len().min(data.len());
            let (part, later) = rest.split_at_mut(len);
            part.copy_from_slice(data.split_at(len).0);
            at += len;
            decoded += new;
            rest = later;
        }
        Ok(decoded)
    }

    /// The data of a block, and the number of bytes that were decompressed for it.
    fn block(
        &self,
        index: usize,
        block_len: usize,
        decoders: &Decoders,
    ) -> std::result::Result<(&[u8], usize), ChunkError> {
        let header = &self.stored.header;
        let what = "a block has a number of 32 bits";
        let number = u32::try_from(index).map_err(|_| ChunkError::Bug { what })?;
        let place = self.blocks.get(index).ok_or(ChunkError::BlockIndex {
            found: number,
            nblocks: header.nblocks(),
        })?;
        if let Some(block) = place.get() {
            return Ok((block, 0));
        }
        // The last block ends with the data.
        let rest = to_usize(header.nbytes).saturating_sub(index * block_len);
        let len = rest.min(block_len);
        let mut block = vec![0; len];
        decoders.with(|decoder| decoder.decode_block(&self.stored.bytes, number, &mut block))?;
        Ok((place.get_or_init(|| block), len))
    }
}

/// The chunks that were used last, up to a number of bytes.
pub(super) struct ChunkCache {
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<u64, Entry>,
    /// The numbers of the chunks by the time of their last use.
    order: BTreeMap<u64, u64>,
    bytes: usize,
    clock: u64,
}

struct Entry {
    chunk: Arc<CachedChunk>,
    used_at: u64,
    bytes: usize,
}

impl ChunkCache {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            state: Mutex::default(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, number: u64) -> Option<Arc<CachedChunk>> {
        let mut state = self.locked();
        let now = state.clock;
        let entry = state.entries.get_mut(&number)?;
        let chunk = Arc::clone(&entry.chunk);
        // The chunk that was used last keeps its place.
        if entry.used_at + 1 != now {
            let before = std::mem::replace(&mut entry.used_at, now);
            state.order.remove(&before);
            state.order.insert(now, number);
            state.clock = now + 1;
        }
        Some(chunk)
    }

    /// Whether a chunk is kept, which does not count as a use.
    pub(super) fn contains(&self, number: u64) -> bool {
        self.locked().entries.contains_key(&number)
    }

    /// Keeps a chunk, and drops those that were not used for longest.
    pub(super) fn put(&self, number: u64, chunk: &Arc<CachedChunk>) {
        let bytes = chunk.weight();
        let mut state = self.locked();
        state.remove(number);
        let used_at = state.clock;
        state.clock = used_at + 1;
        state.bytes += bytes;
        state.order.insert(used_at, number);
        let chunk = Arc::clone(chunk);
        state.entries.insert(
            number,
            Entry {
                chunk,
                used_at,
                bytes,
            },
        );
        state.shrink_to(self.max_bytes);
    }

    /// Counts bytes by which a chunk that is kept has grown.
    pub(super) fn grown(&self, number: u64, by: usize) {
        let mut state = self.locked();
        if let Some(entry) = state.entries.get_mut(&number) {
            entry.bytes += by;
            state.bytes += by;
            state.shrink_to(self.max_bytes);
        }
    }

    /// Drops chunks that have changed.
    pub(super) fn forget(&self, numbers: Range<u64>) {
        let mut state = self.locked();
        let gone: Vec<u64> = state
            .entries
            .keys()
            .copied()
            .filter(|number| numbers.contains(number))
            .collect();
        gone.into_iter().for_each(|number| state.remove(number));
    }
}

impl State {
    fn remove(&mut self, number: u64) {
        if let Some(entry) = self.entries.remove(&number) {
            self.order.remove(&entry.used_at);
            self.bytes -= entry.bytes;
        }
    }

    fn shrink_to(&mut self, max_bytes: usize) {
        while self.bytes > max_bytes
            && let Some((_, number)) = self.order.pop_first()
        {
            self.remove(number);
        }
    }
}

impl fmt::Debug for ChunkCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkCache")
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}
