//! Kernels for registers of 16 bytes, which every processor of the family has: SSE2 on x86-64, NEON
//! on aarch64. The network is written once, in terms of the few instructions that it needs.
//!
//! Its only step is to zip the lower (or upper) halves of two registers. Consider the address of a
//! byte among `P` registers as one number, register number first. Zipping register `i` with
//! register `i + P / 2`, for all `i`, rotates that number left by one bit. Elements of `P` bytes
//! start as (element, rank) and rows as (rank, element), with four bits for the element: four
//! rotations turn elements into rows, log2(P) rotations turn rows into elements.
#![allow(unsafe_code, reason = "loads and stores through pointers")]
#![cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little")
))]

#[cfg(target_arch = "x86_64")]
use super::kernels::{Bytes, check_bits};
use super::kernels::{Kernels, Ranks};
#[cfg(target_arch = "aarch64")]
use super::neon::{from_bits, to_bits};
use super::plain;
#[cfg(target_arch = "x86_64")]
use super::plain::from_bits;

/// Bytes in a register.
const LANE: usize = 16;

/// The kernels of this module; on x86-64, moving bits to bytes is left to the plain kernel.
pub(super) const KERNELS: Kernels = Kernels {
    name: "16 bytes",
    spread,
    gather,
    to_bits,
    from_bits,
};

#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_setzero_si128, _mm_storeu_si128, _mm_unpackhi_epi8,
        _mm_unpacklo_epi8,
    };

    pub(super) type Register = __m128i;

    /// # Safety
    /// 16 bytes can be read at `from`.
    pub(super) unsafe fn load(from: *const u8) -> Register {
        // SAFETY: as promised by the caller; SSE2 is part of x86-64.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    /// # Safety
    /// 16 bytes can be written at `to`.
    pub(super) unsafe fn store(to: *mut u8, register: Register) {
        // SAFETY: as promised by the caller; SSE2 is part of x86-64.
        unsafe { _mm_storeu_si128(to.cast(), register) }
    }

    pub(super) fn zero() -> Register {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_setzero_si128() }
    }

    pub(super) fn zip(a: Register, b: Register) -> [Register; 2] {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { [_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)] }
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    use std::arch::aarch64::{uint8x16_t, vdupq_n_u8, vld1q_u8, vst1q_u8, vzip1q_u8, vzip2q_u8};

    pub(super) type Register = uint8x16_t;

    /// # Safety
    /// 16 bytes can be read at `from`.
    pub(super) unsafe fn load(from: *const u8) -> Register {
        // SAFETY: as promised by the caller; NEON is part of aarch64.
        unsafe { vld1q_u8(from) }
    }

    /// # Safety
    /// 16 bytes can be written at `to`.
    pub(super) unsafe fn store(to: *mut u8, register: Register) {
        // SAFETY: as promised by the caller; NEON is part of aarch64.
        unsafe { vst1q_u8(to, register) }
    }

    pub(super) fn zero() -> Register {
        // SAFETY: NEON is part of aarch64.
        unsafe { vdupq_n_u8(0) }
    }

    pub(super) fn zip(a: Register, b: Register) -> [Register; 2] {
        // SAFETY: NEON is part of aarch64.
        unsafe { [vzip1q_u8(a, b), vzip2q_u8(a, b)] }
    }
}

use register::{Register, load, store, zero, zip};

/// Rotates the addresses of all bytes left by one bit.
#[inline(always)]
fn turn<const P: usize>(registers: [Register; P]) -> [Register; P] {
    let mut turned = registers;
    for i in 0..P / 2 {
        [turned[2 * i], turned[2 * i + 1]] = zip(registers[i], registers[i + P / 2]);
    }
    turned
}

/// Moves elements to rows: 16 at a time, and the rest by the plain kernel.
fn spread(ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    let done = match ranks.typesize {
        1 => 0,
        2 => spread_lanes::<2>(ranks, src, dst),
        4 => spread_lanes::<4>(ranks, src, dst),
        8 => spread_lanes::<8>(ranks, src, dst),
        _ => spread_lanes::<16>(ranks, src, dst),
    };
    plain::spread_from(done, ranks, src, dst);
}

