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
//! All numbers are little-endian and signed, and -1 means unknown. `docs/format.md` tells where
//! the layouts come from; in memory there is one [`Header`].

use super::checksum::Checksum;
use super::error::FormatError;
use super::fields::{i32_at, i64_at, known, put, u8_at, u32_at};
use crate::blosc::MAX_NBYTES;

/// The four bytes that begin every member.
pub const MAGIC: [u8; 4] = *b"blpk";

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

/// In V1 the number of chunks lies here.
const V1_NCHUNKS: usize = 8;
/// V3 and Dev2012 share a version byte; the eight bytes behind the header tell them apart.
const PEEK_LEN: usize = 40;

const OFFSETS_BIT: u8 = 0x01;
const METADATA_BIT: u8 = 0x02;
/// Variable length in V2 and V3; in Dev2012 "the metadata is zlib data".
const VARLEN_BIT: u8 = 0x04;
const SEAL_BIT: u8 = 0x08;

/// How a header is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
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

impl Layout {
    /// Length of the header in bytes.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::V0 => 8,
            Self::V1 => 16,
            Self::V2 | Self::Dev2012 | Self::V3 => 32,
        }
    }

    /// The format version that the header's fifth byte holds, 0 where there is no such byte.
    #[must_use]
    pub const fn version(self) -> u8 {
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

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Whether a member has metadata, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetadataPlace {
    /// No metadata.
    Absent,
    /// `len` bytes of JSON right behind the header, as zlib data where `zlib` is set.
    Raw {
        /// Bytes as stored.
        len: u32,
        /// Only in Dev2012.
        zlib: bool,
    },
    /// A section with a header of its own, as in V3.
    Section,
}

/// The header of a member, whatever its layout on the wire.
///
/// ```
/// use bloscpack::{Checksum, Header, Layout};
/// let header = Header { nchunks: Some(4), checksum: Checksum::Adler32, ..Header::new(Layout::V3) };
/// let bytes = header.encode()?;
/// assert_eq!(bytes.len(), 32);
/// assert_eq!(bytes[..8], *b"blpk\x03\x00\x01\x08");
/// assert_eq!(Header::decode(&bytes)?, header);
/// # Ok::<(), bloscpack::wire::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The layout it was read from, or is to be written in.
    pub layout: Layout,
    /// Whether a table of offsets lies before the chunks.
    pub offsets: bool,
    /// Whether each chunk is a record of its own length.
    pub varlen: bool,
    /// Whether and how metadata lies behind the header.
    pub metadata: MetadataPlace,
    /// The crc32 of header, raw metadata and table, where the header is sealed (V2 only).
    pub seal: Option<u32>,
    /// What is computed over each chunk.
    pub checksum: Checksum,
    /// Bytes an element, as the header has it; V0 and V1 have no such field.
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
    /// A header in which all that can be unknown is unknown: typesize 8, the default checksum,
    /// no offsets, no metadata.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        let has_fields = !matches!(layout, Layout::V0 | Layout::V1);
        Self {
            layout,
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

    /// How many bytes a decoder must have seen, given those that it has; 40 at the most.
    ///
    /// # Errors
    /// The magic or the version is none that is known.
    pub fn needed(prefix: &[u8]) -> Result<usize, FormatError> {
        check_magic(prefix)?;
        if prefix.len() < Layout::V1.header_len() {
            return Ok(Layout::V1.header_len());
        }
        match u8_at(prefix, VERSION) {
            _ if is_v0(prefix) => Ok(Layout::V1.header_len()),
            1 => Ok(Layout::V1.header_len()),
            2 => Ok(Layout::V2.header_len()),
            3 if u8_at(prefix, OPTIONS) & METADATA_BIT != 0 => Ok(PEEK_LEN),
            3 => Ok(Layout::V3.header_len()),
            found => Err(FormatError::Version { found }),
        }
    }

    /// Decodes a header from as many bytes as [`needed`](Self::needed) asks for; what lies
    /// behind [`header_len`](Layout::header_len) is looked at but not part of it.
    ///
    /// # Errors
    /// Too few bytes; a magic, version, option or checksum that is not known; fields that are
    /// out of range or contradict each other.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let needed = Self::needed(bytes)?;
        if bytes.len() < needed {
            return Err(FormatError::TornHeader { found: bytes.len() });
        }
        if is_v0(bytes) {
            return Ok(Self {
                nchunks: Some(u32_at(bytes, VERSION).into()),
                ..Self::new(Layout::V0)
            });
        }
        match u8_at(bytes, VERSION) {
            1 => Self::decode_v1(bytes),
            2 => Self::decode_v2(bytes, Layout::V2),
            _ if is_dev2012(bytes) => Self::decode_v2(bytes, Layout::Dev2012),
            _ => Self::decode_v3(bytes),
        }
    }

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
            ..Self::new(Layout::V1)
        })
    }

    fn decode_v2(bytes: &[u8], layout: Layout) -> Result<Self, FormatError> {
        let options = u8_at(bytes, OPTIONS);
        let dev = layout == Layout::Dev2012;
        let known_bits = OFFSETS_BIT | METADATA_BIT | VARLEN_BIT | if dev { 0 } else { SEAL_BIT };
        let mut header = Self::decode_common(bytes, layout, options, known_bits)?;
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

    fn decode_v3(bytes: &[u8]) -> Result<Self, FormatError> {
        let options = u8_at(bytes, OPTIONS);
        let known_bits = OFFSETS_BIT | METADATA_BIT | VARLEN_BIT;
        let mut header = Self::decode_common(bytes, Layout::V3, options, known_bits)?;
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

    /// The fields that V2 and V3 share.
    fn decode_common(
        bytes: &[u8],
        layout: Layout,
        options: u8,
        known_bits: u8,
    ) -> Result<Self, FormatError> {
        if options & !known_bits != 0 {
            return Err(FormatError::Options {
                layout,
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
            ..Self::new(layout)
        })
    }

    /// Checks what the fields say of one another.
    ///
    /// # Errors
    /// A [`FormatError::Field`] that names the first contradiction.
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
        if self.layout == Layout::V3 {
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
                last.into(),
                "no more than the chunk size",
            ));
        }
        let spare = i64::try_from(self.max_app_chunks).unwrap_or(i64::MAX);
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

    /// The bytes of this header, as many as [`Layout::header_len`] says.
    ///
    /// # Errors
    /// The layout is one that is only read, or has no place for a field that is set.
    pub fn encode(&self) -> Result<Vec<u8>, FormatError> {
        self.check()?;
        let mut bytes = vec![0; self.layout.header_len()];
        put(&mut bytes, 0, &MAGIC);
        put(&mut bytes, VERSION, &[self.layout.version()]);
        match self.layout {
            Layout::V0 | Layout::Dev2012 => {
                return Err(FormatError::ReadOnly {
                    layout: self.layout,
                });
            }
            Layout::V1 => self.encode_v1(&mut bytes)?,
            Layout::V2 => self.encode_v2(&mut bytes)?,
            Layout::V3 => self.encode_v3(&mut bytes)?,
        }
        Ok(bytes)
    }

    fn encode_v1(&self, bytes: &mut [u8]) -> Result<(), FormatError> {
        let bare = Self {
            nchunks: self.nchunks,
            typesize: None,
            chunk_size: None,
            last_chunk: None,
            ..self.clone()
        };
        if bare
            != (Self {
                nchunks: self.nchunks,
                ..Self::new(Layout::V1)
            })
        {
            return Err(FormatError::NoPlace {
                layout: Layout::V1,
                what: "offsets, metadata or a checksum",
            });
        }
        put(bytes, V1_NCHUNKS, &signed(self.nchunks).to_le_bytes());
        Ok(())
    }

    fn encode_v2(&self, bytes: &mut [u8]) -> Result<(), FormatError> {
        self.encode_common(bytes)?;
        match self.metadata {
            MetadataPlace::Absent => {}
            MetadataPlace::Raw { len, zlib: false } if i32::try_from(len).is_ok() => {
                put(bytes, META_SIZE, &len.to_le_bytes());
            }
            _ => {
                return Err(FormatError::NoPlace {
                    layout: Layout::V2,
                    what: "metadata in this form",
                });
            }
        }
        if self.max_app_chunks != 0 {
            return Err(FormatError::NoPlace {
                layout: Layout::V2,
                what: "spare offsets",
            });
        }
        put(bytes, RESERVED, &self.seal.unwrap_or(0).to_le_bytes());
        Ok(())
    }

    fn encode_v3(&self, bytes: &mut [u8]) -> Result<(), FormatError> {
        self.encode_common(bytes)?;
        if matches!(self.metadata, MetadataPlace::Raw { .. }) || self.seal.is_some() {
            return Err(FormatError::NoPlace {
                layout: Layout::V3,
                what: "raw metadata or a seal",
            });
        }
        put(bytes, MAX_APP_CHUNKS, &self.max_app_chunks.to_le_bytes());
        Ok(())
    }

    fn encode_common(&self, bytes: &mut [u8]) -> Result<(), FormatError> {
        let has_metadata = self.metadata != MetadataPlace::Absent;
        let options = [
            (self.offsets, OFFSETS_BIT),
            (has_metadata, METADATA_BIT),
            (self.varlen, VARLEN_BIT),
            (self.seal.is_some(), SEAL_BIT),
        ];
        let options = options
            .iter()
            .filter(|(set, _)| *set)
            .fold(0, |all, (_, bit)| all | bit);
        put(
            bytes,
            OPTIONS,
            &[options, self.checksum.id(), self.typesize.unwrap_or(0)],
        );
        for (at, size) in [(CHUNK_SIZE, self.chunk_size), (LAST_CHUNK, self.last_chunk)] {
            let field = size.map_or(Ok(-1), i32::try_from);
            let field = field.map_err(|_| FormatError::NoPlace {
                layout: self.layout,
                what: "so large a chunk",
            })?;
            put(bytes, at, &field.to_le_bytes());
        }
        put(bytes, NCHUNKS, &signed(self.nchunks).to_le_bytes());
        Ok(())
    }

    /// Entries of the offset table, spare ones included: nothing where there is no table, or
    /// where its length is unknown because the number of chunks is.
    #[must_use]
    pub fn table_len(&self) -> Option<u64> {
        self.nchunks
            .filter(|_| self.offsets)
            .and_then(|n| n.checked_add(self.max_app_chunks))
    }

    /// Uncompressed bytes of all chunks, where the fields tell.
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

    /// The bytes under the seal that come from the header: itself, with the seal's word zero.
    pub(crate) fn sealed_bytes(encoded: &[u8]) -> Vec<u8> {
        let mut bytes = encoded.to_vec();
        put(&mut bytes, RESERVED, &[0; 4]);
        bytes
    }
}

