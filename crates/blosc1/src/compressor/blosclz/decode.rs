//! Decompression. Every bound is checked, and copies are as wide as the buffers allow.

use super::{MAX_LITERALS, MAX_NEAR};

/// Decompresses `src` into `dst` and returns whether all of `src` gives exactly `dst.len()` bytes.
///
/// If not, the content of `dst` is unspecified. As in C-Blosc, a stream that ends with a match is
/// refused: every encoder ends with literals.
pub(crate) fn decompress(src: &[u8], dst: &mut [u8]) -> bool {
    expand(src, dst) == Some(dst.len())
}

/// Executes the instructions and returns the number of bytes written.
///
/// Returns `None` if an instruction is cut short, refers to bytes before the beginning of `dst` or
/// writes past its end, or if the last one is a match.
fn expand(mut src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let mut control = take(&mut src)? & 31;
    let mut at = 0;
    loop {
        if control < 32 {
            at = copy_literals(&mut src, usize::from(control) + 1, dst, at)?;
            match take(&mut src) {
                Some(next) => control = next,
                None => return Some(at),
            }
        } else {
            let (length, distance) = read_match(&mut src, control)?;
            at = copy_match(length, distance, dst, at)?;
            control = take(&mut src)?;
        }
    }
}

/// Takes the next byte of the stream.
#[inline(always)]
fn take(src: &mut &[u8]) -> Option<u8> {
    let (&byte, rest) = src.split_first()?;
    *src = rest;
    Some(byte)
}

/// Reads the rest of a match instruction; returns its length and distance.
#[inline(always)]
fn read_match(src: &mut &[u8], control: u8) -> Option<(usize, usize)> {
    let mut length = usize::from(control >> 5) + 2;
    if length == 9 {
        loop {
            let more = take(src)?;
            // No slice is long enough to overflow a usize here. The 32 bits of C-Blosc did
            // overflow, and the copy began before the buffer.
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

/// Copies up to 32 literals: always 32 if the buffers allow it, since one wide move is fastest.
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

/// Bytes that a short match moves at once if its distance is at least as long.
const WIDE: usize = 16;
/// Half of [`WIDE`], for matches and distances that are shorter.
const HALF: usize = 8;

/// Copies a match to position `at` of `dst` and returns its end.
///
/// The wide moves may write past the match, but not past `dst`; later instructions overwrite these
/// bytes.
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
    } else if distance >= HALF && length <= WIDE && dst.len() - at >= WIDE {
        let first: [u8; HALF] = *dst[from..].first_chunk()?;
        *dst[at..].first_chunk_mut()? = first;
        if length > HALF {
            let second: [u8; HALF] = *dst[from + HALF..].first_chunk()?;
            *dst[at + HALF..].first_chunk_mut()? = second;
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

/// Fills `at..end` with repetitions of the bytes `from..at`, in pieces that double in length.
fn repeat(dst: &mut [u8], from: usize, mut at: usize, end: usize) {
    let distance = at - from;
    if distance < WIDE && dst.len() - end >= WIDE {
        return repeat_short(dst, from, at, end);
    }
    if end - at <= WIDE {
        for to in at..end {
            dst[to] = dst[to - distance];
        }
        return;
    }
    while at < end {
        let piece = (at - from).min(end - at);
        dst.copy_within(from..from + piece, at);
        at += piece;
    }
}

/// [`repeat`] for up to 15 bytes, by moves of 16 bytes that may write past `end`.
///
/// The bytes are read once: reading back what several stores have just written is slow.
fn repeat_short(dst: &mut [u8], from: usize, at: usize, end: usize) {
    let distance = at - from;
    let mut pattern = [0; WIDE];
    pattern.copy_from_slice(&dst[from..from + WIDE]);
    let mut pattern = u128::from_le_bytes(pattern) & ((1 << (8 * distance)) - 1);
    let mut filled = distance;
    while filled < WIDE {
        pattern |= pattern << (8 * filled);
        filled *= 2;
    }
    let pattern = pattern.to_le_bytes();
    for to in (at..end).step_by(WIDE / distance * distance) {
        dst[to..to + WIDE].copy_from_slice(&pattern);
    }
}
