//! Blosclz: C-Blosc's own fast compressor, a relative of FastLZ with far matches.
//!
//! A stream is a sequence of instructions, the first of which is always literals:
//!
//! ```text
//! 000LLLLL                               literals: L + 1 bytes follow   (first byte: upper bits ignored)
//! LLLDDDDD [ext..] dddddddd              match: length L + 2, distance (D << 8 | d) + 1
//! LLL11111 [ext..] 11111111 hhhhhhhh llllllll      far match: distance (h << 8 | l) + 8192
//! ```
//!
//! `L` = 7 is followed by length bytes that are added up, the last of which is below 255.

/// Distances up to this take the short form; one more and the far form begins.
const MAX_NEAR: usize = 8191;
/// The longest distance that C-Blosc's compressor uses (the far form could say two more).
const MAX_FAR: usize = 65535 + MAX_NEAR - 2;
/// Literals that one instruction can carry.
const MAX_LITERALS: usize = 32;
/// Bytes that a match must have to be worth its two (near) or four (far) bytes and a break in
/// the literals.
const MIN_NEAR: usize = 4;
const MIN_FAR: usize = 7;
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
}

impl Effort {
    const fn of_level(level: u8) -> Self {
        let (hash_bits, patience, lazy) = match level {
            0 | 1 => (12, 4, false),
            2 => (13, 5, false),
            3 => (14, 5, false),
            4 => (14, 6, false),
            5 => (14, 6, false),
            6 => (14, 7, false),
            7 => (14, 7, true),
            8 => (14, 8, true),
            _ => (14, 9, true),
        };
        Self {
            hash_bits,
            patience,
            lazy,
        }
    }
}

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
    /// not fit `dst` or is not shorter than `src`.
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
    fn run(mut self, effort: &Effort, out: &mut Writer) -> Option<()> {
        let (mut from, mut at) = (0, 1);
        self.look_up(0);
        while let Some(mut found) = self.next(at, effort.patience) {
            if effort.lazy {
                found = self.improve(found);
            }
            found = self.extend_back(found, from);
            out.literals(&self.src[from..found.at])?;
            out.copy(found.length, found.distance)?;
            from = found.at + found.length;
            // Positions within the match are left out but for one near its end.
            self.look_up(from - 2);
            at = from;
        }
        out.literals(&self.src[from..])
    }

    /// The first match at or after `at`.
    #[inline]
    fn next(&mut self, mut at: usize, patience: u32) -> Option<Match> {
        let mut misses = 1usize << patience;
        while at + LAST_START <= self.src.len() {
            if let Some(found) = self.look_up(at) {
                return Some(found);
            }
            at += misses >> patience;
            misses += 1;
        }
        None
    }

    /// The match at `at` with the last position of equal hash, which `at` replaces.
    #[inline(always)]
    fn look_up(&mut self, at: usize) -> Option<Match> {
        let word = word_at(self.src, at)?;
        let slot = &mut self.table[hash(word, self.hash_shift)];
        let position = self.base + low_u32(at);
        let distance = (position - *slot) as usize;
        *slot = position;
        if distance > MAX_FAR {
            return None;
        }
        let back = at.checked_sub(distance)?;
        if word_at(self.src, back)? != word {
            return None;
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

/// Length of a match less what saying so costs.
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
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut at = 0;
    while at + 8 <= n {
        let (Some(x), Some(y)) = (a[at..].first_chunk(), b[at..].first_chunk()) else {
            break;
        };
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return at + (differ.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < n && a[at] == b[at] {
        at += 1;
    }
    at
}

struct Writer<'a> {
    dst: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    #[inline(always)]
    fn push(&mut self, byte: u8) -> Option<()> {
        *self.dst.get_mut(self.at)? = byte;
        self.at += 1;
        Some(())
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "pieces have 1 to 32 bytes")]
    fn literals(&mut self, bytes: &[u8]) -> Option<()> {
        // Seen first, so that noise is given up without copying it.
        if bytes.len() + bytes.len().div_ceil(MAX_LITERALS) > self.dst.len() - self.at {
            return None;
        }
        for piece in bytes.chunks(MAX_LITERALS) {
            let (control, rest) = self.dst.get_mut(self.at..)?.split_first_mut()?;
            *control = (piece.len() - 1) as u8;
            rest.get_mut(..piece.len())?.copy_from_slice(piece);
            self.at += piece.len() + 1;
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
            let full = more / 255;
            self.dst.get_mut(self.at..self.at + full)?.fill(255);
            self.at += full;
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

/// Decompresses `src` into `dst`: true if exactly `dst.len()` bytes came out of exactly `src`.
///
/// Otherwise what `dst` holds is unspecified.
pub(crate) fn decompress(src: &[u8], dst: &mut [u8]) -> bool {
    expand(src, dst) == Some(dst.len())
}

/// Follows the instructions; returns how many bytes came out, or `None` if an instruction is cut
/// short, reaches back before the beginning of `dst` or goes beyond its end.
fn expand(mut src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let mut control = take(&mut src)? & 31;
    let mut at = 0;
    loop {
        at = if control < 32 {
            copy_literals(&mut src, usize::from(control) + 1, dst, at)?
        } else {
            let (length, distance) = read_match(&mut src, control)?;
            copy_match(length, distance, dst, at)?
        };
        match take(&mut src) {
            Some(next) => control = next,
            None => return Some(at),
        }
    }
}

#[inline(always)]
fn take(src: &mut &[u8]) -> Option<u8> {
    let (&byte, rest) = src.split_first()?;
    *src = rest;
    Some(byte)
}

#[inline(always)]
fn read_match(src: &mut &[u8], control: u8) -> Option<(usize, usize)> {
    let mut length = usize::from(control >> 5) + 2;
    if length == 9 {
        loop {
            let more = take(src)?;
            // A slice has less than usize::MAX / 255 bytes, but this is where C-Blosc's 32 bits
            // wrapped around and let the copy begin before the buffer.
            length = length.checked_add(usize::from(more))?;
            if more != 255 {
                break;
            }
        }
    }
    let near = (usize::from(control & 31) << 8 | usize::from(take(src)?)) + 1;
    if near <= MAX_NEAR {
        return Some((length, near));
    }
    let far = u16::from_be_bytes([take(src)?, take(src)?]);
    Some((length, near + usize::from(far)))
}

/// Copies up to 32 literals: always 32 where there is room, for one wide move is the fastest.
#[inline(always)]
fn copy_literals(src: &mut &[u8], count: usize, dst: &mut [u8], at: usize) -> Option<usize> {
    let to = dst.get_mut(at..)?;
    match (
        to.first_chunk_mut::<MAX_LITERALS>(),
        src.first_chunk::<MAX_LITERALS>(),
    ) {
        (Some(wide), Some(bytes)) => *wide = *bytes,
        _ => to.get_mut(..count)?.copy_from_slice(src.get(..count)?),
    }
    *src = src.get(count..)?;
    Some(at + count)
}

/// Bytes that a short match may write, wide moves included.
const WIDE: usize = 16;

#[inline(always)]
fn copy_match(length: usize, distance: usize, dst: &mut [u8], at: usize) -> Option<usize> {
    let from = at.checked_sub(distance)?;
    let end = at.checked_add(length)?;
    if end > dst.len() {
        return None;
    }
    if distance >= WIDE && length <= 2 * WIDE && dst.len() - at >= 2 * WIDE {
        let first: [u8; WIDE] = *dst[from..].first_chunk()?;
        *dst[at..].first_chunk_mut()? = first;
        if length > WIDE {
            let second: [u8; WIDE] = *dst[from + WIDE..].first_chunk()?;
            *dst[at + WIDE..].first_chunk_mut()? = second;
        }
    } else if distance == 1 {
        let byte = dst[from];
        dst[at..end].fill(byte);
    } else if distance >= length {
        dst.copy_within(from..from + length, at);
    } else {
        repeat(dst, from, at, end);
    }
    Some(end)
}

/// Repeats the bytes `from..at` up to `end`, in pieces that double as there is more to copy from.
fn repeat(dst: &mut [u8], from: usize, mut at: usize, end: usize) {
    while at < end {
        let piece = (at - from).min(end - at);
        dst.copy_within(from..from + piece, at);
        at += piece;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        for n in 0..300usize {
            let src: Vec<u8> = (0..n)
                .map(|i| u8::try_from(i * i / 50 % 7).unwrap())
                .collect();
            let mut dst = vec![0; n];
            if let Some(k) = Encoder::new().compress(5, &src, &mut dst) {
                let mut back = vec![1; n];
                assert!(decompress(&dst[..k], &mut back), "{n}");
                assert_eq!(back, src);
            } else {
                assert!(n < 40, "{n}");
            }
        }
    }
}
