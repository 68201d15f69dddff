//! Conversions between integers that lose nothing.

const _: () = assert!(
    usize::BITS >= 32 && usize::BITS <= 64,
    "lengths in memory are between the lengths in chunks and those in files"
);

/// A length in memory as one in a file.
#[must_use]
pub const fn to_u64(len: usize) -> u64 {
    len as u64
}

/// A length in a chunk as one in memory.
#[must_use]
pub const fn to_usize(len: u32) -> usize {
    len as usize
}
