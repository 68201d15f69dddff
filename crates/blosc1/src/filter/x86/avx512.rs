//! AVX-512 with byte permutations (VBMI) and bit matrices (GFNI): 64 elements at a time.
//!
//! It pays for bitshuffle, and for shuffle of elements of 16 bytes, whose rows AVX2 would write in
//! slow pieces of 32 bytes. Other sizes are left to AVX2, which keeps up with the memory.
//!
//! Four elements of 16 bytes fill a register. One permutation sorts its bytes by rank into 16 units
//! of 4 bytes. 16 registers are then a square of units, which only has to be mirrored.

use std::arch::x86_64::*;

use super::super::kernels::{Bytes, Kernels, Ranks, check_bits};
use super::super::plain;
use super::avx2;

/// Bytes in a register, and elements handled in one round.
const WIDE: usize = 64;
/// The only typesize that is shuffled here, and the number of registers of a square.
const T: usize = 16;

/// The kernels, if this processor can run them.
pub(super) fn kernels() -> Option<Kernels> {
    let found = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("gfni");
    found.then_some(Kernels {
        name: "AVX-512",
        spread: |ranks, src, dst| {
            // SAFETY: `kernels` has detected the features.
            unsafe { spread(ranks, src, dst) }
        },
        gather: |ranks, src, dst| {
            // SAFETY: `kernels` has detected the features.
            unsafe { gather(ranks, src, dst) }
        },
        to_bits: |bytes, rows, stride| {
            // SAFETY: `kernels` has detected the features.
            unsafe { to_bits(bytes, rows, stride) }
        },
        from_bits: |rows, stride, bytes| {
            // SAFETY: `kernels` has detected the features.
            unsafe { from_bits(rows, stride, bytes) }
        },
    })
}

/// Moves elements to rows: those of 16 bytes here, others by AVX2.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vbmi")]
fn spread(ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    if ranks.typesize != T {
        return avx2::spread(ranks, src, dst);
    }
    let done = spread_wide(ranks, src, dst);
    plain::spread_from(done, ranks, src, dst);
}

/// The inverse of [`spread`].
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vbmi")]
fn gather(ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    if ranks.typesize != T {
        return avx2::gather(ranks, src, dst);
    }
    let done = gather_wide(ranks, src, dst);
    plain::gather_from(done, ranks, src, dst);
}

/// Moves 64 elements of `T` bytes at a time to their rows; returns how many are done.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn spread_wide(ranks: &Ranks, src: &[u8], dst: &mut [u8]) -> usize {
    let count = ranks.check(src, dst);
    assert!(ranks.typesize == T && ranks.width() == T);
    let by_rank = mirrored(WIDE / T, T);
    let mut done = 0;
    while done + WIDE <= count {
        let mut registers = [_mm512_setzero_si512(); T];
        for (i, register) in registers.iter_mut().enumerate() {
            // SAFETY: i <= T - 1 and done + 64 <= count, and count * T <= src.len().
            let bytes = unsafe { load(src.as_ptr().add(done * T + i * WIDE)) };
            *register = _mm512_permutexvar_epi8(by_rank, bytes);
        }
        for (rank, register) in mirror_16(registers).into_iter().enumerate() {
            // SAFETY: done + 64 <= count, and `check` has seen rank * stride + count <= dst.len()
            // for each rank below the width, which is T.
            unsafe { store(dst.as_mut_ptr().add(rank * ranks.stride + done), register) };
        }
        done += WIDE;
    }
    done
}

/// Fills 64 elements of `T` bytes at a time from their rows; returns how many are done.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn gather_wide(ranks: &Ranks, src: &[u8], dst: &mut [u8]) -> usize {
    let count = ranks.check(dst, src);
    assert!(ranks.typesize == T && ranks.width() == T);
    let by_element = mirrored(T, WIDE / T);
    let mut done = 0;
    while done + WIDE <= count {
        let mut registers = [_mm512_setzero_si512(); T];
        for (rank, register) in registers.iter_mut().enumerate() {
            // SAFETY: done + 64 <= count, and `check` has seen rank * stride + count <= src.len()
            // for each rank below the width, which is T.
            *register = unsafe { load(src.as_ptr().add(rank * ranks.stride + done)) };
        }
        for (i, register) in mirror_16(registers).into_iter().enumerate() {
            let bytes = _mm512_permutexvar_epi8(by_element, register);
            // SAFETY: i <= T - 1 and done + 64 <= count, and count * T <= dst.len().
            unsafe { store(dst.as_mut_ptr().add(done * T + i * WIDE), bytes) };
        }
        done += WIDE;
    }
    done
}

/// # Safety
/// 64 bytes can be read at `from`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load(from: *const u8) -> __m512i {
    // SAFETY: as promised by the caller.
    unsafe { _mm512_loadu_si512(from.cast()) }
}

/// # Safety
/// 64 bytes can be written at `to`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store(to: *mut u8, register: __m512i) {
    // SAFETY: as promised by the caller.
    unsafe { _mm512_storeu_si512(to.cast(), register) }
}

/// The source of each byte when a table of bytes with `rows` rows and `columns` columns is
/// transposed.
#[target_feature(enable = "avx512f")]
#[allow(clippy::cast_possible_truncation, reason = "numbers below 64")]
fn mirrored(rows: usize, columns: usize) -> __m512i {
    let mut from = [0; WIDE];
    for row in 0..rows {
        for column in 0..columns {
            from[column * rows + row] = (row * columns + column) as u8;
        }
    }
    // SAFETY: the array has 64 bytes.
    unsafe { load(from.as_ptr()) }
}

