//! The seal of an archive: a digest of all its bytes outside of files, in its comment.
//!
//! ```text
//! "blpk " | 32 hexadecimal digits     XXH3 of 128 bits
//! ```
//!
//! The digest covers the header before each file, in the order of their positions, and everything from the
//! directory up to the digits. Programs that rewrite the archive drop the comment.

use crate::ReadAt;
use crate::convert::{to_u64, to_usize};
use std::io;
use std::ops::Range;
use twox_hash::xxhash3_128::Hasher;

/// The beginning of the comment, and the length of the digits after it.
pub(super) const PREFIX: &[u8] = b"blpk ";
pub(super) const DIGITS: usize = 32;
/// The length of the comment.
pub(super) const LEN: usize = PREFIX.len() + DIGITS;
/// Wrong bits of the prefix that are tolerated. A damaged seal must not pass for another program's comment.
const MAX_WRONG: u32 = 4;
/// Bytes that are read at once.
const STEP: u64 = 1 << 20;

/// Whether a comment is a seal, even a damaged one.
pub(super) fn is_seal(comment: &[u8]) -> bool {
    let wrong = comment
        .iter()
        .zip(PREFIX)
        .map(|(a, b)| (a ^ b).count_ones());
    comment.len() == LEN && wrong.sum::<u32>() <= MAX_WRONG
}

/// The digits of the digest of these ranges.
pub(super) fn digits(
    source: &dyn ReadAt,
    ranges: impl IntoIterator<Item = Range<u64>>,
) -> io::Result<String> {
    let mut hasher = Hasher::new();
    for range in ranges {
        walk(source, range, |bytes| hasher.write(bytes))?;
    }
    Ok(format!("{:032x}", hasher.finish_128()))
}

/// The crc32 of a file.
pub(super) fn crc(file: &dyn ReadAt) -> io::Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    walk(&file, 0..file.size()?, |bytes| hasher.update(bytes))?;
    Ok(hasher.finalize())
}

fn walk(source: &dyn ReadAt, range: Range<u64>, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let (mut at, mut buffer) = (range.start, Vec::new());
    while at < range.end {
        let step = STEP.min(range.end - at);
        buffer.resize(to_usize(step)?, 0);
        source.read_exact_at(at, &mut buffer)?;
        take(&buffer);
        at += to_u64(buffer.len());
    }
    Ok(())
}