/// The inverse of [`spread`].
fn gather(ranks: &Ranks, src: &[u8], dst: &mut [u8]) {
    let done = match ranks.typesize {
        1 => 0,
        2 => gather_lanes::<2>(ranks, src, dst),
        4 => gather_lanes::<4>(ranks, src, dst),
        8 => gather_lanes::<8>(ranks, src, dst),
        _ => gather_lanes::<16>(ranks, src, dst),
    };
    plain::gather_from(done, ranks, src, dst);
}

/// Moves 16 elements at a time to their rows; returns how many elements are done.
///
/// `P` is the element's size or 16. A register is loaded with `16 / P` elements. If an element is
/// not 16 bytes long, the register contains 16 bytes from its first rank on; the bytes of its
/// neighbours end up in rows that are not stored.
fn spread_lanes<const P: usize>(ranks: &Ranks, src: &[u8], dst: &mut [u8]) -> usize {
    let count = ranks.check(src, dst);
    let lane = LANE / P * ranks.typesize;
    let mut done = 0;
    loop {
        let from = done * ranks.typesize + ranks.first;
        if done + LANE > count || from + (P - 1) * lane + LANE > src.len() {
            return done;
        }
        let mut registers = [zero(); P];
        for (i, register) in registers.iter_mut().enumerate() {
            // SAFETY: i <= P - 1, and from + (P - 1) * lane + 16 <= src.len().
            *register = unsafe { load(src.as_ptr().add(from + i * lane)) };
        }
        for _ in 0..LANE.ilog2() {
            registers = turn(registers);
        }
        for (rank, register) in registers.into_iter().enumerate() {
            if rank < ranks.width() {
                // SAFETY: done + 16 <= count, and `check` has seen rank * stride + count <= dst.len()
                // for each rank below the width.
                unsafe { store(dst.as_mut_ptr().add(rank * ranks.stride + done), register) };
            }
        }
        done += LANE;
    }
}

/// Fills 16 elements at a time from their rows; returns how many elements are done.
///
/// Elements that are shorter than 16 bytes overwrite the beginning of the next element, which is
/// written later: by the next store, the next round, or the plain kernel.
fn gather_lanes<const P: usize>(ranks: &Ranks, src: &[u8], dst: &mut [u8]) -> usize {
    let count = ranks.check(dst, src);
    let lane = LANE / P * ranks.typesize;
    let mut done = 0;
    loop {
        let to = done * ranks.typesize + ranks.first;
        if done + LANE > count || to + (P - 1) * lane + LANE > dst.len() {
            return done;
        }
        let mut registers = [zero(); P];
        for (rank, register) in registers.iter_mut().enumerate() {
            if rank < ranks.width() {
                // SAFETY: done + 16 <= count, and `check` has seen rank * stride + count <= src.len()
                // for each rank below the width.
                *register = unsafe { load(src.as_ptr().add(rank * ranks.stride + done)) };
            }
        }
        for _ in 0..P.ilog2() {
            registers = turn(registers);
        }
        for (i, register) in registers.into_iter().enumerate() {
            // SAFETY: i <= P - 1, and to + (P - 1) * lane + 16 <= dst.len().
            unsafe { store(dst.as_mut_ptr().add(to + i * lane), register) };
        }
        done += LANE;
    }
}

/// Collects the top bits of 16 bytes at once, then shifts the next bits up.
#[cfg(target_arch = "x86_64")]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the mask has 16 bits"
)]
fn to_bits(bytes: &Bytes, rows: &mut [u8], stride: usize) {
    use std::arch::x86_64::{_mm_add_epi8, _mm_movemask_epi8};
    check_bits(rows, stride);
    for (i, lane) in bytes.as_chunks::<LANE>().0.iter().enumerate() {
        // SAFETY: a lane has 16 bytes.
        let mut register = unsafe { load(lane.as_ptr()) };
        for k in (0..8).rev() {
            // SAFETY: SSE2 is part of x86-64.
            let mask = unsafe { _mm_movemask_epi8(register) } as u16;
            let to = k * stride + 2 * i;
            rows[to..to + 2].copy_from_slice(&mask.to_le_bytes());
            // SAFETY: as above.
            register = unsafe { _mm_add_epi8(register, register) };
        }
    }
}
