//! Bit kernels for aarch64, which always has NEON: squares of 8 x 8 bits are mirrored two at a
//! time, and bytes move to their rows and back by zipping registers.
#![allow(unsafe_code, reason = "loads and stores through pointers")]
#![cfg(all(target_arch = "aarch64", target_endian = "little"))]

use super::kernels::{Bytes, LINE, check_bits};
use std::arch::aarch64::{
    uint8x16_t, uint64x2_t, vandq_u64, vdupq_n_u8, vdupq_n_u64, veorq_u64, vld1q_u8,
    vreinterpretq_u8_u64, vreinterpretq_u64_u8, vshlq_n_u64, vshrq_n_u64, vst1q_u8, vuzp1q_u8,
    vuzp2q_u8, vzip1q_u8, vzip2q_u8,
};

/// Bytes in a register.
const LANE: usize = 16;
/// Bytes whose bits fill one register of each of the 8 rows.
const PIECE: usize = 8 * LANE;

/// Moves bits from bytes to rows.
pub(super) fn to_bits(bytes: &Bytes, rows: &mut [u8], stride: usize) {
    check_bits(rows, stride);
    // SAFETY: NEON is part of aarch64, and the rows have been checked.
    unsafe { to_rows(bytes, rows, stride) }
}

/// Moves bits from rows to bytes.
pub(super) fn from_bits(rows: &[u8], stride: usize, bytes: &mut Bytes) {
    check_bits(rows, stride);
    // SAFETY: NEON is part of aarch64, and the rows have been checked.
    unsafe { from_rows(rows, stride, bytes) }
}

/// Mirrors squares, then takes every second byte of pairs of registers until each has one row.
///
/// # Safety
/// `check_bits` has seen these rows.
#[target_feature(enable = "neon")]
unsafe fn to_rows(bytes: &Bytes, rows: &mut [u8], stride: usize) {
    for (i, piece) in bytes.as_chunks::<PIECE>().0.iter().enumerate() {
        let mut registers = [vdupq_n_u8(0); 8];
        for (register, lane) in registers.iter_mut().zip(piece.as_chunks::<LANE>().0) {
            // SAFETY: a lane has 16 bytes.
            *register = turn_8x8(unsafe { vld1q_u8(lane.as_ptr()) });
        }
        for _ in 0..3 {
            registers = unzip(registers);
        }
        for (k, register) in registers.into_iter().enumerate() {
            // SAFETY: k <= 7 and i <= 3, and `check_bits` has seen 7 * stride + 64 bytes.
            unsafe { vst1q_u8(rows.as_mut_ptr().add(k * stride + i * LANE), register) };
        }
    }
}

/// Zips the eight rows until each group of 8 elements has its 8 bytes together, then mirrors these squares of bits.
///
/// # Safety
/// `check_bits` has seen these rows.
#[target_feature(enable = "neon")]
unsafe fn from_rows(rows: &[u8], stride: usize, bytes: &mut Bytes) {
    for (i, piece) in bytes.as_chunks_mut::<PIECE>().0.iter_mut().enumerate() {
        let mut registers = [vdupq_n_u8(0); 8];
        for (k, register) in registers.iter_mut().enumerate() {
            // SAFETY: k <= 7 and i <= 3, and `check_bits` has seen 7 * stride + 64 bytes.
            *register = unsafe { vld1q_u8(rows.as_ptr().add(k * stride + i * LANE)) };
        }
        for _ in 0..3 {
            registers = zip(registers);
        }
        for (lane, register) in piece.as_chunks_mut::<LANE>().0.iter_mut().zip(registers) {
            // SAFETY: a lane has 16 bytes.
            unsafe { vst1q_u8(lane.as_mut_ptr(), turn_8x8(register)) };
        }
    }
}

/// Zips the bytes of registers `i` and `i + 4`.
#[inline]
#[target_feature(enable = "neon")]
fn zip(registers: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    let mut turned = registers;
    for i in 0..4 {
        let (a, b) = (registers[i], registers[i + 4]);
        [turned[2 * i], turned[2 * i + 1]] = [vzip1q_u8(a, b), vzip2q_u8(a, b)];
    }
    turned
}

/// The inverse of [`zip`].
#[inline]
#[target_feature(enable = "neon")]
fn unzip(registers: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    let mut turned = registers;
    for i in 0..4 {
        let (a, b) = (registers[2 * i], registers[2 * i + 1]);
        [turned[i], turned[i + 4]] = [vuzp1q_u8(a, b), vuzp2q_u8(a, b)];
    }
    turned
}

/// [`super::plain::turn_8x8`] for two squares.
#[inline]
#[target_feature(enable = "neon")]
fn turn_8x8(squares: uint8x16_t) -> uint8x16_t {
    let squares = vreinterpretq_u64_u8(squares);
    let squares = swap::<7>(squares, 0x00aa_00aa_00aa_00aa);
    let squares = swap::<14>(squares, 0x0000_cccc_0000_cccc);
    vreinterpretq_u8_u64(swap::<28>(squares, 0x0000_0000_f0f0_f0f0))
}

/// Swaps the bits under `mask` with those `DISTANCE` above them, in both squares.
#[inline]
#[target_feature(enable = "neon")]
fn swap<const DISTANCE: i32>(squares: uint64x2_t, mask: u64) -> uint64x2_t {
    let moved = veorq_u64(squares, vshrq_n_u64::<DISTANCE>(squares));
    let differ = vandq_u64(moved, vdupq_n_u64(mask));
    veorq_u64(squares, veorq_u64(differ, vshlq_n_u64::<DISTANCE>(differ)))
}

const _: () = assert!(4 * LANE == LINE);
