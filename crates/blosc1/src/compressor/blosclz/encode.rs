//! Compression: a greedy walk, with a hash table of the last position of each four-byte word.
//!
//! ```text
//! run ─► pass over the first bytes: do they shrink enough, or else a later piece? ─► pass over the rest
//! pass   next: look up positions until one has a match
//!        ─► improve (high levels): does the next position have a longer match?
//!        ─► extend_back ─► write literals and match
//!        ─► look_again near its end, or repeats at the same distance
//! ```
//!
//! The walk looks at every position while it finds matches, and at fewer positions while it finds
//! none. It gives up a block whose beginning hardly shrinks, unless a later piece shrinks well.

use super::writer::Writer;
use super::{MAX_FAR, MAX_NEAR, Match};

/// Minimum length of a far match, which takes four bytes and interrupts the literals. A near match
/// takes two bytes and pays at four bytes, the length that is looked up.
const MIN_FAR: usize = 7;
/// A match of at least this length indicates repetitive data, where a second lookup at its end
/// pays.
const LONG: usize = 10;
/// Distance in bytes of that second lookup from the end of the match.
const OVERLAP: usize = 2;
/// Number of consecutive repeated matches before each of which the table is searched for an earlier
/// match; after them, before every fourth.
const ASKED: usize = 8;
/// No match begins in the last bytes of a block, so words can be read ahead without checks.
const LAST_START: usize = 12;
/// Literals at the end: C-Blosc refuses a stream whose last instruction is a match.
const TAIL: usize = 4;

/// How hard to search for matches.
struct Effort {
    /// Bits of the hash.
    hash_bits: u32,
    /// Binary logarithm of the number of consecutive misses after which the step grows by one byte.
    patience: u32,
    /// Whether to check if the next position has a longer match.
    lazy: bool,
    /// Percentage of its size to which the beginning of a block must shrink for the rest to be
    /// compressed. A block that shrinks less is faster to store, and faster to read.
    promising: usize,
}

impl Effort {
    /// The effort of a level; 0 counts as 1, and levels above 9 as 9.
    const fn of_level(level: u8) -> Self {
        let (hash_bits, patience, lazy, promising) = match level {
            0 | 1 => (12, 4, false, 55),
            2 => (13, 5, false, 67),
            3 => (14, 5, false, 85),
            4 => (14, 5, false, 87),
            5 => (14, 5, false, 88),
            6 => (14, 5, true, 89),
            7 => (14, 6, true, 91),
            8 => (14, 7, true, 94),
            _ => (14, 7, true, 98),
        };
        Self {
            hash_bits,
            patience,
            lazy,
            promising,
        }
    }
}

/// Bytes at the beginning of a block that decide whether it is worth compressing.
const PROBE: usize = 3072;

/// Entries of the table. Lower levels use only the beginning.
const TABLE: usize = 1 << 14;

/// The compressor, with the table that it keeps between calls.
pub(crate) struct Encoder {
    /// The last position of a word with that hash, plus the `base` of the call that entered it.
    table: Box<[u32; TABLE]>,
    /// Grows from call to call by more than the longest distance: entries of earlier calls are too
    /// far away to match, and the table need not be cleared.
    base: u32,
}

impl Encoder {
    /// A compressor with an empty table.
    pub fn new() -> Self {
        Self {
            table: Box::new([0; TABLE]),
            base: GAP,
        }
    }

    /// Compresses `src` into `dst` and returns the length of the stream.
    ///
    /// Returns `None` if the stream does not fit `dst`, is not shorter than `src`, or saves less
    /// than `level` requires (1 to 9; others count as the nearest).
    pub fn compress(&mut self, level: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let limit = dst.len().min(src.len().checked_sub(1)?);
        let mut out = Writer {
            dst: dst.get_mut(..limit)?,
            at: 0,
        };
        let base = self.reserve(src.len())?;
        let search = Search {
            src,
            table: &mut self.table,
            base,
            hash_shift: 32 - Effort::of_level(level).hash_bits,
            end: src.len().checked_sub(TAIL)?,
        };
        search.run(&Effort::of_level(level), &mut out)?;
        let len = out.at;
        // As in C-Blosc, the first byte marks the format's second level, as FastLZ calls it.
        *dst.first_mut()? |= 1 << 5;
        Some(len)
    }

    /// The base for a block of `len` bytes. Clears the table when 32 bits are used up.
    fn reserve(&mut self, len: usize) -> Option<u32> {
        let room = u32::try_from(len).ok()?.checked_add(GAP)?;
        if self.base.checked_add(room).is_none() {
            self.table.fill(0);
            self.base = GAP;
        }
        let base = self.base;
        self.base = base.checked_add(room)?;
        Some(base)
    }
}

/// Distance between the positions of two calls: more than any match can reach back.
const GAP: u32 = 1 << 17;

/// The walk of one call over its block.
struct Search<'a> {
    src: &'a [u8],
    table: &'a mut [u32; TABLE],
    base: u32,
    hash_shift: u32,
    /// The latest position at which a match may end.
    end: usize,
}

