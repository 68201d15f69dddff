//! What is done with what a salvage finds: it is counted, reported, and written.

use super::content::Gap;
use super::kind::Kind;
use super::report::Recovery;
use super::salvage::{Pending, Taker};
use super::{at, window};
use crate::verify::Damage;
use bloscpack_error::Result;
use bloscpack_wire::{FormatError, PackHead, Section, offsets::CHUNK_HEADER_LEN};
use std::ops::Range;

/// Empty records in packed chunks that may stand for lost ones, beside so many for each byte of the
/// source: a chunk says by itself how many are lost before it.
const MOST_EMPTY: u64 = 16 << 20;
const EMPTY_FACTOR: u64 = 16;

/// Where content or records go.
pub(super) trait Output {
    /// The next bytes of one content.
    fn content(&mut self, bytes: &[u8]) -> Result<()>;
    /// As many zeros of it.
    fn zeros(&mut self, count: u64) -> Result<()>;
    /// The next record.
    fn record(&mut self, record: &[u8]) -> Result<()>;
    /// As many empty records.
    fn empty(&mut self, count: u64) -> Result<()>;
}

/// Nowhere.
pub(super) struct Nothing;

impl Output for Nothing {
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

pub(super) struct Taking<O> {
    pub output: O,
    pub recovery: Recovery,
    kinds: Vec<Kind>,
    /// Whether records are taken and content left out, or the other way round; nothing if all is
    /// taken.
    wants_records: Option<bool>,
    /// Zeros that may still be written in place of what is lost.
    most_zeros: u64,
    /// Bytes of the source.
    size: u64,
    /// The chunk of records that is being handed over.
    chunk: Vec<u8>,
    /// The number of the next record in its member.
    next: u64,
    /// The number of the next record in what is written.
    at: u64,
    /// Empty records so far.
    empty: u64,
    /// Damage was all there is since the last sound chunk, and these records were lost with it.
    run: Option<Option<Range<u64>>>,
}

impl<O: Output> Taking<O> {
    pub(super) fn new(output: O, recovery: Recovery, kinds: Vec<Kind>, size: u64) -> Self {
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
        self.kinds.get(member).is_some_and(Kind::has_records)
    }

    /// Takes the records of a chunk.
    fn records(&mut self, pending: &Pending) -> Result<()> {
        let chunk = std::mem::take(&mut self.chunk);
        let taken = match self.kinds.get(pending.member) {
            Some(Kind::Packed { .. }) => self.unpack(pending, &chunk)?,
            _ => {
                self.output.record(&chunk)?;
                self.took(1);
                Ok(())
            }
        };
        self.chunk = chunk;
        self.chunk.clear();
        match taken {
            Ok(()) => {
                self.run = None;
                self.recovery.win(pending.found.nbytes.into());
                self.recovery.chunks = self.recovery.chunks.saturating_add(1);
                Ok(())
            }
            Err(error) => self.gap(pending.member, pending.gap(error)),
        }
    }

    fn unpack(
        &mut self,
        pending: &Pending,
        chunk: &[u8],
    ) -> Result<std::result::Result<(), FormatError>> {
        let Some(Kind::Packed { links, packing, .. }) = self.kinds.get(pending.member) else {
            return Ok(Ok(()));
        };
        let nbytes = pending.found.nbytes;
        let Some(head) = links.head_at(pending.found.at) else {
            let wrong = PackHead::decode(chunk, nbytes, *packing);
            return Ok(Err(match wrong.map(|head| head.check_first(self.next)) {
                Ok(Err(error)) | Err(error) => error,
                // It has the right number, and the chunks behind it have the same.
                Ok(Ok(())) => FormatError::Packing {
                    why: "its records are those of other chunks".to_owned(),
                },
            }));
        };
        if let Err(error) = head.check_lengths(chunk, nbytes) {
            return Ok(Err(error));
        }
        self.skip_to(&head, pending)?;
        let mut from = usize::try_from(head.values_at()).unwrap_or(usize::MAX);
        for length in head.lengths(chunk) {
            let end = from.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
            self.output
                .record(chunk.get(from..end).unwrap_or_default())?;
            from = end;
        }
        self.took(head.count.into());
        Ok(Ok(()))
    }

    /// Loses the records that should lie between two chunks that follow one another.
    fn skip_to(&mut self, head: &PackHead, pending: &Pending) -> Result<()> {
        let Err(error) = head.check_first(self.next) else {
            return Ok(());
        };
        if self.run.is_none() {
            let place = pending.found.at;
            let error = at(error, place, pending.member, pending.number, Section::Chunk);
            let missing = head.first.saturating_sub(self.next);
            let records = self.lose(pending.member, Some(missing), 0)?;
            self.recovery.chunks_lost = None;
            self.damage(error, Some(place..place), records);
        }
        self.next = head.first;
        Ok(())
    }

    fn took(&mut self, records: u64) {
        self.next = self.next.saturating_add(records);
        self.at = self.at.saturating_add(records);
        self.recovery.records = self.recovery.records.saturating_add(records);
    }

    /// How many records are lost in a gap.
    fn missing(&self, member: usize, gap: &Gap) -> Option<u64> {
        let Some(Kind::Packed { links, count, .. }) = self.kinds.get(member) else {
            return gap.chunks;
        };
        let from = gap.bytes.start;
        let before = if gap.bytes.is_empty() {
            from.saturating_sub(1)
        } else {
            from
        };
        match links.first_behind(before).or(*count) {
            Some(next) => Some(next.saturating_sub(self.next)),
            None => gap.chunks.filter(|chunks| *chunks == 0),
        }
    }

