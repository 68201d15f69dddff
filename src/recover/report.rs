//! What a recovery tells.

use crate::verify::Damage;
use std::ops::Range;

/// A stretch of the content, or some records, that could not be recovered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Where it belongs in what was written: before this byte, or from this byte on if it was
    /// filled. In a file of records, before the record of this number, or from it on.
    pub at: u64,
    /// Uncompressed bytes lost, where that is known or follows from the sizes of the others.
    pub len: Option<u64>,
    /// Which bytes of the content they were: known as long as nothing of unknown length is lost
    /// before them.
    pub content: Option<Range<u64>>,
    /// Which records they were: empty ones stand under these numbers in what was written. Nothing
    /// where chunks hold no records, and where it is not known how many are lost.
    pub records: Option<Range<u64>>,
    /// Whether zeros, or empty records, stand in its place.
    pub filled: bool,
}

/// What [`recover`](crate::recover()) found and wrote.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// Members found.
    pub members: u64,
    /// Chunks recovered.
    pub chunks: u64,
    /// Chunks lost, where that is known.
    pub chunks_lost: Option<u64>,
    /// Uncompressed bytes of the chunks recovered; zeros do not count.
    pub bytes: u64,
    /// Records recovered; 0 where chunks hold none. Empty ones that stand for lost ones do not count.
    pub records: u64,
    /// Records lost, in whose places empty ones stand; nothing if they are lost in unknown number, so
    /// that those behind them may have got other numbers.
    pub records_lost: Option<u64>,
    /// Zeros written in place of lost bytes.
    pub filled: u64,
    /// What is lost of the content, in order.
    pub lost: Vec<Lost>,
    /// All that is wrong with the source, in order of place.
    pub damages: Vec<Damage>,
    /// A member's header could not be read.
    pub header_lost: bool,
    /// There was metadata, or may have been, and none could be read or kept.
    pub metadata_lost: bool,
    /// The metadata was dropped because the NumPy array that it describes is not whole.
    pub array_lost: bool,
    /// A table of offsets was damaged.
    pub offsets_lost: bool,
    /// The source says of itself that a change of it was interrupted: what was recovered may be
    /// partly old and partly new.
    pub is_changing: bool,
    /// There are more sound chunks than a member counts: one may be there twice or in the place of
    /// another, and nothing tells which belong to the content, or which numbers records have.
    pub uncounted: bool,
    /// There is damage in a member without checksums: nothing tells whether the rest of it, which
    /// was recovered, is what was once written.
    pub unchecked: bool,
    /// Tells where recovered content and zeros end, as the lengths of both.
    pub(super) written: u64,
    /// Where the next byte was in the source's content, as long as that is known.
    pub(super) content: Option<u64>,
    /// Numbers of the members without checksums, ascending.
    pub(super) bare: Vec<u64>,
}

impl Recovery {
    /// Whether all content and all metadata that there can have been was recovered, and nothing
    /// speaks against it being what was once written.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_certain = !self.is_changing && !self.unchecked && !self.uncounted;
        self.lost.is_empty() && !self.metadata_lost && is_certain
    }

    /// Notes a damage, and whether there is no checksum to tell what else came to harm.
    pub(super) fn damage(&mut self, damage: Damage) {
        let member = damage.error.position().map_or(0, |place| place.member);
        self.unchecked |= self.bare.binary_search(&member).is_ok();
        self.damages.push(damage);
    }

    /// Uncompressed bytes of the source before it was damaged, where that is known; never where
    /// records are lost.
    #[must_use]
    pub fn content_len(&self) -> Option<u64> {
        self.content
    }

    /// Notes lost records: those of the empty ones that stand for them, or an unknown number.
    pub(super) fn lose_records(&mut self, at: u64, records: Option<Range<u64>>) {
        let count = records
            .as_ref()
            .map(|records| records.end.saturating_sub(records.start));
        let sum = self.records_lost.zip(count);
        self.records_lost = sum.map(|(lost, count)| lost.saturating_add(count));
        self.content = None;
        self.lost.push(Lost {
            at,
            len: None,
            content: None,
            filled: records.is_some(),
            records,
        });
    }

    pub(super) fn lose_chunks(&mut self, chunks: Option<u64>) {
        let sum = self.chunks_lost.zip(chunks);
        self.chunks_lost = sum.map(|(lost, chunks)| lost.saturating_add(chunks));
    }

    /// Notes a loss, and gives how many zeros are to be written for it.
    pub(super) fn lose(&mut self, len: Option<u64>, fill: bool) -> u64 {
        if len == Some(0) {
            return 0;
        }
        let content = self.content.zip(len);
        let content = content.map(|(from, len)| from..from.saturating_add(len));
        self.content = content.as_ref().map(|content| content.end);
        let zeros = len.filter(|_| fill).unwrap_or(0);
        self.lost.push(Lost {
            at: self.written,
            len,
            content,
            records: None,
            filled: zeros > 0,
        });
        self.filled = self.filled.saturating_add(zeros);
        self.written = self.written.saturating_add(zeros);
        zeros
    }

    /// Notes uncompressed bytes that were recovered.
    pub(super) fn win(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.written = self.written.saturating_add(bytes);
        self.content = self.content.map(|at| at.saturating_add(bytes));
    }
}