impl Search<'_> {
    /// Writes the whole stream; `None` if it does not fit or does not pay.
    fn run(mut self, effort: &Effort, out: &mut Writer) -> Option<()> {
        self.remember(0);
        // For a block that is too short for any match, this is 0.
        let stop = (self.src.len() + 1).saturating_sub(LAST_START);
        let (mut from, mut at) = (0, 1);
        if stop > 4 * PROBE {
            (from, at) = self.pass((from, at), PROBE, effort, out)?;
            if !out.promises(0, at - from, at, effort.promising)
                && !self.promises_later(stop / 4 * 3, effort, out)?
            {
                return None;
            }
        }
        (from, _) = self.pass((from, at), stop, effort, out)?;
        out.literals(self.src, from, self.src.len())
    }

    /// Whether a piece that begins at `start` shrinks well, for a block that begins poorly.
    ///
    /// Afterwards the table contains positions that the walk has yet to reach. Their distance is
    /// too long or 0, so they are not taken for matches.
    #[inline(never)]
    fn promises_later(&mut self, start: usize, effort: &Effort, out: &mut Writer) -> Option<bool> {
        let before = out.at;
        let (from, at) = self.pass((start, start + 1), start + PROBE / 2, effort, out)?;
        let pending = at - from;
        let promises = out.promises(before, pending, at - start, effort.promising);
        out.at = before;
        Some(promises)
    }

    /// Writes the matches that begin before `stop`, and the literals between them.
    ///
    /// Takes and returns the start of the literals that are not written yet, and the next position
    /// to look up, which is not before it.
    #[inline(never)]
    fn pass(
        &mut self,
        (from, at): (usize, usize),
        stop: usize,
        effort: &Effort,
        out: &mut Writer,
    ) -> Option<(usize, usize)> {
        // Local copies, so that their fields stay in registers.
        let mut search = Search {
            table: &mut *self.table,
            ..*self
        };
        let mut writer = Writer {
            dst: &mut *out.dst,
            at: out.at,
        };
        let place = if effort.lazy {
            search.walk::<true>((from, at), stop, effort.patience, &mut writer)
        } else {
            search.walk::<false>((from, at), stop, effort.patience, &mut writer)
        };
        out.at = writer.at;
        place
    }

    /// Implements [`Search::pass`]; with `LAZY`, also looks for a longer match at the next
    /// position.
    #[inline(always)]
    fn walk<const LAZY: bool>(
        &mut self,
        (mut from, mut at): (usize, usize),
        stop: usize,
        patience: u32,
        out: &mut Writer,
    ) -> Option<(usize, usize)> {
        while let Some(mut found) = self.next(&mut at, stop, patience) {
            loop {
                if LAZY {
                    found = self.improve(found);
                }
                found = self.extend_back(found, from);
                let again = self.look_again(found);
                if again.is_some() {
                    found.length -= OVERLAP;
                }
                out.sequence(self.src, from, found)?;
                let end = found.at + found.length;
                let is_element = end - from == found.distance;
                from = end;
                let next = match again {
                    None if is_element => self.repeats(&mut from, stop, found.distance, out)?,
                    again => again,
                };
                match next {
                    Some(next) => found = next,
                    None => break,
                }
            }
            at = from;
        }
        Some((from, at))
    }

    /// Looks for a match that begins just before the end of `found` and extends past it.
    ///
    /// This is the only position within a match that enters the table.
    #[inline(always)]
    fn look_again(&mut self, found: Match) -> Option<Match> {
        let at = found.at + found.length - OVERLAP;
        if found.length < LONG {
            self.remember(at);
            return None;
        }
        let copy = Search {
            table: &mut *self.table,
            ..*self
        };
        copy.look_up_apart(at)
    }

    /// [`Search::look_up`] on a copy, so that the fields of `self` can stay in registers.
    #[inline(never)]
    fn look_up_apart(mut self, at: usize) -> Option<Match> {
        let next = self.look_up(at);
        next.filter(|&next| worth(next) >= OVERLAP + 6)
    }

    /// The first match at a position from `at` to `stop`. Afterwards `at` is the beginning of the
    /// match, or not before `stop`.
    #[inline(always)]
    fn next(&mut self, at: &mut usize, stop: usize, patience: u32) -> Option<Match> {
        let mut misses = 1usize << patience;
        while *at < stop {
            if let Some(found) = self.look_up(*at) {
                return Some(found);
            }
            *at += misses >> patience;
            misses += 1;
        }
        None
    }

    /// Enters position `at` into the table.
    #[inline(always)]
    fn remember(&mut self, at: usize) {
        if let Some(word) = word_at(self.src, at) {
            self.table[hash(word, self.hash_shift)] = self.base + low_u32(at);
        }
    }

    /// The match of `at` with the last position of equal hash. `at` replaces that position in the
    /// table.
    #[inline(always)]
    fn look_up(&mut self, at: usize) -> Option<Match> {
        let word = word_at(self.src, at)?;
        let slot = &mut self.table[hash(word, self.hash_shift)];
        let position = self.base + low_u32(at);
        let seen = std::mem::replace(slot, position);
        let distance = position.wrapping_sub(seen) as usize;
        // Too long, or 0 for a position that `promises_later` has entered.
        if distance.wrapping_sub(1) >= MAX_FAR {
            return None;
        }
        let back = at.checked_sub(distance)?;
        if word_at(self.src, back)? != word {
            return None;
        }
        if distance == 1 {
            // Keep the beginning of the run: a later run of this byte then also matches the bytes
            // after it.
            *slot = seen;
        }
        let length = 4 + equal(self.src.get(back + 4..)?, self.src.get(at + 4..self.end)?);
        (distance <= MAX_NEAR || length >= MIN_FAR).then_some(Match {
            at,
            length,
            distance,
        })
    }

    /// Writes matches at the same distance as long as [`Search::repeat`] finds them.
    ///
    /// Returns a match from the table that begins earlier, if there is one.
    #[inline(always)]
    fn repeats(
        &mut self,
        from: &mut usize,
        stop: usize,
        distance: usize,
        out: &mut Writer,
    ) -> Option<Option<Match>> {
        let mut count = 0_usize;
        while *from < stop
            && let Some(found) = self.repeat(*from, distance)
        {
            // The more lookups have failed, the rarer they become.
            if count < ASKED || count.is_multiple_of(4) {
                let earlier = self.look_up(*from);
                if earlier.is_some() {
                    return Some(earlier);
                }
            }
            out.sequence(self.src, *from, found)?;
            *from = found.at + found.length;
            count += 1;
        }
        Some(None)
    }

    /// The match at the distance of the previous one that begins up to four bytes after its end, as
    /// in a series of numbers whose lowest bytes change.
    ///
    /// Finding it takes a fraction of the time of a table lookup.
    #[inline(always)]
    fn repeat(&mut self, from: usize, distance: usize) -> Option<Match> {
        if !(8..=MAX_NEAR).contains(&distance) {
            return None;
        }
        let body = self.src.get(..self.end)?;
        let (here, rest) = body.get(from..)?.split_first_chunk()?;
        let (back, back_rest) = body.get(from - distance..)?.split_first_chunk()?;
        let differ = u64::from_le_bytes(*here) ^ u64::from_le_bytes(*back);
        if differ >> 32 != 0 {
            return None;
        }
        let same = (differ.leading_zeros() / 8) as usize;
        let at = from + 8 - same;
        let length = same + equal(rest, back_rest);
        Some(Match {
            at,
            length,
            distance,
        })
    }

    /// Moves on to the next position while that has a longer match.
    #[inline(always)]
    fn improve(&mut self, mut found: Match) -> Match {
        while found.length < 32 && found.at + 1 + LAST_START <= self.src.len() {
            match self.look_up(found.at + 1) {
                Some(next) if worth(next) > worth(found) + 1 => found = next,
                _ => break,
            }
        }
        found
    }

    /// Moves the beginning of a match towards `from` while the bytes before it are equal.
    #[inline(always)]
    fn extend_back(&self, mut found: Match, from: usize) -> Match {
        while found.at > from
            && found.at > found.distance
            && self.src[found.at - 1] == self.src[found.at - 1 - found.distance]
        {
            found.at -= 1;
            found.length += 1;
        }
        found
    }
}

