//! Compression: a hash table of the last position of each word of four bytes, and a walk that
//! takes what it finds.
//!
//! Matches are looked for at every position while there are some, at fewer where there are none.
//! A block whose beginning hardly shrinks (and which does not do better further on) is given up.

use super::{MAX_FAR, MAX_LITERALS, MAX_NEAR};

/// Bytes that a far match must have to be worth its four bytes and a break in the literals. A near
/// one takes two and is worth it from the four bytes on that are looked up.
const MIN_FAR: usize = 7;
/// Matches from this length on are seen as repetitive data, where looking twice at their end pays.
const LONG: usize = 10;
/// No match begins in the last bytes of a block: words can be read ahead without care.
const LAST_START: usize = 12;
/// Literals at the end: C-Blosc refuses a stream whose last instruction is a match.
const TAIL: usize = 4;

/// How hard to look for matches.
struct Effort {
    /// Bits of the hash.
    hash_bits: u32,
    /// Misses in a row, as a power of two, after which the step grows by one byte.
    patience: u32,
    /// Whether to see if the next position has a longer match.
    lazy: bool,
    /// Percentage of its size to which the beginning of a block must have shrunk for the rest to
    /// be tried. Storing a block that shrinks less is faster, both now and when it is read.
    promising: usize,
}

impl Effort {
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

/// Bytes at the beginning of a block that show whether it is worth compressing.
const PROBE: usize = 3072;

/// Entries of the table, of which lower levels use the beginning.
const TABLE: usize = 1 << 14;

/// The compressor's memory between calls.
pub(crate) struct Encoder {
    /// Where a word with that hash was seen last, plus the `base` of that call.
    table: Box<[u32; TABLE]>,
    /// Grows from call to call by more than a match can reach back, so that what earlier calls
    /// left in the table is too far away and needs no clearing.
    base: u32,
}

impl Encoder {
    /// A compressor that has seen nothing.
    pub fn new() -> Self {
        Self {
            table: Box::new([0; TABLE]),
            base: GAP,
        }
    }

    /// Compresses `src` into `dst` and returns the length of the stream, or `None` if that does
    /// not fit `dst`, is not shorter than `src`, or so little shorter that `level` (1 to 9; others
    /// count as the nearest) would rather have the block stored.
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
        // C-Blosc marks the format's second level, as FastLZ calls it, in the first byte.
        *dst.first_mut()? |= 1 << 5;
        Some(len)
    }

    /// The base for a block of `len` bytes.
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

/// What lies between the positions of two calls: more than any distance.
const GAP: u32 = 1 << 17;

/// One call's walk over its block.
struct Search<'a> {
    src: &'a [u8],
    table: &'a mut [u32; TABLE],
    base: u32,
    hash_shift: u32,
    /// Where matches end at the latest.
    end: usize,
}

/// `length` bytes at `at` equal those `distance` before.
#[derive(Clone, Copy)]
struct Match {
    at: usize,
    length: usize,
    distance: usize,
}

