//! [`WorkBudget`]: a bound on wasted work.

/// Bytes that may be wasted at any position in the source.
const BASE: u64 = 64 << 20;
/// Additional bytes that may be wasted for each byte of the source before that position.
const FACTOR: u64 = 8;

/// Bytes hashed, decoded or looked at without finding a sound chunk.
///
/// A hostile file with sixteen plausible bytes everywhere, each time with a length up to the end, would have the source
/// hashed once for each of its bytes. A damaged chunk costs its own length once, so that files that were damaged by accident
/// stay far below the bound.
#[derive(Default)]
pub(super) struct WorkBudget {
    wasted: u64,
}

impl WorkBudget {
    /// Whether there is anything left to spend on a chunk that may begin at `at`.
    pub(super) fn allows(&self, at: u64) -> bool {
        // Saturates: no amount reaches a bound above `u64::MAX`.
        self.wasted <= BASE.saturating_add(at.saturating_mul(FACTOR))
    }

    pub(super) fn spend(&mut self, bytes: u64) {
        // Saturates: past the bound, the amount no longer matters.
        self.wasted = self.wasted.saturating_add(bytes);
    }
}
