//! Decodes the bytes of any layout to a [`Header`].
//!
//! The fifth byte is the version, except in V0. Two layouts can only be told apart by more bytes:
//! V0 by the first chunk, which follows its 8 bytes, and Dev2012, which has version byte 3, by the
//! beginning of its metadata.

use super::{
    CHECKSUM, CHUNK_SIZE, Header, LAST_CHUNK, MAGIC, MARK, MAX_APP_CHUNKS, META_SIZE, METADATA_BIT,
    MetadataPlace, NCHUNKS, OFFSETS_BIT, OPTIONS, RESERVED, SEAL_BIT, TYPESIZE, V1_NCHUNKS,
    VARLEN_BIT, VERSION,
};
use crate::checksum::Checksum;
use crate::error::FormatError;
use crate::fields::{i32_at, i64_at, known, u8_at, u32_at};
use crate::version::FormatVersion;
use blosc1::MAX_NBYTES;

/// Bytes needed for a header with version byte 3 and metadata: the 8 bytes after it tell V3 from
/// Dev2012.
const PEEK_LEN: usize = 40;

impl Header {
    /// The number of bytes that [`decode`](Self::decode) needs for a header that begins with
    /// `prefix`: 16, 32 or 40.
    ///
    /// A longer prefix may increase the number: call it again with as many bytes as it has asked
    /// for, until it asks for no more.
    ///
    /// # Errors
    /// Returns [`FormatError::Magic`], [`FormatError::Interrupted`] (a change is being applied to
    /// the file) or [`FormatError::Version`] as soon as `prefix` shows it.
    ///
    /// ```
    /// use bloscpack_wire::{FormatVersion, Header};
    ///
    /// let bytes = Header::new(FormatVersion::V3).encode()?;
    /// assert_eq!(Header::needed(&bytes[..4])?, 16);
    /// assert_eq!(Header::needed(&bytes[..16])?, 32);
    /// assert!(Header::needed(b"PK").is_err());
    /// # Ok::<(), bloscpack_wire::FormatError>(())
    /// ```
    pub fn needed(prefix: &[u8]) -> Result<usize, FormatError> {
        check_magic(prefix)?;
        if prefix.len() < FormatVersion::V1.header_len() {
            return Ok(FormatVersion::V1.header_len());
        }
        match u8_at(prefix, VERSION) {
            _ if is_v0(prefix) => Ok(FormatVersion::V1.header_len()),
            1 => Ok(FormatVersion::V1.header_len()),
            2 => Ok(FormatVersion::V2.header_len()),
            3 if u8_at(prefix, OPTIONS) & METADATA_BIT != 0 => Ok(PEEK_LEN),
            3 => Ok(FormatVersion::V3.header_len()),
            found => Err(FormatError::Version { found }),
        }
    }

    /// Decodes a header from as many bytes as [`needed`](Self::needed) asks for.
    ///
    /// Bytes after [`header_len`](FormatVersion::header_len) are examined but not part of the
    /// header. The seal and the lengths of other parts are not checked.
    ///
    /// # Errors
    /// - the errors of [`needed`](Self::needed), and [`FormatError::TornHeader`] for too few bytes;
    /// - [`FormatError::Options`] and [`FormatError::ChecksumId`] for unknown numbers;
    /// - [`FormatError::Field`] for a field out of range, or for the contradictions of
    ///   [`check`](Self::check).
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let needed = Self::needed(bytes)?;
        if bytes.len() < needed {
            return Err(FormatError::TornHeader { found: bytes.len() });
        }
        if is_v0(bytes) {
            return Ok(Self {
                nchunks: Some(u32_at(bytes, VERSION).into()),
                ..Self::new(FormatVersion::V0)
            });
        }
        match u8_at(bytes, VERSION) {
            1 => Self::decode_v1(bytes),
            2 => Self::decode_v2(bytes, FormatVersion::V2),
            _ if is_dev2012(bytes) => Self::decode_v2(bytes, FormatVersion::Dev2012),
            _ => Self::decode_v3(bytes),
        }
    }

    /// V1: bytes 5 to 7 must be zero.
    fn decode_v1(bytes: &[u8]) -> Result<Self, FormatError> {
        if bytes.get(OPTIONS..V1_NCHUNKS) != Some(&[0, 0, 0]) {
            return Err(FormatError::field(
                "reserved bytes",
                i64::from(u8_at(bytes, OPTIONS)),
                "zeros",
            ));
        }
        let nchunks = nchunks(i64_at(bytes, V1_NCHUNKS))?;
        Ok(Self {
            nchunks,
            ..Self::new(FormatVersion::V1)
        })
    }

    /// V2 and Dev2012, which differ in option 0x04 and in the seal. An unsealed header must have
    /// zero in its place.
    fn decode_v2(bytes: &[u8], version: FormatVersion) -> Result<Self, FormatError> {
        let options = u8_at(bytes, OPTIONS);
        let dev = version == FormatVersion::Dev2012;
        let known_bits = OFFSETS_BIT | METADATA_BIT | VARLEN_BIT | if dev { 0 } else { SEAL_BIT };
        let mut header = Self::decode_common(bytes, version, options, known_bits)?;
        header.varlen = !dev && options & VARLEN_BIT != 0;
        header.metadata = raw_metadata(bytes, options, dev)?;
        if options & SEAL_BIT != 0 {
            header.seal = Some(u32_at(bytes, RESERVED));
        } else if u32_at(bytes, RESERVED) != 0 {
            let found = i64::from(u32_at(bytes, RESERVED));
            return Err(FormatError::field(
                "reserved word",
                found,
                "zero, since the header is not sealed",
            ));
        }
        header.check()?;
        Ok(header)
    }

    /// V3: the fields after byte 24 differ from V2.
    fn decode_v3(bytes: &[u8]) -> Result<Self, FormatError> {
        let options = u8_at(bytes, OPTIONS);
        let known_bits = OFFSETS_BIT | METADATA_BIT | VARLEN_BIT;
        let mut header = Self::decode_common(bytes, FormatVersion::V3, options, known_bits)?;
        header.varlen = options & VARLEN_BIT != 0;
        if options & METADATA_BIT != 0 {
            header.metadata = MetadataPlace::Section;
        }
        let max_app = i64_at(bytes, MAX_APP_CHUNKS);
        header.max_app_chunks = u64::try_from(max_app)
            .map_err(|_| FormatError::field("max_app_chunks", max_app, "0 or more"))?;
        header.check()?;
        Ok(header)
    }

    /// The fields that V2 and V3 share: bytes 5 to 23. Refuses options outside of `known_bits`.
    fn decode_common(
        bytes: &[u8],
        version: FormatVersion,
        options: u8,
        known_bits: u8,
    ) -> Result<Self, FormatError> {
        if options & !known_bits != 0 {
            return Err(FormatError::Options {
                version,
                found: options,
                unknown: options & !known_bits,
            });
        }
        let id = u8_at(bytes, CHECKSUM);
        Ok(Self {
            offsets: options & OFFSETS_BIT != 0,
            checksum: Checksum::from_id(id).ok_or(FormatError::ChecksumId { found: id })?,
            typesize: Some(u8_at(bytes, TYPESIZE)),
            chunk_size: size("chunk size", i32_at(bytes, CHUNK_SIZE))?,
            last_chunk: size("last chunk", i32_at(bytes, LAST_CHUNK))?,
            nchunks: nchunks(i64_at(bytes, NCHUNKS))?,
            ..Self::new(version)
        })
    }
}

