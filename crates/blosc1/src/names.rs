//! The names of compressors and filters, and their numbers in a chunk.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A compressor of Blosc 1. Blosc 2 has all of them except Snappy.
///
/// Each has a cargo feature; [`is_available`](Self::is_available) reports whether this build can
/// write it. [`FromStr`] and [`Display`](fmt::Display) use the names of C-Blosc.
///
/// ```
/// use blosc1::{Compressor, CompressorFormat};
///
/// assert_eq!("lz4hc".parse(), Ok(Compressor::Lz4hc));
/// assert_eq!(Compressor::Lz4hc.to_string(), "lz4hc");
/// assert_eq!(Compressor::Lz4hc.format(), CompressorFormat::Lz4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compressor {
    /// C-Blosc's own compressor, built for speed.
    Blosclz,
    /// LZ4, built for speed.
    Lz4,
    /// LZ4 with a thorough search: slow to write, as fast to read as [`Lz4`](Self::Lz4).
    Lz4hc,
    /// Snappy, built for speed; it has no levels. Some builds of other readers lack it, and Blosc 2
    /// does not have it.
    Snappy,
    /// Deflate in the zlib format. Higher levels search more thoroughly.
    Zlib,
    /// Zstandard: the smallest output in most cases. Levels 1 to 8 are its levels 1, 3, 5 … 15; 9
    /// is its highest.
    Zstd,
}

/// The format of the streams in a chunk, as three bits of the chunk's flags name it.
///
/// Several compressors may write the same format, so a header determines the format but not always
/// the compressor.
///
/// ```
/// use blosc1::CompressorFormat;
///
/// let chunk = blosc1::compress(&[1; 500], Default::default())?;
/// let format = blosc1::read_header(&chunk)?.compressor_format();
/// assert_eq!(format, Some(CompressorFormat::Lz4));
/// assert_eq!(CompressorFormat::Lz4.name(), "lz4");
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompressorFormat {
    /// Number 0: the format of C-Blosc's own compressor.
    Blosclz,
    /// Number 1: raw LZ4 blocks, written by [`Compressor::Lz4`] and [`Compressor::Lz4hc`].
    Lz4,
    /// Number 2: raw Snappy, without framing.
    Snappy,
    /// Number 3: zlib (RFC 1950).
    Zlib,
    /// Number 4: Zstandard frames (RFC 8878).
    Zstd,
    /// A plug-in of C-Blosc2, number 32: NDLZ, for blocks of two axes. Only read.
    Ndlz,
    /// Plug-ins of C-Blosc2, numbers 33 to 35: ZFP, which is lossy, for floating-point numbers in blocks of up to four axes. Only
    /// read.
    Zfp,
}

impl Compressor {
    /// All compressors, in the order of their numbers in C-Blosc's interface. Builds may lack some.
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

    /// The format that it writes. Only LZ4 and LZ4HC share one.
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

    /// The level, 1 to 9, beyond which more time gains little: the level to use if only a
    /// compressor was chosen.
    ///
    /// ```
    /// use blosc1::Compressor;
    ///
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

    /// Whether this build can write it.
    ///
    /// [`CompressorFormat::is_available`] reports whether it can read the format, which a build
    /// without C may do for more compressors.
    #[must_use]
    pub const fn is_available(self) -> bool {
        match self {
            Self::Lz4hc => cfg!(feature = "lz4"),
            Self::Zstd => cfg!(feature = "zstd"),
            Self::Blosclz | Self::Lz4 | Self::Snappy | Self::Zlib => self.format().is_available(),
        }
    }

    /// Its number in an extended Blosc 2 header. Blosc 2 has no Snappy and leaves 3 unused.
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

    /// Whether it is built for small output rather than for speed.
    pub(super) const fn is_thorough(self) -> bool {
        matches!(self, Self::Lz4hc | Self::Zlib | Self::Zstd)
    }
}