    fn record_gap(&mut self, member: usize, gap: Gap) -> Result<()> {
        let missing = self.missing(member, &gap);
        let is_packed = matches!(self.kinds.get(member), Some(Kind::Packed { .. }));
        let is_nothing = match gap.error {
            FormatError::MissingChunks { .. } => gap.bytes.is_empty(),
            FormatError::Spare { .. } => true,
            _ => false,
        };
        if is_packed && is_nothing && missing == Some(0) {
            return Ok(());
        }
        // Of damages without a sound chunk between them, the first has lost all.
        let (records, chunks) = match self.run.clone() {
            Some(records) if is_packed => (records, gap.chunks),
            _ => {
                let len = gap.bytes.end.saturating_sub(gap.bytes.start);
                let most = (len / CHUNK_HEADER_LEN).max(gap.chunks.unwrap_or(0));
                let records = self.lose(member, missing, most)?;
                let chunks = gap.chunks.or(missing.filter(|missing| *missing == 0));
                (records, chunks)
            }
        };
        self.next = self.next.saturating_add(missing.unwrap_or(0));
        self.run = Some(records.clone());
        self.recovery.lose_chunks(chunks);
        let error = at(gap.error, gap.bytes.start, member, gap.number, gap.section);
        self.damage(error, Some(gap.bytes), records);
        Ok(())
    }

    /// Puts empty records in the place of lost ones, of up to `chunks` chunks, and gives their
    /// numbers, where those are known.
    fn lose(
        &mut self,
        member: usize,
        missing: Option<u64>,
        chunks: u64,
    ) -> Result<Option<Range<u64>>> {
        let most = match self.kinds.get(member).and_then(Kind::packing) {
            None => self.size,
            Some(packing) => {
                let all = self.size.saturating_mul(EMPTY_FACTOR);
                let chunks = chunks.max(1).saturating_mul(packing.chunk_size().into());
                MOST_EMPTY
                    .saturating_add(all)
                    .min(chunks.saturating_add(self.empty))
            }
        };
        let left = most.saturating_sub(self.empty);
        let count = missing.filter(|missing| *missing <= left);
        if count == Some(0) {
            return Ok(None);
        }
        let is_certain = self.recovery.records_lost.is_some();
        let count_or_none = count.unwrap_or(0);
        self.output.empty(count_or_none)?;
        self.empty = self.empty.saturating_add(count_or_none);
        let records = count.map(|count| self.at..self.at.saturating_add(count));
        self.recovery.lose_records(self.at, records.clone());
        self.at = self.at.saturating_add(count_or_none);
        Ok(records.filter(|_| is_certain))
    }

    fn damage(
        &mut self,
        error: bloscpack_error::Error,
        bytes: Option<Range<u64>>,
        records: Option<Range<u64>>,
    ) {
        self.recovery.damage(Damage {
            error,
            bytes,
            content: None,
            records,
        });
    }
}

impl<O: Output> Taker for Taking<O> {
    fn takes(&mut self, member: usize, bytes: Range<u64>) -> bool {
        let Some(wanted) = self.wants_records else {
            return true;
        };
        let what = match self.kinds.get(member) {
            Some(Kind::Unknown(error)) => format!("this member is left out: {error}"),
            Some(kind) if kind.has_records() == wanted => return true,
            _ if wanted => "this member is left out: its chunks are no records".to_owned(),
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
        self.recovery.win(window::to_u64(bytes.len()));
        Ok(())
    }

    fn chunk(&mut self, pending: &Pending) -> Result<()> {
        if self.has_records(pending.member) {
            return self.records(pending);
        }
        self.recovery.chunks = self.recovery.chunks.saturating_add(1);
        Ok(())
    }

    fn gap(&mut self, member: usize, gap: Gap) -> Result<()> {
        if self.has_records(member) {
            return self.record_gap(member, gap);
        }
        let zeros = self.recovery.gap(member, gap, &mut self.most_zeros);
        self.output.zeros(zeros)
    }

    fn flaw(&mut self, member: usize, bytes: Range<u64>, section: Section, error: FormatError) {
        self.recovery.flaw(member, bytes, section, error);
    }

    fn uncounted(&mut self, member: usize) {
        match self.kinds.get(member) {
            // They say by themselves which records they have.
            Some(Kind::Packed { .. }) => return,
            Some(kind) if kind.has_records() => self.recovery.lose_records(self.at, None),
            _ => {}
        }
        self.recovery.uncounted = true;
        self.recovery.content = None;
    }

    fn end(&mut self, member: usize, bytes: Range<u64>) -> Result<()> {
        if let Some(Kind::Packed {
            count: Some(count), ..
        }) = self.kinds.get(member)
            && *count > self.next
        {
            let (count, found) = (*count, self.next);
            let error = FormatError::record_count(count, found);
            let error = at(error, bytes.start, member, None, Section::Metadata);
            let records = self.lose(member, Some(count.saturating_sub(found)), 0)?;
            self.damage(error, None, records);
        }
        (self.next, self.run) = (0, None);
        Ok(())
    }
}
