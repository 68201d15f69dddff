//! [`Span`] and [`Gap`]: the parts of a member after its head.

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

/// Bytes of the source without a sound chunk, or missing chunks.
#[derive(Debug)]
pub(crate) struct Gap {
    pub bytes: Range<u64>,
    /// The number of its first chunk, if it is known.
    pub number: Option<u64>,
    /// How many chunks are lost, if that is known or can be inferred.
    pub chunks: Option<u64>,
    /// Uncompressed bytes of those.
    pub len: Option<u64>,
    /// The next chunk begins before the damaged one should end: bytes are missing in it, and whole chunks may be missing with
    /// them; or the next one is itself data of a chunk that was cut there.
    pub is_short: bool,
    pub error: FormatError,
}

impl Gap {
    /// A gap of which nothing else is known.
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

    /// The same, of which the next chunk begins before the end.
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

    /// How many chunks it is, sound or lost, if that is known.
    pub(super) fn chunks(&self) -> Option<u64> {
        self.gap().map_or(Some(1), |gap| gap.chunks)
    }

    /// Whether an unknown number of chunks is lost here.
    pub(super) fn is_open(&self) -> bool {
        self.chunks().is_none()
    }

    /// The number of the chunk after this span, by that of the first in it.
    pub(super) fn number_after(&self, first: Option<u64>) -> Option<u64> {
        let pair = first.zip(self.chunks());
        // Saturates: a damaged header may count any number.
        pair.map(|(first, chunks)| first.saturating_add(chunks))
    }
}
