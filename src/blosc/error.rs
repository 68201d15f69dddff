//! What can be wrong with a chunk, or with how it is asked for.

use std::fmt;

use super::CompressorFormat;

/// Why a chunk could not be encoded or decoded.
///
/// The message says what was found, what was expected and, where it is not plain, what to do.
/// [`fault`](Self::fault) sorts the variants by who has to act.
///
/// ```
/// use bloscpack::blosc::{ChunkError, Fault, ChunkHeader};
///
/// // Version byte 5: a chunk of Blosc 2.
/// let error = ChunkHeader::parse(&[5, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0]).unwrap_err();
/// assert_eq!(error, ChunkError::Blosc2 { version: 5 });
/// assert_eq!(error.fault(), Fault::Unsupported);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkError {
    /// There are fewer bytes than the chunk's header counts.
    CutShort {
        /// Bytes there are.
        found: usize,
        /// Bytes the chunk has by its header.
        expected: usize,
    },
    /// There are more bytes than the chunk's header counts.
    TooLong {
        /// Bytes there are.
        found: usize,
        /// Bytes the chunk has by its header.
        expected: usize,
    },
    /// A version byte that no Blosc ever wrote.
    NotBlosc {
        /// The version byte.
        version: u8,
    },
    /// The version byte belongs to Blosc 2.
    Blosc2 {
        /// The version byte.
        version: u8,
    },
    /// A flag is set that Blosc 1 keeps for later.
    ReservedFlag {
        /// The byte of flags.
        flags: u8,
    },
    /// A number of the header cannot be true.
    Header {
        /// The field's name.
        field: &'static str,
        /// What it holds.
        found: u32,
        /// What it may hold.
        expected: &'static str,
    },
    /// The flags name a compressor that Blosc 1 does not have.
    UnknownCompressor {
        /// The number in the upper three bits of the flags.
        code: u8,
    },
    /// The streams have a version that is not known for their compressor.
    StreamVersion {
        /// The compressor's format.
        format: CompressorFormat,
        /// The header's `versionlz`.
        found: u8,
    },
    /// This build lacks the compressor.
    NotBuilt {
        /// Name of the cargo feature that adds it.
        feature: &'static str,
    },
    /// The chunk's blocks are larger than the decoder's limit.
    BlockOverLimit {
        /// The header's block size in bytes.
        found: u32,
        /// The limit in bytes.
        limit: u32,
    },
    /// A block starts outside the chunk.
    BlockStart {
        /// Index of the block.
        block: u32,
        /// Where it starts by the chunk's table.
        found: u32,
        /// The chunk's length.
        ctbytes: u32,
    },
    /// A stream reaches beyond the end of the chunk.
    StreamLength {
        /// Index of the block.
        block: u32,
        /// Its length by the chunk.
        found: u32,
        /// Bytes that are left in the chunk.
        available: usize,
    },
    /// A stream does not decompress to exactly the bytes that it stands for.
    Stream {
        /// Index of the block.
        block: u32,
        /// The compressor's format.
        format: CompressorFormat,
    },
    /// The output slice has the wrong length.
    OutputLength {
        /// Its length.
        found: usize,
        /// The length that it has to have.
        expected: usize,
    },
    /// The range of bytes asked for is not within the chunk.
    Range {
        /// First byte asked for.
        start: u32,
        /// How many.
        len: usize,
        /// How many the chunk has.
        nbytes: u32,
    },
    /// The block asked for does not exist.
    BlockIndex {
        /// The index asked for.
        found: u32,
        /// How many blocks the chunk has.
        nblocks: u32,
    },
    /// The compression level is above 9.
    Level {
        /// The level.
        found: u8,
    },
    /// The typesize is 0.
    Typesize,
    /// There is more data than one chunk can hold.
    TooMuchData {
        /// Bytes of data.
        found: usize,
    },
    /// Memory for a compressor's state could not be had.
    Memory,
}

