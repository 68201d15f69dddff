//! AVX2: 32 elements at a time.
//!
//! This is the zip network of `lane16` on two independent lanes of 16 bytes: the lower lane
//! contains the first 16 elements, the upper lane the next. `pshufb` first sorts the bytes of a
//! lane by rank, so that whole units of `16 / P` bytes can be zipped, in fewer rounds. It also
//! closes the gaps of elements whose size is not a power of two.

use std::arch::x86_64::*;

use super::super::kernels::{Bytes, Kernels, MAX_WIDTH, Ranks, TILE, check_bits};
use super::super::plain;

/// Bytes in a lane.
const LANE: usize = 16;
/// Elements handled in one round.
const STEP: usize = 2 * LANE;

/// The kernels, if this processor can run them.
pub(super) fn kernels() -> Option<Kernels> {
    is_x86_feature_detected!("avx2").then_some(Kernels {
        name: "AVX2",
        spread: |ranks, src, dst| {
            // SAFETY: `kernels` has detected AVX2.
            unsafe { spread(ranks, src, dst) }
        },
        gather: |ranks, src, dst| {
            // SAFETY: `kernels` has detected AVX2.
            unsafe { gather(ranks, src, dst) }
        },
        to_bits: |bytes, rows, stride| {
            // SAFETY: `kernels` has detected AVX2.
            unsafe { to_bits(bytes, rows, stride) }
        },
        from_bits: |rows, stride, bytes| {
            // SAFETY: `kernels` has detected AVX2.
            unsafe { from_bits(rows, stride, bytes) }
        },
    })
}

/// Moves elements to rows: 32 at a time, and the rest by the plain kernel.
#[target_feature(enable = "avx2")]
pub(super) fn spread(ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    let done = match ranks.typesize {
        1 => 0,
        2 => spread_lanes::<2, 2>(ranks, src, dst),
        3 => spread_lanes::<4, 3>(ranks, src, dst),
        4 => spread_lanes::<4, 4>(ranks, src, dst),
        5 => spread_lanes::<8, 5>(ranks, src, dst),
        6 => spread_lanes::<8, 6>(ranks, src, dst),
        7 => spread_lanes::<8, 7>(ranks, src, dst),
        8 => spread_lanes::<8, 8>(ranks, src, dst),
        12 => spread_lanes::<16, 12>(ranks, src, dst),
        9..16 => spread_lanes::<16, 0>(ranks, src, dst),
        _ => spread_lanes::<16, 16>(ranks, src, dst),
    };
    if done * ranks.typesize < src.len() {
        plain::spread_from(done, ranks, src, dst);
    }
}

/// The inverse of [`spread`].
#[target_feature(enable = "avx2")]
pub(super) fn gather(ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    let done = match ranks.typesize {
        1 => 0,
        2 => gather_lanes::<2, 2>(ranks, src, dst),
        3 => gather_lanes::<4, 3>(ranks, src, dst),
        4 => gather_lanes::<4, 4>(ranks, src, dst),
        5 => gather_lanes::<8, 5>(ranks, src, dst),
        6 => gather_lanes::<8, 6>(ranks, src, dst),
        7 => gather_lanes::<8, 7>(ranks, src, dst),
        8 => gather_lanes::<8, 8>(ranks, src, dst),
        12 => gather_lanes::<16, 12>(ranks, src, dst),
        9..16 => gather_lanes::<16, 0>(ranks, src, dst),
        _ => gather_lanes::<16, 16>(ranks, src, dst),
    };
    if done * ranks.typesize < dst.len() {
        plain::gather_from(done, ranks, src, dst);
    }
}

/// The number of ranks, as a constant if it is known, which removes branches from the loops.
fn known_width<const W: usize>(ranks: &Ranks) -> usize {
    if W == 0 {
        return ranks.width();
    }
    assert_eq!(ranks.width(), W);
    W
}

