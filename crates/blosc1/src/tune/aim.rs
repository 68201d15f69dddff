//! The goal of automatic settings.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The quantity that a [`Tuner`](super::Tuner) minimizes.
///
/// For speed and balance, this is the estimated time in seconds to compress a gigabyte of data with
/// two threads, write it, read it, and decompress it again:
///
/// ```text
/// (compress + decompress) / 2  +  2 × compressed / disk
/// ```
///
/// `compress` and `decompress` are the seconds of one thread for a gigabyte, `compressed` is the
/// size of the compressed gigabyte in gigabytes, and `disk` is the throughput of the disk in
/// gigabytes per second.
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
    /// The smallest output. Among the settings whose output is at most 1 % larger, the fastest to
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

    /// The time of the disk for a byte in picoseconds; `None` if time does not count.
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

/// The error for a text that is not the name of an [`Aim`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown aim {found:?}: expected speed, balance or size")]
pub struct UnknownAim {
    found: Box<str>,
}
