//! The first block of a chunk with delta, kept for its other blocks, which are stored as
//! differences from it.

use super::ChunkError;
use super::scratch::room_for;

/// A decoded first block, and the stored bytes that it was decoded from.
///
/// The stored bytes are compared by content: the address of a chunk does not identify it, since a
/// caller may reuse its buffer.
#[derive(Default)]
pub(super) struct ReferenceBlock {
    stored: Vec<u8>,
    /// Lengths of the parts of `stored`; `None` while `block` is not valid.
    lens: Option<[usize; 3]>,
    block: Vec<u8>,
    len: usize,
}

impl ReferenceBlock {
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

    /// Room for another block. The old one is no longer valid; the new one is after
    /// [`keep`](Self::keep).
    pub fn room(&mut self, len: usize) -> &mut [u8] {
        self.lens = None;
        self.len = len;
        room_for(&mut self.block, len)
    }

    /// Marks the content of [`room`](Self::room) as decoded from these bytes.
    pub fn keep(&mut self, stored: [&[u8]; 3]) {
        self.stored.clear();
        for part in stored {
            self.stored.extend_from_slice(part);
        }
        self.lens = Some(stored.map(<[u8]>::len));
    }

    /// The block.
    ///
    /// # Errors
    ///
    /// Returns [`ChunkError::Bug`] if it was not [kept](Self::keep).
    pub fn block(&self) -> Result<&[u8], ChunkError> {
        let what = "the first block was not kept";
        let block = self.block.get(..self.len).filter(|_| self.lens.is_some());
        block.ok_or(ChunkError::Bug { what })
    }
}

#[cfg(test)]
mod tests {
    use super::ReferenceBlock;
    use crate::ChunkError;

    #[test]
    fn a_block_is_valid_only_once_it_is_kept() {
        let mut reference = ReferenceBlock::default();
        let stored = [&[1][..], &[], &[2, 3]];
        assert!(!reference.is_of(stored));
        reference.room(2).copy_from_slice(&[7, 8]);
        assert!(matches!(reference.block(), Err(ChunkError::Bug { .. })));
        reference.keep(stored);
        assert_eq!(reference.block(), Ok(&[7, 8][..]));
        assert!(reference.is_of(stored));
        assert!(!reference.is_of([&[1, 2], &[], &[3]]));
        reference.room(1);
        assert!(reference.block().is_err() && !reference.is_of(stored));
    }
}
