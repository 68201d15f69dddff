//! [`Seen`]: compares the checksum of a stored file when all of its bytes have been read, in any order.

use crate::convert::to_u64;
use crc32fast::Hasher;
use std::collections::BTreeMap;

/// Maximum number of separate parts. A file that is read in more of them is not compared.
const MAX_PARTS: usize = 1 << 10;

/// The parts of a file that were read, with their checksums.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// By the first byte: the end of the part, and its checksum.
    parts: BTreeMap<u64, (u64, Hasher)>,
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Reading,
    /// All bytes were read and match, or there are too many parts.
    Done,
    Damaged(u32),
}

impl Seen {
    /// Adds bytes that were read. Returns the checksum of the file if it is known and not the expected one.
    pub(super) fn add(&mut self, at: u64, bytes: &[u8], len: u64, expected: u32) -> Option<u32> {
        if self.state == State::Reading {
            self.take(at, bytes);
            let whole = self.parts.first_key_value();
            let whole = whole.filter(|(start, (end, _))| (**start, *end) == (0, len));
            let found = whole.map(|(_, (_, hasher))| hasher.clone().finalize());
            match found {
                Some(found) if found != expected => self.state = State::Damaged(found),
                Some(_) => self.state = State::Done,
                None if self.parts.len() > MAX_PARTS => self.state = State::Done,
                None => {}
            }
            if self.state != State::Reading {
                self.parts.clear();
            }
        }
        match self.state {
            State::Damaged(found) => Some(found),
            _ => None,
        }
    }

    /// Adds the bytes that are new.
    fn take(&mut self, mut at: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let before = self.parts.range(..=at).next_back();
            let before = before.map(|(start, (end, _))| (*start, *end));
            let known = before.map_or(0, |(_, end)| end.saturating_sub(at));
            if known > 0 {
                let (_, rest) = split(bytes, known);
                (at, bytes) = (at + known, rest);
                continue;
            }
            let next = self.parts.range(at..).next().map(|(start, _)| *start);
            let (new, rest) = split(bytes, next.map_or(u64::MAX, |next| next - at));
            let end = at + to_u64(new.len());
            let joined = before.filter(|(_, end)| *end == at).map(|(start, _)| start);
            let start = joined.unwrap_or(at);
            let (part_end, hasher) = self.parts.entry(start).or_default();
            hasher.update(new);
            *part_end = end;
            if next == Some(end)
                && let Some((next_end, after)) = self.parts.remove(&end)
                && let Some((part_end, hasher)) = self.parts.get_mut(&start)
            {
                hasher.combine(&after);
                *part_end = next_end;
            }
            (at, bytes) = (end, rest);
        }
    }
}

/// The first `at` bytes, or all of them, and the rest.
fn split(bytes: &[u8], at: u64) -> (&[u8], &[u8]) {
    let at = usize::try_from(at).map_or(bytes.len(), |at| at.min(bytes.len()));
    bytes.split_at(at)
}

#[cfg(test)]
#[allow(
    clippy::single_range_in_vec_init,
    reason = "parts of a file, of which there may be one"
)]
mod tests {
    use super::*;
    use std::ops::Range;

    const ALL: &[u8] = b"any bytes in any order";

    fn found(parts: &[Range<usize>], expected: u32) -> Option<u32> {
        let mut seen = Seen::default();
        let add = |part: &Range<usize>| {
            let bytes = ALL.get(part.clone()).unwrap();
            seen.add(part.start as u64, bytes, ALL.len() as u64, expected)
        };
        parts.iter().map(add).last().unwrap()
    }

    #[test]
    fn the_order_and_overlaps_make_no_difference() {
        let crc = crc32fast::hash(ALL);
        for parts in [
            &[0..22][..],
            &[0..4, 4..22],
            &[10..22, 0..10],
            &[0..3, 2..9, 15..22, 8..16],
            &[20..22, 1..2, 5..9, 0..22],
            &[5..6, 7..8, 9..10, 0..1, 0..22],
        ] {
            assert_eq!(found(parts, crc), None, "{parts:?}");
            assert_eq!(found(parts, 7), Some(crc), "{parts:?}");
            // A part says nothing.
            assert_eq!(found(&[1..22], 7), None);
            assert_eq!(found(&[0..9, 10..22], 7), None);
        }
    }

    #[test]
    fn every_order_of_single_bytes_finds_the_same() {
        let crc = crc32fast::hash(ALL);
        for step in [1, 3, 5, 7, 9, 13, 15, 17, 19, 21] {
            let parts: Vec<_> = (0..22)
                .map(|at| at * step % 22)
                .map(|at| at..at + 1)
                .collect();
            assert_eq!(found(&parts, 7), Some(crc), "{step}");
            assert_eq!(found(&parts, crc), None, "{step}");
        }
    }
}
