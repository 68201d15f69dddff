//! Conversions between integers, none of which loses anything.

use bloscpack_error::{Error, Result};

const _: () = assert!(
    usize::BITS >= 32 && usize::BITS <= 64,
    "lengths in memory are between the lengths in chunks and those in files"
);

/// A length or position in memory as one in a file.
pub(crate) const fn to_u64(value: usize) -> u64 {
    value as u64
}

/// A length or position in a chunk as one in memory.
pub(crate) const fn to_usize(value: u32) -> usize {
    value as usize
}

/// A length or position in an array as one in memory, where a check before has made sure that memory has room for it.
pub(crate) fn in_memory(value: u64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::bug(format!("{value} is beyond all memory")))
}

/// Bytes of a value of this type.
pub(crate) const fn size_of_u32<T>() -> u32 {
    const { assert!(size_of::<T>() <= 255, "an element is a number") };
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    let size = size_of::<T>() as u32;
    size
}
