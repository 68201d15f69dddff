//! What is wanted of automatic settings.

use std::fmt;
use std::str::FromStr;

/// What [`Tuner`](super::Tuner) makes least.
///
/// Speed and balance reckon the seconds that it takes to compress a gigabyte, write it, read it and
/// decompress it again, with two threads, one after the other:
///
/// ```text
/// (compress + decompress) / 2  +  2 × compressed / disk
/// ```
///
/// with seconds of one thread for a gigabyte of data, the compressed part of a gigabyte, and a disk
/// that takes and gives so many gigabytes a second.
///
/// ```
/// use blosc1::Aim;
///
/// assert_eq!("size".parse(), Ok(Aim::Size));
/// assert_eq!(Aim::default().to_string(), "balance");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aim {
    /// The least time with a fast disk: 1 GB/s.
    Speed,
    /// The least time with a slow disk or a network: 0.2 GB/s.
    #[default]
    Balance,
    /// The smallest; among those that are at most a hundredth larger, the one with the least time to
    /// compress and decompress.
    Size,
}

impl Aim {
    /// All aims, from fastest to smallest.
    pub const ALL: [Self; 3] = [Self::Speed, Self::Balance, Self::Size];

    /// The name that [`FromStr`] reads: `speed`, `balance` or `size`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Balance => "balance",
            Self::Size => "size",
        }
    }

    /// What the disk takes for a byte, in picoseconds.
    pub(super) const fn disk(self) -> Option<u64> {
        match self {
            Self::Speed => Some(1_000),
            Self::Balance => Some(5_000),
            Self::Size => None,
        }
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Aim {
    type Err = UnknownAim;

    fn from_str(name: &str) -> Result<Self, UnknownAim> {
        Self::ALL
            .into_iter()
            .find(|aim| aim.name() == name)
            .ok_or_else(|| UnknownAim { found: name.into() })
    }
}

/// A name that is no [`Aim`]'s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAim {
    found: Box<str>,
}

impl fmt::Display for UnknownAim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown aim {:?}: expected speed, balance or size",
            self.found
        )
    }
}

impl std::error::Error for UnknownAim {}
