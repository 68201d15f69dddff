//! The search for the next sound chunk, byte by byte.
//!
//! A damaged chunk may contain whole Bloscpack files that were stored without compression, as data. Everything that is found is
//! compared with all that is known of the member: its checksum, its chunk size and its table. A member that is found inside is
//! data after all if it is followed by chunks of the member around it.

use super::gaps::{Gap, Span};
use super::member::FoundMember;
use super::probe::SoundChunk;
use super::scan::Scan;
use crate::checked::{len_of, to_u64};
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Checksum, internal::MAGIC};

/// Spare space after a last chunk that is searched.
const MOST_SPARE: usize = 4096;
/// Bytes of an end mark and the longest digest.
const LONGEST_MARK: u64 = 16 + 64;

/// The result of a search.
enum SearchHit {
    Chunk(SoundChunk, Checksum),
    /// As a chunk, but of the member around the last one.
    Outer(SoundChunk, Checksum),
    FoundMember(u64),
}

/// Bounds of a search.
#[derive(Clone, Copy)]
struct Bounds {
    /// A sound chunk is known to begin here.
    sound_at: Option<u64>,
    /// Chunks between two entries of the table are data.
    by_table: bool,
}

impl<S: ReadAt> Scan<'_, S> {
    /// Searches from a damaged chunk of the last member on, and returns the end of what it found.
    pub(super) fn search_inside(
        &mut self,
        at: u64,
        sound_at: Option<u64>,
        by_table: bool,
    ) -> Result<u64> {
        let error = self.fault(at)?;
        let by_table = by_table && sound_at.is_some();
        let (from, end) = (at + 1, sound_at.unwrap_or(self.probe.size()));
        let next = self.search(from, end, Bounds { sound_at, by_table })?;
        match next {
            Some(SearchHit::Chunk(found, by)) => {
                self.find_table(found.at)?;
                self.gap(Gap::new(at..found.at, error));
                return Ok(self.push(found, by));
            }
            Some(SearchHit::Outer(found, by)) => {
                self.fold_into_outer(found.at);
                return Ok(self.push(found, by));
            }
            _ => {}
        }
        let member_at = match next {
            Some(SearchHit::FoundMember(place)) => Some(place),
            _ => None,
        };
        let end = member_at.unwrap_or(end);
        // Damage may cover the header of a member with another checksum.
        if sound_at.is_none()
            && let Some((found, by)) = self.search_other(from, end)?
        {
            self.gap(Gap::new(at..found.at, error));
            self.outer = None;
            self.members.push(FoundMember::lost(found.at));
            return Ok(self.push(found, by));
        }
        self.gap(Gap::new(at..end, error));
        if member_at.is_some() {
            let outer = self.members.len().checked_sub(1);
            let next = self.begin(end)?;
            self.outer = outer;
            return Ok(next);
        }
        Ok(end)
    }

    /// Searches for a chunk with a digest that belongs neither to the last member nor to the one around it.
    fn search_other(&mut self, from: u64, end: u64) -> Result<Option<(SoundChunk, Checksum)>> {
        let is_known = |member: &FoundMember| member.checksum.is_some();
        if !self.members.last().is_some_and(is_known) {
            return Ok(None);
        }
        let mut at = from;
        while let Some(place) = self.next_sign(at, end)? {
            at = place + 1;
            let found = self.probe.sound_by_chance(place, None, None, None)?;
            match found {
                Some((found, Checksum::None)) => self.probe.reject(found, Checksum::None),
                Some(found) => return Ok(Some(found)),
                None => {}
            }
        }
        Ok(None)
    }

    /// Searches for the first chunk of the last member before the position that its head leads to.
    pub(super) fn search_early(
        &mut self,
        from: u64,
        end: u64,
    ) -> Result<Option<(SoundChunk, Checksum)>> {
        let bounds = Bounds {
            sound_at: None,
            by_table: false,
        };
        let last = self.members.len().checked_sub(1);
        let mut at = from;
        while let Some(place) = self.next_sign(at, end)? {
            at = place + 1;
            let found = self.chunk_of(last, place, bounds, false)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        // The checksum id may be damaged, too.
        self.search_other(from, end)
    }

    /// Searches after the last chunk of the last member, which only another member can follow.
    pub(super) fn search_after(&mut self, at: u64) -> Result<u64> {
        let (size, error) = (self.probe.size(), self.fault(at)?);
        let bounds = Bounds {
            sound_at: None,
            by_table: false,
        };
        let next = self.search(at, size, bounds)?;
        if let Some(SearchHit::Outer(found, by)) = next {
            self.fold_into_outer(found.at);
            return Ok(self.push(found, by));
        }
        let end = match &next {
            Some(SearchHit::FoundMember(end)) => *end,
            Some(SearchHit::Chunk(found, _)) => found.at,
            _ => size,
        };
        match next {
            Some(SearchHit::Chunk(found, by)) => {
                self.outer = None;
                self.members.push(FoundMember::lost(at));
                self.gap(Gap::new(at..end, error));
                Ok(self.push(found, by))
            }
            Some(SearchHit::FoundMember(_)) => {
                self.with_last(|member| member.trailing = Some(at..end));
                self.outer = None;
                self.begin(end)
            }
            _ => {
                self.with_last(|member| member.trailing = Some(at..end));
                Ok(end)
            }
        }
    }

    /// Takes back the last member, which was data of a damaged chunk.
    fn fold_into_outer(&mut self, end: u64) {
        let Some(outer) = self.outer.take() else {
            return;
        };
        self.members.truncate(outer + 1);
        self.with_last(|member| {
            if let Some(Span::Gap(gap)) = member.spans.last_mut() {
                gap.bytes.end = end;
            }
        });
    }

    fn search(&mut self, from: u64, end: u64, bounds: Bounds) -> Result<Option<SearchHit>> {
        let mut at = from;
        while let Some(place) = self.next_sign(at, end)? {
            let next = if self.probe.is_magic(place)? {
                let is_member = !bounds.by_table && self.is_head(place, false)?;
                is_member.then_some(SearchHit::FoundMember(place))
            } else {
                self.chunk_at(place, bounds)?
            };
            if next.is_some() {
                return Ok(next);
            }
            at = place + 1;
        }
        Ok(None)
    }

    /// The next position that looks like the beginning of a chunk or a member.
    fn next_sign(&mut self, from: u64, end: u64) -> Result<Option<u64>> {
        let mut at = from;
        while at < end {
            let bytes = self.probe.window.sweep(at, MAGIC.len())?;
            let sign = bytes.windows(MAGIC.len()).position(is_sign);
            // Saturates at the end, where fewer bytes than the magic are left.
            let step = sign.unwrap_or(bytes.len().saturating_sub(MAGIC.len() - 1));
            let place = at + to_u64(step);
            if sign.is_some() {
                return Ok(Some(place).filter(|place| *place < end));
            }
            if step == 0 {
                return Ok(None);
            }
            at = place;
        }
        Ok(None)
    }

    /// The chunk at this position, of the last member or of the one around it.
    fn chunk_at(&mut self, at: u64, bounds: Bounds) -> Result<Option<SearchHit>> {
        let last = self.members.len().checked_sub(1);
        if let Some((found, by)) = self.chunk_of(last, at, bounds, self.outer.is_none())? {
            return Ok(Some(SearchHit::Chunk(found, by)));
        }
        if self.outer.is_none() {
            return Ok(None);
        }
        let found = self.chunk_of(self.outer, at, bounds, false)?;
        Ok(found.map(|(found, by)| SearchHit::Outer(found, by)))
    }

    /// The chunk at this position, if it can belong to this member. In a complete member, only if `may_be_new` says that it may
    /// begin another one.
    fn chunk_of(
        &mut self,
        member: Option<usize>,
        at: u64,
        bounds: Bounds,
        may_be_new: bool,
    ) -> Result<Option<(SoundChunk, Checksum)>> {
        let Some(member) = member.and_then(|member| self.members.get(member)) else {
            return Ok(None);
        };
        let (mut checksum, mut chunk_size) = (member.checksum, member.chunk_size);
        let usual = member.usual;
        let header = member.header.as_ref();
        let last = header.and_then(|header| header.last_chunk);
        let is_new = member.is_complete();
        let claimed = header
            .filter(|_| !is_new)
            .and_then(|header| header.chunk_size);
        if member.is_complete() {
            if !may_be_new {
                return Ok(None);
            }
            (checksum, chunk_size) = (None, None);
        }
        let Some((found, by)) = self
            .probe
            .sound_by_chance(at, checksum, chunk_size, claimed)?
        else {
            return Ok(None);
        };
        let bytes = found.bytes(by);
        let is_data =
            bounds.by_table && bounds.sound_at != Some(bytes.end) && self.is_enclosed(&bytes);
        // A short chunk is the last one.
        let is_full = chunk_size.is_none_or(|size| size == found.nbytes)
            || [usual, last].contains(&Some(found.nbytes));
        let is_possible = !is_data
            && (is_new || self.may_belong(found, by)?)
            && (is_full || self.is_end(bytes.end, by)?);
        if !is_possible {
            // Chunks may be nested, each as long as the rest of the one around it.
            self.probe.reject(found, by);
        }
        Ok(is_possible.then_some((found, by)))
    }

    fn is_enclosed(&self, bytes: &std::ops::Range<u64>) -> bool {
        let member = self.members.last();
        member.is_some_and(|member| member.table.encloses(bytes))
    }

    /// Whether a member with this checksum can end here.
    fn is_end(&mut self, at: u64, checksum: Checksum) -> Result<bool> {
        // There may be spare space first.
        let at = self.after_zeros(at)?;
        // Or the rest may have been an end mark.
        Ok(len_of(&(at..self.probe.size())) <= LONGEST_MARK
            || self.probe.end_mark(at, Some(checksum))?.is_some()
            || self.probe.is_magic(at)?)
    }

    /// Searches in a damaged chunk of this extent for sound ones that reach past its end. Sound chunks that do not are its data.
    pub(super) fn search_across(
        &mut self,
        at: u64,
        end: u64,
    ) -> Result<Option<(SoundChunk, Checksum)>> {
        let Some(member) = self.members.last() else {
            return Ok(None);
        };
        let (checksum, chunk_size) = (member.checksum, member.chunk_size);
        let mut from = at + 1;
        while let Some(place) = self.next_sign(from, end)? {
            from = place + 1;
            let found = self
                .probe
                .sound_by_chance(place, checksum, chunk_size, None)?;
            if let Some((found, by)) = found {
                let reached = self.run_end(found.bytes(by).end, by)?;
                if reached > end || reached == self.probe.size() {
                    return Ok(Some((found, by)));
                }
                from = reached;
            }
        }
        Ok(None)
    }

    /// Where the consecutive sound chunks end that begin here.
    fn run_end(&mut self, at: u64, checksum: Checksum) -> Result<u64> {
        let allows_spare = self.members.last().is_some_and(FoundMember::allows_spare);
        let mut at = at;
        loop {
            let mut next = self.probe.sound(at, Some(checksum))?;
            if next.is_none() && allows_spare {
                let after = self.after_zeros(at)?;
                next = self.probe.sound(after, Some(checksum))?;
            }
            match next {
                Some((found, by)) => at = found.bytes(by).end,
                None => return Ok(self.probe.end_mark(at, Some(checksum))?.unwrap_or(at)),
            }
        }
    }

    /// The first byte from here on that is not zero, unless it is far.
    fn after_zeros(&mut self, at: u64) -> Result<u64> {
        let bytes = self.probe.window.look(at, MOST_SPARE)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Ok(at + to_u64(zeros))
    }
}

/// A chunk of Blosc 1 begins with its two versions.
fn is_sign(bytes: &[u8]) -> bool {
    matches!(bytes, [1 | 2, 1, ..]) || bytes == MAGIC
}
