//! The filters that run before a compressor and after its inverse: shuffle (bytes) and bitshuffle.
//!
//! A filter moves the bytes (or bits) of equal rank of all elements of a block next to each other,
//! which is where the redundancy of numbers sits. Neither adds nor drops a byte. Layouts, for `n`
//! whole elements of `typesize` bytes:
//!
//! ```text
//! shuffle      byte j of element e                -> byte j * n + e
//! bitshuffle   bit k (0 = lowest) of that byte    -> bit e % 8 of byte (8 * j + k) * (n / 8) + e / 8
//! ```
//!
//! Bytes after the last whole element stay where they are. Bitshuffle as Blosc 1 has it leaves a
//! block alone (plain copy) when `n` is not a multiple of 8; as Blosc 2 has it, it leaves alone only
//! the elements beyond that multiple.

use std::fmt;
use std::str::FromStr;

mod kernels;
mod lane16;
mod plain;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;

use kernels::Kernels;

/// What is done to a block before it is compressed.
///
/// ```
/// use blosc1::Filter;
///
/// assert_eq!("byte".parse(), Ok(Filter::Byte));
/// assert_eq!(Filter::Bit.to_string(), "bit");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The block is compressed as it is.
    None,
    /// Shuffle: bytes of equal rank are put together. The usual choice for numbers.
    #[default]
    Byte,
    /// Bitshuffle: bits of equal rank are put together. Pays when numbers use few of their bits.
    Bit,
}

impl Filter {
    /// All filters, in the order of their numbers in C-Blosc's interface.
    pub const ALL: [Self; 3] = [Self::None, Self::Byte, Self::Bit];

    /// The name that [`FromStr`] reads: `none`, `byte` or `bit`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Byte => "byte",
            Self::Bit => "bit",
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Filter {
    type Err = UnknownFilter;

    fn from_str(name: &str) -> Result<Self, UnknownFilter> {
        Self::ALL
            .into_iter()
            .find(|filter| filter.name() == name)
            .ok_or_else(|| UnknownFilter { found: name.into() })
    }
}

/// A name that is no [`Filter`]'s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFilter {
    found: Box<str>,
}

impl fmt::Display for UnknownFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown filter {:?}: expected none, byte or bit",
            self.found
        )
    }
}

impl std::error::Error for UnknownFilter {}

/// Puts the bytes of equal rank of all elements together.
pub(crate) fn shuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    Kernels::best().shuffle(typesize, src, dst);
}

/// Undoes [`shuffle`].
pub(crate) fn unshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    Kernels::best().unshuffle(typesize, src, dst);
}

/// Puts the bits of equal rank of all elements together, if their count is a multiple of 8.
pub(crate) fn bitshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    Kernels::best().bitshuffle(typesize, src, dst);
}

/// Undoes [`bitshuffle`].
pub(crate) fn bitunshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    Kernels::best().bitunshuffle(typesize, src, dst);
}

/// Puts the bits of equal rank of all elements together but for those beyond the last eight.
pub(crate) fn bitshuffle_rounded(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_beyond_eights(typesize, src, dst);
    bitshuffle(typesize, src, dst);
}

/// Undoes [`bitshuffle_rounded`].
pub(crate) fn bitunshuffle_rounded(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_beyond_eights(typesize, src, dst);
    bitunshuffle(typesize, src, dst);
}

/// Copies what is beyond the last eight elements and gives what comes before.
fn copy_beyond_eights<'a>(
    typesize: usize,
    src: &'a [u8],
    dst: &'a mut [u8],
) -> (&'a [u8], &'a mut [u8]) {
    let rest = src.len().checked_rem(8 * typesize).unwrap_or(0);
    let (src, src_rest) = src.split_at(src.len() - rest);
    let (dst, dst_rest) = dst.split_at_mut(src.len());
    dst_rest.copy_from_slice(src_rest);
    (src, dst)
}
