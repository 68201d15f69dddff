//! Conversions between integers, none of which loses anything.

use bloscpack_error::{Error, Result};
pub(crate) use bloscpack_wire::internal::{to_u64, to_usize};

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