/// Moves 32 elements at a time to their rows; returns how many elements are done.
///
/// `P` is the element's size rounded up to a power of two, or 16. A lane is loaded from the
/// beginning of an element and contains `16 / P` whole ones (or 16 bytes of a larger one).
#[target_feature(enable = "avx2")]
fn spread_lanes<const P: usize, const W: usize>(
    ranks: &Ranks,
    src: &[u8],
    dst: &mut [u8],
) -> usize {
    let count = ranks.check(src, dst);
    let width = known_width::<W>(ranks);
    let lane = LANE / P * ranks.typesize;
    let by_rank = both_lanes(by_rank::<P>(ranks.typesize));
    let mut done = 0;
    loop {
        let from = done * ranks.typesize + ranks.first;
        if done + STEP > count || from + (2 * P - 1) * lane + LANE > src.len() {
            return done;
        }
        let mut registers = [_mm256_setzero_si256(); P];
        for (i, register) in registers.iter_mut().enumerate() {
            // SAFETY: i <= P - 1, and from + (2 * P - 1) * lane + 16 <= src.len().
            *register = unsafe {
                let lower = src.as_ptr().add(from + i * lane);
                let upper = src.as_ptr().add(from + (P + i) * lane);
                _mm256_loadu2_m128i(upper.cast(), lower.cast())
            };
            if P < LANE {
                *register = _mm256_shuffle_epi8(*register, by_rank);
            }
        }
        for _ in 0..P.ilog2() {
            registers = turn_units(registers);
        }
        for (rank, register) in registers.into_iter().enumerate() {
            if rank < width {
                // SAFETY: done + 32 <= count, and `check` has seen rank * stride + count <= dst.len()
                // for each rank below the width.
                unsafe {
                    let to = dst.as_mut_ptr().add(rank * ranks.stride + done);
                    _mm256_storeu_si256(to.cast(), register);
                }
            }
        }
        done += STEP;
    }
}

/// Fills 32 elements at a time from their rows; returns how many elements are done.
///
/// A lane that does not fill its 16 bytes overwrites the beginning of the next, which is written
/// later: by the next store, the next round, or the plain kernel.
#[target_feature(enable = "avx2")]
fn gather_lanes<const P: usize, const W: usize>(
    ranks: &Ranks,
    src: &[u8],
    dst: &mut [u8],
) -> usize {
    let count = ranks.check(dst, src);
    let width = known_width::<W>(ranks);
    let lane = LANE / P * ranks.typesize;
    let close_gaps = both_lanes(close_gaps::<P>(ranks.typesize));
    let mut done = 0;
    loop {
        let to = done * ranks.typesize + ranks.first;
        if done + STEP > count || to + (2 * P - 1) * lane + LANE > dst.len() {
            return done;
        }
        let mut registers = [_mm256_setzero_si256(); P];
        for (rank, register) in registers.iter_mut().enumerate() {
            if rank < width {
                // SAFETY: done + 32 <= count, and `check` has seen rank * stride + count <= src.len()
                // for each rank below the width.
                *register = unsafe {
                    let from = src.as_ptr().add(rank * ranks.stride + done);
                    _mm256_loadu_si256(from.cast())
                };
            }
        }
        for _ in 0..P.ilog2() {
            registers = turn_bytes(registers);
        }
        if P < LANE && ranks.typesize != P {
            for register in &mut registers {
                *register = _mm256_shuffle_epi8(*register, close_gaps);
            }
        }
        for (i, register) in registers.into_iter().enumerate() {
            // SAFETY: i <= P - 1, and to + (2 * P - 1) * lane + 16 <= dst.len().
            unsafe {
                let to = dst.as_mut_ptr().add(to + i * lane);
                _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(register));
            }
        }
        for (i, register) in registers.into_iter().enumerate() {
            // SAFETY: i <= P - 1, and to + (2 * P - 1) * lane + 16 <= dst.len().
            unsafe {
                let to = dst.as_mut_ptr().add(to + (P + i) * lane);
                _mm_storeu_si128(to.cast(), _mm256_extracti128_si256::<1>(register));
            }
        }
        done += STEP;
    }
}

/// The source of each byte of a lane when elements become ranks of `16 / P` bytes. Ranks that the
/// element does not have are zeroed.
#[allow(clippy::cast_possible_truncation, reason = "numbers below 16")]
fn by_rank<const P: usize>(typesize: usize) -> [u8; LANE] {
    let mut from = [0x80; LANE];
    for rank in 0..P.min(typesize) {
        for element in 0..LANE / P {
            from[rank * (LANE / P) + element] = (element * typesize + rank) as u8;
        }
    }
    from
}

/// The source of each byte of a lane when the gaps between elements that take `P` bytes are closed.
#[allow(clippy::cast_possible_truncation, reason = "numbers below 16")]
fn close_gaps<const P: usize>(typesize: usize) -> [u8; LANE] {
    let mut from = [0x80; LANE];
    if typesize <= P {
        for element in 0..LANE / P {
            for rank in 0..typesize {
                from[element * typesize + rank] = (element * P + rank) as u8;
            }
        }
    }
    from
}

