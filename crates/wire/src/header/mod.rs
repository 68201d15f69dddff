//! The header of a member, in each of its layouts.
//!
//! ```text
//!      0 1 2 3   4         5         6          7          8 .. 12      12 .. 16
//!    | b l p k | version | options | checksum | typesize | chunk size | last chunk |     V2, V3
//!     16 .. 24           24 .. 28      28 .. 32
//!    | number of chunks | meta size   | reserved, or seal |                              V2, Dev2012
//!    | number of chunks | max append chunks               |                              V3
//!
//!    | b l p k | 1 | 0 0 0 | number of chunks (8 .. 16) |                                V1
//!    | b l p k | number of chunks (4 .. 8)  |                                            V0
//! ```
//!
//! All numbers are little-endian and signed, and -1 means unknown. `docs/format.md` says where
//! the layouts come from; in memory there is one [`Header`].

mod decode;
mod encode;

use super::checksum::Checksum;
use super::error::FormatError;
use super::fields::put;
use super::version::FormatVersion;

/// The four bytes that begin every member.
pub const MAGIC: [u8; 4] = *b"blpk";
/// The first byte of a file while a change is being made to it. It is three bits away from the `b`
/// of the magic, so that a half-changed file is never taken for a complete one.
pub const MARK: u8 = b'!';

const VERSION: usize = 4;
const OPTIONS: usize = 5;
const CHECKSUM: usize = 6;
const TYPESIZE: usize = 7;
const CHUNK_SIZE: usize = 8;
const LAST_CHUNK: usize = 12;
const NCHUNKS: usize = 16;
const META_SIZE: usize = 24;
/// Also the place of the seal.
const RESERVED: usize = 28;
const MAX_APP_CHUNKS: usize = 24;

/// In V1 the number of chunks is here.
const V1_NCHUNKS: usize = 8;
const OFFSETS_BIT: u8 = 0x01;
const METADATA_BIT: u8 = 0x02;
/// Variable length in V2 and V3; in Dev2012 "the metadata is zlib data".
const VARLEN_BIT: u8 = 0x04;
const SEAL_BIT: u8 = 0x08;

/// Whether a member has metadata, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetadataPlace {
    /// No metadata.
    Absent,
    /// `len` bytes of JSON right after the header, as zlib data if `zlib` is set.
    Raw {
        /// Bytes as stored.
        len: u32,
        /// Only in Dev2012.
        zlib: bool,
    },
    /// A section with a header of its own, as in V3.
    Section,
}

/// The header of a member, in any of its layouts.
///
/// ```
/// use bloscpack_wire::{Checksum, Header, FormatVersion};
/// let header = Header { nchunks: Some(4), checksum: Checksum::Adler32, ..Header::new(FormatVersion::V3) };
/// let bytes = header.encode()?;
/// assert_eq!(bytes.len(), 32);
/// assert_eq!(bytes[..8], *b"blpk\x03\x00\x01\x08");
/// assert_eq!(Header::decode(&bytes)?, header);
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The layout it was read from, or is to be written in.
    pub version: FormatVersion,
    /// Whether a table of offsets precedes the chunks.
    pub offsets: bool,
    /// Whether each chunk is a record of its own length.
    pub varlen: bool,
    /// Whether metadata follows the header, and in which form.
    pub metadata: MetadataPlace,
    /// The crc32 of header, raw metadata and table, where the header is sealed (V2 only).
    pub seal: Option<u32>,
    /// The checksum that follows each chunk.
    pub checksum: Checksum,
    /// Element size in bytes, as the header has it; V0 and V1 have no such field.
    pub typesize: Option<u8>,
    /// Uncompressed bytes of every chunk but the last.
    pub chunk_size: Option<u32>,
    /// Uncompressed bytes of the last chunk.
    pub last_chunk: Option<u32>,
    /// Number of chunks.
    pub nchunks: Option<u64>,
    /// Spare entries of the offset table, for appending; 0 in all layouts but V3.
    pub max_app_chunks: u64,
}

impl Header {
    /// A header in which every field that can be unknown is unknown: typesize 8, the default checksum,
    /// no offsets, no metadata.
    #[must_use]
    pub fn new(version: FormatVersion) -> Self {
        let has_fields = !matches!(version, FormatVersion::V0 | FormatVersion::V1);
        Self {
            version,
            offsets: false,
            varlen: false,
            metadata: MetadataPlace::Absent,
            seal: None,
            checksum: if has_fields {
                Checksum::default()
            } else {
                Checksum::None
            },
            typesize: has_fields.then_some(8),
            chunk_size: None,
            last_chunk: None,
            nchunks: None,
            max_app_chunks: 0,
        }
    }
    /// Checks that the fields do not contradict each other.
    ///
    /// # Errors
    /// Returns a [`FormatError::Field`] that names the first contradiction.
    pub fn check(&self) -> Result<(), FormatError> {
        if self.varlen && (self.chunk_size.is_some() || self.last_chunk.is_some()) {
            let found = self.chunk_size.or(self.last_chunk).map_or(-1, i64::from);
            return Err(FormatError::field(
                "chunk size",
                found,
                "-1, since the records vary in length",
            ));
        }
        if self.nchunks == Some(0) && self.last_chunk.is_some_and(|last| last != 0) {
            let found = self.last_chunk.map_or(-1, i64::from);
            return Err(FormatError::field(
                "last chunk",
                found,
                "0, since there are no chunks",
            ));
        }
        if self.version == FormatVersion::V3 {
            self.check_v3()
        } else {
            Ok(())
        }
    }

    fn check_v3(&self) -> Result<(), FormatError> {
        if let (Some(chunk), Some(last)) = (self.chunk_size, self.last_chunk)
            && last > chunk
        {
            return Err(FormatError::field(
                "last chunk",
                last,
                "no more than the chunk size",
            ));
        }
        let spare = self.max_app_chunks;
        match self.nchunks {
            None if spare != 0 => Err(FormatError::field(
                "max_app_chunks",
                spare,
                "0, since the number of chunks is unknown",
            )),
            Some(n)
                if n.checked_add(self.max_app_chunks)
                    .is_none_or(|sum| i64::try_from(sum).is_err()) =>
            {
                Err(FormatError::field(
                    "max_app_chunks",
                    spare,
                    "at most 2^63-1 together with the chunks",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Entries of the offset table, spare ones included: `None` if there is no table, or
    /// where its length is unknown because the number of chunks is.
    #[must_use]
    pub fn table_len(&self) -> Option<u64> {
        self.nchunks
            .filter(|_| self.offsets)
            .and_then(|n| n.checked_add(self.max_app_chunks))
    }

    /// Uncompressed bytes of all chunks, if the fields say so.
    #[must_use]
    pub fn content_len(&self) -> Option<u64> {
        match (self.nchunks?, self.chunk_size, self.last_chunk) {
            (0, _, _) => Some(0),
            (1, _, Some(last)) => Some(last.into()),
            (n, Some(chunk), Some(last)) => {
                (n - 1).checked_mul(chunk.into())?.checked_add(last.into())
            }
            _ => None,
        }
    }

    /// The part of the header that the seal covers: all of it, with zeros in place of the seal.
    pub(crate) fn sealed_bytes(encoded: &[u8]) -> Vec<u8> {
        let mut bytes = encoded.to_vec();
        put(&mut bytes, RESERVED, &[0; 4]);
        bytes
    }
}