/// Refuses what cannot begin a member, as soon as its first bytes tell.
fn check_magic(prefix: &[u8]) -> Result<(), FormatError> {
    let seen = prefix.get(..MAGIC.len()).unwrap_or(prefix);
    if MAGIC.starts_with(seen) {
        return Ok(());
    }
    Err(FormatError::Magic {
        found: seen.to_vec(),
    })
}

/// The release candidates wrote no version: four bytes of chunk count, and the first chunk.
///
/// In V1 those bytes could only be the same with more than 2^32 chunks, and no writer leaves
/// options, checksum and typesize of V2 or V3 all zero.
fn is_v0(bytes: &[u8]) -> bool {
    matches!(bytes.get(OPTIONS..16), Some([0, 0, 0, 2, 1, _, typesize, nbytes @ ..])
        if *typesize != 0 && nbytes.iter().any(|byte| *byte != 0))
}

/// Both have version byte 3; V3's metadata begins with its magic, Dev2012's with JSON or zlib data.
fn is_dev2012(bytes: &[u8]) -> bool {
    let options = u8_at(bytes, OPTIONS);
    let first = bytes.get(Layout::V3.header_len()).copied().unwrap_or(0);
    let zlib = options & VARLEN_BIT != 0;
    options & METADATA_BIT != 0
        && (if zlib {
            first == 0x78
        } else {
            matches!(first, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9')
        })
}

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
            len.into(),
            "0, since there is no metadata",
        )),
        Err(_) => Err(FormatError::field("meta-size", len.into(), "0 or more")),
    }
}

fn size(name: &'static str, field: i32) -> Result<Option<u32>, FormatError> {
    known(field.into(), MAX_NBYTES.into())
        .map_err(|found| FormatError::field(name, found, "-1 to 2147483631"))
}

fn nchunks(field: i64) -> Result<Option<u64>, FormatError> {
    known(field, i64::MAX)
        .map_err(|found| FormatError::field("number of chunks", found, "-1 or more"))
}

fn signed(count: Option<u64>) -> i64 {
    count.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX))
}
