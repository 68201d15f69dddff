//! [`BufferPool`]: a bounded number of buffers for reuse.

use crate::chunk_buffer::ChunkBuffer;
use bloscpack_storage::parallel::BATCH;

/// The least cost of a buffer or a chunk, which bounds the number of empty ones.
pub(super) const MIN_COUNTED: usize = 64;

/// A buffer that keeps its memory for reuse.
pub(super) trait Buffer: Default {
    /// Bytes of memory.
    fn room(&self) -> usize;
}

impl Buffer for Vec<u8> {
    fn room(&self) -> usize {
        self.capacity()
    }
}

impl Buffer for ChunkBuffer {
    fn room(&self) -> usize {
        self.capacity()
    }
}

/// Buffers for reuse. Small and large ones are kept separately, or all buffers would become large over time.
pub(super) struct BufferPool<B> {
    small: Vec<B>,
    /// Memory of the small ones.
    bytes: usize,
    large: Vec<B>,
    /// The most jobs at a time, plus one.
    jobs: usize,
}

impl<B: Buffer> BufferPool<B> {
    pub(super) fn new(jobs: usize) -> Self {
        Self {
            small: Vec::new(),
            bytes: 0,
            large: Vec::new(),
            // Saturates: the caller may set any number of threads.
            jobs: jobs.saturating_add(1),
        }
    }

    /// Takes a buffer for this number of bytes. It may have to grow.
    pub(super) fn take(&mut self, wanted: usize) -> B {
        if wanted > BATCH {
            return self.large.pop().unwrap_or_default();
        }
        let buffer = self.small.pop().unwrap_or_default();
        // Saturates: a new buffer has a cost although it was not kept.
        self.bytes = self.bytes.saturating_sub(counted(&buffer));
        buffer
    }

    /// Keeps a buffer, or drops it if the pool is full.
    pub(super) fn put(&mut self, buffer: B) {
        if buffer.room() > BATCH {
            if self.large.len() < self.jobs {
                self.large.push(buffer);
            }
            return;
        }
        let bytes = self.bytes + counted(&buffer);
        // Saturates: with that many jobs, the pool has no bound.
        if bytes <= self.jobs.saturating_mul(BATCH) {
            self.bytes = bytes;
            self.small.push(buffer);
        }
    }
}

/// The cost of a buffer in the pool.
fn counted<B: Buffer>(buffer: &B) -> usize {
    buffer.room().max(MIN_COUNTED)
}

#[cfg(test)]
mod tests {
    use super::{BATCH, BufferPool};

    /// Many small ones and now and then a large one must not end as many large ones.
    #[test]
    fn memory_stays_bounded_whatever_sizes_come() {
        let mut pool = BufferPool::new(4);
        for round in 0..50 {
            let tiny = (0..2000).map(|_| 1);
            let sizes: Vec<usize> = tiny.chain([1 << 20, BATCH, 5000]).collect();
            let each = sizes.iter().map(|&wanted| {
                let mut buffer: Vec<u8> = pool.take(wanted);
                if buffer.len() < wanted {
                    buffer = vec![0; wanted];
                }
                buffer
            });
            let taken: Vec<_> = each.collect();
            taken.into_iter().for_each(|buffer| pool.put(buffer));
            let all = pool.small.iter().chain(&pool.large);
            let held: usize = all.map(Vec::capacity).sum();
            assert!(held <= 5 * ((1 << 20) + BATCH), "{held} after {round}");
        }
        assert!(!pool.small.is_empty() && !pool.large.is_empty());
    }
}
