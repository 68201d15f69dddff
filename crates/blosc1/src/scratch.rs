//! Buffers that are reused from block to block, and conversions between lengths and positions.

use super::ChunkError;

// A chunk is shorter than 2 GiB: its positions fit a usize, and lengths of slices fit a u64.
const _: () = assert!(usize::BITS >= 32 && usize::BITS <= 64);

/// The first `len` bytes of a buffer, which grows if necessary. Their content is unspecified.
pub(super) fn room_for(scratch: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if scratch.len() < len {
        // A new allocation: untouched pages cost nothing, and no old content is copied.
        *scratch = Vec::new();
        *scratch = vec![0; len];
    }
    &mut scratch[..len]
}

/// Whole cache lines, and fewer bytes than the C library copies by `rep movsb`.
const PIECE: usize = 1536;

/// Copies `from` to `to`, which must have the same length, in pieces.
///
/// The C library copies more by the instruction `rep movsb`, which AMD processors execute at a
/// tenth of the speed or less if the destination is 1 to 15 bytes after the source, modulo 4096.
pub(super) fn copy(from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len(), "a copy needs slices of equal length");
    for (to, from) in to.chunks_mut(PIECE).zip(from.chunks(PIECE)) {
        to.copy_from_slice(from);
    }
}

/// A vector of `len` zeros.
///
/// # Errors
///
/// Returns [`ChunkError::Memory`] if the allocation fails.
pub(super) fn zeros(len: usize) -> Result<Vec<u8>, ChunkError> {
    let mut zeros = Vec::new();
    zeros
        .try_reserve_exact(len)
        .map_err(|_| ChunkError::Memory)?;
    zeros.resize(len, 0);
    Ok(zeros)
}

/// A length or position within a chunk, which is shorter than 2 GiB, as the type that chunks store.
///
/// # Errors
///
/// Returns [`ChunkError::Bug`] if it does not fit 32 bits.
pub(super) fn to_u32(position: usize) -> Result<u32, ChunkError> {
    let what = "a position within a chunk exceeds 32 bits";
    u32::try_from(position).map_err(|_| ChunkError::Bug { what })
}

/// [`to_u32`] as the four bytes in a chunk.
pub(super) fn le_u32(position: usize) -> Result<[u8; 4], ChunkError> {
    to_u32(position).map(u32::to_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::{le_u32, room_for, to_u32, zeros};
    use crate::{ChunkError, Fault};

    #[test]
    fn a_length_that_does_not_fit_is_a_bug_and_not_written() {
        assert_eq!(le_u32(0x0102_0304), Ok([4, 3, 2, 1]));
        let Ok(too_long) = usize::try_from(1_u64 << 32) else {
            return;
        };
        for error in [to_u32(too_long).unwrap_err(), le_u32(too_long).unwrap_err()] {
            assert_eq!(error.fault(), Fault::Bug);
        }
    }

    #[test]
    fn buffers_grow_and_memory_that_cannot_be_had_is_an_error() {
        let mut scratch = Vec::new();
        assert_eq!(room_for(&mut scratch, 5).len(), 5);
        assert_eq!(room_for(&mut scratch, 3).len(), 3);
        assert_eq!((scratch.len(), zeros(4)), (5, Ok(vec![0; 4])));
        assert_eq!(zeros(usize::MAX), Err(ChunkError::Memory));
    }
}
