//! [`Collector`]: counts, reports and writes the chunks and losses that a salvage finds.

use super::at;
use super::content::Gap;
use super::kind::MemberKind;
use super::report::Recovery;
use super::salvage::{PendingChunk, SalvageSink};
use crate::checked::{in_memory, len_of, slice, to_u64, to_usize};
use crate::damage::Damage;
use bloscpack_error::{Error, Result};
use bloscpack_wire::{FormatError, PackHead, Section, internal::CHUNK_HEADER_LEN};
use std::ops::Range;

/// The most empty records that take the place of lost ones in packed chunks, in addition to [`EMPTY_FACTOR`] for each byte of
/// the source: by its own numbers, a chunk may claim that any number of records is lost before it.
const MOST_EMPTY: u64 = 16 << 20;
const EMPTY_FACTOR: u64 = 16;

/// Takes content or records.
pub(super) trait ContentOutput {
    /// The next bytes of one content.
    fn content(&mut self, bytes: &[u8]) -> Result<()>;
    /// This many zeros of the content.
    fn zeros(&mut self, count: u64) -> Result<()>;
    /// The next record.
    fn record(&mut self, record: &[u8]) -> Result<()>;
    /// This many empty records.
    fn empty(&mut self, count: u64) -> Result<()>;
}

/// Discards everything.
pub(super) struct Discard;

impl ContentOutput for Discard {
    fn content(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn zeros(&mut self, _: u64) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn empty(&mut self, _: u64) -> Result<()> {
        Ok(())
    }
}

/// Counts and reports everything, and hands content and records to an output.
pub(super) struct Collector<O> {
    pub output: O,
    pub recovery: Recovery,
    kinds: Vec<MemberKind>,
    /// Whether records are taken and content is left out, or the other way round; nothing if all is taken.
    wants_records: Option<bool>,
    /// Zeros that may still be written in place of lost content.
    most_zeros: u64,
    /// Bytes of the source.
    size: u64,
    /// The chunk of records that is being handed over.
    chunk: Vec<u8>,
    /// The number of the next record in its member.
    next: u64,
    /// The number of the next record in the output.
    at: u64,
    /// Number of empty records so far.
    empty: u64,
    /// The records that were lost with the damage since the last sound chunk, if there was only damage.
    run: Option<Option<Range<u64>>>,
}

impl<O: ContentOutput> Collector<O> {
    pub(super) fn new(output: O, recovery: Recovery, kinds: Vec<MemberKind>, size: u64) -> Self {
        Self {
            output,
            recovery,
            kinds,
            wants_records: None,
            most_zeros: 0,
            size,
            chunk: Vec::new(),
            next: 0,
            at: 0,
            empty: 0,
            run: None,
        }
    }

    /// Leaves out members of the other kind.
    pub(super) fn only(mut self, records: bool) -> Self {
        self.wants_records = Some(records);
        self
    }

    pub(super) fn most_zeros(mut self, most: u64) -> Self {
        self.most_zeros = most;
        self
    }

    fn has_records(&self, member: usize) -> bool {
        self.kinds.get(member).is_some_and(MemberKind::has_records)
    }

    /// Takes the records of a chunk.
    fn records(&mut self, pending: &PendingChunk) -> Result<()> {
        let chunk = std::mem::take(&mut self.chunk);
        let taken = match self.kinds.get(pending.member) {
            Some(MemberKind::Packed { .. }) => self.unpack(pending, &chunk)?,
            _ => {
                self.output.record(&chunk)?;
                self.count_records(1);
                Ok(())
            }
        };
        self.chunk = chunk;
        self.chunk.clear();
        match taken {
            Ok(()) => {
                self.run = None;
                self.recovery.note_recovered(pending.found.nbytes.into());
                self.recovery.chunks += 1;
                Ok(())
            }
            Err(error) => self.gap(pending.member, pending.gap(error)),
        }
    }

