//! [`Collector`]: counts, reports and writes the chunks and losses of a salvage.

use super::gaps::PendingChunk;
use super::kind::MemberKind;
use super::report::Damage;
use super::report::{Finding, Recovery};
use super::span::Gap;
use super::{Checked, at, error_at};
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, len_of, slice, to_u64, to_usize};
use bloscpack_wire::{FormatError, PackHead, Section, internal::CHUNK_HEADER_LEN};
use std::ops::Range;

/// The most empty records that replace lost ones of packed chunks, in addition to [`EMPTY_FACTOR`] for each byte of the source.
/// The head of a damaged chunk may suggest that any number of records was lost before it.
const MOST_EMPTY: u64 = 16 << 20;
/// See [`MOST_EMPTY`].
const EMPTY_FACTOR: u64 = 16;
/// Zeros written at once.
const ZEROS: [u8; 4096] = [0; 4096];

/// A target for content or records.
pub(crate) trait ContentOutput {
    /// The next bytes of one content.
    fn content(&mut self, bytes: &[u8]) -> Result<()>;
    /// The next record.
    fn record(&mut self, record: &[u8]) -> Result<()>;
}

/// Discards everything.
impl ContentOutput for () {
    fn content(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// Receives the findings, in order.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Finding) -> Result<()>;

/// Counts and reports everything, and passes content and records to an output.
pub(super) struct Collector<'a, O> {
    pub output: O,
    /// The findings since the last [`pass`](Self::pass), and all counts.
    pub recovery: Recovery,
    take: Take<'a>,
    /// The current member.
    pub member: u64,
    kind: MemberKind,
    /// The number of zeros that may still be written in place of lost content.
    most_zeros: u64,
    /// Bytes of the source.
    size: u64,
    /// The content of the current chunk of records.
    chunk: Vec<u8>,
    /// The number of the next record in its member.
    next: u64,
    /// The number of the next record in the output.
    at: u64,
    /// Number of empty records so far.
    empty: u64,
    /// If there was damage since the last sound chunk: the records that were lost with it, if they are known.
    run: Option<Option<Range<u64>>>,
}

impl<'a, O: ContentOutput> Collector<'a, O> {
    pub(super) fn new(
        output: O,
        recovery: Recovery,
        (size, most_zeros): (u64, u64),
        take: Take<'a>,
    ) -> Self {
        Self {
            output,
            recovery,
            take,
            member: 0,
            kind: MemberKind::Content,
            most_zeros,
            size,
            chunk: Vec::new(),
            next: 0,
            at: 0,
            empty: 0,
            run: None,
        }
    }

    /// Passes on the findings since the last call.
    pub(super) fn pass(&mut self) -> Result<()> {
        let mut pending = self.recovery.pending.drain(..);
        pending.try_for_each(&mut *self.take)
    }

    /// Begins a member.
    pub(super) fn begin(&mut self, kind: MemberKind) {
        self.kind = kind;
        (self.next, self.run) = (0, None);
    }

    /// Leaves out a member, and reports why.
    pub(super) fn leave_out(&mut self, bytes: Range<u64>, why: &str, has_records: bool) {
        let what = format!("this member is left out: {why}");
        self.part(bytes, Section::Header, FormatError::Unsupported { what });
        self.recovery.lose_chunks(None);
        if has_records {
            self.recovery.lose_records(self.at, None);
        } else {
            self.recovery.lose(None, false);
        }
    }

    /// Adds damage to a part on which no content depends.
    pub(super) fn part(&mut self, bytes: Range<u64>, section: Section, error: FormatError) {
        self.recovery.offsets_lost |= section == Section::Offsets;
        self.damage(error, bytes, (None, section), (None, None));
    }

    fn damage(
        &mut self,
        error: FormatError,
        bytes: Range<u64>,
        (number, section): (Option<u64>, Section),
        (content, records): (Option<Range<u64>>, Option<Range<u64>>),
    ) {
        self.recovery.damage(Damage {
            error: error_at(error, at(bytes.start, self.member, number, section)),
            bytes: Some(bytes),
            content,
            records,
        });
    }

