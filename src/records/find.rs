//! Which packed chunk has a record.
//!
//! Each chunk says what its first record is, so that a file needs no table of them. Where chunks have
//! about as many records, the first guess is near; what a guess has shown is kept, so that a reader
//! that has been everywhere needs no more guesses.

use bloscpack_error::{Error, Result};
use bloscpack_wire::{FormatError, PackHead, Packing};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// What no first record has as its number.
const UNKNOWN: u64 = u64::MAX;
/// Guesses by number before the stretch that is left is halved at every other one.
const GUESSES: u32 = 4;

/// Chunks on each side of a damaged one that are asked instead of it.
const BESIDE: usize = 64;

pub(super) struct Finder {
    /// The first record of each chunk, as far as known, and behind them the number of records.
    firsts: Vec<AtomicU64>,
    /// Records of a chunk at the most.
    most: u64,
}

impl Finder {
    pub(super) fn new(chunks: u64, records: u64, packing: Packing) -> Self {
        let most = packing.most_records().into();
        let chunks = usize::try_from(chunks).unwrap_or(usize::MAX);
        let mut firsts = Vec::with_capacity(chunks.saturating_add(1));
        firsts.resize_with(chunks, || AtomicU64::new(UNKNOWN));
        firsts.push(AtomicU64::new(records));
        if let Some(first) = firsts.first() {
            first.store(0, Relaxed);
        }
        Self { firsts, most }
    }

    /// The chunk with this record, which is in the file; `open` reads the head of a chunk.
    pub(super) fn find(&self, record: u64, open: impl Fn(u64) -> Result<PackHead>) -> Result<u64> {
        let (mut low, mut high) = (0, self.firsts.len().saturating_sub(1));
        let mut step = 0;
        while high.saturating_sub(low) > 1 {
            let guess = match step {
                GUESSES.. if step % 2 == 0 => low.midpoint(high),
                _ => self.guess(record, low, high),
            };
            let (chunk, side) = match self.side(record, guess, &open) {
                Ok(side) => (guess, side),
                Err(error) => self.beside(record, guess, low..high, error, &open)?,
            };
            match side {
                Ordering::Less => high = chunk,
                Ordering::Equal => return Ok(u64::try_from(chunk).unwrap_or(u64::MAX)),
                Ordering::Greater => low = chunk.saturating_add(1),
            }
            step = step.saturating_add(1);
        }
        Ok(u64::try_from(low).unwrap_or(u64::MAX))
    }

    /// Whether a record stands before a chunk, in it, or behind it.
    fn side(
        &self,
        record: u64,
        chunk: usize,
        open: impl Fn(u64) -> Result<PackHead>,
    ) -> Result<Ordering> {
        let (first, end) = self.bounds(chunk, open)?;
        Ok(if record < first {
            Ordering::Less
        } else if record < end {
            Ordering::Equal
        } else {
            Ordering::Greater
        })
    }

    /// What sound chunks beside a damaged one tell of a record: which of them, and where it stands. If
    /// it can only be in damaged ones, that is the error.
    fn beside(
        &self,
        record: u64,
        damaged: usize,
        within: Range<usize>,
        error: Error,
        open: impl Fn(u64) -> Result<PackHead>,
    ) -> Result<(usize, Ordering)> {
        if !error.is_format() {
            return Err(error);
        }
        let behind = damaged.saturating_add(1)..within.end;
        let sound = |chunk| Some((chunk, self.side(record, chunk, &open).ok()?));
        match (within.start..damaged).rev().take(BESIDE).find_map(sound) {
            Some((_, Ordering::Greater)) | None => {}
            Some(found) => return Ok(found),
        }
        match behind.take(BESIDE).find_map(sound) {
            Some((_, Ordering::Less)) | None => Err(error),
            Some(found) => Ok(found),
        }
    }

    /// The number of chunks, and that of records.
    fn ends(&self) -> (u64, u64) {
        let chunks = self.firsts.len().saturating_sub(1);
        let records = self.known(chunks).unwrap_or(u64::MAX);
        (u64::try_from(chunks).unwrap_or(u64::MAX), records)
    }

    fn known(&self, chunk: usize) -> Option<u64> {
        let first = self.firsts.get(chunk)?.load(Relaxed);
        Some(first).filter(|first| *first != UNKNOWN)
    }

    /// A chunk from `low` on and before `high`, where the record should be if all between them have
    /// as many.
    fn guess(&self, record: u64, low: usize, high: usize) -> usize {
        let from = self.known(low).unwrap_or(0);
        let to = self.known(high).unwrap_or(u64::MAX).max(from);
        let chunks = u128::try_from(high.saturating_sub(low)).unwrap_or(0);
        let before = u128::from(record.saturating_sub(from)).saturating_mul(chunks);
        let all = u128::from(to.saturating_sub(from)).max(1);
        let skip = usize::try_from(before.checked_div(all).unwrap_or(0)).unwrap_or(usize::MAX);
        low.saturating_add(skip).min(high.saturating_sub(1))
    }

    /// The first record of a chunk, and that of the next.
    fn bounds(&self, chunk: usize, open: impl Fn(u64) -> Result<PackHead>) -> Result<(u64, u64)> {
        let next = chunk.saturating_add(1);
        if let (Some(first), Some(end)) = (self.known(chunk), self.known(next)) {
            return Ok((first, end));
        }
        let head = open(u64::try_from(chunk).unwrap_or(u64::MAX))?;
        Ok((head.first, head.end()))
    }

