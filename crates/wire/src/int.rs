//! Conversions between integers that lose nothing: `usize` has 32 to 64 bits.

const _: () = assert!(
    usize::BITS >= 32 && usize::BITS <= 64,
    "lengths in memory are between the lengths in chunks and those in files"
);

/// A length in memory as a length in a file.
#[must_use]
pub const fn to_u64(len: usize) -> u64 {
    len as u64
}

/// A length in a chunk as a length in memory.
#[must_use]
pub const fn to_usize(len: u32) -> usize {
    len as usize
}