    fn unpack(
        &mut self,
        pending: &PendingChunk,
        chunk: &[u8],
    ) -> Result<std::result::Result<(), FormatError>> {
        let Some(MemberKind::Packed { links, packing, .. }) = self.kinds.get(pending.member) else {
            return Ok(Ok(()));
        };
        let nbytes = pending.found.nbytes;
        let Some(head) = links.head_at(pending.found.at) else {
            let wrong = PackHead::decode(chunk, nbytes, *packing);
            return Ok(Err(match wrong.map(|head| head.check_first(self.next)) {
                Ok(Err(error)) | Err(error) => error,
                // It has the right number, and the chunks after it have the same.
                Ok(Ok(())) => FormatError::Packing {
                    why: "its records are those of other chunks".to_owned(),
                },
            }));
        };
        if let Err(error) = head.check_lengths(chunk, nbytes) {
            return Ok(Err(error));
        }
        self.skip_to(&head, pending)?;
        let mut from = in_memory(head.values_at())?;
        let mut count = 0;
        for length in head.lengths(chunk) {
            let end = from + to_usize(length);
            self.output.record(slice(chunk, from..end)?)?;
            from = end;
            count += 1;
        }
        if count != u64::from(head.count) || from != chunk.len() {
            let (expected, len) = (head.count, chunk.len());
            return Err(Error::bug(format!(
                "{count} records of {expected} in the first {from} bytes of {len}"
            )));
        }
        self.count_records(count);
        Ok(Ok(()))
    }

    /// Reports the records as lost that should be between two consecutive chunks.
    fn skip_to(&mut self, head: &PackHead, pending: &PendingChunk) -> Result<()> {
        let Err(error) = head.check_first(self.next) else {
            return Ok(());
        };
        if self.run.is_none() {
            let place = pending.found.at;
            let error = at(error, place, pending.member, pending.number, Section::Chunk);
            // A number that was present before is not lost.
            let missing = len_of(&(self.next..head.first));
            let records = self.lose(pending.member, Some(missing), 0)?;
            self.recovery.chunks_lost = None;
            self.damage(error, Some(place..place), records);
        }
        self.next = head.first;
        Ok(())
    }

    fn count_records(&mut self, records: u64) {
        // Saturates: the head of a packed chunk may claim any number.
        self.next = self.next.saturating_add(records);
        self.at += records;
        self.recovery.records += records;
    }

    /// How many records are lost in a gap.
    fn missing(&self, member: usize, gap: &Gap) -> Option<u64> {
        let Some(MemberKind::Packed { links, count, .. }) = self.kinds.get(member) else {
            return gap.chunks;
        };
        let from = gap.bytes.start;
        let before = if gap.bytes.is_empty() {
            // Saturates: no chunk begins at the first byte of a source.
            from.saturating_sub(1)
        } else {
            from
        };
        match links.first_after(before).or(*count) {
            Some(next) => Some(len_of(&(self.next..next))),
            None => gap.chunks.filter(|chunks| *chunks == 0),
        }
    }

    fn record_gap(&mut self, member: usize, gap: Gap) -> Result<()> {
        let missing = self.missing(member, &gap);
        let is_packed = matches!(self.kinds.get(member), Some(MemberKind::Packed { .. }));
        let is_nothing = match gap.error {
            FormatError::MissingChunks { .. } => gap.bytes.is_empty(),
            FormatError::Spare { .. } => true,
            _ => false,
        };
        if is_packed && is_nothing && missing == Some(0) {
            return Ok(());
        }
        // If several damages have no sound chunk between them, the first one accounts for all lost records.
        let (records, chunks) = match self.run.clone() {
            Some(records) if is_packed => (records, gap.chunks),
            _ => {
                let len = len_of(&gap.bytes);
                let most = (len / CHUNK_HEADER_LEN).max(gap.chunks.unwrap_or(0));
                let records = self.lose(member, missing, most)?;
                let chunks = gap.chunks.or(missing.filter(|missing| *missing == 0));
                (records, chunks)
            }
        };
        // Saturates: a damaged count may be any number.
        self.next = self.next.saturating_add(missing.unwrap_or(0));
        self.run = Some(records.clone());
        self.recovery.lose_chunks(chunks);
        let error = at(gap.error, gap.bytes.start, member, gap.number, gap.section);
        self.damage(error, Some(gap.bytes), records);
        Ok(())
    }