impl Search<'_> {
    /// Writes the whole stream.
    fn run(mut self, effort: &Effort, out: &mut Writer) -> Option<()> {
        self.remember(0);
        let stop = (self.src.len() + 1).saturating_sub(LAST_START);
        let (mut from, mut at) = (0, 1);
        if stop > 4 * PROBE {
            (from, at) = self.pass((from, at), PROBE, effort, out)?;
            if !out.promises(0, at.saturating_sub(from), at, effort.promising)
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
    /// The table then knows positions to come. They look like ones too far away, or like the very
    /// position that is looked at.
    #[inline(never)]
    fn promises_later(&mut self, start: usize, effort: &Effort, out: &mut Writer) -> Option<bool> {
        let before = out.at;
        let (from, at) = self.pass((start, start + 1), start + PROBE / 2, effort, out)?;
        let pending = at.saturating_sub(from);
        let promises = out.promises(before, pending, at - start, effort.promising);
        out.at = before;
        Some(promises)
    }

    /// Writes the matches that begin before `stop`, and what lies between them.
    ///
    /// Takes and returns where the literals to come begin, and where to look next.
    #[inline(never)]
    fn pass(
        &mut self,
        (mut from, mut at): (usize, usize),
        stop: usize,
        effort: &Effort,
        out: &mut Writer,
    ) -> Option<(usize, usize)> {
        let mut next = self.next(&mut at, stop, effort.patience);
        while let Some(mut found) = next {
            if effort.lazy {
                found = self.improve(found);
            }
            found = self.extend_back(found, from);
            next = self.cut_short(&mut found);
            out.literals(self.src, from, found.at)?;
            out.copy(found.length, found.distance)?;
            from = found.at + found.length;
            at = from;
            if next.is_none() {
                next = self.next(&mut at, stop, effort.patience);
            }
        }
        Some((from, at))
    }

    /// Looks for a match that begins just before `found` ends, and goes on where that cannot. If
    /// there is one, `found` ends where it begins.
    ///
    /// This is the only position within a match that the table gets to know.
    #[inline]
    fn cut_short(&mut self, found: &mut Match) -> Option<Match> {
        const OVERLAP: usize = 2;
        let at = found.at + found.length - OVERLAP;
        if found.length < LONG {
            self.remember(at);
            return None;
        }
        let next = self.look_up(at)?;
        if worth(next) < OVERLAP + 6 {
            return None;
        }
        found.length -= OVERLAP;
        Some(next)
    }

    /// The first match from `at` up to `stop`; leaves `at` where it begins, or at `stop` or beyond.
    #[inline]
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

    /// Lets later positions find `at`.
    #[inline]
    fn remember(&mut self, at: usize) {
        if let Some(word) = word_at(self.src, at) {
            self.table[hash(word, self.hash_shift)] = self.base + low_u32(at);
        }
    }

    /// The match at `at` with the last position of equal hash, which `at` replaces.
    #[inline(always)]
    fn look_up(&mut self, at: usize) -> Option<Match> {
        let word = word_at(self.src, at)?;
        let slot = &mut self.table[hash(word, self.hash_shift)];
        let position = self.base + low_u32(at);
        let seen = std::mem::replace(slot, position);
        let distance = position.wrapping_sub(seen) as usize;
        // Too far, or no distance at all: a position that `promises_later` has seen.
        if distance.wrapping_sub(1) >= MAX_FAR {
            return None;
        }
        let back = at.checked_sub(distance)?;
        if word_at(self.src, back)? != word {
            return None;
        }
        if distance == 1 {
            // Where the run begins is the better place to remember: a later run of that byte then
            // matches with what follows it.
            *slot = seen;
        }
        let length = 4 + equal(self.src.get(back + 4..)?, self.src.get(at + 4..self.end)?);
        (distance <= MAX_NEAR || length >= MIN_FAR).then_some(Match {
            at,
            length,
            distance,
        })
    }

    /// Tries the next positions as long as they have longer matches.
    #[inline]
    fn improve(&mut self, mut found: Match) -> Match {
        while found.length < 32 && found.at + 1 + LAST_START <= self.src.len() {
            match self.look_up(found.at + 1) {
                Some(next) if worth(next) > worth(found) + 1 => found = next,
                _ => break,
            }
        }
        found
    }

    /// Moves the beginning of a match towards `from` while the bytes before it are equal too.
    #[inline]
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

/// Length of a match; two more if it is near, which saves two bytes of saying so.
fn worth(found: Match) -> usize {
    found.length + if found.distance <= MAX_NEAR { 2 } else { 0 }
}

#[inline(always)]
fn word_at(src: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*src.get(at..)?.first_chunk()?))
}

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

/// Number of leading bytes in which `a` and `b` agree.
#[inline]
fn equal(a: &[u8], b: &[u8]) -> usize {
    // Most matches end within the first word.
    if let (Some(x), Some(y)) = (a.first_chunk(), b.first_chunk()) {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return (differ.trailing_zeros() / 8) as usize;
        }
    }
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

/// The stream as it grows. Every write is checked: `None` means that there is no room.
struct Writer<'a> {
    dst: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    /// Whether `consumed` bytes, the last `pending` of which are still to be written as literals,
    /// take no more than so many percent of their size from `start` on.
    fn promises(&self, start: usize, pending: usize, consumed: usize, percent: usize) -> bool {
        let written = self.at - start + pending + pending / MAX_LITERALS;
        written <= consumed / 100 * percent
    }

    #[inline(always)]
    fn push(&mut self, byte: u8) -> Option<()> {
        *self.dst.get_mut(self.at)? = byte;
        self.at += 1;
        Some(())
    }

    /// Writes `src[from..to]` as literals.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "pieces have 1 to 32 bytes")]
    fn literals(&mut self, src: &[u8], mut from: usize, to: usize) -> Option<()> {
        let bytes = to.checked_sub(from)?;
        // Seen first, so that noise is given up without copying it.
        if bytes + bytes.div_ceil(MAX_LITERALS) > self.dst.len() - self.at {
            return None;
        }
        while from < to {
            let piece = (to - from).min(MAX_LITERALS);
            self.push((piece - 1) as u8)?;
            let (src, dst) = (src.get(from..)?, self.dst.get_mut(self.at..)?);
            // Always 32 where there is room: one wide move is the fastest.
            match (dst.first_chunk_mut::<MAX_LITERALS>(), src.first_chunk()) {
                (Some(wide), Some(bytes)) => *wide = *bytes,
                _ => dst.get_mut(..piece)?.copy_from_slice(src.get(..piece)?),
            }
            from += piece;
            self.at += piece;
        }
        Some(())
    }

    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "single bytes of bounded numbers"
    )]
    fn copy(&mut self, length: usize, distance: usize) -> Option<()> {
        let near = distance <= MAX_NEAR;
        let biased = if near { distance - 1 } else { MAX_NEAR };
        self.push(((length - 2).min(7) << 5 | biased >> 8) as u8)?;
        if let Some(more) = length.checked_sub(9) {
            if more >= 255 {
                let full = more / 255;
                self.dst.get_mut(self.at..self.at + full)?.fill(255);
                self.at += full;
            }
            self.push((more % 255) as u8)?;
        }
        self.push((biased & 255) as u8)?;
        if !near {
            let beyond = distance - MAX_NEAR - 1;
            self.push((beyond >> 8) as u8)?;
            self.push((beyond & 255) as u8)?;
        }
        Some(())
    }
}
