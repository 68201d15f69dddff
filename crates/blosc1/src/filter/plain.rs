//! The kernels in safe code: for every processor, and as the reference for testing the others.

use super::kernels::{Bytes, Kernels, LINE, Ranks, check_bits};

pub(super) const KERNELS: Kernels = Kernels {
    name: "plain",
    spread,
    gather,
    to_bits,
    from_bits,
};

fn spread(ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    ranks.check(src, dst);
    spread_from(0, ranks, src, dst);
}

fn gather(ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    ranks.check(dst, src);
    gather_from(0, ranks, src, dst);
}

/// Moves the elements from number `done` to their rows; other kernels call this for their rest.
pub(super) fn spread_from(done: usize, ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    match ranks.typesize {
        1 => dst[done..src.len()].copy_from_slice(&src[done..]),
        2 => spread_fixed::<2>(done, ranks, src, dst),
        4 => spread_fixed::<4>(done, ranks, src, dst),
        8 => spread_fixed::<8>(done, ranks, src, dst),
        16 => spread_fixed::<16>(done, ranks, src, dst),
        _ => spread_any(done, ranks, src, dst),
    }
}

/// Fills the elements from number `done` with the bytes of their rows.
pub(super) fn gather_from(done: usize, ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    match ranks.typesize {
        1 => {
            let count = dst.len();
            dst[done..].copy_from_slice(&src[done..count]);
        }
        2 => gather_fixed::<2>(done, ranks, src, dst),
        4 => gather_fixed::<4>(done, ranks, src, dst),
        8 => gather_fixed::<8>(done, ranks, src, dst),
        16 => gather_fixed::<16>(done, ranks, src, dst),
        _ => gather_any(done, ranks, src, dst),
    }
}

/// Elements handled before moving on to the next rank: few enough to stay in the first-level cache.
const STEP: usize = 64;

/// [`spread_from`] for elements of any size.
fn spread_any(mut done: usize, ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    for tile in src[done * ranks.typesize..].chunks(STEP * ranks.typesize) {
        for (rank, row) in (ranks.first..)
            .zip(dst.chunks_mut(ranks.stride))
            .take(ranks.width())
        {
            for (to, element) in row[done..]
                .iter_mut()
                .zip(tile.chunks_exact(ranks.typesize))
            {
                *to = element[rank];
            }
        }
        done += STEP;
    }
}

/// [`gather_from`] for elements of any size.
fn gather_any(mut done: usize, ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    for tile in dst[done * ranks.typesize..].chunks_mut(STEP * ranks.typesize) {
        for (rank, row) in (ranks.first..)
            .zip(src.chunks(ranks.stride))
            .take(ranks.width())
        {
            for (from, element) in row[done..]
                .iter()
                .zip(tile.chunks_exact_mut(ranks.typesize))
            {
                element[rank] = *from;
            }
        }
        done += STEP;
    }
}

/// [`spread_any`] for a size known at compile time, which allows vector code.
fn spread_fixed<const T: usize>(done: usize, ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    let (elements, _) = src[done * T..].as_chunks::<T>();
    let (tiles, rest) = elements.as_chunks::<STEP>();
    let mut at = done;
    for tile in tiles {
        for rank in 0..T {
            if let Some(row) = dst[rank * ranks.stride + at..].first_chunk_mut::<STEP>() {
                for (to, element) in row.iter_mut().zip(tile) {
                    *to = element[rank];
                }
            }
        }
        at += STEP;
    }
    for rank in 0..T {
        for (to, element) in dst[rank * ranks.stride + at..].iter_mut().zip(rest) {
            *to = element[rank];
        }
    }
}

/// [`gather_any`] for a size known at compile time.
fn gather_fixed<const T: usize>(done: usize, ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    let (elements, _) = dst[done * T..].as_chunks_mut::<T>();
    let (tiles, rest) = elements.as_chunks_mut::<STEP>();
    let mut at = done;
    for tile in tiles {
        for rank in 0..T {
            if let Some(row) = src[rank * ranks.stride + at..].first_chunk::<STEP>() {
                for (from, element) in row.iter().zip(tile.iter_mut()) {
                    element[rank] = *from;
                }
            }
        }
        at += STEP;
    }
    for rank in 0..T {
        for (from, element) in src[rank * ranks.stride + at..].iter().zip(rest.iter_mut()) {
            element[rank] = *from;
        }
    }
}

/// Mirrors the bits of groups of 8 elements, then moves byte `k` of each group to row `k`.
#[allow(clippy::cast_possible_truncation, reason = "takes one byte of a word")]
pub(super) fn to_bits(bytes: &Bytes, rows: &mut [u8], stride: usize) {
    check_bits(rows, stride);
    let mut squares = [0; LINE];
    for (square, group) in squares.iter_mut().zip(bytes.as_chunks().0) {
        *square = turn_8x8(u64::from_le_bytes(*group));
    }
    for (k, row) in rows.chunks_mut(stride).take(8).enumerate() {
        for (to, square) in row.iter_mut().zip(&squares) {
            *to = (square >> (8 * k)) as u8;
        }
    }
}

/// The inverse of [`to_bits`].
pub(super) fn from_bits(rows: &[u8], stride: usize, bytes: &mut Bytes) {
    check_bits(rows, stride);
    let mut squares = [0; LINE];
    for (k, row) in rows.chunks(stride).take(8).enumerate() {
        for (square, from) in squares.iter_mut().zip(row) {
            *square |= u64::from(*from) << (8 * k);
        }
    }
    for (square, group) in squares.iter().zip(bytes.as_chunks_mut().0) {
        *group = turn_8x8(*square).to_le_bytes();
    }
}

/// Mirrors an 8 x 8 square of bits: bit `c` of byte `r` becomes bit `r` of byte `c`.
///
/// Three rounds swap the off-diagonal quarters of squares of side 2, 4 and 8.
#[inline]
pub(super) const fn turn_8x8(square: u64) -> u64 {
    const fn swap(square: u64, distance: u32, mask: u64) -> u64 {
        let differ = (square ^ (square >> distance)) & mask;
        square ^ differ ^ (differ << distance)
    }
    let square = swap(square, 7, 0x00aa_00aa_00aa_00aa);
    let square = swap(square, 14, 0x0000_cccc_0000_cccc);
    swap(square, 28, 0x0000_0000_f0f0_f0f0)
}
