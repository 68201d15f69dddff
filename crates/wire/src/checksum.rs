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

/// Bytes of the longest digest (sha512).
pub const MAX_DIGEST_LEN: usize = 64;

/// A kind of checksum, as the header names it (`docs/format.md`, "Checksums").
///
/// The digest of a chunk covers all of its compressed bytes, including the 16 bytes of its header,
/// and follows the chunk immediately. [`FromStr`] ignores case; [`Display`](fmt::Display) writes
/// [`name`](Self::name).
///
/// ```
/// use bloscpack_wire::Checksum;
///
/// assert_eq!("sha256".parse(), Ok(Checksum::Sha256));
/// assert_eq!(Checksum::Sha256.digest_len(), 32);
/// assert_eq!(Checksum::from_id(9), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Checksum {
    /// No digest: damage may go undetected.
    None,
    /// Adler-32, 4 bytes. It is weak for short chunks.
    Adler32,
    /// CRC-32 as in zlib, 4 bytes, the default: fast, and detects every burst error of up to 32
    /// bits.
    #[default]
    Crc32,
    /// MD5, 16 bytes.
    Md5,
    /// SHA-1, 20 bytes.
    Sha1,
    /// SHA-224, 28 bytes.
    Sha224,
    /// SHA-256, 32 bytes.
    Sha256,
    /// SHA-384, 48 bytes.
    Sha384,
    /// SHA-512, 64 bytes.
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

    /// The byte for this kind in a header, 0 to 8.
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

    /// The kind with this byte in a header; `None` for 9 and above.
    #[must_use]
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// The name as the reference implementation spells it: `None`, and the others in lower case.
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

    /// Bytes of a digest, 0 for [`Checksum::None`].
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

/// The error for a text that is not the name of one of the nine checksums.
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

/// The value of a checksum, as a file stores it: up to 64 bytes, none without a checksum.
///
/// It is displayed in hexadecimal: digests of 4 bytes as the number, others byte by byte. Two
/// digests are equal if their bytes are; the comparison does not take constant time.
///
/// ```
/// use bloscpack_wire::Digest;
///
/// let digest = Digest::from_u32(0xcbf4_3926);
/// assert_eq!(digest.as_bytes(), [0x26, 0x39, 0xf4, 0xcb]);
/// assert_eq!(digest.to_string(), "cbf43926");
/// assert_eq!(Digest::from_bytes(&[0; 65]), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    bytes: [u8; MAX_DIGEST_LEN],
    len: u8,
}

impl Digest {
    /// The digest of [`Checksum::None`]: no bytes.
    pub const EMPTY: Self = Self {
        bytes: [0; MAX_DIGEST_LEN],
        len: 0,
    };

    /// A digest of these bytes; `None` for more than 64, which no kind has.
    #[inline]
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut digest = Self::EMPTY;
        digest.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        digest.len = u8::try_from(bytes.len()).ok()?;
        Some(digest)
    }

    /// A digest of four bytes: a number, stored little-endian.
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