/// Who has to act on an error about bytes: on a [`ChunkError`], or on one of the file around chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes are not what an encoder wrote.
    Damaged,
    /// Bytes are missing at the end.
    CutShort,
    /// Sound perhaps, but not for this library or this build of it.
    Unsupported,
    /// A limit stands in the way; it can be raised.
    OverLimit,
    /// The caller asked for what cannot be.
    Usage,
}

impl ChunkError {
    /// Sorts the error by who has to act on it.
    #[must_use]
    pub const fn fault(&self) -> Fault {
        match self {
            Self::CutShort { .. } => Fault::CutShort,
            Self::NotBlosc { .. }
            | Self::Header { .. }
            | Self::BlockStart { .. }
            | Self::StreamLength { .. }
            | Self::Stream { .. } => Fault::Damaged,
            Self::Blosc2 { .. }
            | Self::ReservedFlag { .. }
            | Self::UnknownCompressor { .. }
            | Self::StreamVersion { .. }
            | Self::NotBuilt { .. } => Fault::Unsupported,
            Self::BlockOverLimit { .. } | Self::Memory => Fault::OverLimit,
            Self::TooLong { .. }
            | Self::OutputLength { .. }
            | Self::Range { .. }
            | Self::BlockIndex { .. }
            | Self::Level { .. }
            | Self::Typesize
            | Self::TooMuchData { .. } => Fault::Usage,
        }
    }
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutShort { found, expected } => write!(
                f,
                "chunk cut short: {found} bytes of the {expected} its header counts"
            ),
            Self::TooLong { found, expected } => write!(
                f,
                "{found} bytes given as a chunk, but its header counts {expected}"
            ),
            Self::NotBlosc { version } => {
                write!(f, "no Blosc chunk: version byte {version}, expected 1 or 2")
            }
            Self::Blosc2 { version } => write!(
                f,
                "chunk has version byte {version}, which is Blosc 2; \
                 expected Blosc 1 (version 1 or 2)"
            ),
            Self::ReservedFlag { flags } => write!(
                f,
                "chunk has flags {flags:#04x}, of which 0x08 is not known in Blosc 1"
            ),
            Self::Header {
                field,
                found,
                expected,
            } => write!(f, "chunk header has {field} {found}, expected {expected}"),
            Self::UnknownCompressor { code } => write!(
                f,
                "chunk has compressor number {code}, expected 0 (blosclz) to 4 (zstd)"
            ),
            Self::StreamVersion { format, found } => write!(
                f,
                "chunk has version {found} of the {format} format, expected 1"
            ),
            Self::NotBuilt { feature } => write!(
                f,
                "compressor {feature} is not in this build; \
                 build with the cargo feature \"{feature}\""
            ),
            Self::BlockOverLimit { found, limit } => write!(
                f,
                "chunk has blocks of {found} bytes, over the limit of {limit}"
            ),
            Self::BlockStart {
                block,
                found,
                ctbytes,
            } => write!(
                f,
                "block {block} starts at byte {found}, outside its chunk of {ctbytes} bytes"
            ),
            Self::StreamLength {
                block,
                found,
                available,
            } => write!(
                f,
                "block {block} has a stream of {found} bytes where {available} are left"
            ),
            Self::Stream { block, format } => write!(
                f,
                "block {block} has a {format} stream that does not give the bytes it should"
            ),
            Self::OutputLength { found, expected } => write!(
                f,
                "output has room for {found} bytes, expected exactly {expected}"
            ),
            Self::Range { start, len, nbytes } => write!(
                f,
                "{len} bytes from byte {start} asked for, but the chunk has {nbytes}"
            ),
            Self::BlockIndex { found, nblocks } => write!(
                f,
                "block {found} asked for, but the chunk has {nblocks} blocks"
            ),
            Self::Level { found } => write!(f, "compression level {found}, expected 0 to 9"),
            Self::Typesize => write!(f, "typesize 0, expected 1 to 255"),
            Self::TooMuchData { found } => write!(
                f,
                "{found} bytes of data for one chunk, which holds at most {}",
                super::MAX_NBYTES
            ),
            Self::Memory => write!(f, "no memory for the compressor's state"),
        }
    }
}

impl std::error::Error for ChunkError {}