    /// Takes the next bytes of the content.
    pub(super) fn data(&mut self, bytes: &[u8]) -> Result<()> {
        if self.kind.has_records() {
            self.chunk.extend_from_slice(bytes);
            return Ok(());
        }
        self.output.content(bytes)?;
        self.recovery.note_recovered(to_u64(bytes.len()));
        Ok(())
    }

    /// Takes the end of a chunk, after its bytes.
    pub(super) fn chunk(&mut self, pending: &PendingChunk) -> Result<()> {
        if self.kind.has_records() {
            let chunk = std::mem::take(&mut self.chunk);
            let taken = self.records(pending, &chunk)?;
            self.chunk = chunk;
            self.chunk.clear();
            if let Err(error) = taken {
                return self.gap(pending.gap(error));
            }
            self.run = None;
            self.recovery.note_recovered(pending.found.nbytes.into());
        }
        self.recovery.chunks += 1;
        Ok(())
    }

    /// Takes the records of a chunk.
    fn records(&mut self, pending: &PendingChunk, chunk: &[u8]) -> Result<Checked<()>> {
        let MemberKind::Packed { links, packing, .. } = &self.kind else {
            self.output.record(chunk)?;
            self.count_records(1);
            return Ok(Ok(()));
        };
        let nbytes = pending.found.nbytes;
        let Some(head) = links.head_at(pending.found.at) else {
            let wrong = PackHead::decode(chunk, nbytes, *packing);
            return Ok(Err(match wrong.map(|head| head.check_first(self.next)) {
                Ok(Err(error)) | Err(error) => error,
                // Its first record has the next number, but later chunks have the same records.
                Ok(Ok(())) => FormatError::Packing {
                    why: "its records are those of other chunks".to_owned(),
                },
            }));
        };
        let bounds = match head.bounds(chunk) {
            Ok(bounds) => bounds,
            Err(error) => return Ok(Err(error)),
        };
        self.skip_to(&head, pending)?;
        for (from, end) in bounds.iter().zip(bounds.iter().skip(1)) {
            let record = slice(chunk, to_usize(*from)..to_usize(*end))?;
            self.output.record(record)?;
        }
        self.count_records(head.count.into());
        Ok(Ok(()))
    }

    /// Reports records as lost whose numbers are missing between two consecutive chunks.
    fn skip_to(&mut self, head: &PackHead, pending: &PendingChunk) -> Result<()> {
        let Err(error) = head.check_first(self.next) else {
            return Ok(());
        };
        if self.run.is_none() {
            let place = pending.found.at;
            // This is 0 if the numbers go back.
            let missing = len_of(&(self.next..head.first));
            let records = self.lose(Some(missing), 0)?;
            self.recovery.chunks_lost = None;
            let section = (pending.number, Section::Chunk);
            self.damage(error, place..place, section, (None, records));
        }
        self.next = head.first;
        Ok(())
    }

    /// Counts records that were passed to the output.
    fn count_records(&mut self, records: u64) {
        // Saturates: the head of a packed chunk may contain any number.
        self.next = self.next.saturating_add(records);
        self.at += records;
        self.recovery.records += records;
    }

    /// Takes a loss.
    pub(super) fn gap(&mut self, gap: Gap) -> Result<()> {
        if self.kind.has_records() {
            return self.record_gap(gap);
        }
        self.recovery.lose_chunks(gap.chunks);
        let content = self.recovery.next_content(gap.len.filter(|len| *len > 0));
        let section = (gap.number, Section::Chunk);
        self.damage(gap.error, gap.bytes, section, (content, None));
        let is_filled = gap.len.is_some_and(|len| len <= self.most_zeros);
        let mut zeros = self.recovery.lose(gap.len, is_filled);
        self.most_zeros -= zeros;
        while zeros > 0 {
            let len = zeros.min(to_u64(ZEROS.len()));
            self.output.content(slice(&ZEROS, 0..in_memory(len)?)?)?;
            zeros -= len;
        }
        Ok(())
    }

