//! [`Span`] and [`Gap`]: the parts of a member after its head.
//!
//! ```text
//!   head | chunk | chunk | ~~ gap: damaged bytes ~~ | chunk |gap: nothing left| chunk | ...
//! ```

use super::probe::SoundChunk;
use bloscpack_wire::FormatError;
use std::ops::Range;

/// A range of the source after the head of a member.
#[derive(Debug)]
pub(crate) enum Span {
    /// A sound chunk.
    Chunk(SoundChunk),
    /// No sound chunk.
    Gap(Box<Gap>),
}

/// Bytes of the source without a sound chunk, or an empty range in which chunks are missing.
#[derive(Debug)]
pub(crate) struct Gap {
    pub bytes: Range<u64>,
    /// The number of its first chunk, if it is known.
    pub number: Option<u64>,
    /// The number of lost chunks, if it is known or follows from others.
    pub chunks: Option<u64>,
    /// Uncompressed bytes of the lost chunks.
    pub len: Option<u64>,
    /// The next chunk begins before the damaged one should end: bytes are missing, perhaps with whole chunks; or the next
    /// chunk is data of a chunk that was cut here.
    pub is_short: bool,
    pub error: FormatError,
}

impl Gap {
    /// A gap with unknown chunks.
    pub(super) fn new(bytes: Range<u64>, error: FormatError) -> Self {
        Self {
            bytes,
            number: None,
            chunks: None,
            len: None,
            is_short: false,
            error,
        }
    }

    /// A damaged chunk with this many uncompressed bytes.
    pub(super) fn one(bytes: Range<u64>, nbytes: u32, error: FormatError) -> Self {
        Self {
            chunks: Some(1),
            len: Some(nbytes.into()),
            ..Self::new(bytes, error)
        }
    }

    /// The same gap, before whose end the next chunk begins.
    pub(super) fn cut(self) -> Self {
        Self {
            is_short: true,
            ..self
        }
    }
}

impl Span {
    pub(super) fn chunk(&self) -> Option<SoundChunk> {
        match self {
            Self::Chunk(found) => Some(*found),
            Self::Gap(_) => None,
        }
    }

    pub(super) fn gap(&self) -> Option<&Gap> {
        match self {
            Self::Gap(gap) => Some(gap),
            Self::Chunk(_) => None,
        }
    }

    pub(super) fn gap_mut(&mut self) -> Option<&mut Gap> {
        match self {
            Self::Gap(gap) => Some(gap),
            Self::Chunk(_) => None,
        }
    }

    /// The number of its chunks, sound or lost, if it is known.
    pub(super) fn chunks(&self) -> Option<u64> {
        self.gap().map_or(Some(1), |gap| gap.chunks)
    }

    /// Whether an unknown number of chunks is lost here.
    pub(super) fn is_open(&self) -> bool {
        self.chunks().is_none()
    }

    /// The number of the chunk after this span, if the first chunk in it has the number `first`.
    pub(super) fn number_after(&self, first: Option<u64>) -> Option<u64> {
        let pair = first.zip(self.chunks());
        // Saturates: a damaged header may count any number.
        pair.map(|(first, chunks)| first.saturating_add(chunks))
    }
}