impl CompressorFormat {
    /// The name, which is also the name of the cargo feature.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blosclz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
            Self::Ndlz => "ndlz",
            Self::Zfp => "zfp",
        }
    }

    /// Whether this build can read it; [`Compressor::is_available`] reports whether it can write
    /// it.
    #[must_use]
    pub const fn is_available(self) -> bool {
        match self {
            Self::Blosclz => cfg!(feature = "blosclz"),
            Self::Lz4 => cfg!(any(feature = "lz4", feature = "lz4-pure")),
            Self::Snappy => cfg!(feature = "snappy"),
            Self::Zlib => cfg!(any(feature = "zlib", feature = "zlib-pure")),
            Self::Zstd => cfg!(any(feature = "zstd", feature = "zstd-pure")),
            Self::Ndlz => cfg!(feature = "blosc2"),
            Self::Zfp => cfg!(feature = "zfp"),
        }
    }

    /// The format of a plug-in, by its number in an extended header; `None` for one that is not in this crate.
    pub(super) const fn of_plug_in(id: u8) -> Option<Self> {
        match id {
            32 => Some(Self::Ndlz),
            33..=35 => Some(Self::Zfp),
            _ => None,
        }
    }

    /// The format with this number in a chunk's flags; `None` for 5 and 7, which are unassigned, and for 6, a plug-in.
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
            Self::Ndlz | Self::Zfp => PLUG_IN,
        }
    }

    /// An upper bound on the number of bytes to which one byte of this format can decompress.
    pub(super) const fn largest_ratio(self) -> u64 {
        match self {
            // A byte of a match's length adds at most 255.
            Self::Blosclz | Self::Lz4 => 256,
            // A copy of 3 bytes gives at most 64.
            Self::Snappy => 32,
            // A match of at most 258 bytes takes at least 2 bits.
            Self::Zlib => 1032,
            // A block of at most 128 KiB takes at least 4 bytes.
            Self::Zstd => 32 * 1024,
            // A cell of 64 bytes takes at least 2.
            Self::Ndlz => 32,
            // A cell of 256 numbers of 8 bytes takes at least a bit.
            Self::Zfp => 16 * 1024,
        }
    }
}

/// The number in the flags of every chunk that a plug-in compressed; the extended header says which plug-in.
pub(super) const PLUG_IN: u8 = 6;

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

    /// Takes the names of [`Compressor::name`], in lower case only, whether or not this build has
    /// the compressor.
    fn from_str(name: &str) -> Result<Self, UnknownCompressor> {
        Self::ALL
            .into_iter()
            .find(|compressor| compressor.name() == name)
            .ok_or_else(|| UnknownCompressor { found: name.into() })
    }
}

/// The error for a text that is not the name of a [`Compressor`]. Names are in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown compressor {found:?}: expected blosclz, lz4, lz4hc, snappy, zlib or zstd")]
pub struct UnknownCompressor {
    found: Box<str>,
}

/// The filter that rearranges a Blosc 1 block before it is compressed.
///
/// A filter changes no values and no lengths. It puts similar bytes next to each other, which makes
/// numbers compressible. [`FromStr`] and [`Display`](fmt::Display) use the names `none`, `byte` and
/// `bit`. Blosc 2 has more filters: [`FilterStep`](super::FilterStep).
///
/// ```text
/// elements a, b, c of 4 bytes    a0 a1 a2 a3  b0 b1 b2 b3  c0 c1 c2 c3
/// after shuffle                  a0 b0 c0  a1 b1 c1  a2 b2 c2  a3 b3 c3
/// ```
///
/// Bytes after the last whole element stay in place.
///
/// ```
/// use blosc1::Filter;
///
/// assert_eq!("byte".parse(), Ok(Filter::Byte));
/// assert_eq!(Filter::Bit.to_string(), "bit");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The block is compressed unchanged.
    None,
    /// Shuffle: the first bytes of all elements, then the second bytes, and so on. Suits most
    /// numbers.
    #[default]
    Byte,
    /// Bitshuffle: the lowest bits of all elements, then the next bits, and so on. Suits numbers
    /// that use few of their bits. A block whose number of elements is not a multiple of 8 is left
    /// unchanged.
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

    /// Takes the names of [`Filter::name`], in lower case only.
    fn from_str(name: &str) -> Result<Self, UnknownFilter> {
        Self::ALL
            .into_iter()
            .find(|filter| filter.name() == name)
            .ok_or_else(|| UnknownFilter { found: name.into() })
    }
}

/// The error for a text that is not the name of a [`Filter`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown filter {found:?}: expected none, byte or bit")]
pub struct UnknownFilter {
    found: Box<str>,
}

#[cfg(test)]
mod tests {
    use super::{Compressor, Filter};

    #[test]
    fn names_are_read_back_and_others_named() {
        for filter in Filter::ALL {
            assert_eq!(filter.to_string().parse(), Ok(filter));
        }
        let refused = "zip".parse::<Filter>().unwrap_err().to_string();
        assert_eq!(
            refused,
            r#"unknown filter "zip": expected none, byte or bit"#
        );
        for compressor in Compressor::ALL {
            assert_eq!(compressor.to_string().parse(), Ok(compressor));
        }
        let refused = "zip".parse::<Compressor>().unwrap_err().to_string();
        assert!(refused.starts_with(r#"unknown compressor "zip""#));
    }
}
