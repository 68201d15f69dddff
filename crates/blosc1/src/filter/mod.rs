//! The filters that rearrange a block before compression, and their inverses: shuffle (of bytes)
//! and bitshuffle.
//!
//! A filter moves the bytes (or bits) of equal rank of all elements next to each other, which
//! exposes the redundancy of numbers to a compressor. No byte is added or dropped. For `n` whole
//! elements of `typesize` bytes:
//!
//! ```text
//! shuffle      byte j of element e                -> byte j * n + e
//! bitshuffle   bit k (0 = lowest) of that byte    -> bit e % 8 of byte (8 * j + k) * (n / 8) + e / 8
//! ```
//!
//! Bytes after the last whole element stay in place. The bitshuffle of Blosc 1 copies a block
//! unchanged if `n` is not a multiple of 8; the one of Blosc 2 copies only the elements after that
//! multiple.
//!
//! ```text
//! kernels.rs   loops over blocks, ranks and rests, the same for all processors
//! plain.rs     kernels in safe code              lane16.rs, neon.rs   SSE2 and NEON
//! x86/         kernels for AVX2 and AVX-512      select.rs            chooses once per process
//! ```
//!
//! All functions panic if the two slices differ in length or the typesize is 0.

mod kernels;
mod lane16;
mod neon;
mod plain;
mod select;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;

use select::best;

/// Groups the bytes of equal rank of all elements.
pub(crate) fn shuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    best().shuffle(typesize, src, dst);
}

/// Undoes [`shuffle`].
pub(crate) fn unshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    best().unshuffle(typesize, src, dst);
}

/// Groups the bits of equal rank of all elements, if the number of elements is a multiple of 8.
pub(crate) fn bitshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    best().bitshuffle(typesize, src, dst);
}

/// Undoes [`bitshuffle`].
pub(crate) fn bitunshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    best().bitunshuffle(typesize, src, dst);
}

/// Groups the bits of equal rank of all elements except for the last `n % 8`.
pub(crate) fn bitshuffle_rounded(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_beyond_eights(typesize, src, dst);
    bitshuffle(typesize, src, dst);
}

/// Undoes [`bitshuffle_rounded`].
pub(crate) fn bitunshuffle_rounded(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_beyond_eights(typesize, src, dst);
    bitunshuffle(typesize, src, dst);
}

/// Copies the last `n % 8` elements and the bytes after them; returns the parts before these.
fn copy_beyond_eights<'a>(
    typesize: usize,
    src: &'a [u8],
    dst: &'a mut [u8],
) -> (&'a [u8], &'a mut [u8]) {
    let rest = src.len() % (8 * typesize);
    let (src, src_rest) = src.split_at(src.len() - rest);
    let (dst, dst_rest) = dst.split_at_mut(src.len());
    dst_rest.copy_from_slice(src_rest);
    (src, dst)
}
