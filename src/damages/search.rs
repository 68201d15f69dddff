//! The search for the next sound chunk, byte by byte.
//!
//! A damaged chunk may contain whole Bloscpack files as data, stored without compression. Each finding is therefore compared
//! with the checksum, the chunk size and the offset table of the member. A member that is found inside a damaged chunk is data
//! if chunks of the outer member follow it.

use super::head::LEADING_ENTRIES;
use super::member::FoundMember;
use super::probe::SoundChunk;
use super::scan::Scan;
use super::span::{Gap, Span};
use bloscpack_error::Result;
use bloscpack_error::checked::{len_of, to_u64};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Checksum, internal::MAGIC};
use std::ops::Range;

/// The most zeros after a last chunk that are skipped as spare space.
const MOST_SPARE: usize = 4096;
/// Bytes of an end mark with the longest digest.
const LONGEST_MARK: u64 = 16 + 64;

/// The result of a search.
enum SearchHit {
    Chunk(SoundChunk),
    /// A chunk of the member around the last one.
    Outer(SoundChunk),
    Member(u64),
}

impl<S: ReadAt> Scan<'_, S> {
    /// Searches after damage in the last member, and returns the end of the span that it adds.
    pub(super) fn search(&mut self, at: u64) -> Result<u64> {
        let error = self.fault(at)?;
        // Only another member can follow a complete one.
        let is_complete = self.member.is_complete();
        let from = if is_complete { at } else { at + 1 };
        let end = self.probe.size();
        // Chunks between this entry of the table and the next are data of this chunk.
        let inside = self.member.table.number_at(at).is_some();
        let hit = self.find(from, end, |scan, place| {
            if !scan.probe.is_magic(place)? {
                return scan.chunk_at(place, inside);
            }
            let is_data = inside && scan.is_enclosed(place..place)?;
            let is_member = !is_data && scan.is_head(place, false)?;
            Ok(is_member.then_some(SearchHit::Member(place)))
        })?;
        let member_at = match hit {
            Some(SearchHit::Chunk(found)) => {
                if is_complete {
                    self.open(FoundMember::lost(at));
                }
                self.find_table(found.at)?;
                let table = &self.member.table;
                let pair = table.number_at(at).zip(table.number_at(found.at));
                let is_one = pair.is_some_and(|(number, next)| number + 1 == next);
                self.gap(Gap {
                    chunks: (is_one && !self.member.varies).then_some(1),
                    ..Gap::new(at..found.at, error)
                });
                return Ok(self.push(found));
            }
            Some(SearchHit::Outer(found)) => {
                self.fold_into_outer(found.at);
                return Ok(self.push(found));
            }
            Some(SearchHit::Member(place)) => Some(place),
            None => None,
        };
        let end = member_at.unwrap_or(end);
        if is_complete {
            self.member.trailing = Some(at..end);
            self.outer = None;
            return member_at.map_or(Ok(end), |_| self.begin(end));
        }
        // The damage may include the header of another member with another checksum.
        if let Some(found) = self.search_other(from, end)? {
            self.gap(Gap::new(at..found.at, error));
            self.open(FoundMember::lost(found.at));
            return Ok(self.push(found));
        }
        self.gap(Gap::new(at..end, error));
        if member_at.is_none() {
            return Ok(end);
        }
        let next = self.begin(end)?;
        self.outer = self.before.len().checked_sub(1);
        Ok(next)
    }

    /// Calls `look` for each position that may be the beginning of a chunk or a member, until it finds something.
    fn find<T>(
        &mut self,
        from: u64,
        end: u64,
        mut look: impl FnMut(&mut Self, u64) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let mut at = from;
        while at < end {
            let bytes = self.probe.window.sweep(at, MAGIC.len())?;
            let sign = bytes.windows(MAGIC.len()).position(is_sign);
            // Saturates if fewer bytes than the magic are left.
            let step = sign.unwrap_or(bytes.len().saturating_sub(MAGIC.len() - 1));
            let place = at + to_u64(step);
            if place >= end || (sign.is_none() && step == 0) {
                break;
            }
            at = place;
            if sign.is_some() {
                if let Some(found) = look(self, place)? {
                    return Ok(Some(found));
                }
                at += 1;
            }
        }
        Ok(None)
    }

    /// Searches for a chunk with a digest that belongs to neither the last member nor the one around it.
    fn search_other(&mut self, from: u64, end: u64) -> Result<Option<SoundChunk>> {
        if self.member.checksum.is_none() {
            return Ok(None);
        }
        self.find(from, end, |scan, place| {
            let found = scan.probe.sound_by_chance(place, None, None, None)?;
            let bare = found.filter(|found| found.by == Checksum::None);
            bare.iter().for_each(|found| scan.probe.reject(*found));
            Ok(found.filter(|_| bare.is_none()))
        })
    }

    /// Searches for the first chunk of the last member before the position to which its head leads.
    pub(super) fn search_early(&mut self, from: u64, end: u64) -> Result<Option<SoundChunk>> {
        let early = self.find(from, end, |scan, place| {
            scan.chunk_of(None, place, false, false)
        })?;
        // The checksum id in the header may be damaged as well.
        early.map_or_else(|| self.search_other(from, end), |found| Ok(Some(found)))
    }

    /// Removes the last member, which was data of a damaged chunk of the member around it.
    fn fold_into_outer(&mut self, end: u64) {
        let Some(outer) = self.outer.take() else {
            return;
        };
        self.before.truncate(outer + 1);
        if let Some(member) = self.before.pop() {
            self.member = member;
        }
        if let Some(Span::Gap(gap)) = self.member.spans.last_mut() {
            gap.bytes.end = end;
        }
    }

    /// The chunk at this position, of the last member or of the one around it.
    fn chunk_at(&mut self, at: u64, inside: bool) -> Result<Option<SearchHit>> {
        if let Some(found) = self.chunk_of(None, at, inside, self.outer.is_none())? {
            return Ok(Some(SearchHit::Chunk(found)));
        }
        if self.outer.is_none() {
            return Ok(None);
        }
        let found = self.chunk_of(self.outer, at, inside, false)?;
        Ok(found.map(SearchHit::Outer))
    }

    /// The chunk at this position, if it can belong to the member with this index, or with `None` to the last one. After a
    /// complete member, `may_be_new` allows a chunk that begins another one.
    fn chunk_of(
        &mut self,
        index: Option<usize>,
        at: u64,
        inside: bool,
        may_be_new: bool,
    ) -> Result<Option<SoundChunk>> {
        let member = index.and_then(|index| self.before.get(index));
        let member = member.unwrap_or(&self.member);
        let is_new = member.is_complete();
        if is_new && !may_be_new {
            return Ok(None);
        }
        let (mut checksum, mut chunk_size) = (member.checksum, member.chunk_size);
        let header = member.header.as_ref();
        let mut claimed = header.and_then(|header| header.chunk_size);
        let last = header.and_then(|header| header.last_chunk);
        let usual = [member.usual, last];
        if is_new {
            (checksum, chunk_size, claimed) = (None, None, None);
        }
        let found = self
            .probe
            .sound_by_chance(at, checksum, chunk_size, claimed)?;
        let Some(found) = found else {
            return Ok(None);
        };
        let is_data = inside && !self.member.varies && self.is_enclosed(at..found.end())?;
        // A short chunk is the last one.
        let is_full = chunk_size.is_none_or(|size| size == found.nbytes)
            || usual.contains(&Some(found.nbytes));
        let is_possible =
            !is_data && (is_new || self.may_belong(found)?) && (is_full || self.is_end(found)?);
        if !is_possible {
            // Count the work: chunks may be nested, each as long as the rest of the one around it.
            self.probe.reject(found);
        }
        Ok(Some(found).filter(|_| is_possible))
    }

    /// Whether these bytes are between two adjacent entries of the table, and the table leads to a sound chunk after them.
    fn is_enclosed(&mut self, bytes: Range<u64>) -> Result<bool> {
        let table = &self.member.table;
        let after = table.after(bytes.end).take(LEADING_ENTRIES);
        for at in after.filter(|_| table.encloses(&bytes)) {
            if self.probe.sound(at, self.member.checksum)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a member can end with this chunk.
    fn is_end(&mut self, last: SoundChunk) -> Result<bool> {
        // Skip spare space.
        let at = self.after_zeros(last.end())?;
        // A short rest may be a damaged end mark.
        Ok(len_of(&(at..self.probe.size())) <= LONGEST_MARK
            || self.probe.end_mark(at, Some(last.by))?.is_some()
            || self.probe.is_magic(at)?)
    }

    /// Searches in a damaged chunk of this extent for sound chunks that end after it. Other sound chunks in it are its data.
    pub(super) fn search_across(&mut self, at: u64, end: u64) -> Result<Option<SoundChunk>> {
        let (checksum, chunk_size) = (self.member.checksum, self.member.chunk_size);
        let mut data_end = at;
        self.find(at + 1, end, |scan, place| {
            if place < data_end {
                return Ok(None);
            }
            let found = scan
                .probe
                .sound_by_chance(place, checksum, chunk_size, None)?;
            if let Some(found) = found {
                data_end = scan.run_end(found)?;
            }
            Ok(found.filter(|_| data_end > end || data_end == scan.probe.size()))
        })
    }

    /// The end of the run of sound chunks that begins with this one.
    fn run_end(&mut self, first: SoundChunk) -> Result<u64> {
        let (mut at, by) = (first.end(), Some(first.by));
        while let Some(next) = self.probe.sound(at, by)? {
            at = next.end();
        }
        Ok(self.probe.end_mark(at, by)?.unwrap_or(at))
    }

    /// The position after the zeros that begin here, of which at most [`MOST_SPARE`] are skipped.
    fn after_zeros(&mut self, at: u64) -> Result<u64> {
        let bytes = self.probe.window.look(at, MOST_SPARE)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Ok(at + to_u64(zeros))
    }
}

/// Whether a member or a chunk of Blosc 1 may begin here. A chunk begins with its two versions.
fn is_sign(bytes: &[u8]) -> bool {
    matches!(bytes, [1 | 2, 1, ..]) || bytes == MAGIC
}
