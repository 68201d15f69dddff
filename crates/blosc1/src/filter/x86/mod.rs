//! Kernels for x86-64 processors with registers wider than 16 bytes.
#![allow(unsafe_code, reason = "instructions of some processors only; pointers")]

mod avx2;
mod avx512;

use super::kernels::Kernels;

/// The sets of kernels that this processor can run, slowest first.
pub(super) fn kernels() -> impl Iterator<Item = Kernels> {
    avx2::kernels().into_iter().chain(avx512::kernels())
}
