//! Conversions between integers that lose nothing.

const _: () = assert!(usize::BITS <= 64);

/// A length in memory, as wide as positions in files are.
pub const fn widened(len: usize) -> u64 {
    len as u64
}
