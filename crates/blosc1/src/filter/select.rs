//! Chooses the kernels for the processor on which the program runs.

use std::sync::OnceLock;

use super::kernels::Kernels;
use super::plain;

/// The fastest set of kernels that this processor can run. It is detected once per process.
pub(super) fn best() -> &'static Kernels {
    static BEST: OnceLock<Kernels> = OnceLock::new();
    BEST.get_or_init(|| available().fold(plain::KERNELS, |_, faster| faster))
}

/// All sets that this processor can run, slowest first.
pub(super) fn available() -> impl Iterator<Item = Kernels> {
    let sets = std::iter::once(plain::KERNELS);
    #[cfg(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ))]
    let sets = sets.chain(std::iter::once(super::lane16::KERNELS));
    #[cfg(target_arch = "x86_64")]
    let sets = sets.chain(super::x86::kernels());
    sets
}