/// The same 16 bytes in both lanes of a register.
#[target_feature(enable = "avx2")]
fn both_lanes(bytes: [u8; LANE]) -> __m256i {
    // SAFETY: the array has 16 bytes.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// Zips units of `16 / P` bytes of registers `i` and `i + P / 2`.
#[inline]
#[target_feature(enable = "avx2")]
fn turn_units<const P: usize>(registers: [__m256i; P]) -> [__m256i; P] {
    let mut turned = registers;
    for i in 0..P / 2 {
        let (a, b) = (registers[i], registers[i + P / 2]);
        (turned[2 * i], turned[2 * i + 1]) = match P {
            2 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
            4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
            8 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
            _ => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
        };
    }
    turned
}

/// Zips the bytes of registers `i` and `i + P / 2`.
#[inline]
#[target_feature(enable = "avx2")]
fn turn_bytes<const P: usize>(registers: [__m256i; P]) -> [__m256i; P] {
    let mut turned = registers;
    for i in 0..P / 2 {
        let (a, b) = (registers[i], registers[i + P / 2]);
        turned[2 * i] = _mm256_unpacklo_epi8(a, b);
        turned[2 * i + 1] = _mm256_unpackhi_epi8(a, b);
    }
    turned
}

/// Collects the top bits of 32 bytes at once, then shifts the next bits up.
#[target_feature(enable = "avx2")]
fn to_bits(bytes: &Bytes, rows: &mut [u8], stride: usize) {
    check_bits(rows, stride);
    for (i, piece) in bytes.as_chunks::<STEP>().0.iter().enumerate() {
        // SAFETY: a piece has 32 bytes.
        let mut register = unsafe { _mm256_loadu_si256(piece.as_ptr().cast()) };
        for k in (0..8).rev() {
            let mask = _mm256_movemask_epi8(register);
            // SAFETY: k <= 7 and i <= 15, and `check_bits` has seen 7 * stride + 64 bytes.
            unsafe {
                let to = rows.as_mut_ptr().add(k * stride + 4 * i);
                to.cast::<i32>().write_unaligned(mask);
            }
            register = _mm256_add_epi8(register, register);
        }
    }
}

/// Zips the eight rows until the 8 bytes of each group of 8 elements are together, then mirrors
/// these squares of bits.
#[target_feature(enable = "avx2")]
fn from_bits(rows: &[u8], stride: usize, bytes: &mut Bytes) {
    check_bits(rows, stride);
    for (half, bytes) in bytes
        .as_chunks_mut::<{ TILE / 2 }>()
        .0
        .iter_mut()
        .enumerate()
    {
        let mut registers = [_mm256_setzero_si256(); 8];
        for (k, register) in registers.iter_mut().enumerate() {
            // SAFETY: k <= 7 and half <= 1, and `check_bits` has seen 7 * stride + 64 bytes.
            *register = unsafe {
                let from = rows.as_ptr().add(k * stride + half * STEP);
                _mm256_loadu_si256(from.cast())
            };
        }
        for _ in 0..3 {
            registers = turn_bytes(registers);
        }
        for (i, register) in registers.into_iter().enumerate() {
            let square = turn_8x8(register);
            let lanes = bytes.as_chunks_mut::<LANE>().0;
            // SAFETY: a lane has 16 bytes.
            unsafe {
                _mm_storeu_si128(lanes[i].as_mut_ptr().cast(), _mm256_castsi256_si128(square));
            }
            // SAFETY: a lane has 16 bytes.
            unsafe {
                let to = lanes[i + 8].as_mut_ptr();
                _mm_storeu_si128(to.cast(), _mm256_extracti128_si256::<1>(square));
            }
        }
    }
}

/// [`plain::turn_8x8`] for four squares.
#[inline]
#[target_feature(enable = "avx2")]
fn turn_8x8(squares: __m256i) -> __m256i {
    let mask = _mm256_set1_epi64x(0x00aa_00aa_00aa_00aa);
    let differ = _mm256_and_si256(
        _mm256_xor_si256(squares, _mm256_srli_epi64::<7>(squares)),
        mask,
    );
    let squares = _mm256_xor_si256(
        squares,
        _mm256_xor_si256(differ, _mm256_slli_epi64::<7>(differ)),
    );
    let mask = _mm256_set1_epi64x(0x0000_cccc_0000_cccc);
    let differ = _mm256_and_si256(
        _mm256_xor_si256(squares, _mm256_srli_epi64::<14>(squares)),
        mask,
    );
    let squares = _mm256_xor_si256(
        squares,
        _mm256_xor_si256(differ, _mm256_slli_epi64::<14>(differ)),
    );
    let mask = _mm256_set1_epi64x(0x0000_0000_f0f0_f0f0);
    let differ = _mm256_and_si256(
        _mm256_xor_si256(squares, _mm256_srli_epi64::<28>(squares)),
        mask,
    );
    _mm256_xor_si256(
        squares,
        _mm256_xor_si256(differ, _mm256_slli_epi64::<28>(differ)),
    )
}

const _: () = assert!(MAX_WIDTH == LANE);