    /// Keeps what the head of a chunk tells.
    ///
    /// # Errors
    /// [`FormatError::Packing`] if other chunks tell otherwise.
    pub(super) fn learn(
        &self,
        chunk: u64,
        head: &PackHead,
    ) -> std::result::Result<(), FormatError> {
        let (chunks, records) = self.ends();
        // Every other chunk has a record of its own, too.
        let behind = chunks.saturating_sub(chunk).saturating_sub(1);
        // A few bytes would count more records than anybody could ask for.
        let is_beyond = chunk.saturating_mul(self.most) < head.first;
        if is_beyond || head.first < chunk || records.saturating_sub(behind) < head.end() {
            let why = format!(
                "as chunk {chunk} of {chunks} it cannot have the records {} to {} of {records}",
                head.first,
                head.end()
            );
            return Err(FormatError::Packing { why });
        }
        let chunk = usize::try_from(chunk).unwrap_or(usize::MAX);
        let places = [(chunk, head.first), (chunk.saturating_add(1), head.end())];
        for (at, found) in places {
            match self.known(at) {
                Some(expected) if expected != found => {
                    let why = format!(
                        "it has the records {} to {}, but by its neighbours {expected} should stand for {found}",
                        head.first,
                        head.end()
                    );
                    return Err(FormatError::Packing { why });
                }
                Some(_) => {}
                None => {
                    if let Some(place) = self.firsts.get(at) {
                        place.store(found, Relaxed);
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Finder, FormatError, PackHead, Packing};
    use std::cell::Cell;

    fn packing() -> Packing {
        Packing::new(1 << 24).unwrap()
    }

    fn finder(chunks: u64, records: u64) -> Finder {
        Finder::new(chunks, records, packing())
    }

    fn head(first: u64, count: u32) -> PackHead {
        let mut content = first.to_le_bytes().to_vec();
        content.extend(count.to_le_bytes());
        content.extend([1, 0, 0, 0]);
        PackHead::decode(&content, 1 << 24, packing()).unwrap()
    }

    #[test]
    fn every_record_is_found_in_few_steps_however_the_chunks_are_filled() {
        let fillings: [fn(u64) -> u32; 4] = [
            |_| 10,
            |chunk| if chunk == 0 { 100_000 } else { 1 },
            |chunk| if chunk == 999 { 100_000 } else { 1 },
            |chunk| u32::try_from(chunk * chunk % 97).unwrap() + 1,
        ];
        for (kind, filling) in fillings.into_iter().enumerate() {
            let mut first = 0;
            let heads: Vec<_> = (0..1000)
                .map(|chunk| {
                    let head = head(first, filling(chunk));
                    first = head.end();
                    head
                })
                .collect();
            for record in (0..first).step_by(7) {
                let finder = finder(1000, first);
                let opened = Cell::new(0);
                let open = |chunk: u64| {
                    opened.set(opened.get() + 1);
                    let head = heads[usize::try_from(chunk).unwrap()];
                    finder.learn(chunk, &head).unwrap();
                    Ok(head)
                };
                let chunk = finder.find(record, open).unwrap();
                let head = heads[usize::try_from(chunk).unwrap()];
                assert!(
                    (head.first..head.end()).contains(&record),
                    "{kind} {record}"
                );
                assert!(opened.get() <= 24, "{kind} {record}: {}", opened.get());
            }
        }
    }

    #[test]
    fn damage_hides_no_record_of_another_chunk() {
        let damaged = |chunk: u64| chunk % 10 == 3 || (40..60).contains(&chunk) || chunk == 99;
        for record in 0..1000 {
            let finder = finder(100, 1000);
            let open = |chunk: u64| {
                if damaged(chunk) {
                    return Err(FormatError::Trailing.into());
                }
                let head = head(chunk * 10, 10);
                finder.learn(chunk, &head).unwrap();
                Ok(head)
            };
            match finder.find(record, open) {
                Ok(chunk) => assert_eq!(chunk, record / 10),
                Err(_) => assert!(damaged(record / 10), "{record}"),
            }
        }
    }

    #[test]
    fn chunks_that_contradict_each_other_are_refused() {
        let finder = finder(3, 30);
        finder.learn(1, &head(10, 10)).unwrap();
        assert!(finder.learn(0, &head(0, 9)).is_err());
        assert!(finder.learn(0, &head(1, 9)).is_err());
        assert!(finder.learn(2, &head(20, 11)).is_err());
        assert!(finder.learn(2, &head(19, 11)).is_err());
        finder.learn(2, &head(20, 10)).unwrap();
    }

    #[test]
    fn no_chunk_has_the_records_of_all_others() {
        let finder = finder(3, 30);
        assert!(finder.learn(1, &head(0, 10)).is_err());
        assert!(finder.learn(2, &head(1, 29)).is_err());
        assert!(finder.learn(1, &head(1, 29)).is_err());
        finder.learn(1, &head(1, 28)).unwrap();
    }

    #[test]
    fn no_chunk_stands_behind_more_records_than_those_before_it_have_room_for() {
        // 64 bytes: a head of 16, and 48 lengths of records without a byte.
        for (first, is_possible) in [(96, true), (97, false), (u64::MAX - 2, false)] {
            let finder = Finder::new(3, first + 1, Packing::new(64).unwrap());
            let learned = finder.learn(2, &head(first, 1));
            assert_eq!(learned.is_ok(), is_possible, "{first}");
        }
    }
}
