//! The layouts of a header, by name.

use std::fmt;

/// The layout of a header, and of the parts that depend on it.
///
/// | layout | header | offsets | metadata | checksums | written |
/// |---|---|---|---|---|---|
/// | V0 | 8 bytes | no | no | no | no |
/// | V1 | 16 bytes | no | no | no | yes |
/// | V2 | 32 bytes | yes | JSON text | yes; seal | yes |
/// | Dev2012 | 32 bytes | yes | JSON text or zlib | yes | no |
/// | V3 | 32 bytes | yes, spare entries | section | yes | yes |
///
/// ```
/// use bloscpack_wire::FormatVersion;
///
/// assert_eq!(FormatVersion::V1.header_len(), 16);
/// assert_eq!(FormatVersion::Dev2012.number(), FormatVersion::V3.number());
/// assert_eq!(FormatVersion::V3.to_string(), "V3");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FormatVersion {
    /// The release candidates before 0.1, which wrote no version; read only.
    V0,
    /// Bloscpack 0.1, and every superchunk (a file in the `data/` folder) of bcolz, BLZ and carray.
    V1,
    /// The layout of the design documents; without metadata, the one of Bloscpack 0.2.
    V2,
    /// V2 with version byte 3, a development layout of December 2012; read only.
    Dev2012,
    /// Bloscpack 0.3 to 0.16: the default.
    V3,
}

impl FormatVersion {
    /// Length of the header in bytes.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::V0 => 8,
            Self::V1 => 16,
            Self::V2 | Self::Dev2012 | Self::V3 => 32,
        }
    }

    /// The version byte of the header, its fifth byte; 0 for V0, which has none. V3 and Dev2012
    /// share 3.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::V0 => 0,
            Self::V1 => 1,
            Self::V2 => 2,
            Self::Dev2012 | Self::V3 => 3,
        }
    }

    /// The name: `V0`, `V1`, `V2`, `Dev2012` or `V3`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V0 => "V0",
            Self::V1 => "V1",
            Self::V2 => "V2",
            Self::Dev2012 => "Dev2012",
            Self::V3 => "V3",
        }
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
