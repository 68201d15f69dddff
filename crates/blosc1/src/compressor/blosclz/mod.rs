//! Blosclz: C-Blosc's own fast compressor, a relative of FastLZ with far matches.
//!
//! A stream is a sequence of instructions, the first of which is always literals:
//!
//! ```text
//! 000LLLLL                                      L + 1 literals follow
//! LLLDDDDD [more..] dddddddd                    match: length L + 2, distance (D << 8 | d) + 1
//! LLL11111 [more..] 11111111 hhhhhhhh llllllll  far match: distance (h << 8 | l) + 8192
//! ```
//!
//! Length 9 (`L` = 7) is followed by bytes to add to it, the last of which is below 255. The upper
//! bits of the first byte of a stream have no meaning; C-Blosc sets them to 001.
//!
//! C-Blosc 1.21 refuses a stream whose last instruction is a match; earlier versions accept it. No
//! version has written one. This decoder refuses it, too; this encoder ends with literals.

mod decode;
mod encode;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use decode::decompress;
pub(crate) use encode::Encoder;

/// The longest distance of the short form; the far form begins one byte farther.
const MAX_NEAR: usize = 8191;
/// The longest distance that C-Blosc's compressor uses (the far form could encode two more).
const MAX_FAR: usize = 65535 + MAX_NEAR - 2;
/// The most literals of one instruction.
const MAX_LITERALS: usize = 32;

/// A match: the `length` bytes at `at` equal the bytes `distance` before them.
#[derive(Clone, Copy)]
struct Match {
    at: usize,
    length: usize,
    distance: usize,
}
