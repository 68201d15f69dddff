//! [`scan`]: reads all of a source for members, their sound chunks, and the damage between them.
//!
//! A chunk is followed by a chunk, an end mark, a member, or the end. As long as that holds, the scan goes from one to the next,
//! and never looks into a sound chunk. Otherwise, the extent of the damage is given by the first of these that there is:
//!
//! 1. the damaged chunk's own header, if it leads to something sound, or if its sizes confirm each other;
//! 2. the table of offsets, from one entry to the next;
//! 3. a search byte by byte ([`search`](super::search)) for the next sound chunk or member.

use super::gaps::Gap;
use super::head::{Head, PartDamage, metadata_after_lost, table_before, text_after_lost};
use super::member::FoundMember;
use super::probe::{Probe, SoundChunk};
use super::table::Entry;
use crate::checked::{len_of, to_u64};
use blosc1::HEADER_LEN;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Checksum, FormatError, Hashers, Limits, Section};
use std::ops::Range;

const MAGIC_LEN: u64 = 4;
/// Bytes of the shortest head.
const LEAST_HEAD: u64 = 8;
/// Entries of the table that are tried to confirm a header.
const LEADING_ENTRIES: usize = 4;

/// A scan of a source, and the members that it has found so far.
pub(super) struct Scan<'a, S> {
    pub(super) probe: Probe<'a, S>,
    pub(super) members: Vec<FoundMember>,
    /// The member in whose damaged chunk the last member was found, and of which that may be data.
    pub(super) outer: Option<usize>,
    /// Positions of the members whose header may name a wrong checksum.
    distrusted: Vec<u64>,
}

/// Scans a source.
///
/// # Errors
/// Returns any error of the source.
pub(super) fn scan<S: ReadAt>(
    source: &S,
    limits: Limits,
    hashers: Hashers,
) -> Result<Vec<FoundMember>> {
    let members = Scan::new(source, limits, hashers, Vec::new())?.run()?;
    let doubtful = members.iter().filter(|member| member.is_doubtful());
    let distrusted: Vec<_> = doubtful.map(|member| member.at).collect();
    if distrusted.is_empty() {
        return Ok(members);
    }
    let again = Scan::new(source, limits, hashers, distrusted.clone())?.run()?;
    // A digest that is right is not an accident.
    let holds = |member: &FoundMember| {
        let by_digest = member.checksum.is_some_and(|kind| kind != Checksum::None);
        member.sound > 0 && by_digest && distrusted.contains(&member.at)
    };
    let sound = |members: &[FoundMember]| members.iter().map(|member| member.sound).sum::<u64>();
    Ok(
        if again.iter().any(holds) || sound(&again) > sound(&members) {
            again
        } else {
            members
        },
    )
}

impl<'a, S: ReadAt> Scan<'a, S> {
    fn new(source: &'a S, limits: Limits, hashers: Hashers, distrusted: Vec<u64>) -> Result<Self> {
        Ok(Self {
            probe: Probe::new(source, limits, hashers)?,
            members: Vec::new(),
            outer: None,
            distrusted,
        })
    }

    fn run(mut self) -> Result<Vec<FoundMember>> {
        let mut at = self.begin(0)?;
        while at < self.probe.size() {
            at = self.step(at)?;
        }
        Ok(self.members)
    }

    /// Continues from the end of the last item, and returns the end of the next one.
    fn step(&mut self, at: u64) -> Result<u64> {
        let Some(member) = self.members.last() else {
            return self.begin(at);
        };
        let (checksum, is_ended, is_complete) =
            (member.checksum, member.is_ended, member.is_complete());
        if !is_ended {
            if let Some((found, by)) = self.probe.sound(at, checksum)?
                && self.may_belong(found, by)?
            {
                return self.take(found, by);
            }
            if let Some(end) = self.probe.end_mark(at, checksum)? {
                let may_end = end == self.probe.size() || self.probe.is_magic(end)?;
                self.with_last(|member| {
                    member.is_ended = may_end || !member.forget_inner(end);
                });
                return Ok(end);
            }
        }
        if self.probe.is_magic(at)? || (is_complete && self.is_head(at, true)?) {
            self.outer = None;
            return self.begin(at);
        }
        self.damaged(at)
    }

    pub(super) fn with_last(&mut self, change: impl FnOnce(&mut FoundMember)) {
        if let Some(member) = self.members.last_mut() {
            change(member);
        }
    }

    /// Adds a sound chunk to the last member, and returns its end.
    pub(super) fn push(&mut self, found: SoundChunk, by: Checksum) -> u64 {
        self.with_last(|member| member.push(found, by));
        found.bytes(by).end
    }

