//! [`Finder`]: finds the packed chunk that contains a record.
//!
//! Each chunk contains the number of its first record, so a file needs no table of them. If chunks have similar numbers of
//! records, the first guess is close. All numbers that were read are kept: a reader that has read every chunk guesses no more.
//!
//! ```text
//!   10 chunks, 1000 records, where is record 420?
//!   guess chunk 4: first 390, end 410 ─► after it ─► guess between chunks 5 and 9 ...
//! ```

use bloscpack_error::checked::{in_memory, len_of, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_wire::{FormatError, PackHead, Packing};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Not the number of any first record.
const UNKNOWN: u64 = u64::MAX;
/// Guesses by interpolation; after that, every other step halves the range.
const GUESSES: u32 = 4;

/// The number of chunks on each side of a damaged one that are tried in its place.
const BESIDE: usize = 64;

/// Finds the packed chunk that contains a record.
pub(super) struct Finder {
    /// The number of the first record of each chunk, or [`UNKNOWN`]; after them, the number of records.
    firsts: Vec<AtomicU64>,
    /// The most records in a chunk.
    most: u64,
}

impl Finder {
    pub(super) fn new(packing: Packing) -> Self {
        Self {
            firsts: vec![AtomicU64::new(0)],
            most: packing.most_records().into(),
        }
    }

    /// Grows to this number of chunks and records. Known numbers stay: appending only adds records.
    pub(super) fn grow(&mut self, chunks: u64, records: u64) -> Result<()> {
        let chunks = in_memory(chunks)?;
        self.firsts.pop();
        self.firsts.resize_with(chunks, || AtomicU64::new(UNKNOWN));
        self.firsts.push(AtomicU64::new(records));
        if let Some(first) = self.firsts.first().filter(|_| chunks > 0) {
            first.store(0, Relaxed);
        }
        Ok(())
    }

    /// Finds the chunk that contains this record of the file; `open` reads the head of a chunk.
    pub(super) fn find(&self, record: u64, open: impl Fn(u64) -> Result<PackHead>) -> Result<u64> {
        let (mut low, mut high) = (0, self.chunks());
        let mut step = 0;
        while high > low + 1 {
            let guess = match step {
                GUESSES.. if step % 2 == 0 => low.midpoint(high),
                _ => self.guess(record, low, high)?,
            };
            let (chunk, side) = match self.side(record, guess, &open) {
                Ok(side) => (guess, side),
                Err(error) => self.beside(record, guess, low..high, error, &open)?,
            };
            match side {
                Ordering::Less => high = chunk,
                Ordering::Equal => return Ok(to_u64(chunk)),
                Ordering::Greater => low = chunk + 1,
            }
            step += 1;
        }
        Ok(to_u64(low))
    }

    /// Whether a record is before a chunk, in it, or after it.
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

    /// Compares a record with sound chunks near a damaged one. Returns the chunk, and whether the record is before, in or after
    /// it.
    ///
    /// # Errors
    /// Returns `error` if only damaged chunks can contain the record.
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
        let after = damaged + 1..within.end;
        let sound = |chunk| Some((chunk, self.side(record, chunk, &open).ok()?));
        match (within.start..damaged).rev().take(BESIDE).find_map(sound) {
            Some((_, Ordering::Greater)) | None => {}
            Some(found) => return Ok(found),
        }
        match after.take(BESIDE).find_map(sound) {
            Some((_, Ordering::Less)) | None => Err(error),
            Some(found) => Ok(found),
        }
    }

    /// The number of chunks. The last entry is the number of records.
    fn chunks(&self) -> usize {
        self.firsts.len() - 1
    }

    /// The number of records.
    fn records(&self) -> u64 {
        // The count may be equal to `UNKNOWN`: then every record number is below it.
        self.known(self.chunks()).unwrap_or(u64::MAX)
    }

    /// The first record of a chunk, if it is known.
    fn known(&self, chunk: usize) -> Option<u64> {
        let first = self.firsts.get(chunk)?.load(Relaxed);
        Some(first).filter(|first| *first != UNKNOWN)
    }

    /// A chunk in `low..high`: where the record would be if all these chunks had the same number of records.
    fn guess(&self, record: u64, low: usize, high: usize) -> Result<usize> {
        // At first, neither may be known.
        let from = self.known(low).unwrap_or(0);
        let to = self.known(high).unwrap_or(u64::MAX);
        let chunks = u128::from(to_u64(high - low));
        let before = u128::from(len_of(&(from..record))) * chunks;
        let all = u128::from(len_of(&(from..to))).max(1);
        // A record past the last known one leads to the last chunk.
        let skip = (before / all).min(chunks - 1);
        let skip = usize::try_from(skip).map_err(|_| Error::bug("a guess past the last chunk"))?;
        Ok(low + skip)
    }

    /// The first record of a chunk, and of the next chunk.
    fn bounds(&self, chunk: usize, open: impl Fn(u64) -> Result<PackHead>) -> Result<(u64, u64)> {
        if let (Some(first), Some(end)) = (self.known(chunk), self.known(chunk + 1)) {
            return Ok((first, end));
        }
        let head = open(to_u64(chunk))?;
        Ok((head.first, head.end()))
    }

    /// Stores the numbers in the head of a chunk.
    ///
    /// # Errors
    /// Returns [`FormatError::Packing`] if they contradict other chunks.
    pub(super) fn learn(
        &self,
        chunk: u64,
        head: &PackHead,
    ) -> std::result::Result<(), FormatError> {
        let (chunks, records) = (to_u64(self.chunks()), self.records());
        let (first, end) = (head.first, head.end());
        // Every later chunk has at least one record.
        let after = len_of(&(chunk + 1..chunks));
        // The chunks before have at most `most` records each. The product saturates: no first record exceeds `u64::MAX`.
        let is_too_high = chunk.saturating_mul(self.most) < first;
        let leaves_none = records.checked_sub(after).is_none_or(|last| last < end);
        if is_too_high || first < chunk || leaves_none {
            return Err(FormatError::Packing {
                why: format!(
                    "as chunk {chunk} of {chunks} it cannot have the records {first} to {end} of {records}"
                ),
            });
        }
        let at = usize::try_from(chunk).ok();
        let Some(places) = at.and_then(|at| self.firsts.get(at..at + 2)) else {
            let why = format!("it is chunk {chunk} of {chunks}");
            return Err(FormatError::Packing { why });
        };
        for (place, found) in places.iter().zip([first, end]) {
            let expected = place.load(Relaxed);
            if expected == UNKNOWN {
                place.store(found, Relaxed);
            } else if expected != found {
                return Err(FormatError::Packing {
                    why: format!(
                        "it has the records {first} to {end}, but its neighbors require {expected} in place of {found}"
                    ),
                });
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
        of(packing(), chunks, records)
    }

    fn of(packing: Packing, chunks: u64, records: u64) -> Finder {
        let mut finder = Finder::new(packing);
        finder.grow(chunks, records).unwrap();
        finder
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
    fn no_chunk_follows_more_records_than_those_before_it_have_room_for() {
        // 64 bytes: a head of 16, and 48 lengths of records without a byte.
        for (first, is_possible) in [(96, true), (97, false), (u64::MAX - 2, false)] {
            let finder = of(Packing::new(64).unwrap(), 3, first + 1);
            let learned = finder.learn(2, &head(first, 1));
            assert_eq!(learned.is_ok(), is_possible, "{first}");
        }
    }
}
