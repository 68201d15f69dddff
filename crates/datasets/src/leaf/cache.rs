//! Chunks that were read lately, as they are stored, with those of their blocks that were decompressed.

use super::pool::Decoders;
use crate::superchunk::Stored;
use blosc1::ChunkError;
use blosc1::internal::has_blocks;
use bloscpack_dtype::boxes::to_usize;
use bloscpack_storage::parallel::sync::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError};

/// A chunk in memory.
pub(super) struct Cached {
    stored: Stored,
    /// Each decompressed when it is first asked for; none where nothing needs to be.
    blocks: Vec<OnceLock<Vec<u8>>>,
}

impl Cached {
    pub(super) fn new(stored: Stored) -> Self {
        let header = &stored.header;
        let count = match has_blocks(&stored.bytes) {
            // The table of blocks lies in the chunk, so that there cannot be more than these.
            true => to_usize(header.nblocks().into()).min(stored.bytes.len() / 4),
            false => 0,
        };
        let blocks = std::iter::repeat_with(OnceLock::new).take(count).collect();
        Self { stored, blocks }
    }

    /// Bytes that it takes, its blocks aside.
    fn weight(&self) -> usize {
        self.stored.bytes.len().saturating_add(
            self.blocks
                .len()
                .saturating_mul(size_of::<OnceLock<Vec<u8>>>()),
        )
    }

    /// The data from byte `from` on that fills `out`; returns how many bytes were decompressed for it.
    pub(super) fn read(
        &self,
        from: usize,
        out: &mut [u8],
        decoders: &Decoders,
    ) -> Result<usize, ChunkError> {
        let header = &self.stored.header;
        let beyond = || ChunkError::Range {
            start: u32::try_from(from).unwrap_or(u32::MAX),
            len: out.len(),
            nbytes: header.nbytes,
        };
        if from.saturating_add(out.len()) > to_usize(header.nbytes.into()) {
            return Err(beyond());
        }
        if self.blocks.is_empty() {
            let start = u32::try_from(from).map_err(|_| beyond())?;
            decoders.with(|decoder| decoder.decode_range(&self.stored.bytes, start, out))?;
            return Ok(0);
        }
        let block_len = to_usize(header.blocksize.into());
        let (mut at, mut rest, mut decoded) = (from, out, 0usize);
        while !rest.is_empty() {
            let index = at.checked_div(block_len).unwrap_or(0);
            let (block, new) = self.block(index, block_len, decoders)?;
            let skip = at.saturating_sub(index.saturating_mul(block_len));
            let data = block.get(skip..).unwrap_or_default();
            let (part, later) = rest.split_at_mut(rest.len().min(data.len()));
            part.copy_from_slice(data.get(..part.len()).unwrap_or_default());
            if part.is_empty() {
                return Ok(decoded);
            }
            at = at.saturating_add(part.len());
            decoded = decoded.saturating_add(new);
            rest = later;
        }
        Ok(decoded)
    }

    fn block(
        &self,
        index: usize,
        block_len: usize,
        decoders: &Decoders,
    ) -> Result<(&[u8], usize), ChunkError> {
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        let nblocks = self.stored.header.nblocks();
        let place = self.blocks.get(index).ok_or(ChunkError::BlockIndex {
            found: number,
            nblocks,
        })?;
        if let Some(block) = place.get() {
            return Ok((block, 0));
        }
        let begun = index.saturating_mul(block_len);
        let len = to_usize(self.stored.header.nbytes.into())
            .saturating_sub(begun)
            .min(block_len);
        let mut block = vec![0; len];
        decoders.with(|decoder| decoder.decode_block(&self.stored.bytes, number, &mut block))?;
        Ok((place.get_or_init(|| block), len))
    }
}

/// The chunks that were used last, up to so many bytes.
pub(super) struct Cache {
    budget: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<u64, Entry>,
    /// When each was used last.
    order: BTreeMap<u64, u64>,
    used: usize,
    clock: u64,
}

struct Entry {
    chunk: Arc<Cached>,
    used_at: u64,
    weight: usize,
}

impl Cache {
    pub(super) fn new(budget: usize) -> Self {
        Self {
            budget,
            state: Mutex::default(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, number: u64) -> Option<Arc<Cached>> {
        let mut state = self.locked();
        let now = state.clock;
        let entry = state.entries.get_mut(&number)?;
        let chunk = Arc::clone(&entry.chunk);
        // The one that was used last stays where it is.
        if entry.used_at.saturating_add(1) != now {
            let before = std::mem::replace(&mut entry.used_at, now);
            state.order.remove(&before);
            state.order.insert(now, number);
            state.clock = now.saturating_add(1);
        }
        Some(chunk)
    }

    /// Keeps a chunk, and lets go of those that were not used for longest.
    pub(super) fn put(&self, number: u64, chunk: &Arc<Cached>) {
        let weight = chunk.weight();
        let mut state = self.locked();
        state.remove(number);
        let used_at = state.clock;
        state.clock = used_at.saturating_add(1);
        state.used = state.used.saturating_add(weight);
        state.order.insert(used_at, number);
        let chunk = Arc::clone(chunk);
        state.entries.insert(
            number,
            Entry {
                chunk,
                used_at,
                weight,
            },
        );
        state.shrink_to(self.budget);
    }

    /// A chunk that is kept takes so many bytes more.
    pub(super) fn grown(&self, number: u64, by: usize) {
        let mut state = self.locked();
        if let Some(entry) = state.entries.get_mut(&number) {
            entry.weight = entry.weight.saturating_add(by);
            state.used = state.used.saturating_add(by);
            state.shrink_to(self.budget);
        }
    }

    /// Forgets chunks that have changed.
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
            self.used = self.used.saturating_sub(entry.weight);
        }
    }

    fn shrink_to(&mut self, budget: usize) {
        while self.used > budget
            && let Some((_, number)) = self.order.pop_first()
        {
            self.remove(number);
        }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}
