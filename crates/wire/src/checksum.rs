//! The nine checksums: kinds and digests.
//!
//! | id | name | digest | stored as |
//! |---|---|---|---|
//! | 0 | None | 0 bytes | |
//! | 1 | adler32 | 4 | u32, little-endian |
//! | 2 | crc32 | 4 | u32, little-endian |
//! | 3 | md5 | 16 | raw bytes |
//! | 4 | sha1 | 20 | raw bytes |
//! | 5 | sha224 | 28 | raw bytes |
//! | 6 | sha256 | 32 | raw bytes |
//! | 7 | sha384 | 48 | raw bytes |
//! | 8 | sha512 | 64 | raw bytes |

use std::fmt;
use std::str::FromStr;

/// Length of the longest digest, that of sha512.
pub const MAX_DIGEST_LEN: usize = 64;

/// A kind of checksum, as the header names it.
///
/// The digest of a chunk is taken over its compressed bytes, the 16 bytes of its header
/// included, and follows it immediately.
///
/// ```
/// use bloscpack_wire::Checksum;
/// assert_eq!("sha256".parse(), Ok(Checksum::Sha256));
/// assert_eq!(Checksum::Sha256.digest_len(), 32);
/// assert_eq!(Checksum::from_id(9), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Checksum {
    /// No digest: damage may go unnoticed.
    None,
    /// Adler-32; weak on short chunks.
    Adler32,
    /// CRC-32 as in zlib, the default: fast, and detects every burst error of up to 32 bits.
    #[default]
    Crc32,
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Checksum {
    /// All kinds, in the order of their ids.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Adler32,
        Self::Crc32,
        Self::Md5,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
    ];

    /// The byte for this kind in a header.
    #[must_use]
    pub const fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Adler32 => 1,
            Self::Crc32 => 2,
            Self::Md5 => 3,
            Self::Sha1 => 4,
            Self::Sha224 => 5,
            Self::Sha256 => 6,
            Self::Sha384 => 7,
            Self::Sha512 => 8,
        }
    }

    /// The kind for a byte of a header; `None` for 9 and above.
    #[must_use]
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// Its name as the reference tool spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Adler32 => "adler32",
            Self::Crc32 => "crc32",
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// Length of its digest in bytes, 0 for [`Checksum::None`].
    #[must_use]
    pub const fn digest_len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Adler32 | Self::Crc32 => 4,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => MAX_DIGEST_LEN,
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name of a checksum that is not one of the nine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownChecksum(String);

impl fmt::Display for UnknownChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Checksum::ALL.iter().map(|kind| kind.name()).collect();
        write!(
            f,
            "no checksum is called '{}'; there are {}",
            self.0,
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownChecksum {}

impl FromStr for Checksum {
    type Err = UnknownChecksum;

    /// Takes the names of [`Checksum::name`], in upper or lower case.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownChecksum(name.to_owned()))
    }
}

/// The value of a checksum, as stored in a file; at most 64 bytes, none without a checksum.
///
/// It is shown in hexadecimal; the two u32 kinds as the number, the others byte by byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    bytes: [u8; MAX_DIGEST_LEN],
    len: u8,
}

impl Digest {
    /// The digest of [`Checksum::None`].
    pub const EMPTY: Self = Self {
        bytes: [0; MAX_DIGEST_LEN],
        len: 0,
    };

    /// A digest of these bytes; `None` for more than 64 bytes, which no kind has.
    #[inline]
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut digest = Self::EMPTY;
        digest.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        digest.len = u8::try_from(bytes.len()).ok()?;
        Some(digest)
    }

    /// A digest that is a number, stored little-endian.
    #[inline]
    #[must_use]
    pub fn from_u32(value: u32) -> Self {
        let mut digest = Self {
            len: 4,
            ..Self::EMPTY
        };
        for (to, from) in digest.bytes.iter_mut().zip(value.to_le_bytes()) {
            *to = from;
        }
        digest
    }

    /// The bytes as they follow a chunk.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // Every constructor checks the length.
        self.bytes.split_at(self.len.into()).0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Ok(number) = <[u8; 4]>::try_from(self.as_bytes()) {
            return write!(f, "{:08x}", u32::from_le_bytes(number));
        }
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
