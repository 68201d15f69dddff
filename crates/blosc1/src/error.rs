//! What can be wrong with a chunk, or with how it is asked for.

use std::fmt;

use super::{Compressor, CompressorFormat};

/// Why a chunk could not be encoded or decoded.
///
/// The message says what was found, what was expected and, where it is not plain, what to do.
/// [`fault`](Self::fault) sorts the variants by who has to act.
///
/// ```
/// use blosc1::{ChunkError, ChunkHeader, Fault};
///
/// // Version byte 6: a chunk of Blosc 2 with blocks of any length.
/// let error = ChunkHeader::parse(&[6, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0]).unwrap_err();
/// assert_eq!(error, ChunkError::Blosc2 { version: 6 });
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
    /// The version byte belongs to a later Blosc 2.
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
    /// The blocks of a chunk of Blosc 2 tell their lengths themselves.
    VariableBlocks,
    /// A chunk of Blosc 2 as it is in memory only: lazy, or with measurements in place of data.
    InMemoryOnly {
        /// The last byte of the extended header.
        flags: u8,
    },
    /// A filter without a meaning, or of a plug-in.
    UnknownFilter {
        /// Its number.
        id: u8,
    },
    /// Delta stands behind a filter that moves bytes or bits.
    FilterOrder,
    /// The second byte of a shuffle is not 0: see [`ShuffleMeta`](super::ShuffleMeta).
    ShuffleMeta {
        /// The byte.
        meta: u8,
    },
    /// An extended header names a compressor that is not built into Blosc 2.
    UserCompressor {
        /// The compressor's number in the extension.
        id: u8,
        /// The number in the upper three bits of the flags.
        code: u8,
    },
    /// There is a dictionary for a compressor that takes none.
    Dictionary {
        /// The compressor's format.
        format: CompressorFormat,
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
    /// The chunk has more data for each byte than the decoder's limit.
    RatioOverLimit {
        /// Uncompressed bytes for each byte of the chunk, rounded up.
        found: u32,
        /// The limit.
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
    /// A stream's length is below 0, but does not stand for a byte over and over.
    Run {
        /// Index of the block.
        block: u32,
        /// The length by the chunk, as a number without sign.
        found: u32,
        /// The byte after it, if there is one.
        token: Option<u8>,
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
    /// More filters than the six that a chunk of Blosc 2 has.
    TooManyFilters {
        /// How many.
        found: usize,
    },
    /// Precision can be truncated of numbers of 4 and 8 bytes only, by the bits that they have.
    Precision {
        /// Bytes of one element.
        typesize: u8,
        /// Bits to keep or, if negative, to set to zero.
        bits: i8,
    },
    /// Blosc 2 does not have the compressor.
    NotInBlosc2 {
        /// The compressor.
        compressor: Compressor,
    },
    /// The block size is 0 or larger than C-Blosc2 reads.
    Blocksize {
        /// The block size in bytes.
        found: u32,
    },
    /// Special values do not fill the data, or NaN is asked for of elements that have none.
    SpecialLength {
        /// Bytes of data.
        nbytes: u32,
        /// Bytes of one element.
        typesize: u8,
    },
    /// C-Blosc2, the other [`Engine`](super::Engine), would do something else or nothing.
    NotInEngine {
        /// What there is for it to do.
        what: &'static str,
    },
    /// C-Blosc2 refuses a chunk that is sound as far as can be told without decompressing.
    EngineRefused {
        /// Its number for why.
        code: i32,
    },
    /// C-Blosc2 makes no chunk of the data.
    EngineFailed {
        /// Its number for why, or 0 if the chunk would be too long.
        code: i32,
    },
    /// Memory for a compressor's state could not be had.
    Memory,
}

/// Who has to act on an error about bytes: on a [`ChunkError`], or on one of the file around chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
            | Self::Run { .. }
            | Self::EngineRefused { .. }
            | Self::Stream { .. } => Fault::Damaged,
            Self::Blosc2 { .. }
            | Self::VariableBlocks
            | Self::InMemoryOnly { .. }
            | Self::UnknownFilter { .. }
            | Self::FilterOrder
            | Self::ShuffleMeta { .. }
            | Self::UserCompressor { .. }
            | Self::Dictionary { .. }
            | Self::ReservedFlag { .. }
            | Self::UnknownCompressor { .. }
            | Self::StreamVersion { .. }
            | Self::NotInEngine { .. }
            | Self::EngineFailed { .. }
            | Self::NotBuilt { .. } => Fault::Unsupported,
            Self::BlockOverLimit { .. } | Self::RatioOverLimit { .. } | Self::Memory => {
                Fault::OverLimit
            }
            Self::TooLong { .. }
            | Self::OutputLength { .. }
            | Self::Range { .. }
            | Self::BlockIndex { .. }
            | Self::Level { .. }
            | Self::Typesize
            | Self::TooManyFilters { .. }
            | Self::Precision { .. }
            | Self::NotInBlosc2 { .. }
            | Self::Blocksize { .. }
            | Self::SpecialLength { .. }
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
                write!(f, "no Blosc chunk: version byte {version}, expected 1 to 5")
            }
            Self::Blosc2 { version } => write!(
                f,
                "chunk has version byte {version}, a later Blosc 2; \
                 expected Blosc 1 or 2 (versions 1 to 5)"
            ),
            Self::VariableBlocks => write!(
                f,
                "chunk has blocks of variable length, which Blosc 2 before 3.0 did not have; \
                 expected blocks of one length"
            ),
            Self::InMemoryOnly { flags } => write!(
                f,
                "chunk has Blosc 2 flags {flags:#04x}: lazy (0x08) or instrumented (0x80), \
                 which has no data of its own"
            ),
            Self::UnknownFilter { id } => write!(
                f,
                "chunk has filter number {id}, expected 0 (none) to 4 (truncated precision)"
            ),
            Self::FilterOrder => write!(
                f,
                "chunk has the filter delta behind a shuffle, where it cannot be undone; \
                 expected it first"
            ),
            Self::ShuffleMeta { meta } => write!(
                f,
                "chunk has a shuffle with meta byte {meta}, to which versions of C-Blosc2 gave \
                 three meanings; expected 0, or a decoder that is told the meaning"
            ),
            Self::UserCompressor { id, code } => write!(
                f,
                "chunk has compressor number {id} of format {code}, which is not built into \
                 Blosc 2; expected blosclz, lz4, lz4hc, zlib or zstd"
            ),
            Self::Dictionary { format } => write!(
                f,
                "chunk has a dictionary for {format}; only lz4 and zstd take one"
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
            Self::RatioOverLimit { found, limit } => write!(
                f,
                "chunk has {found} bytes of data for each of its own, over the limit of {limit}"
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
            Self::Run {
                block,
                found,
                token,
            } => write!(
                f,
                "block {block} has a stream of length {found:#010x} and token {token:02x?}; \
                 expected a length, or that of a run: at least -255 and a token that is odd"
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
            Self::TooManyFilters { found } => {
                write!(f, "{found} filters, expected at most 6")
            }
            Self::Precision { typesize, bits } => write!(
                f,
                "precision of {bits} bits for numbers of {typesize} bytes; \
                 expected 1 to 23 kept of 4 bytes, 1 to 52 of 8"
            ),
            Self::NotInBlosc2 { compressor } => write!(
                f,
                "Blosc 2 does not have {compressor}; expected blosclz, lz4, lz4hc, zlib or zstd"
            ),
            Self::Blocksize { found } => {
                write!(f, "block size {found}, expected 1 to 536866816 bytes")
            }
            Self::SpecialLength { nbytes, typesize } => write!(
                f,
                "special values for {nbytes} bytes of elements of {typesize}; expected whole \
                 values of 1 to 255 bytes, and 4 or 8 for NaN"
            ),
            Self::TooMuchData { found } => write!(
                f,
                "{found} bytes of data for one chunk, which holds at most {}",
                super::MAX_NBYTES
            ),
            Self::NotInEngine { what } => write!(
                f,
                "C-Blosc2 2.15 is not given {what}; use the native engine"
            ),
            Self::EngineRefused { code } => {
                write!(f, "C-Blosc2 refuses the chunk with its error {code}")
            }
            Self::EngineFailed { code } => {
                write!(
                    f,
                    "C-Blosc2 makes no chunk of the data, by its error {code}"
                )
            }
            Self::Memory => write!(f, "no memory for the compressor's state"),
        }
    }
}

impl std::error::Error for ChunkError {}
