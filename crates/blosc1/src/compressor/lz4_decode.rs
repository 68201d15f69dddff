//! A decoder for LZ4 streams in safe code.
//!
//! ```text
//! sequence   token | [literal length..] | literals | offset, 2 bytes | [match length..]
//! token      upper 4 bits: literals, lower 4 bits: length of the match less 4;
//!            15 is followed by bytes to add, the last of which is below 255
//! ```
//!
//! The last sequence ends after its literals, at least five. Each match is copied at once, which is
//! several times as fast as the C library for long matches, as in streams of shuffled smooth
//! numbers.

/// The least number of literals after the last match.
const LAST_LITERALS: usize = 5;
/// Shortest match.
const MIN_MATCH: usize = 4;

/// Bytes that are copied at once if the buffers have them: a copy of fixed length is a single
/// instruction.
const STEP: usize = 16;

/// Decompresses and returns whether all of `src` gives exactly `dst.len()` bytes.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> bool {
    decompress_with(&[], src, dst)
}

/// [`decompress`] with a dictionary: the bytes before the first byte of `dst`, to which matches may
/// refer.
pub(super) fn decompress_with(dictionary: &[u8], src: &[u8], dst: &mut [u8]) -> bool {
    sequences(dictionary, src, dst) == Some(dst.len())
}

/// Decompresses and returns the length, or `None` if the stream breaks a rule of the format or does
/// not fit.
fn sequences(dictionary: &[u8], mut src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let mut at = 0_usize;
    loop {
        let (&token, rest) = src.split_first()?;
        src = rest;
        let len = length(token >> 4, &mut src)?;
        copy_literals(src, dst, at, len)?;
        src = src.get(len..)?;
        at += len;
        if src.is_empty() {
            return Some(at);
        }
        let offset;
        (offset, src) = src.split_first_chunk()?;
        let offset = usize::from(u16::from_le_bytes(*offset));
        let len = length(token & 15, &mut src)?.checked_add(MIN_MATCH)?;
        let end = at.checked_add(len)?;
        if end.checked_add(LAST_LITERALS)? > dst.len() {
            return None;
        }
        match at.checked_sub(offset) {
            Some(from) => repeat(dst, from, at, end)?,
            None => recall(dictionary, dst, offset, at, end)?,
        }
        at = end;
    }
}

/// Copies the first `len` bytes of `src` to position `at` of `dst`.
fn copy_literals(src: &[u8], dst: &mut [u8], at: usize, len: usize) -> Option<()> {
    if len <= STEP
        && let Some(literals) = src.first_chunk::<STEP>()
        && let Some(to) = dst.get_mut(at..)?.first_chunk_mut()
    {
        // Later sequences overwrite the bytes past the literals.
        *to = *literals;
        return Some(());
    }
    let to = dst.get_mut(at..at.checked_add(len)?)?;
    to.copy_from_slice(src.get(..len)?);
    Some(())
}

/// Fills `at..end` from the dictionary, in which the match begins, and then from the beginning of
/// `dst`.
fn recall(dictionary: &[u8], dst: &mut [u8], offset: usize, at: usize, end: usize) -> Option<()> {
    let from = dictionary.len().checked_sub(offset - at)?;
    let found = dictionary.get(from..)?;
    let len = found.len().min(end - at);
    let to = dst.get_mut(at..at + len)?;
    to.copy_from_slice(found.get(..len)?);
    if at + len < end {
        repeat(dst, 0, at + len, end)?;
    }
    Some(())
}

/// A length: `nibble` of the token, plus the bytes that follow if it is 15.
fn length(nibble: u8, src: &mut &[u8]) -> Option<usize> {
    let mut len = usize::from(nibble);
    if nibble == 15 {
        // No overflow: each byte in memory adds at most 255.
        let full = src.iter().position(|&byte| byte < 255)?;
        len += 255 * full + usize::from(*src.get(full)?);
        *src = src.get(full + 1..)?;
    }
    Some(len)
}

/// Fills `at..end` with repetitions of the bytes `from..at`; `None` if there are none to repeat.
fn repeat(dst: &mut [u8], from: usize, at: usize, end: usize) -> Option<()> {
    let mut period = at - from;
    if period == 1 {
        let byte = *dst.get(from)?;
        dst.get_mut(at..end)?.fill(byte);
        return Some(());
    }
    let mut at = at;
    if period >= STEP && end - at <= STEP && at + STEP <= dst.len() {
        // Later sequences overwrite the bytes past the match.
        dst.copy_within(from..from + STEP, at);
        return Some(());
    }
    while at < end {
        if period == 0 {
            return None;
        }
        // The part to copy doubles with each copy.
        let len = period.min(end - at);
        dst.copy_within(from..from + len, at);
        at += len;
        period += len;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::decompress;

    #[test]
    fn runs_and_patterns_are_repeated() {
        let mut out = [0; 40];
        // "ab", match of 30 at offset 2, "cdefghij": 2 + 30 + 8.
        let stream = [&[0x2F][..], b"ab", &[2, 0, 11, 0x80], b"cdefghij"].concat();
        assert!(decompress(&stream, &mut out));
        assert_eq!(&out, b"ababababababababababababababababcdefghij");
    }

    #[test]
    fn streams_against_the_rules_are_refused() {
        let mut out = [0; 12];
        for stream in [
            &[][..],
            &[0x10],
            &[0x10, b'a', 0, 0, 0x70, 1, 2, 3, 4, 5, 6, 7],
            &[0x10, b'a', 2, 0, 0x70, 1, 2, 3, 4, 5, 6, 7],
            &[0x17, b'a', 1, 0, 0x00],
            &[0x1F, b'a', 1, 0, 255, 255],
            &[0xF0, 255, 255, 255],
        ] {
            assert!(!decompress(stream, &mut out), "{stream:?}");
        }
        let sound = [0x10, b'a', 1, 0, 0x70, 1, 2, 3, 4, 5, 6, 7];
        assert!(decompress(&sound, &mut out));
        assert_eq!(out, [97, 97, 97, 97, 97, 1, 2, 3, 4, 5, 6, 7]);
    }
}