/// Refuses bytes that cannot begin a member, as early as possible.
///
/// `prefix` may be shorter than the magic. The first byte may be [`MARK`] in place of `b`; with the
/// rest of the magic, that is an interrupted change.
fn check_magic(prefix: &[u8]) -> Result<(), FormatError> {
    let seen = prefix.get(..MAGIC.len()).unwrap_or(prefix);
    if MAGIC.starts_with(seen) {
        return Ok(());
    }
    if let [MARK, rest @ ..] = seen
        && MAGIC
            .get(1..)
            .is_some_and(|others| others.starts_with(rest))
    {
        return if rest.len() < 3 {
            Ok(())
        } else {
            let why = "only its path leads to the journal that completes it; if a program is still changing it, try again";
            Err(FormatError::Interrupted { why })
        };
    }
    Err(FormatError::Magic {
        found: seen.to_vec(),
    })
}

/// Whether these bytes are a header of the release candidates, which wrote no version: four bytes
/// with the number of chunks, followed by the first chunk.
///
/// In V1 these bytes could only be the same with more than 2^32 chunks, and no writer leaves
/// options, checksum and typesize of V2 or V3 all zero.
fn is_v0(bytes: &[u8]) -> bool {
    matches!(bytes.get(OPTIONS..16), Some([0, 0, 0, 2, 1, _, typesize, nbytes @ ..])
        if *typesize != 0 && nbytes.iter().any(|byte| *byte != 0))
}

/// Whether a header with version byte 3 is one of Dev2012. The metadata of V3 begins with its
/// magic, the metadata of Dev2012 with JSON or zlib data.
fn is_dev2012(bytes: &[u8]) -> bool {
    let options = u8_at(bytes, OPTIONS);
    let first = bytes.get(FormatVersion::V3.header_len());
    let zlib = options & VARLEN_BIT != 0;
    options & METADATA_BIT != 0
        && (if zlib {
            first == Some(&0x78)
        } else {
            matches!(first, Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9'))
        })
}

/// The metadata of V2 and Dev2012. Its length must not be negative, and must be 0 without option
/// 0x02.
fn raw_metadata(bytes: &[u8], options: u8, dev: bool) -> Result<MetadataPlace, FormatError> {
    let len = i32_at(bytes, META_SIZE);
    match u32::try_from(len) {
        Ok(0) if options & METADATA_BIT == 0 => Ok(MetadataPlace::Absent),
        Ok(len) if options & METADATA_BIT != 0 => Ok(MetadataPlace::Raw {
            len,
            zlib: dev && options & VARLEN_BIT != 0,
        }),
        Ok(_) => Err(FormatError::field(
            "meta-size",
            len,
            "0, since there is no metadata",
        )),
        Err(_) => Err(FormatError::field("meta-size", len, "0 or more")),
    }
}

/// A number of uncompressed bytes: -1 for unknown, up to the longest chunk.
fn size(name: &'static str, field: i32) -> Result<Option<u32>, FormatError> {
    known(field.into(), MAX_NBYTES.into())
        .map_err(|found| FormatError::field(name, found, "-1 to 2147483631"))
}

/// A number of chunks: -1 for unknown.
fn nchunks(field: i64) -> Result<Option<u64>, FormatError> {
    known(field, i64::MAX)
        .map_err(|found| FormatError::field("number of chunks", found, "-1 or more"))
}
