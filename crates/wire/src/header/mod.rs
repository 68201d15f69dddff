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
//! All numbers are little-endian and signed, except in V0; -1 means unknown. `docs/format.md` says
//! which programs wrote the layouts. In memory, there is one [`Header`].

mod decode;
mod encode;

use super::checksum::Checksum;
use super::error::FormatError;
use super::fields::put;
use super::version::FormatVersion;

/// The four bytes that begin every member.
pub const MAGIC: [u8; 4] = *b"blpk";
/// The first byte of a file while a change is applied to it, in place of the `b` of the magic.
///
/// It differs from `b` in three bits, so a half-changed file is never taken for a complete one.
pub const MARK: u8 = b'!';

const VERSION: usize = 4;
const OPTIONS: usize = 5;
const CHECKSUM: usize = 6;
const TYPESIZE: usize = 7;
const CHUNK_SIZE: usize = 8;
const LAST_CHUNK: usize = 12;
const NCHUNKS: usize = 16;
const META_SIZE: usize = 24;
/// In V2 the seal, or zero.
const RESERVED: usize = 28;
/// Only in V3, in place of the meta size and the seal.
const MAX_APP_CHUNKS: usize = 24;

/// The number of chunks in V1.
const V1_NCHUNKS: usize = 8;
const OFFSETS_BIT: u8 = 0x01;
const METADATA_BIT: u8 = 0x02;
/// Records in V2 and V3; in Dev2012, the metadata is zlib data.
const VARLEN_BIT: u8 = 0x04;
const SEAL_BIT: u8 = 0x08;

/// Whether a member has metadata, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetadataPlace {
    /// No metadata.
    Absent,
    /// JSON text immediately after the header: V2, and Dev2012.
    Raw {
        /// Bytes of the stored form.
        len: u32,
        /// Whether the stored form is zlib data; only in Dev2012.
        zlib: bool,
    },
    /// A section with a header of its own, [`MetadataHeader`](super::MetadataHeader): V3.
    Section,
}

/// The header of a member, in any of its layouts (`docs/format.md`, "Header").
///
/// The fields that a layout does not store are `None` or 0 after decoding. [`encode`](Self::encode)
/// refuses a field that its layout cannot store, with few exceptions named there.
///
/// ```
/// use bloscpack_wire::{Checksum, Header, FormatVersion};
///
/// let header = Header { nchunks: Some(4), checksum: Checksum::Adler32, ..Header::new(FormatVersion::V3) };
/// let bytes = header.encode()?;
/// assert_eq!(bytes.len(), 32);
/// assert_eq!(bytes[..8], *b"blpk\x03\x00\x01\x08");
/// assert_eq!(Header::decode(&bytes)?, header);
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The layout that was decoded, or in which to encode.
    pub version: FormatVersion,
    /// Whether an offset table precedes the chunks.
    pub offsets: bool,
    /// Whether the chunks contain records (option 0x04). Then `chunk_size` and `last_chunk` must be
    /// `None`.
    pub varlen: bool,
    /// Whether metadata follows the header, and in which form.
    pub metadata: MetadataPlace,
    /// The crc32 of header, metadata and offset table in a sealed header (V2 only); `None` if the
    /// header is not sealed. [`Parser`](super::Parser) checks it, decoding a header alone cannot.
    pub seal: Option<u32>,
    /// The checksum whose digest follows each chunk. V0 and V1 have none.
    pub checksum: Checksum,
    /// Bytes of an element, a hint: each chunk stores its own. `None` in V0 and V1.
    pub typesize: Option<u8>,
    /// Uncompressed bytes of every chunk except the last; `None` if unknown, and for records. V2
    /// files of a single chunk may store 0.
    pub chunk_size: Option<u32>,
    /// Uncompressed bytes of the last chunk; `None` if unknown, and for records.
    pub last_chunk: Option<u32>,
    /// Number of chunks; `None` if the writer did not know it. The chunks then end with an end
    /// mark.
    pub nchunks: Option<u64>,
    /// Spare entries at the end of the offset table, for appending; 0 in all layouts except V3.
    pub max_app_chunks: u64,
}

impl Header {
    /// A header with all optional fields unknown: no offset table, no metadata, not sealed.
    ///
    /// In V2 and V3, the checksum is crc32 and the typesize 8; in V0 and V1, there is neither.
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
    /// Checks that the fields do not contradict each other. [`encode`](Self::encode) and
    /// [`decode`](Self::decode) call this.
    ///
    /// | rule | layout |
    /// |---|---|
    /// | no chunk size and no last chunk with records | all |
    /// | last chunk 0 without chunks | all |
    /// | last chunk at most the chunk size | V3 |
    /// | no spare entries if the number of chunks is unknown | V3 |
    /// | chunks and spare entries together below 2⁶³ | V3 |
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

    /// The rules that only V3 has.
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

    /// Entries of the offset table, including spare ones; `None` if there is no table, or its
    /// length is unknown because the number of chunks is.
    #[must_use]
    pub fn table_len(&self) -> Option<u64> {
        self.nchunks
            .filter(|_| self.offsets)
            .and_then(|n| n.checked_add(self.max_app_chunks))
    }

    /// Uncompressed bytes of all chunks, if the fields determine them and they fit a `u64`.
    ///
    /// ```
    /// use bloscpack_wire::{FormatVersion, Header};
    ///
    /// let header = Header {
    ///     nchunks: Some(3),
    ///     chunk_size: Some(100),
    ///     last_chunk: Some(7),
    ///     ..Header::new(FormatVersion::V3)
    /// };
    /// assert_eq!(header.content_len(), Some(207));
    /// assert_eq!(Header::new(FormatVersion::V3).content_len(), None);
    /// ```
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

    /// The bytes of an encoded header that the seal covers: all of them, with zeros in place of the
    /// seal.
    pub(crate) fn sealed_bytes(encoded: &[u8]) -> Vec<u8> {
        let mut bytes = encoded.to_vec();
        put(&mut bytes, RESERVED, &[0; 4]);
        bytes
    }
}
