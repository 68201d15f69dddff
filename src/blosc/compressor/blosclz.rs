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
/// C-Blosc refuses a stream that ends with a match, so some literals are kept for the end.
const TAIL: usize = 12;

/// The compressor's memory between calls.
pub(crate) struct Encoder {
    table: Vec<u32>,
}

impl Encoder {
    /// A compressor that has seen nothing.
    pub fn new() -> Self {
        Self { table: Vec::new() }
    }

    /// Compresses `src` into `dst` and returns the length of the stream, or `None` if that does
    /// not fit `dst` or is not shorter than `src`.
    pub fn compress(&mut self, level: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let _ = level;
        let limit = dst.len().min(src.len().checked_sub(1)?);
        let mut out = Writer {
            dst: &mut dst[..limit],
            at: 0,
        };
        if src.len() < 16 {
            return None;
        }
        self.table.clear();
        self.table.resize(1 << 14, 0);
        let (mut at, mut from) = (4, 0);
        while at + TAIL < src.len() {
            let word = u32::from_le_bytes(*src[at..].first_chunk()?);
            let slot = &mut self.table[(word.wrapping_mul(2_654_435_761) >> 18) as usize];
            let back = *slot as usize;
            *slot = u32::try_from(at).ok()?;
            let distance = at - back;
            if distance > MAX_FAR || src[back..back + 4] != src[at..at + 4] {
                at += 1;
                continue;
            }
            let end = src.len() - TAIL + 4;
            let length = src[back..]
                .iter()
                .zip(&src[at..end])
                .take_while(|(a, b)| a == b)
                .count();
            if length < 7 && distance > MAX_NEAR {
                at += 1;
                continue;
            }
            out.literals(&src[from..at])?;
            out.copy(length, distance)?;
            at += length;
            from = at;
        }
        out.literals(&src[from..])?;
        let at = out.at;
        *dst.first_mut()? |= 1 << 5;
        Some(at)
    }
}

struct Writer<'a> {
    dst: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn push(&mut self, byte: usize) -> Option<()> {
        *self.dst.get_mut(self.at)? = u8::try_from(byte).ok()?;
        self.at += 1;
        Some(())
    }

    fn literals(&mut self, bytes: &[u8]) -> Option<()> {
        for piece in bytes.chunks(MAX_LITERALS) {
            self.push(piece.len() - 1)?;
            self.dst
                .get_mut(self.at..self.at + piece.len())?
                .copy_from_slice(piece);
            self.at += piece.len();
        }
        Some(())
    }

    fn copy(&mut self, length: usize, distance: usize) -> Option<()> {
        let near = distance <= MAX_NEAR;
        let (high, low) = if near {
            ((distance - 1) >> 8, (distance - 1) & 255)
        } else {
            (31, 255)
        };
        self.push((length - 2).min(7) << 5 | high)?;
        if let Some(mut more) = length.checked_sub(9) {
            while more >= 255 {
                self.push(255)?;
                more -= 255;
            }
            self.push(more)?;
        }
        self.push(low)?;
        if !near {
            self.push((distance - MAX_NEAR - 1) >> 8)?;
            self.push((distance - MAX_NEAR - 1) & 255)?;
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

fn expand(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (&first, mut src) = src.split_first()?;
    let mut control = usize::from(first & 31);
    let mut at = 0;
    loop {
        if control < 32 {
            let (bytes, rest) = src.split_at_checked(control + 1)?;
            dst.get_mut(at..)?
                .get_mut(..bytes.len())?
                .copy_from_slice(bytes);
            at += bytes.len();
            src = rest;
        } else {
            let mut length = (control >> 5) + 2;
            if length == 9 {
                loop {
                    let (&more, rest) = src.split_first()?;
                    src = rest;
                    length = length.checked_add(usize::from(more))?;
                    if more != 255 {
                        break;
                    }
                }
            }
            let (&low, rest) = src.split_first()?;
            src = rest;
            let mut distance = ((control & 31) << 8 | usize::from(low)) + 1;
            if distance == MAX_NEAR + 1 {
                let (&[high, low], rest) = src.split_first_chunk()?;
                src = rest;
                distance += usize::from(u16::from_be_bytes([high, low]));
            }
            if distance > at || length > dst.len() - at {
                return None;
            }
            for to in at..at + length {
                dst[to] = dst[to - distance];
            }
            at += length;
        }
        match src.split_first() {
            None => return Some(at),
            Some((&byte, rest)) => {
                control = usize::from(byte);
                src = rest;
            }
        }
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
