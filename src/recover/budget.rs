//! How much work may be spent on what turns out to be nothing.

/// Bytes that may be spent in vain wherever one is in the source.
const BASE: u64 = 64 << 20;
/// Bytes that may be spent in vain for each byte of the source up to there.
const FACTOR: u64 = 8;

/// Bytes hashed, decoded or looked at without finding a sound chunk.
///
/// Whoever writes sixteen plausible bytes everywhere, each time with a length up to the end, would
/// have the source hashed once for every byte of it. A damaged chunk costs its own length once, so
/// that files that came to harm by accident stay far below the bound.
#[derive(Default)]
pub(super) struct Work {
    wasted: u64,
}

impl Work {
    /// Whether there is anything left to spend on a chunk that may begin at `at`.
    pub(super) fn allows(&self, at: u64) -> bool {
        self.wasted <= BASE.saturating_add(at.saturating_mul(FACTOR))
    }

    pub(super) fn spend(&mut self, bytes: u64) {
        self.wasted = self.wasted.saturating_add(bytes);
    }
}