/// Mirrors a square of 8 registers of 8 units of 8 bytes: unit `u` of register `r` becomes unit `r`
/// of register `u`.
#[inline]
#[target_feature(enable = "avx512f")]
fn mirror_8(r: [__m512i; 8]) -> [__m512i; 8] {
    let mut lower = [r[0]; 4];
    let mut upper = [r[0]; 4];
    for i in 0..4 {
        lower[i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
        upper[i] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
    }
    let mut mirror = r;
    [mirror[0], mirror[2], mirror[4], mirror[6]] = mirror_4(lower);
    [mirror[1], mirror[3], mirror[5], mirror[7]] = mirror_4(upper);
    mirror
}

/// [`mirror_8`] for 16 registers of 16 units of 4 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn mirror_16(r: [__m512i; 16]) -> [__m512i; 16] {
    let mut quarters = [[r[0]; 4]; 4];
    for (i, r) in r.as_chunks::<4>().0.iter().enumerate() {
        let (low_01, high_01) = (
            _mm512_unpacklo_epi32(r[0], r[1]),
            _mm512_unpackhi_epi32(r[0], r[1]),
        );
        let (low_23, high_23) = (
            _mm512_unpacklo_epi32(r[2], r[3]),
            _mm512_unpackhi_epi32(r[2], r[3]),
        );
        quarters[0][i] = _mm512_unpacklo_epi64(low_01, low_23);
        quarters[1][i] = _mm512_unpackhi_epi64(low_01, low_23);
        quarters[2][i] = _mm512_unpacklo_epi64(high_01, high_23);
        quarters[3][i] = _mm512_unpackhi_epi64(high_01, high_23);
    }
    let mut m = r;
    for (i, quarter) in quarters.into_iter().enumerate() {
        [m[i], m[i + 4], m[i + 8], m[i + 12]] = mirror_4(quarter);
    }
    m
}

/// [`mirror_8`] for four registers of four lanes of 16 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn mirror_4([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    /// Selectors of lanes: two from the first register, two from the second.
    const LOWER: i32 = 0b01_00_01_00;
    const UPPER: i32 = 0b11_10_11_10;
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let (ab_lower, ab_upper) = (
        _mm512_shuffle_i32x4::<LOWER>(a, b),
        _mm512_shuffle_i32x4::<UPPER>(a, b),
    );
    let (cd_lower, cd_upper) = (
        _mm512_shuffle_i32x4::<LOWER>(c, d),
        _mm512_shuffle_i32x4::<UPPER>(c, d),
    );
    [
        _mm512_shuffle_i32x4::<EVEN>(ab_lower, cd_lower),
        _mm512_shuffle_i32x4::<ODD>(ab_lower, cd_lower),
        _mm512_shuffle_i32x4::<EVEN>(ab_upper, cd_upper),
        _mm512_shuffle_i32x4::<ODD>(ab_upper, cd_upper),
    ]
}

/// The bit matrix with which the affine instruction does not change a square.
const IDENTITY: i64 = 0x0102_0408_1020_4080;
/// The bit matrix with which the affine instruction reverses the rows of a square.
const REVERSAL: i64 = IDENTITY.swap_bytes();

/// Mirrors the squares of bits of 8 elements each, puts bytes of equal bit together within each
/// register, then across registers.
///
/// The affine instruction multiplies each byte of its first operand by the matrix in the second.
/// With single bits as bytes, it reads the matrix out by columns, in reversed order of rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn to_bits(bytes: &Bytes, rows: &mut [u8], stride: usize) {
    check_bits(rows, stride);
    let by_bit = mirrored(8, 8);
    let single_bits = _mm512_set1_epi64(REVERSAL);
    let reversal = _mm512_set1_epi64(REVERSAL);
    let mut registers = [_mm512_setzero_si512(); 8];
    for (register, piece) in registers.iter_mut().zip(bytes.as_chunks::<WIDE>().0) {
        // SAFETY: a piece has 64 bytes.
        let squares = unsafe { load(piece.as_ptr()) };
        let columns = _mm512_gf2p8affine_epi64_epi8::<0>(single_bits, squares);
        let columns = _mm512_gf2p8affine_epi64_epi8::<0>(columns, reversal);
        *register = _mm512_permutexvar_epi8(by_bit, columns);
    }
    for (k, register) in mirror_8(registers).into_iter().enumerate() {
        // SAFETY: k <= 7, and `check_bits` has seen 7 * stride + 64 bytes.
        unsafe { store(rows.as_mut_ptr().add(k * stride), register) };
    }
}

/// The inverse of [`to_bits`]; the reversal of rows is part of the permutation.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn from_bits(rows: &[u8], stride: usize, bytes: &mut Bytes) {
    check_bits(rows, stride);
    let by_group = _mm512_xor_si512(mirrored(8, 8), _mm512_set1_epi8(0x38));
    let single_bits = _mm512_set1_epi64(REVERSAL);
    let mut registers = [_mm512_setzero_si512(); 8];
    for (k, register) in registers.iter_mut().enumerate() {
        // SAFETY: k <= 7, and `check_bits` has seen 7 * stride + 64 bytes.
        *register = unsafe { load(rows.as_ptr().add(k * stride)) };
    }
    let pieces = bytes.as_chunks_mut::<WIDE>().0;
    for (register, piece) in mirror_8(registers).into_iter().zip(pieces) {
        let squares = _mm512_permutexvar_epi8(by_group, register);
        let elements = _mm512_gf2p8affine_epi64_epi8::<0>(single_bits, squares);
        // SAFETY: a piece has 64 bytes.
        unsafe { store(piece.as_mut_ptr(), elements) };
    }
}