    /// Whether a chunk without a digest may belong to the last member, whose checksum may not be known yet.
    pub(super) fn may_belong(&mut self, found: SoundChunk, by: Checksum) -> Result<bool> {
        let Some(member) = self.members.last().filter(|_| by == Checksum::None) else {
            return Ok(true);
        };
        let named = member.header.as_ref().map(|header| header.checksum);
        if named == Some(Checksum::None) && self.distrusted.contains(&member.at) {
            return Ok(false);
        }
        let is_known = member.checksum.is_some() || named == Some(Checksum::None);
        let is_lost = named.is_none();
        let end = found.bytes(by).end;
        // If a digest was cut off, nothing is left after its chunk.
        let is_followed = len_of(&(end..self.probe.size())) >= to_u64(HEADER_LEN);
        Ok(is_known || (self.probe.is_landing(end)? && (is_lost || is_followed)))
    }

    /// As [`push`](Self::push), unless the chunk has no digest and a better one begins inside of it, as if bytes have gone
    /// missing: then it adds that one.
    fn take(&mut self, found: SoundChunk, by: Checksum) -> Result<u64> {
        let end = found.bytes(by).end;
        if by == Checksum::None
            && !self.probe.is_landing(end)?
            && let Some((early, early_by)) = self.search_across(found.at, end)?
        {
            self.with_last(|member| {
                member.checksum.get_or_insert(by);
            });
            let error = FormatError::Cut {
                found: len_of(&(found.at..early.at)),
                expected: found.ctbytes.into(),
            };
            self.bad_short(found.at..early.at, found.nbytes, error);
            return Ok(self.push(early, early_by));
        }
        Ok(self.push(found, by))
    }

    /// Begins the member at this position, and returns the position of its first chunk.
    pub(super) fn begin(&mut self, at: u64) -> Result<u64> {
        let head = match Head::read(&mut self.probe, at, false)? {
            Ok(head) => head,
            Err(error) => match Head::read(&mut self.probe, at, true)? {
                Ok(head) if self.leads(&head)? => head,
                _ => return self.begin_lost(at, error),
            },
        };
        self.enter(head)
    }

    fn enter(&mut self, mut head: Head) -> Result<u64> {
        let (size, earliest) = (self.probe.size(), head.earliest);
        let chunks_at = head.chunks_at.filter(|at| *at <= size);
        let is_empty = head.header.nchunks == Some(0)
            && match chunks_at {
                Some(at) => at == size || self.probe.is_magic(at)?,
                None => false,
            };
        let leads = is_empty || self.leads(&head)?;
        let is_there = match chunks_at {
            Some(at) => is_empty || at == size || self.is_begun(&head, at)?,
            None => false,
        };
        if let (None, Some(expected)) = (chunks_at, head.chunks_at) {
            head.damages.push(PartDamage {
                bytes: head.at..size,
                section: if head.header.offsets {
                    Section::Offsets
                } else {
                    Section::Metadata
                },
                error: FormatError::Cut {
                    found: len_of(&(head.at..size)),
                    expected: len_of(&(head.at..expected)),
                },
            });
        }
        let from = head.at + LEAST_HEAD;
        let trusted = !self.distrusted.contains(&head.at);
        let mut member = FoundMember::of(head, trusted, leads);
        member.first_at = chunks_at.unwrap_or(earliest);
        self.members.push(member);
        if is_there {
            return Ok(chunks_at.unwrap_or(earliest));
        }
        // Bytes may be missing in the head, or its length may be wrong.
        let end = chunks_at.unwrap_or(size);
        let Some((found, by)) = self.search_early(from, end)? else {
            return Ok(chunks_at.unwrap_or(earliest));
        };
        self.find_table(found.at)?;
        let error = FormatError::Field {
            name: "position of the first chunk",
            found: found.at.into(),
            expected: "where header, metadata and table end",
        };
        self.gap(Gap {
            chunks: chunks_at.map(|_| 0),
            is_short: chunks_at.is_some(),
            ..Gap::new(earliest.min(found.at)..found.at, error)
        });
        Ok(self.push(found, by))
    }

    fn begin_lost(&mut self, at: u64, error: FormatError) -> Result<u64> {
        let mut member = FoundMember::lost(at);
        let size = self.probe.size();
        if let Some((metadata, end)) = metadata_after_lost(&mut self.probe, at)? {
            member.metadata = Some(metadata);
            member.first_at = end;
        } else {
            member.hint = text_after_lost(&mut self.probe, at)?;
        }
        member.look_for_records();
        let end = size.min(at + 32);
        member.damages.push(PartDamage {
            bytes: at..end,
            section: Section::Header,
            error,
        });
        // If the magic is left, it would be mistaken for the next member's.
        let is_magic = self.probe.is_magic(at)?;
        let least = at + if is_magic { MAGIC_LEN } else { 0 };
        let first_at = member.first_at.max(least);
        self.members.push(member);
        Ok(first_at)
    }

