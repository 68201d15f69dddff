//! Writes the instructions of a stream.

use super::{MAX_LITERALS, MAX_NEAR, Match};

/// Free bytes with which a sequence is written without further checks: the 32 literals that are
/// always moved, and a match.
const ROOM: usize = 40;

/// The stream as it grows. Every write is checked; `None` means that it does not fit.
pub(super) struct Writer<'a> {
    pub dst: &'a mut [u8],
    pub at: usize,
}

impl Writer<'_> {
    /// Whether `consumed` bytes of input take at most `percent` of their size in the output after
    /// position `start`.
    ///
    /// The last `pending` of them are not written yet, and count as literals.
    pub fn promises(&self, start: usize, pending: usize, consumed: usize, percent: usize) -> bool {
        let written = self.at - start + pending + pending / MAX_LITERALS;
        written <= consumed / 100 * percent
    }

    /// Writes one byte; `None` at the end of the room.
    #[inline(always)]
    fn push(&mut self, byte: u8) -> Option<()> {
        *self.dst.get_mut(self.at)? = byte;
        self.at += 1;
        Some(())
    }

    /// Writes the literals from `from` to the beginning of `found`, and `found` itself.
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "single bytes of bounded numbers"
    )]
    pub fn sequence(&mut self, src: &[u8], from: usize, found: Match) -> Option<()> {
        let literals = found.at.wrapping_sub(from);
        if literals > MAX_LITERALS || found.length >= 9 + 255 {
            return self.apart(|out| out.long_sequence(src, from, found));
        }
        let room = self.dst.get_mut(self.at..)?.first_chunk_mut::<ROOM>();
        let bytes = src.get(from..)?.first_chunk::<MAX_LITERALS>();
        let (Some(room), Some(bytes)) = (room, bytes) else {
            return self.apart(|out| out.long_sequence(src, from, found));
        };
        // Always 32 literals, since one wide move is fastest. The match overwrites the excess.
        room[0] = (literals as u8).wrapping_sub(1);
        room[1..=MAX_LITERALS].copy_from_slice(bytes);
        let mut len = literals + usize::from(literals > 0);
        let near = found.distance <= MAX_NEAR;
        let biased = if near { found.distance - 1 } else { MAX_NEAR };
        let biased = biased as u32;
        let (mut word, low) = (biased >> 8, biased & 255);
        let is_long = found.length >= 9;
        if is_long {
            word |= 7 << 5 | (found.length as u32 - 9) << 8 | low << 16;
        } else {
            word |= (found.length as u32 - 2) << 5 | low << 8;
        }
        room[len..len + 4].copy_from_slice(&word.to_le_bytes());
        len += 2 + usize::from(is_long);
        if !near {
            let beyond = (found.distance - MAX_NEAR - 1) as u16;
            room[len..len + 2].copy_from_slice(&beyond.to_be_bytes());
            len += 2;
        }
        self.at += len;
        Some(())
    }

    /// Runs a function on a copy of the writer, so that the fields of `self` can stay in registers.
    #[inline(always)]
    fn apart(&mut self, run: impl FnOnce(&mut Writer) -> Option<()>) -> Option<()> {
        let mut copy = Writer {
            dst: &mut *self.dst,
            at: self.at,
        };
        run(&mut copy)?;
        self.at = copy.at;
        Some(())
    }

    /// [`Writer::sequence`] for any lengths, and near the end of either buffer.
    #[inline(never)]
    fn long_sequence(&mut self, src: &[u8], from: usize, found: Match) -> Option<()> {
        self.literals(src, from, found.at)?;
        self.copy(found.length, found.distance)
    }

    /// Writes `src[from..to]` as literals, at most 32 per instruction.
    #[inline(never)]
    #[allow(clippy::cast_possible_truncation, reason = "pieces have 1 to 32 bytes")]
    pub fn literals(&mut self, src: &[u8], mut from: usize, to: usize) -> Option<()> {
        let bytes = to.checked_sub(from)?;
        // Checked first: noise that does not fit is not copied.
        if bytes + bytes.div_ceil(MAX_LITERALS) > self.dst.len() - self.at {
            return None;
        }
        while from < to {
            let piece = (to - from).min(MAX_LITERALS);
            self.push((piece - 1) as u8)?;
            let (src, dst) = (src.get(from..)?, self.dst.get_mut(self.at..)?);
            // Always 32 if the buffers allow it, since one wide move is fastest.
            match (dst.first_chunk_mut::<MAX_LITERALS>(), src.first_chunk()) {
                (Some(wide), Some(bytes)) => *wide = *bytes,
                _ => dst.get_mut(..piece)?.copy_from_slice(src.get(..piece)?),
            }
            from += piece;
            self.at += piece;
        }
        Some(())
    }

    /// Writes a match instruction, for any length of at least 2 bytes.
    #[inline(never)]
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