    /// Puts empty records in the place of lost ones, of up to `chunks` chunks, and returns their numbers, if they are known.
    fn lose(
        &mut self,
        member: usize,
        missing: Option<u64>,
        chunks: u64,
    ) -> Result<Option<Range<u64>>> {
        let most = match self.kinds.get(member).and_then(MemberKind::packing) {
            None => self.size,
            // These are bounds, and saturate: no count reaches a bound above `u64::MAX`.
            Some(packing) => {
                let all = self.size.saturating_mul(EMPTY_FACTOR);
                let chunks = chunks.max(1).saturating_mul(packing.chunk_size().into());
                MOST_EMPTY
                    .saturating_add(all)
                    .min(chunks.saturating_add(self.empty))
            }
        };
        let left = len_of(&(self.empty..most));
        let count = missing.filter(|missing| *missing <= left);
        if count == Some(0) {
            return Ok(None);
        }
        let is_certain = self.recovery.records_lost.is_some();
        let count_or_none = count.unwrap_or(0);
        self.output.empty(count_or_none)?;
        self.empty += count_or_none;
        let records = count.map(|count| self.at..self.at + count);
        self.recovery.lose_records(self.at, records.clone());
        self.at += count_or_none;
        Ok(records.filter(|_| is_certain))
    }

    fn damage(&mut self, error: Error, bytes: Option<Range<u64>>, records: Option<Range<u64>>) {
        self.recovery.damage(Damage {
            error,
            bytes,
            content: None,
            records,
        });
    }
}

impl<O: ContentOutput> SalvageSink for Collector<O> {
    fn accepts(&mut self, member: usize, bytes: Range<u64>) -> bool {
        let Some(wanted) = self.wants_records else {
            return true;
        };
        let what = match self.kinds.get(member) {
            Some(MemberKind::Unknown(error)) => format!("this member is left out: {error}"),
            Some(kind) if kind.has_records() == wanted => return true,
            _ if wanted => "this member is left out: its chunks are not records".to_owned(),
            _ => "this member is left out: its chunks are records".to_owned(),
        };
        let error = FormatError::Unsupported { what };
        let error = at(error, bytes.start, member, None, Section::Header);
        self.damage(error, Some(bytes), None);
        self.recovery.lose_chunks(None);
        if wanted {
            self.recovery.lose_records(self.at, None);
        } else {
            self.recovery.lose(None, false);
        }
        false
    }

    fn data(&mut self, member: usize, bytes: &[u8]) -> Result<()> {
        if self.has_records(member) {
            self.chunk.extend_from_slice(bytes);
            return Ok(());
        }
        self.output.content(bytes)?;
        self.recovery.note_recovered(to_u64(bytes.len()));
        Ok(())
    }

    fn chunk(&mut self, pending: &PendingChunk) -> Result<()> {
        if self.has_records(pending.member) {
            return self.records(pending);
        }
        self.recovery.chunks += 1;
        Ok(())
    }

    fn gap(&mut self, member: usize, gap: Gap) -> Result<()> {
        if self.has_records(member) {
            return self.record_gap(member, gap);
        }
        let zeros = self.recovery.gap(member, gap, &mut self.most_zeros);
        self.output.zeros(zeros)
    }

    fn part_damage(
        &mut self,
        member: usize,
        bytes: Range<u64>,
        section: Section,
        error: FormatError,
    ) {
        self.recovery.part_damage(member, bytes, section, error);
    }

    fn uncounted(&mut self, member: usize) {
        match self.kinds.get(member) {
            // They contain the numbers of their records.
            Some(MemberKind::Packed { .. }) => return,
            Some(kind) if kind.has_records() => self.recovery.lose_records(self.at, None),
            _ => {}
        }
        self.recovery.uncounted = true;
        self.recovery.content = None;
    }

    fn end(&mut self, member: usize, bytes: Range<u64>) -> Result<()> {
        if let Some(MemberKind::Packed {
            count: Some(count), ..
        }) = self.kinds.get(member)
            && *count > self.next
        {
            let (count, found) = (*count, self.next);
            let error = FormatError::record_count(count, found);
            let error = at(error, bytes.start, member, None, Section::Metadata);
            let records = self.lose(member, Some(count - found), 0)?;
            self.damage(error, None, records);
        }
        (self.next, self.run) = (0, None);
        Ok(())
    }
}
