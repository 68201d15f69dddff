//! The layouts of a header, by name.

use std::fmt;

/// How a header is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FormatVersion {
    /// 8 bytes without a version, of the release candidates before 0.1; read only.
    V0,
    /// 16 bytes, of Bloscpack 0.1 and of every superchunk of bcolz, BLZ and carray.
    V1,
    /// 32 bytes as the design documents have them; without metadata, those of Bloscpack 0.2.
    V2,
    /// V2 with version byte 3, a development layout of December 2012; read only.
    Dev2012,
    /// 32 bytes, of Bloscpack 0.3 to 0.16: the default.
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

    /// The format version in the header's fifth byte; 0 for the layout without such a byte.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::V0 => 0,
            Self::V1 => 1,
            Self::V2 => 2,
            Self::Dev2012 | Self::V3 => 3,
        }
    }

    /// A short name: `V0`, `V1`, `V2`, `Dev2012`, `V3`.
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