    /// The number of records that are lost in a gap, if it is known.
    fn missing(&self, gap: &Gap) -> Option<u64> {
        let MemberKind::Packed { links, count, .. } = &self.kind else {
            return gap.chunks;
        };
        // Of an empty gap, the chunk that begins there comes after it. No chunk begins at byte 0.
        let before = gap.bytes.start.checked_sub(1);
        let before = before.filter(|_| gap.bytes.is_empty());
        let next = links.first_after(before.unwrap_or(gap.bytes.start));
        match next.or(*count) {
            Some(next) => Some(len_of(&(self.next..next))),
            None => gap.chunks.filter(|chunks| *chunks == 0),
        }
    }

    /// Takes a loss in a member of records, and writes empty records in place of the lost ones.
    fn record_gap(&mut self, gap: Gap) -> Result<()> {
        let missing = self.missing(&gap);
        let is_packed = self.kind.packing().is_some();
        let is_nothing = match gap.error {
            FormatError::MissingChunks { .. } => gap.bytes.is_empty(),
            FormatError::Spare { .. } => true,
            _ => false,
        };
        if is_packed && is_nothing && missing == Some(0) {
            return Ok(());
        }
        // The first of several damages without a sound chunk between them accounts for all lost records.
        let (records, chunks) = match self.run.clone() {
            Some(records) if is_packed => (records, gap.chunks),
            _ => {
                let len = len_of(&gap.bytes);
                let most = (len / CHUNK_HEADER_LEN).max(gap.chunks.unwrap_or(0));
                let records = self.lose(missing, most)?;
                (
                    records,
                    gap.chunks.or(missing.filter(|missing| *missing == 0)),
                )
            }
        };
        // Saturates: a damaged count may be any number.
        self.next = self.next.saturating_add(missing.unwrap_or(0));
        self.run = Some(records.clone());
        self.recovery.lose_chunks(chunks);
        let section = (gap.number, Section::Chunk);
        self.damage(gap.error, gap.bytes, section, (None, records));
        Ok(())
    }

    /// Writes empty records in place of lost ones, of up to `chunks` chunks, and returns their numbers if they are known.
    fn lose(&mut self, missing: Option<u64>, chunks: u64) -> Result<Option<Range<u64>>> {
        let most = match self.kind.packing() {
            None => self.size,
            // Upper bounds may saturate: no count exceeds `u64::MAX`.
            Some(packing) => {
                let all = self.size.saturating_mul(EMPTY_FACTOR);
                let chunks = chunks.max(1).saturating_mul(packing.chunk_size().into());
                let chunks = chunks.saturating_add(self.empty);
                MOST_EMPTY.saturating_add(all).min(chunks)
            }
        };
        let left = len_of(&(self.empty..most));
        let count = missing.filter(|missing| *missing <= left);
        if count == Some(0) {
            return Ok(None);
        }
        let is_certain = self.recovery.records_lost.is_some();
        let count_or_none = count.unwrap_or(0);
        for _ in 0..count_or_none {
            self.output.record(&[])?;
        }
        self.empty += count_or_none;
        let records = count.map(|count| self.at..self.at + count);
        self.recovery.lose_records(self.at, records.clone());
        self.at += count_or_none;
        Ok(records.filter(|_| is_certain))
    }

    /// Records that the member has more chunks than it counts, or with `is_certain` false that it may have: the length of its
    /// content is then still known from the count.
    pub(super) fn uncounted(&mut self, is_certain: bool) {
        match self.kind {
            // Packed chunks contain the numbers of their records.
            MemberKind::Packed { .. } => return,
            MemberKind::Records { .. } if is_certain => self.recovery.lose_records(self.at, None),
            _ => {}
        }
        self.recovery.uncounted = true;
        self.recovery.content = self.recovery.content.filter(|_| !is_certain);
    }

    /// Ends the member whose head begins at this byte.
    pub(super) fn end(&mut self, head_at: u64) -> Result<()> {
        if let MemberKind::Packed {
            count: Some(count), ..
        } = self.kind
            && count > self.next
        {
            let error = FormatError::record_count(count, self.next);
            let records = self.lose(Some(count - self.next), 0)?;
            self.recovery.damage(Damage {
                records,
                ..error_at(error, at(head_at, self.member, None, Section::Metadata)).into()
            });
        }
        Ok(())
    }
}
