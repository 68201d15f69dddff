//! Conversions between integers, none of which loses anything.

pub(crate) use bloscpack_error::checked::{in_memory, to_u64, to_usize};

/// Bytes of a value of this type.
pub(crate) const fn size_of_u32<T>() -> u32 {
    const { assert!(size_of::<T>() <= 255, "an element is a number") };
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    let size = size_of::<T>() as u32;
    size
}