/// The value of a match: its length, and two more if it is near, since the short form saves two
/// bytes.
fn worth(found: Match) -> usize {
    found.length + if found.distance <= MAX_NEAR { 2 } else { 0 }
}

/// The four bytes at a position as a number; `None` past the end.
#[inline(always)]
fn word_at(src: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*src.get(at..)?.first_chunk()?))
}

/// The table entry of a word: the upper bits of a product, as many as the effort allows.
#[inline(always)]
fn hash(word: u32, shift: u32) -> usize {
    (word.wrapping_mul(2_654_435_761) >> shift) as usize & (TABLE - 1)
}

#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "Encoder::reserve has seen that lengths fit"
)]
fn low_u32(at: usize) -> u32 {
    at as u32
}

/// The number of leading bytes that `a` and `b` have in common.
#[inline(always)]
fn equal(a: &[u8], b: &[u8]) -> usize {
    // Most matches end within the first word.
    if let (Some(x), Some(y)) = (a.first_chunk(), b.first_chunk()) {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return (differ.trailing_zeros() / 8) as usize;
        }
    }
    equal_for_long(a, b)
}

/// [`equal`] for long matches, in a loop over 32 bytes.
#[inline(never)]
fn equal_for_long(a: &[u8], b: &[u8]) -> usize {
    const LINE: usize = 32;
    let (a_lines, b_lines) = (a.as_chunks::<LINE>().0, b.as_chunks::<LINE>().0);
    let lines = a_lines.iter().zip(b_lines);
    let mut at = LINE * lines.take_while(|(x, y)| x == y).count();
    while let (Some(x), Some(y)) = (a[at..].first_chunk(), b[at..].first_chunk()) {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return at + (differ.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = a[at..].iter().zip(&b[at..]);
    at + rest.take_while(|(x, y)| x == y).count()
}
