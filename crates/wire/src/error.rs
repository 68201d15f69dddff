//! What can be wrong with the bytes of a Bloscpack file.

use super::checksum::{Checksum, Digest};
use super::position::Position;
use super::version::FormatVersion;
use blosc1::{ChunkError, Fault};
use std::fmt;

/// What is wrong, without the place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The input has not a single byte.
    Empty,
    /// The input does not begin with `blpk`.
    Magic {
        /// Up to four bytes that stand there instead.
        found: Vec<u8>,
    },
    /// What follows a member is nearly, but not quite, another one.
    MemberMagic {
        /// The four bytes found.
        found: [u8; 4],
    },
    /// The input ends inside a header.
    TornHeader {
        /// Bytes of the header that are there.
        found: usize,
    },
    /// A format version that is not known.
    Version {
        /// The version byte.
        found: u8,
    },
    /// Option bits that are not known.
    Options {
        /// The layout whose options they are.
        layout: FormatVersion,
        /// The options byte.
        found: u8,
        /// Those of its bits that are not known.
        unknown: u8,
    },
    /// A checksum id above 8.
    ChecksumId {
        /// The id.
        found: u8,
    },
    /// A field out of range, or in contradiction to another.
    Field {
        /// Its name.
        name: &'static str,
        /// Its value.
        found: i64,
        /// What it should be.
        expected: &'static str,
    },
    /// Header, metadata and offsets do not fit their seal.
    Seal {
        /// The crc32 that the header holds.
        found: u32,
        /// The crc32 of what is there.
        expected: u32,
    },
    /// Metadata in a format other than JSON.
    MetadataFormat {
        /// Its eight-byte magic.
        found: [u8; 8],
    },
    /// The stored metadata does not unpack to what its header says.
    MetadataData {
        /// What is wrong.
        why: String,
    },
    /// An entry of the offset table that cannot be.
    Offset {
        /// Number of the entry.
        entry: u64,
        /// The offset found, -1 for unknown.
        found: i64,
        /// What it should be.
        expected: String,
    },
    /// A chunk that is wrong in itself.
    Chunk(ChunkError),
    /// A chunk whose uncompressed length is not the one the header gives.
    ChunkSize {
        /// Its `nbytes`.
        found: u32,
        /// What the header says.
        expected: u32,
    },
    /// A chunk of packed records that cannot be.
    Packing {
        /// What is wrong.
        why: String,
    },
    /// A digest that does not fit what it stands behind.
    Digest(Box<DigestMismatch>),
    /// Spare space with something in it.
    Spare {
        /// The byte found where zero should be.
        found: u8,
    },
    /// A further sound chunk behind the last one that the header counts.
    UncountedChunk {
        /// How many the header counts.
        counted: u64,
    },
    /// Sound chunks in the bytes behind the last chunk that the header counts, which otherwise mean
    /// nothing.
    HiddenChunks,
    /// An end mark where the header counts further chunks.
    EarlyEndMark {
        /// Chunks before the mark.
        found: u64,
        /// Chunks that the header counts.
        expected: u64,
    },
    /// Bytes behind the last chunk that belong to nothing.
    Trailing,
    /// The input ends, or another member begins, before the counted chunks are complete.
    Cut {
        /// Bytes of the part that are there.
        found: u64,
        /// Bytes that the part should have.
        expected: u64,
    },
    /// Fewer chunks than counted, between two whole ones.
    MissingChunks {
        /// Whole chunks that are there.
        found: u64,
        /// Chunks that the header counts.
        expected: u64,
    },
    /// A stream of unknown length that ends without its end mark.
    Unterminated,
    /// A file whose writer did not finish: its offsets are still -1, and chunks are missing.
    Unfinished {
        /// Whole chunks that are there.
        found: u64,
    },
    /// A change to the file was interrupted, and cannot be completed.
    Interrupted {
        /// What is missing.
        why: &'static str,
    },
    /// More than a limit allows.
    Limit {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// A part that this build cannot read.
    Unsupported {
        /// What and why.
        what: String,
    },
    /// A layout that is read but not written.
    ReadOnly {
        /// The layout.
        layout: FormatVersion,
    },
    /// A layout that cannot express what it is to hold.
    NoPlace {
        /// The layout.
        layout: FormatVersion,
        /// What it has no place for.
        what: &'static str,
    },
}

/// A digest in a file, and the one that its data really has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestMismatch {
    /// The kind.
    pub checksum: Checksum,
    /// The digest in the file.
    pub found: Digest,
    /// The digest of the data.
    pub computed: Digest,
}

impl fmt::Display for DigestMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            checksum,
            found,
            computed,
        } = self;
        write!(
            f,
            "{checksum} mismatch: file has {found}, data gives {computed}"
        )
    }
}

impl FormatError {
    /// Compares a digest in the file with that of the data.
    ///
    /// # Errors
    /// [`FormatError::Digest`] if they differ.
    pub fn check_digest(checksum: Checksum, found: Digest, computed: Digest) -> Result<(), Self> {
        if found == computed {
            return Ok(());
        }
        Err(Self::Digest(Box::new(DigestMismatch {
            checksum,
            found,
            computed,
        })))
    }

