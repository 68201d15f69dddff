//! Kernels for x86-64 processors with wider registers than all have.
#![allow(
    unsafe_code,
    reason = "instructions that not every processor has; pointers"
)]

mod avx2;
mod avx512;

use super::kernels::Kernels;

/// The sets that this machine can run, slowest first.
pub(super) fn kernels() -> impl Iterator<Item = Kernels> {
    avx2::kernels().into_iter().chain(avx512::kernels())
}
