//! [`FormatError`]: the errors in the bytes of a Bloscpack file.

use super::checksum::{Checksum, Digest};
use super::limits::Limit;
use super::position::Position;
use super::version::FormatVersion;
use blosc1::{ChunkError, Fault};
use thiserror::Error;

/// An error in the bytes of a Bloscpack file, without its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The input is empty.
    #[error("the input is empty")]
    Empty,
    /// The input does not begin with `blpk`.
    #[error("{}", magic(found))]
    Magic {
        /// Up to four bytes found instead.
        found: Vec<u8>,
    },
    /// The bytes after a member are nearly, but not quite, another one.
    #[error("the next member begins with {found:02x?} instead of \"blpk\"")]
    MemberMagic {
        /// The four bytes found.
        found: [u8; 4],
    },
    /// The input ends inside a header.
    #[error("cut short after {found} bytes of the header")]
    TornHeader {
        /// Bytes of the header that are present.
        found: usize,
    },
    /// An unknown format version.
    #[error("unknown format version {found}; known versions are 1, 2 and 3")]
    Version {
        /// The version byte.
        found: u8,
    },
    /// Unknown option bits.
    #[error("unknown options: {version} has no bits {unknown:#04x} (options are {found:#04x})")]
    Options {
        /// The format version whose options they are.
        version: FormatVersion,
        /// The options byte.
        found: u8,
        /// Its unknown bits.
        unknown: u8,
    },
    /// A checksum id above 8.
    #[error("unknown checksum id {found}; known ids are 0 to 8")]
    ChecksumId {
        /// The id.
        found: u8,
    },
    /// A field that is out of range, or contradicts another.
    #[error("{name} is {found}, should be {expected}")]
    Field {
        /// Its name.
        name: &'static str,
        /// Its value.
        found: i128,
        /// The values that are allowed there.
        expected: &'static str,
    },
    /// Header, metadata and offsets do not match their seal.
    #[error(
        "header, metadata or offsets damaged: the seal is {found:08x}, the bytes give {expected:08x}"
    )]
    Seal {
        /// The crc32 that the header holds.
        found: u32,
        /// The crc32 of the bytes.
        expected: u32,
    },
    /// Metadata in a format other than JSON.
    #[error("unknown metadata format \"{}\"; only \"JSON\" is known", found.escape_ascii())]
    MetadataFormat {
        /// Its eight-byte magic.
        found: [u8; 8],
    },
    /// The stored metadata does not unpack to what its header says.
    #[error("bad metadata: {why}")]
    MetadataData {
        /// The reason.
        why: String,
    },
    /// An impossible entry of the offset table.
    #[error("entry {entry} is {found}, should be {expected}")]
    Offset {
        /// Number of the entry.
        entry: u64,
        /// The offset found, -1 for unknown.
        found: i128,
        /// The values that are allowed there.
        expected: String,
    },
    /// A chunk that is wrong in itself.
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    /// A chunk whose uncompressed length contradicts the header.
    #[error("the chunk holds {found} bytes, but should hold {expected} according to the header")]
    ChunkSize {
        /// Its `nbytes`.
        found: u32,
        /// The length according to the header.
        expected: u32,
    },
    /// An impossible chunk of packed records.
    #[error("bad packed records: {why}")]
    Packing {
        /// The reason.
        why: String,
    },
    /// A digest that does not match the bytes before it.
    #[error(transparent)]
    Digest(Box<DigestMismatch>),
    /// Spare space with something in it.
    #[error("spare space holds {found:#04x}, should be zero")]
    Spare {
        /// The byte found where zero should be.
        found: u8,
    },
    /// A further sound chunk after the last one that the header counts.
    #[error("a sound chunk follows, but the header counts only {counted}")]
    UncountedChunk {
        /// The number of chunks that the header counts.
        counted: u64,
    },
    /// Sound chunks in the bytes after the last chunk that the header counts, which otherwise mean
    /// nothing.
    #[error(
        "sound chunks follow the last chunk that the header counts: they may belong to a member whose header is damaged"
    )]
    HiddenChunks,
    /// An end mark where the header counts further chunks.
    #[error("an end mark follows {found} chunks, but the header counts {expected}")]
    EarlyEndMark {
        /// Chunks before the mark.
        found: u64,
        /// Chunks that the header counts.
        expected: u64,
    },
    /// Bytes after the last chunk that belong to no part of the file.
    #[error("unexpected bytes follow the last chunk")]
    Trailing,
    /// The input ends, or another member begins, before the counted chunks are complete.
    #[error("cut short: {found} of {expected} bytes are present")]
    Cut {
        /// Bytes of the part that are present.
        found: u64,
        /// Bytes that the part should have.
        expected: u64,
    },
    /// Fewer chunks than counted, between two whole ones.
    #[error("cut short: {found} of {expected} chunks are present")]
    MissingChunks {
        /// Whole chunks that are present.
        found: u64,
        /// Chunks that the header counts.
        expected: u64,
    },
    /// A stream of unknown length that ends without its end mark.
    #[error("the stream ends without its end mark: it was cut")]
    Unterminated,
    /// A file whose writer did not finish: its offsets are still -1, and chunks are missing.
    #[error("unfinished: its writer stopped after {found} whole chunks")]
    Unfinished {
        /// Whole chunks that are present.
        found: u64,
    },
    /// A change to the file was interrupted and cannot be completed from what was read, or is being made right now. A plain
    /// file shows the mark of a change for as long as its writer needs to apply it: read it again, or open it by its path
    /// as a `Snapshot`, which waits for a writer and reads an interrupted change through its journal.
    #[error("a change to this file was interrupted, and {why}")]
    Interrupted {
        /// The reason.
        why: &'static str,
    },
    /// More than a limit allows.
    #[error("{limit} of {found} bytes exceeds the limit of {allowed}")]
    Limit {
        /// The limit.
        limit: Limit,
        /// Bytes found.
        found: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// More than readers with this limit accept, and so refused by the writer.
    #[error("{limit} of {found} bytes could not be read again: the limit is {allowed}")]
    WriteLimit {
        /// The limit.
        limit: Limit,
        /// Bytes that were to be written.
        found: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// A part that this build cannot read.
    #[error("{what}")]
    Unsupported {
        /// The part, and the reason.
        what: String,
    },
    /// A format version that is read but not written.
    #[error("format version {version} can be read but not written")]
    ReadOnly {
        /// The version.
        version: FormatVersion,
    },
    /// A format version that cannot express a part of the file.
    #[error("format version {version} has no place for {what}")]
    NoPlace {
        /// The version.
        version: FormatVersion,
        /// The part that it cannot express.
        what: &'static str,
    },
    /// A plugged hasher whose digest has another length than that of its kind.
    #[error("the hasher for {checksum} gives digests of {found} bytes, should be {expected}", expected = checksum.digest_len())]
    Hasher {
        /// The kind that it is plugged in for.
        checksum: Checksum,
        /// Bytes of its digest.
        found: usize,
    },
    /// This library contradicts itself: nothing is wrong with the file.
    #[error("internal error: {what}")]
    Bug {
        /// The contradiction.
        what: String,
    },
}

/// A digest in a file, and the digest of the data as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{checksum} mismatch: file has {found}, data gives {computed}")]
pub struct DigestMismatch {
    /// The kind.
    pub checksum: Checksum,
    /// The digest in the file.
    pub found: Digest,
    /// The digest of the data.
    pub computed: Digest,
}

impl FormatError {
    /// Refuses a digest of another length than that of its kind.
    pub(crate) fn check_hasher(checksum: Checksum, computed: Digest) -> Result<(), Self> {
        match computed.as_bytes().len() {
            found if found == checksum.digest_len() => Ok(()),
            found => Err(Self::Hasher { checksum, found }),
        }
    }

    /// Compares a digest in the file with that of the data.
    ///
    /// # Errors
    /// Returns [`FormatError::Digest`] if they differ, and [`FormatError::Hasher`] if the computed one can be in no file.
    pub fn check_digest(checksum: Checksum, found: Digest, computed: Digest) -> Result<(), Self> {
        Self::check_hasher(checksum, computed)?;
        if found == computed {
            return Ok(());
        }
        Err(Self::Digest(Box::new(DigestMismatch {
            checksum,
            found,
            computed,
        })))
    }

    /// Refuses to write what readers with the same limits would refuse to read.
    ///
    /// # Errors
    /// Returns [`FormatError::WriteLimit`] for more than `allowed`, the value of this limit.
    pub fn check_write(limit: Limit, found: u64, allowed: u64) -> Result<(), Self> {
        if found <= allowed {
            Ok(())
        } else {
            Err(Self::WriteLimit {
                limit,
                found,
                allowed,
            })
        }
    }

    pub(crate) fn bug(what: impl Into<String>) -> Self {
        Self::Bug { what: what.into() }
    }

    /// Another number of records than the metadata's shape says.
    pub fn record_count(count: u64, found: u64) -> Self {
        let why = format!("its shape has {count} records, but the chunks have {found}");
        Self::MetadataData { why }
    }

    pub(crate) fn field(
        name: &'static str,
        found: impl Into<i128>,
        expected: &'static str,
    ) -> Self {
        Self::Field {
            name,
            found: found.into(),
            expected,
        }
    }

    /// The party at fault, from which the caller can conclude how to react.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Empty
            | Self::TornHeader { .. }
            | Self::Cut { .. }
            | Self::MissingChunks { .. }
            | Self::Unterminated
            | Self::Unfinished { .. }
            | Self::Interrupted { .. } => Fault::CutShort,
            Self::Magic { .. }
            | Self::Version { .. }
            | Self::Options { .. }
            | Self::ChecksumId { .. }
            | Self::MetadataFormat { .. }
            | Self::Unsupported { .. } => Fault::Unsupported,
            Self::Limit { .. } | Self::WriteLimit { .. } => Fault::OverLimit,
            Self::ReadOnly { .. } | Self::NoPlace { .. } | Self::Hasher { .. } => Fault::Usage,
            Self::Bug { .. } => Fault::Bug,
            Self::Chunk(error) => error.fault(),
            Self::MemberMagic { .. }
            | Self::Field { .. }
            | Self::Seal { .. }
            | Self::MetadataData { .. }
            | Self::Offset { .. }
            | Self::ChunkSize { .. }
            | Self::Packing { .. }
            | Self::Digest(_)
            | Self::Spare { .. }
            | Self::UncountedChunk { .. }
            | Self::HiddenChunks
            | Self::EarlyEndMark { .. }
            | Self::Trailing => Fault::Damaged,
        }
    }

    /// The limit that the input exceeds, if it exceeds one.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Limit { limit, .. } | Self::WriteLimit { limit, .. } => Some(*limit),
            Self::Chunk(ChunkError::BlockOverLimit { .. }) => Some(Limit::Block),
            Self::Chunk(ChunkError::RatioOverLimit { .. }) => Some(Limit::Ratio),
            _ => None,
        }
    }

    /// Whether only the end is missing because the writer did not finish: the data before it can be read on request.
    #[must_use]
    pub fn is_unended(&self) -> bool {
        matches!(self, Self::Unterminated | Self::Unfinished { .. })
    }
}

/// The format that the file may have instead: `.blp` is also the extension of a texture format.
fn magic(found: &[u8]) -> String {
    let guess = match found {
        [b'B', b'L', b'P', b'0'..=b'2'] => " (a Blizzard texture)",
        [0x1f, 0x8b, ..] => " (gzip data)",
        [0x28, 0xb5, 0x2f, 0xfd] => " (a zstd frame)",
        _ => "",
    };
    format!(
        "not a Bloscpack file: it begins with \"{}\"{guess}",
        found.escape_ascii()
    )
}

/// An error in the bytes of a Bloscpack file, and its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{position}: {error}")]
pub struct ParseError {
    /// The error.
    pub error: FormatError,
    /// Where the part that is wrong begins.
    pub position: Position,
}
