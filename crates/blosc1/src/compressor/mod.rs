//! The compressors behind one seam: one stream in, one stream out.

use std::fmt;
use std::str::FromStr;

pub(super) use constant::Constants;
pub(super) use random::NoiseTest;
pub(super) use stream::{StreamDecoder, StreamEncoder};

mod constant;
mod random;
mod stream;

#[cfg(feature = "blosclz")]
mod blosclz;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lz4")]
mod lz4_runs;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;

/// A compressor that Blosc 1 knows.
///
/// ```
/// use blosc1::{Compressor, CompressorFormat};
///
/// assert_eq!("lz4hc".parse(), Ok(Compressor::Lz4hc));
/// assert_eq!(Compressor::Lz4hc.format(), CompressorFormat::Lz4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compressor {
    /// C-Blosc's own, made for speed.
    Blosclz,
    /// LZ4, made for speed.
    Lz4,
    /// LZ4 with a thorough search: slow to write, as fast to read.
    Lz4hc,
    /// Snappy, made for speed. Not every build of other readers has it.
    Snappy,
    /// Deflate in the zlib format, with the thoroughness of its level.
    Zlib,
    /// Zstandard: the smallest output in most cases.
    Zstd,
}

/// The format of the streams, as three bits of a chunk's flags tell it.
///
/// ```
/// use blosc1::CompressorFormat;
///
/// assert_eq!(CompressorFormat::Lz4.name(), "lz4");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompressorFormat {
    /// Number 0.
    Blosclz,
    /// Number 1: raw LZ4 blocks, of [`Compressor::Lz4`] and [`Compressor::Lz4hc`].
    Lz4,
    /// Number 2: raw Snappy, without framing.
    Snappy,
    /// Number 3: zlib (RFC 1950).
    Zlib,
    /// Number 4: Zstandard frames (RFC 8878).
    Zstd,
}

impl Compressor {
    /// All compressors, in the order of their numbers in C-Blosc's interface.
    pub const ALL: [Self; 6] = [
        Self::Blosclz,
        Self::Lz4,
        Self::Lz4hc,
        Self::Snappy,
        Self::Zlib,
        Self::Zstd,
    ];

    /// The name that [`FromStr`] reads and C-Blosc uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blosclz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4hc => "lz4hc",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// The format that it writes.
    #[must_use]
    pub const fn format(self) -> CompressorFormat {
        match self {
            Self::Blosclz => CompressorFormat::Blosclz,
            Self::Lz4 | Self::Lz4hc => CompressorFormat::Lz4,
            Self::Snappy => CompressorFormat::Snappy,
            Self::Zlib => CompressorFormat::Zlib,
            Self::Zstd => CompressorFormat::Zstd,
        }
    }

    /// The level beyond which more time buys little, measured in `docs/defaults.md`: what a writer
    /// uses that is told of a compressor but of no level.
    ///
    /// ```
    /// use blosc1::Compressor;
    /// assert_eq!((Compressor::Lz4.default_level(), Compressor::Zstd.default_level()), (9, 4));
    /// ```
    #[must_use]
    pub const fn default_level(self) -> u8 {
        match self {
            Self::Lz4hc => 5,
            Self::Zlib => 6,
            Self::Zstd => 4,
            Self::Blosclz | Self::Lz4 | Self::Snappy => 9,
        }
    }

    /// Whether this build has it: each format is a cargo feature.
    #[must_use]
    pub const fn is_available(self) -> bool {
        self.format().is_available()
    }

    /// Its number in an extended header of Blosc 2, which does not have Snappy: 3 is nobody's.
    pub(super) const fn blosc2_number(self) -> u8 {
        match self {
            Self::Blosclz => 0,
            Self::Lz4 => 1,
            Self::Lz4hc => 2,
            Self::Snappy => 3,
            Self::Zlib => 4,
            Self::Zstd => 5,
        }
    }

    /// Whether it is made for small output rather than for speed.
    pub(super) const fn is_thorough(self) -> bool {
        matches!(self, Self::Lz4hc | Self::Zlib | Self::Zstd)
    }
}

impl CompressorFormat {
    /// The name, which is also that of the cargo feature.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blosclz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// Whether this build can read it.
    #[must_use]
    pub const fn is_available(self) -> bool {
        match self {
            Self::Blosclz => cfg!(feature = "blosclz"),
            Self::Lz4 => cfg!(feature = "lz4"),
            Self::Snappy => cfg!(feature = "snappy"),
            Self::Zlib => cfg!(feature = "zlib"),
            Self::Zstd => cfg!(feature = "zstd"),
        }
    }

    /// The format with this number in a chunk's flags.
    pub(super) const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Blosclz),
            1 => Some(Self::Lz4),
            2 => Some(Self::Snappy),
            3 => Some(Self::Zlib),
            4 => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The number in a chunk's flags.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Blosclz => 0,
            Self::Lz4 => 1,
            Self::Snappy => 2,
            Self::Zlib => 3,
            Self::Zstd => 4,
        }
    }

    /// A bound on how many bytes can come out of one byte of this format.
    pub(super) const fn largest_ratio(self) -> u64 {
        match self {
            // A byte of a match's length says at most 255.
            Self::Blosclz | Self::Lz4 => 256,
            // A copy of 3 bytes gives at most 64.
            Self::Snappy => 32,
            // A match of at most 258 bytes takes at least 2 bits.
            Self::Zlib => 1032,
            // A block of at most 128 KiB takes at least 4 bytes.
            Self::Zstd => 32 * 1024,
        }
    }
}

impl fmt::Display for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for CompressorFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Compressor {
    type Err = UnknownCompressor;

    fn from_str(name: &str) -> Result<Self, UnknownCompressor> {
        Self::ALL
            .into_iter()
            .find(|compressor| compressor.name() == name)
            .ok_or_else(|| UnknownCompressor { found: name.into() })
    }
}

/// A name that is no [`Compressor`]'s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCompressor {
    found: Box<str>,
}

impl fmt::Display for UnknownCompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown compressor {:?}: expected blosclz, lz4, lz4hc, snappy, zlib or zstd",
            self.found
        )
    }
}

impl std::error::Error for UnknownCompressor {}
