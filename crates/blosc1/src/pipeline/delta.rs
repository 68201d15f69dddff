//! The filter delta: differences, by exclusive or, of words.
//!
//! ```text
//! first block     word i of the result = word i ^ word i - 1   (word 0 unchanged)
//! other blocks    word i of the result = word i ^ word i of the first block
//! ```
//!
//! A word is an element of 1, 2, 4 or 8 bytes; of other elements it is 8 bytes if their size is a
//! multiple of 8, else a single byte. Bytes after the last whole word stay unchanged.

use crate::ChunkError;

/// Bytes of a word for elements of `typesize` bytes.
const fn word(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        _ if typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}

/// Undoes the filter in the first block.
pub(crate) fn undo_first(typesize: usize, block: &mut [u8]) {
    match word(typesize) {
        2 => sum::<2>(block),
        4 => sum::<4>(block),
        8 => sum::<8>(block),
        _ => sum::<1>(block),
    }
}

/// Filters the first block.
pub(crate) fn apply_first(typesize: usize, block: &mut [u8]) {
    match word(typesize) {
        2 => differ::<2>(block),
        4 => differ::<4>(block),
        8 => differ::<8>(block),
        _ => differ::<1>(block),
    }
}

/// Filters a later block, or undoes that: the operation is its own inverse.
///
/// # Errors
///
/// Returns [`ChunkError::Bug`] if the first block is shorter than the later one.
pub(crate) fn by_first(typesize: usize, first: &[u8], block: &mut [u8]) -> Result<(), ChunkError> {
    let whole = block.len() - block.len() % word(typesize);
    let what = "the first block is shorter than a later one";
    let first = first.get(..whole).ok_or(ChunkError::Bug { what })?;
    for (byte, from) in block[..whole].iter_mut().zip(first) {
        *byte ^= from;
    }
    Ok(())
}

/// Replaces each word by the exclusive or of all words up to it.
fn sum<const W: usize>(block: &mut [u8]) {
    let mut before = [0; W];
    for word in block.as_chunks_mut::<W>().0 {
        for (byte, from) in word.iter_mut().zip(before) {
            *byte ^= from;
        }
        before = *word;
    }
}

/// Replaces each word by its difference from the previous one.
fn differ<const W: usize>(block: &mut [u8]) {
    let mut before = [0; W];
    for word in block.as_chunks_mut::<W>().0 {
        let here = *word;
        for (byte, from) in word.iter_mut().zip(before) {
            *byte ^= from;
        }
        before = here;
    }
}

#[cfg(test)]
mod tests {
    use super::{apply_first, by_first, undo_first};
    use crate::ChunkError;

    #[test]
    fn the_first_block_is_a_chain_of_words() {
        // Two-byte words, and a byte left over.
        let data = [1, 2, 3, 4, 7, 7, 9];
        let mut block = data;
        apply_first(2, &mut block);
        assert_eq!(block, [1, 2, 1 ^ 3, 2 ^ 4, 3 ^ 7, 4 ^ 7, 9]);
        undo_first(2, &mut block);
        assert_eq!(block, data);
    }

    #[test]
    fn words_of_large_elements_have_8_bytes_or_one() {
        let data: Vec<u8> = (0..50_u8).map(|i| i.wrapping_mul(i)).collect();
        for (typesize, word) in [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (12, 1), (24, 8)] {
            let mut block = data.clone();
            apply_first(typesize, &mut block);
            for at in 0..data.len() {
                let before = if at < word { 0 } else { data[at - word] };
                let is_left_over = at >= data.len() - data.len() % word;
                let want = data[at] ^ if is_left_over { 0 } else { before };
                assert_eq!(block[at], want, "typesize {typesize}, byte {at}");
            }
            undo_first(typesize, &mut block);
            assert_eq!(block, data);
        }
    }

    #[test]
    fn later_blocks_go_by_the_first() {
        let mut block = [5, 6, 7];
        by_first(2, &[1, 2, 3, 4], &mut block).unwrap();
        assert_eq!(block, [4, 4, 7]);
    }

    #[test]
    fn a_first_block_that_is_too_short_is_a_bug() {
        let error = by_first(2, &[1], &mut [5, 6, 7]).unwrap_err();
        assert!(matches!(error, ChunkError::Bug { .. }), "{error}");
    }
}
