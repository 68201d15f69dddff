//! The first block of a chunk, kept for the blocks that are told by their difference from it.

use super::encode::room_for;

/// A decoded block, and what it was decoded from: a chunk's place in memory says nothing of what is
/// there the next time.
#[derive(Default)]
pub(super) struct Reference {
    stored: Vec<u8>,
    /// Lengths of the parts of `stored`; none while it holds nothing.
    lens: Option<[usize; 3]>,
    block: Vec<u8>,
    len: usize,
}

impl Reference {
    /// Whether the block was decoded from these bytes.
    pub fn is_of(&self, stored: [&[u8]; 3]) -> bool {
        if self.lens != Some(stored.map(<[u8]>::len)) {
            return false;
        }
        let mut rest = self.stored.as_slice();
        stored.into_iter().all(|part| {
            let (found, later) = rest.split_at(part.len().min(rest.len()));
            rest = later;
            found == part
        })
    }

    /// Room for another block, which counts once it is [kept](Self::keep).
    pub fn room(&mut self, len: usize) -> &mut [u8] {
        self.lens = None;
        self.len = len;
        room_for(&mut self.block, len)
    }

    /// Keeps the block, as decoded from these bytes.
    pub fn keep(&mut self, stored: [&[u8]; 3]) {
        self.stored.clear();
        for part in stored {
            self.stored.extend_from_slice(part);
        }
        self.lens = Some(stored.map(<[u8]>::len));
    }

    /// The block.
    pub fn block(&self) -> &[u8] {
        self.block.get(..self.len).unwrap_or_default()
    }
}