    /// Another number of records than the metadata's shape says.
    pub fn record_count(count: u64, found: u64) -> Self {
        let why = format!("its shape is of {count} records, but there are {found}");
        Self::MetadataData { why }
    }

    pub(crate) fn field(name: &'static str, found: i64, expected: &'static str) -> Self {
        Self::Field {
            name,
            found,
            expected,
        }
    }

    /// Whose fault it is, and with that what a caller can do about it.
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
            Self::Limit { .. } => Fault::OverLimit,
            Self::ReadOnly { .. } | Self::NoPlace { .. } => Fault::Usage,
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

    /// Whether all that is missing is the writer's last word: data so far may be read if asked for.
    #[must_use]
    pub fn is_unended(&self) -> bool {
        matches!(self, Self::Unterminated | Self::Unfinished { .. })
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the input is empty"),
            Self::Magic { found } => write_magic(f, found),
            Self::MemberMagic { found } => {
                write!(
                    f,
                    "the next member begins with {found:02x?} instead of \"blpk\""
                )
            }
            Self::TornHeader { found } => write!(f, "cut short after {found} bytes of the header"),
            Self::Version { found } => {
                write!(f, "unknown format version {found}; known are 1, 2 and 3")
            }
            Self::Options {
                layout,
                found,
                unknown,
            } => {
                write!(
                    f,
                    "unknown options: {layout} has no bits {unknown:#04x} (options are {found:#04x})"
                )
            }
            Self::ChecksumId { found } => {
                write!(f, "unknown checksum id {found}; known are 0 to 8")
            }
            Self::Field {
                name,
                found,
                expected,
            } => write!(f, "{name} is {found}, should be {expected}"),
            Self::Seal { found, expected } => {
                write!(
                    f,
                    "header, metadata or offsets damaged: the seal is {found:08x}, they give {expected:08x}"
                )
            }
            Self::MetadataFormat { found } => {
                write!(
                    f,
                    "unknown metadata format \"{}\"; known is \"JSON\"",
                    found.escape_ascii()
                )
            }
            Self::MetadataData { why } => write!(f, "bad metadata: {why}"),
            Self::Offset {
                entry,
                found,
                expected,
            } => {
                write!(f, "entry {entry} is {found}, should be {expected}")
            }
            Self::Chunk(error) => error.fmt(f),
            Self::ChunkSize { found, expected } => {
                write!(
                    f,
                    "it holds {found} bytes, by the header it should hold {expected}"
                )
            }
            Self::Packing { why } => write!(f, "bad packed records: {why}"),
            Self::Digest(mismatch) => mismatch.fmt(f),

            Self::Spare { found } => write!(f, "spare space holds {found:#04x}, should be zero"),
            Self::UncountedChunk { counted } => {
                write!(
                    f,
                    "a sound chunk follows, but the header counts only {counted}"
                )
            }
            Self::HiddenChunks => f.write_str(
                "sound chunks lie behind the last chunk that the header counts: perhaps of a member whose header is damaged",
            ),
            Self::EarlyEndMark { found, expected } => {
                write!(
                    f,
                    "an end mark follows {found} chunks, but the header counts {expected}"
                )
            }
            Self::Trailing => f.write_str("bytes that belong to nothing follow the last chunk"),
            Self::Cut { found, expected } => {
                write!(f, "cut short: {found} of {expected} bytes are there")
            }
            Self::MissingChunks { found, expected } => {
                write!(f, "cut short: {found} of {expected} chunks are there")
            }
            Self::Unterminated => f.write_str("the stream ends without its end mark: it was cut"),
            Self::Interrupted { why } => {
                write!(f, "a change to this file was interrupted, and {why}")
            }
            Self::Unfinished { found } => {
                write!(
                    f,
                    "unfinished: its writer stopped after {found} whole chunks"
                )
            }
            Self::Limit { what, found, limit } => {
                write!(f, "{what} of {found} bytes is over the limit of {limit}")
            }
            Self::Unsupported { what } => f.write_str(what),
            Self::ReadOnly { layout } => write!(f, "layout {layout} is read but never written"),
            Self::NoPlace { layout, what } => write!(f, "layout {layout} has no place for {what}"),
        }
    }
}

/// Says what the file might be instead: `.blp` is also the ending of a texture format.
fn write_magic(f: &mut fmt::Formatter<'_>, found: &[u8]) -> fmt::Result {
    write!(
        f,
        "not a Bloscpack file: it begins with \"{}\"",
        found.escape_ascii()
    )?;
    match found {
        [b'B', b'L', b'P', b'0'..=b'2'] => f.write_str(" (a Blizzard texture)"),
        [0x1f, 0x8b, ..] => f.write_str(" (gzip data)"),
        [0x28, 0xb5, 0x2f, 0xfd] => f.write_str(" (a zstd frame)"),
        _ => Ok(()),
    }
}

impl std::error::Error for FormatError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Chunk(error) = self {
            Some(error)
        } else {
            None
        }
    }
}

impl From<ChunkError> for FormatError {
    fn from(error: ChunkError) -> Self {
        Self::Chunk(error)
    }
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub error: FormatError,
    /// Where the part begins that is wrong.
    pub position: Position,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.error)
    }
}

impl std::error::Error for ParseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
