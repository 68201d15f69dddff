//! Buffers to be used again, of which no more are kept than there is use for.

use crate::chunk_buffer::Fill;
use crate::pipeline::BATCH;

/// What a buffer or a chunk counts at least, so that empty ones do not pile up.
pub(super) const LEAST: usize = 64;

/// Something that keeps its memory.
pub(super) trait Buffer: Default {
    /// How much memory that is.
    fn room(&self) -> usize;
}

impl Buffer for Vec<u8> {
    fn room(&self) -> usize {
        self.capacity()
    }
}

impl Buffer for Fill {
    fn room(&self) -> usize {
        self.capacity()
    }
}

/// Spare buffers, small ones apart from large ones: else all would become large in time, one after the other.
pub(super) struct Spares<B> {
    small: Vec<B>,
    /// Memory of the small ones.
    bytes: usize,
    large: Vec<B>,
    /// How many jobs are under way at the most.
    jobs: usize,
}

impl<B: Buffer> Spares<B> {
    pub(super) fn new(jobs: usize) -> Self {
        Self {
            small: Vec::new(),
            bytes: 0,
            large: Vec::new(),
            jobs: jobs.saturating_add(1),
        }
    }

    /// A buffer for so many bytes, which need not have room for all of them yet.
    pub(super) fn take(&mut self, wanted: usize) -> B {
        if wanted > BATCH {
            return self.large.pop().unwrap_or_default();
        }
        let buffer = self.small.pop().unwrap_or_default();
        self.bytes = self.bytes.saturating_sub(counted(&buffer));
        buffer
    }

    /// Keeps a buffer, or lets it go if there are enough.
    pub(super) fn put(&mut self, buffer: B) {
        if buffer.room() > BATCH {
            if self.large.len() < self.jobs {
                self.large.push(buffer);
            }
            return;
        }
        let bytes = self.bytes.saturating_add(counted(&buffer));
        if bytes <= self.jobs.saturating_mul(BATCH) {
            self.bytes = bytes;
            self.small.push(buffer);
        }
    }
}

fn counted<B: Buffer>(buffer: &B) -> usize {
    buffer.room().max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::{BATCH, Spares};

    /// Many small ones and now and then a large one must not end as many large ones.
    #[test]
    fn memory_stays_bounded_whatever_sizes_come() {
        let mut spares = Spares::new(4);
        for round in 0..50 {
            let tiny = (0..2000).map(|_| 1);
            let sizes: Vec<usize> = tiny.chain([1 << 20, BATCH, 5000]).collect();
            let each = sizes.iter().map(|&wanted| {
                let mut buffer: Vec<u8> = spares.take(wanted);
                if buffer.len() < wanted {
                    buffer = vec![0; wanted];
                }
                buffer
            });
            let taken: Vec<_> = each.collect();
            taken.into_iter().for_each(|buffer| spares.put(buffer));
            let all = spares.small.iter().chain(&spares.large);
            let held: usize = all.map(Vec::capacity).sum();
            assert!(held <= 5 * ((1 << 20) + BATCH), "{held} after {round}");
        }
        assert!(!spares.small.is_empty() && !spares.large.is_empty());
    }
}