    /// Whether a member begins at this position, and its head leads to its chunks or to the end of its stream.
    pub(super) fn is_head(&mut self, at: u64, whatever_magic: bool) -> Result<bool> {
        match Head::read(&mut self.probe, at, whatever_magic)? {
            Ok(head) => self.leads(&head),
            Err(_) => Ok(false),
        }
    }

    fn leads(&mut self, head: &Head) -> Result<bool> {
        let entries = head.table.places().take(LEADING_ENTRIES);
        let places: Vec<u64> = head.chunks_at.into_iter().chain(entries).collect();
        for at in places {
            if self.is_begun(head, at)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a sound chunk or an end mark is here, by the checksum in the head.
    fn is_begun(&mut self, head: &Head, at: u64) -> Result<bool> {
        let checksum = Some(head.header.checksum).filter(|kind| *kind != Checksum::None);
        Ok(self.probe.sound(at, checksum)?.is_some()
            || self.probe.end_mark(at, checksum)?.is_some())
    }

    /// Finds the extent of the damage that begins here.
    fn damaged(&mut self, at: u64) -> Result<u64> {
        if let Some(end) = self.spare_end(at)? {
            return Ok(end);
        }
        let Some(member) = self.members.last() else {
            return Ok(self.probe.size());
        };
        if member.is_complete() {
            return self.search_after(at);
        }
        if let Some(end) = self.by_own_header(at)? {
            return Ok(end);
        }
        let number = self
            .members
            .last()
            .and_then(|member| member.table.number_at(at));
        let next = self.next_sound_entry(at)?;
        if let (Some(number), Some((end, next))) = (number, next)
            && number + 1 == next
        {
            let error = self.fault(at)?;
            let chunks = Some(1);
            self.gap(Gap {
                chunks,
                ..Gap::new(at..end, error)
            });
            return Ok(end);
        }
        let end = next.map(|(end, _)| end);
        self.search_inside(at, end, number.is_some())
    }

    /// Skips the zeros between two chunks, or after the last one.
    fn spare_end(&mut self, at: u64) -> Result<Option<u64>> {
        let size = self.probe.size();
        let Some(member) = self
            .members
            .last_mut()
            .filter(|member| member.allows_spare())
        else {
            return Ok(None);
        };
        let (checksum, is_complete) = (member.checksum, member.is_complete());
        let is_entry = member.table.number_at(at).is_some();
        let next = member.table.next_after(at).map(|entry| entry.at);
        if is_entry {
            return Ok(None);
        }
        let end = next.unwrap_or(size);
        let mut from = at;
        while from < end {
            let bytes = self.probe.window.sweep(from, 1)?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let is_all = zeros == bytes.len();
            from = (from + to_u64(zeros)).min(end);
            if !is_all {
                break;
            }
        }
        // After the last chunk, the next step looks at the bytes that follow the zeros.
        let is_told = is_complete || next == Some(from);
        let is_spare = from > at && (is_told || self.probe.sound(from, checksum)?.is_some());
        if is_spare && !is_told {
            self.note_zeros(at..from);
        }
        Ok(is_spare.then_some(from))
    }

    /// Zeros that are not spare according to a table may be a record that was wiped out.
    fn note_zeros(&mut self, bytes: Range<u64>) {
        let is_record = |member: &FoundMember| {
            let least = to_u64(HEADER_LEN) + member.digest_len();
            member.varies && len_of(&bytes) >= least
        };
        if self.members.last().is_some_and(is_record) {
            self.gap(Gap::new(bytes, FormatError::Spare { found: 0 }));
        }
    }

    /// The end of a damaged chunk by its own header, if something confirms it.
    fn by_own_header(&mut self, at: u64) -> Result<Option<u64>> {
        let Some(member) = self.members.last() else {
            return Ok(None);
        };
        let (Ok(header), Some(_)) = (self.probe.header(at)?, member.checksum) else {
            return Ok(None);
        };
        let end = member.end_of(at, &header);
        if header.is_end_mark() || !member.has_size(header.nbytes) {
            return Ok(None);
        }
        let is_entry =
            member.table.number_at(end).is_some() && member.table.number_at(at).is_some();
        // The end of the source would cut a record of any length.
        let is_usual =
            member.has_usual_size(header.nbytes) && (!member.varies || end <= self.probe.size());
        let is_border = self.is_border(end)?;
        let is_told = is_border || is_entry;
        if !is_told && (!is_usual || !self.probe.is_certain(at, &header)?) {
            return Ok(None);
        }
        let error = self.fault(at)?;
        let end = end.min(self.probe.size());
        // If bytes have gone missing, the next chunk begins before it should.
        let early = if is_border {
            None
        } else {
            self.search_across(at, end)?
        };
        if let Some((found, by)) = early {
            self.bad_short(at..found.at, header.nbytes, error);
            if self
                .members
                .last()
                .is_some_and(|member| member.checksum != Some(by))
            {
                // Across the border to a member whose header is lost.
                self.outer = None;
                self.members.push(FoundMember::lost(found.at));
            }
            return Ok(Some(self.push(found, by)));
        }
        self.gap(Gap {
            chunks: Some(1),
            len: Some(header.nbytes.into()),
            ..Gap::new(at..end, error)
        });
        Ok(Some(end))
    }

    /// Whether something begins here that can follow a chunk of the last member.
    pub(super) fn is_border(&mut self, at: u64) -> Result<bool> {
        let checksum = self.members.last().and_then(|member| member.checksum);
        Ok(at == self.probe.size()
            || (at < self.probe.size()
                && (self.probe.sound(at, checksum)?.is_some()
                    || self.probe.end_mark(at, checksum)?.is_some()
                    || self.probe.is_magic(at)?)))
    }

    /// The next entry of the table that leads to a sound chunk: its position and number.
    fn next_sound_entry(&mut self, at: u64) -> Result<Option<(u64, u64)>> {
        let mut from = at;
        loop {
            let Some(member) = self.members.last_mut() else {
                return Ok(None);
            };
            let Some(entry) = member.table.next_after(from) else {
                return Ok(None);
            };
            let (checksum, allows_spare) = (member.checksum, member.allows_spare());
            let next = member.table.next_after(entry.at);
            let next = next.filter(|next| next.number == entry.number + 1);
            if let Some((found, by)) = self.probe.sound(entry.at, checksum)? {
                // If everything has moved by whole chunks by chance, it is not the chunk of the entry.
                let end = found.bytes(by).end;
                let ends_there = |next: Entry| end == next.at || (allows_spare && end < next.at);
                if next.is_none_or(ends_there) && self.is_confirmed(end, next)? {
                    return Ok(Some((entry.at, entry.number)));
                }
            }
            self.with_last(|member| member.table.pass(entry));
            from = entry.at;
        }
    }

    /// Whether the next record is at its entry in the table as well. Records often have one length, so that one that has moved
    /// is easily mistaken for another.
    fn is_confirmed(&mut self, end: u64, next: Option<Entry>) -> Result<bool> {
        let Some(member) = self.members.last().filter(|member| member.varies) else {
            return Ok(true);
        };
        let checksum = member.checksum;
        Ok(match next {
            Some(next) => self.probe.sound(next.at, checksum)?.is_some(),
            None => self.probe.sound(end, checksum)?.is_none(),
        })
    }

    /// The error at a position where a chunk should begin.
    pub(super) fn fault(&mut self, at: u64) -> Result<FormatError> {
        let checksum = self.members.last().and_then(|member| member.checksum);
        match (self.probe.header(at)?, checksum) {
            (Ok(header), _) if header.is_end_mark() => Ok(FormatError::Trailing),
            (Ok(header), Some(checksum)) => self.probe.fault(at, &header, checksum),
            (Ok(_), None) => Ok(FormatError::Trailing),
            (Err(error), _) => Ok(error),
        }
    }

    pub(super) fn gap(&mut self, gap: Gap) {
        self.with_last(|member| member.push_gap(gap));
    }

    /// Adds a damaged chunk that, by its header, ends after the beginning of the next one.
    fn bad_short(&mut self, bytes: Range<u64>, nbytes: u32, error: FormatError) {
        self.gap(Gap {
            chunks: Some(1),
            len: Some(nbytes.into()),
            is_short: true,
            ..Gap::new(bytes, error)
        });
    }

    /// Looks for the table of a member with a lost header, in which a chunk was found.
    pub(super) fn find_table(&mut self, first_chunk: u64) -> Result<()> {
        let lacks_table = |member: &FoundMember| {
            let header = member.header.as_ref();
            member.sound == 0
                && member.table.len() == 0
                && header.is_none_or(|header| header.offsets && !member.is_unfilled)
        };
        let is_first = self.members.len() == 1 && self.members.last().is_some_and(lacks_table);
        if is_first && let Some((table, count)) = table_before(&mut self.probe, first_chunk)? {
            self.with_last(|member| {
                member.table = table;
                member.count.get_or_insert(count);
            });
        }
        Ok(())
    }
}
