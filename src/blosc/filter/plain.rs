//! The filters in safe code: for every machine, every `typesize`, and what the others are tested by.
//!
//! All four functions take slices of equal length that hold whole elements, and for the bit
//! filters a multiple of 8 of them.

/// Elements (shuffle) or groups of 8 elements (bitshuffle) handled before moving on to the next
/// rank, so that one tile's source stays in the first-level cache.
const TILE: usize = 64;

/// See [`super::shuffle`].
pub(super) fn shuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let n = src.len() / typesize;
    let mut done = 0;
    for tile in src.chunks(TILE * typesize) {
        for (rank, row) in dst.chunks_exact_mut(n).enumerate() {
            for (to, element) in row[done..].iter_mut().zip(tile.chunks_exact(typesize)) {
                *to = element[rank];
            }
        }
        done += TILE;
    }
}

/// See [`super::unshuffle`].
pub(super) fn unshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let n = src.len() / typesize;
    let mut done = 0;
    for tile in dst.chunks_mut(TILE * typesize) {
        for (rank, row) in src.chunks_exact(n).enumerate() {
            for (from, element) in row[done..].iter().zip(tile.chunks_exact_mut(typesize)) {
                element[rank] = *from;
            }
        }
        done += TILE;
    }
}

/// See [`super::bitshuffle`].
pub(super) fn bitshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let rows = src.len() / typesize / 8;
    let mut done = 0;
    for tile in src.chunks(TILE * 8 * typesize) {
        for (rank, bits) in dst.chunks_exact_mut(8 * rows).enumerate() {
            for (g, group) in tile.chunks_exact(8 * typesize).enumerate() {
                let mut bytes = [0; 8];
                for (byte, element) in bytes.iter_mut().zip(group.chunks_exact(typesize)) {
                    *byte = element[rank];
                }
                let turned = turn_8x8(u64::from_le_bytes(bytes)).to_le_bytes();
                for (row, byte) in bits.chunks_exact_mut(rows).zip(turned) {
                    row[done + g] = byte;
                }
            }
        }
        done += TILE;
    }
}

/// See [`super::bitunshuffle`].
pub(super) fn bitunshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let rows = src.len() / typesize / 8;
    let mut done = 0;
    for tile in dst.chunks_mut(TILE * 8 * typesize) {
        for (rank, bits) in src.chunks_exact(8 * rows).enumerate() {
            for (g, group) in tile.chunks_exact_mut(8 * typesize).enumerate() {
                let mut bytes = [0; 8];
                for (byte, row) in bytes.iter_mut().zip(bits.chunks_exact(rows)) {
                    *byte = row[done + g];
                }
                let turned = turn_8x8(u64::from_le_bytes(bytes)).to_le_bytes();
                for (element, byte) in group.chunks_exact_mut(typesize).zip(turned) {
                    element[rank] = byte;
                }
            }
        }
        done += TILE;
    }
}

/// Mirrors an 8 x 8 square of bits: bit `c` of byte `r` becomes bit `r` of byte `c`.
///
/// Three rounds swap the off-diagonal quarters of squares of side 8, 4 and 2.
const fn turn_8x8(square: u64) -> u64 {
    const fn swap(square: u64, distance: u32, mask: u64) -> u64 {
        let differ = (square ^ (square >> distance)) & mask;
        square ^ differ ^ (differ << distance)
    }
    let square = swap(square, 7, 0x00aa_00aa_00aa_00aa);
    let square = swap(square, 14, 0x0000_cccc_0000_cccc);
    swap(square, 28, 0x0000_0000_f0f0_f0f0)
}
