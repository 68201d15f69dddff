//! [`FormatError`]: errors in the bytes of a Bloscpack file.

use super::checksum::{Checksum, Digest};
use super::limits::Limit;
use super::position::Position;
use super::version::FormatVersion;
use blosc1::{ChunkError, Fault};
use thiserror::Error;

/// An error in the bytes of a Bloscpack file, without its position.
///
/// Errors of parameters for writing are included. [`fault`](Self::fault) sorts the variants by who
/// has to act.
///
/// ```
/// use blosc1::Fault;
/// use bloscpack_wire::{FormatError, Header};
///
/// let error = Header::decode(b"blpk\x09 and some more bytes").unwrap_err();
/// assert_eq!(error, FormatError::Version { found: 9 });
/// assert_eq!(error.to_string(), "unknown format version 9; known versions are 1, 2 and 3");
/// assert_eq!(error.fault(), Fault::Unsupported);
/// ```
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
    /// The bytes after a member differ in one bit from the beginning of another one.
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
    /// An option bit that the layout does not define.
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
    /// A field is out of range, or contradicts another.
    #[error("{name} is {found}, should be {expected}")]
    Field {
        /// Its name.
        name: &'static str,
        /// Its value.
        found: i128,
        /// The allowed values.
        expected: &'static str,
    },
    /// The seal does not match header, metadata and offset table: one of them is damaged.
    #[error(
        "header, metadata or offsets damaged: the seal is {found:08x}, the bytes give {expected:08x}"
    )]
    Seal {
        /// The crc32 in the header.
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
    /// The metadata does not unpack to what its header says, is not JSON, or contradicts other
    /// parts of the file.
    #[error("bad metadata: {why}")]
    MetadataData {
        /// The reason.
        why: String,
    },
    /// An impossible entry of the offset table, or one that does not lead to its chunk.
    #[error("entry {entry} is {found}, should be {expected}")]
    Offset {
        /// Number of the entry, from 0.
        entry: u64,
        /// The offset found, -1 for unknown.
        found: i128,
        /// The allowed values.
        expected: String,
    },
    /// A chunk that is wrong in itself, or that this build cannot read.
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
    /// A chunk of packed records is impossible, or contradicts its neighbours.
    #[error("bad packed records: {why}")]
    Packing {
        /// The reason.
        why: String,
    },
    /// A digest that does not match the bytes before it.
    #[error(transparent)]
    Digest(Box<DigestMismatch>),
    /// Spare space contains other bytes than zeros.
    #[error("spare space holds {found:#04x}, should be zero")]
    Spare {
        /// The byte found where zero should be.
        found: u8,
    },
    /// A further sound chunk follows the last one that the header counts: the count is wrong.
    #[error("a sound chunk follows, but the header counts only {counted}")]
    UncountedChunk {
        /// The number of chunks that the header counts.
        counted: u64,
    },
    /// Sound chunks are among the bytes after the last counted chunk, which otherwise mean nothing.
    /// They may belong to a member whose header is damaged.
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
    /// The input ends within a part, or another member begins there.
    #[error("cut short: {found} of {expected} bytes are present")]
    Cut {
        /// Bytes of the part that are present.
        found: u64,
        /// Bytes that the part should have.
        expected: u64,
    },
    /// The input ends, or another member begins, after fewer chunks than the header counts.
    #[error("cut short: {found} of {expected} chunks are present")]
    MissingChunks {
        /// Whole chunks that are present.
        found: u64,
        /// Chunks that the header counts.
        expected: u64,
    },
    /// A stream of unknown length ends without its end mark.
    #[error("the stream ends without its end mark: it was cut")]
    Unterminated,
    /// The writer of a file did not finish: the entries of the offset table are -1, and chunks are
    /// missing.
    #[error("unfinished: its writer stopped after {found} whole chunks")]
    Unfinished {
        /// Whole chunks that are present.
        found: u64,
    },
    /// A change to the file was interrupted and cannot be completed from these bytes alone, or a
    /// writer is applying it right now.
    ///
    /// While a writer applies a change to a plain file, the file begins with the mark of that
    /// change. Read it again, or open it by its path as a `Snapshot`: that waits for a writer, and
    /// completes an interrupted change from its journal.
    #[error("a change to this file was interrupted, and {why}")]
    Interrupted {
        /// The reason.
        why: &'static str,
    },
    /// The input exceeds one of the [`Limits`](super::Limits).
    #[error("{limit} of {found} bytes exceeds the limit of {allowed}")]
    Limit {
        /// The exceeded limit.
        limit: Limit,
        /// Bytes found.
        found: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// A writer was asked for more than readers with the same limit accept.
    #[error("{limit} of {found} bytes could not be read again: the limit is {allowed}")]
    WriteLimit {
        /// The limit.
        limit: Limit,
        /// Bytes to write.
        found: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// A part that this crate or this build cannot read.
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
    /// The layout cannot store a part of the file.
    #[error("format version {version} has no place for {what}")]
    NoPlace {
        /// The version.
        version: FormatVersion,
        /// The part that it cannot store.
        what: &'static str,
    },
    /// The digest of a plugged hasher does not have the length of its kind.
    #[error("the hasher for {checksum} gives digests of {found} bytes, should be {expected}", expected = checksum.digest_len())]
    Hasher {
        /// The kind that it replaces.
        checksum: Checksum,
        /// Bytes of its digest.
        found: usize,
    },
    /// This library contradicts itself. The file may be sound.
    #[error("internal error: {what}")]
    Bug {
        /// The contradiction.
        what: String,
    },
}

/// A digest in a file that differs from the digest of the bytes as they were read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{checksum} mismatch: file has {found}, data gives {computed}")]
pub struct DigestMismatch {
    /// The kind of both.
    pub checksum: Checksum,
    /// The digest in the file.
    pub found: Digest,
    /// The digest of the data.
    pub computed: Digest,
}

impl FormatError {
    /// Refuses a digest that does not have the length of its kind.
    pub(crate) fn check_hasher(checksum: Checksum, computed: Digest) -> Result<(), Self> {
        match computed.as_bytes().len() {
            found if found == checksum.digest_len() => Ok(()),
            found => Err(Self::Hasher { checksum, found }),
        }
    }

    /// Compares a digest in the file with the digest of the data.
    ///
    /// # Errors
    /// Returns [`FormatError::Digest`] if they differ, and [`FormatError::Hasher`] if the computed
    /// one does not have the length of its kind.
    ///
    /// ```
    /// use bloscpack_wire::{Checksum, FormatError, Hashers};
    ///
    /// let hashers = Hashers::default();
    /// let stored = hashers.digest(Checksum::Crc32, b"data");
    /// let read = hashers.digest(Checksum::Crc32, b"date");
    /// assert!(FormatError::check_digest(Checksum::Crc32, stored, stored).is_ok());
    /// assert!(FormatError::check_digest(Checksum::Crc32, stored, read).is_err());
    /// ```
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
    /// Returns [`FormatError::WriteLimit`] if `found` bytes are more than `allowed`, the value of
    /// `limit`.
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

    /// The error for chunks with `found` records in a member whose metadata declares `count`.
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

    /// The category of the error, by who has to act.
    ///
    /// | category | errors |
    /// |---|---|
    /// | `CutShort` | the input ends too early, or a change is not complete |
    /// | `Unsupported` | another format, an unknown number, or a part that this build cannot read |
    /// | `OverLimit` | a [`Limit`], for reading or writing |
    /// | `Usage` | a header that its layout cannot store, or a wrong hasher |
    /// | `Bug` | `Bug` |
    /// | `Damaged` | all others |
    ///
    /// An error in a chunk has the category that [`ChunkError::fault`] gives it.
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

    /// The exceeded limit; `None` for all other errors.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Limit { limit, .. } | Self::WriteLimit { limit, .. } => Some(*limit),
            Self::Chunk(ChunkError::BlockOverLimit { .. }) => Some(Limit::Block),
            Self::Chunk(ChunkError::RatioOverLimit { .. }) => Some(Limit::Ratio),
            _ => None,
        }
    }

    /// Whether only the end is missing because the writer did not finish. The chunks before it can
    /// be read on request.
    #[must_use]
    pub fn is_unended(&self) -> bool {
        matches!(self, Self::Unterminated | Self::Unfinished { .. })
    }
}

/// The message for another format, with a guess: `.blp` is also the extension of a texture format.
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
///
/// ```
/// use bloscpack_wire::Parser;
///
/// let mut input = &b"not a Bloscpack file"[..];
/// let error = Parser::default().parse(&mut input).unwrap_err();
/// assert_eq!(error.to_string(), r#"header (byte 0): not a Bloscpack file: it begins with "not ""#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{position}: {error}")]
pub struct ParseError {
    /// The error.
    pub error: FormatError,
    /// Where the wrong part begins.
    pub position: Position,
}
