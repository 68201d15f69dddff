//! [`Cache`]: a few decoded chunks, kept for the next call.

use std::collections::VecDeque;
use std::sync::Arc;

/// Chunks by number, the most recently used first, up to a maximum of bytes.
pub(super) struct Cache {
    chunks: VecDeque<(u64, Arc<[u8]>)>,
    bytes: usize,
    bound: usize,
    /// The chunk of the last partial read, if it was not kept.
    missed: Option<u64>,
}

impl Cache {
    pub(super) fn new(bound: usize) -> Self {
        Self {
            chunks: VecDeque::new(),
            bytes: 0,
            bound,
            missed: None,
        }
    }

    pub(super) fn get(&mut self, chunk: u64) -> Option<Arc<[u8]>> {
        let at = self
            .chunks
            .iter()
            .position(|(number, _)| *number == chunk)?;
        let found = self.chunks.remove(at)?;
        let data = Arc::clone(&found.1);
        self.chunks.push_front(found);
        Some(data)
    }

    /// Whether to decode all of a chunk of this length: it fits into the cache, and it is the second read in a row from this
    /// chunk, or the caller reads sequentially.
    pub(super) fn is_worth(&mut self, chunk: u64, len: usize, goes_on: bool) -> bool {
        let again = self.missed.replace(chunk) == Some(chunk);
        (again || goes_on) && len <= self.bound
    }

    pub(super) fn put(&mut self, chunk: u64, data: Arc<[u8]>) {
        self.bytes += data.len();
        self.chunks.push_front((chunk, data));
        while self.bytes > self.bound
            && let Some((_, old)) = self.chunks.pop_back()
        {
            self.bytes -= old.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cache;

    #[test]
    fn the_bound_holds_and_what_was_used_last_stays() {
        let mut cache = Cache::new(25);
        for chunk in 0..3 {
            cache.put(chunk, [0; 10].into());
            assert!(cache.get(0).is_some() || chunk > 1);
        }
        assert!(cache.bytes <= 25);
        assert!(cache.get(0).is_some() && cache.get(2).is_some());
        assert!(cache.get(1).is_none());
    }

    #[test]
    fn only_what_is_asked_for_again_is_worth_keeping() {
        let mut cache = Cache::new(25);
        assert!(!cache.is_worth(1, 10, false));
        assert!(cache.is_worth(1, 10, false));
        assert!(!cache.is_worth(2, 10, false));
        assert!(!cache.is_worth(2, 26, false));
        assert!(cache.is_worth(3, 10, true));
        assert!(!cache.is_worth(3, 26, true));
    }
}
