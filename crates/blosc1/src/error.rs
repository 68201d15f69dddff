//! The error of this crate.

use thiserror::Error;

use super::{Compressor, CompressorFormat, Fault, MAX_NBYTES};

/// Why a chunk could not be encoded or decoded.
///
/// The message says what was found, what was expected and, where it is not obvious, what to do.
/// [`fault`](Self::fault) sorts the variants by who has to act. After an error, encoders have
/// restored the output vector; an output slice has unspecified content.
///
/// ```
/// use blosc1::{ChunkError, Fault};
///
/// // Version byte 6: a Blosc 2 chunk with blocks of variable length.
/// let error = blosc1::read_header(&[6, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0]).unwrap_err();
/// assert_eq!(error, ChunkError::UnsupportedVersion { version: 6 });
/// assert_eq!(error.fault(), Fault::Unsupported);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// The slice is shorter than the chunk's header says.
    #[error("chunk is cut short: {found} of {expected} bytes")]
    CutShort {
        /// Length of the slice in bytes.
        found: usize,
        /// Length of the chunk in bytes, or of its header or table if those are incomplete.
        expected: usize,
    },
    /// The slice is longer than the chunk's header says. Bytes after a chunk are not ignored.
    #[error("{found} bytes were given as one chunk, but its header says {expected}")]
    TooLong {
        /// Length of the slice in bytes.
        found: usize,
        /// Length of the chunk in bytes.
        expected: usize,
    },
    /// No version of Blosc has written this version byte: the bytes are not a chunk.
    #[error("not a Blosc chunk: version byte is {version}, expected 1 to 5")]
    NotBlosc {
        /// The version byte.
        version: u8,
    },
    /// The version byte is 6, of a later Blosc 2 with blocks of variable length.
    #[error("chunk has format version {version} of a later Blosc 2; expected 1 to 5")]
    UnsupportedVersion {
        /// The version byte.
        version: u8,
    },
    /// A Blosc 1 chunk has a flag that Blosc 1 reserves.
    #[error("chunk has flags {flags:#04x}, of which Blosc 1 reserves 0x08")]
    ReservedFlag {
        /// The byte of flags.
        flags: u8,
    },
    /// A field of the header or of its extension, or the length of a dictionary, has an impossible
    /// value or contradicts other fields.
    #[error("chunk header has {field} {found}, expected {expected}")]
    Header {
        /// The name of the field.
        field: &'static str,
        /// Its value.
        found: u32,
        /// The values that are possible.
        expected: &'static str,
    },
    /// A Blosc 2 chunk has blocks of variable length, by the flag of its extension.
    #[error(
        "chunk has blocks of variable length, a feature of Blosc 2 from version 3.0 on; \
         expected blocks of one length"
    )]
    VariableBlocks,
    /// A Blosc 2 chunk in a form that only exists in memory: lazy, or with measurements in place of
    /// data.
    #[error(
        "chunk has Blosc 2 flags {flags:#04x}: lazy (0x08) or instrumented (0x80) chunks \
         do not contain their data"
    )]
    InMemoryOnly {
        /// The last byte of the extended header.
        flags: u8,
    },
    /// A filter number that is not assigned, or belongs to a filter of a user.
    #[error(
        "chunk has filter number {id}, which is not in C-Blosc2: a filter of a user, or of another library; expected 0 to 4, \
         or 32 to 36"
    )]
    UnknownFilter {
        /// The number.
        id: u8,
    },
    /// Delta follows a filter that moves bytes or bits. Versions of C-Blosc2 differ in how they
    /// undo that, and a chunk does not record the version.
    #[error(
        "filter delta comes after a shuffle, where C-Blosc2 has taken the differences from other bytes since 3.0.2, and a chunk does not say which"
    )]
    FilterOrder,
    /// A filter or compressor needs the shape of the blocks, which only the array around the chunk knows:
    /// [`ChunkContext`](super::ChunkContext).
    #[error("chunk uses {what}, which needs the shape of the blocks; a chunk does not contain it")]
    NoBlockShape {
        /// The filter or compressor.
        what: &'static str,
    },
    /// The blocks do not have the length of their shape, or the last one is shorter.
    #[error(
        "chunk of {nbytes} bytes has blocks of {found}, expected whole blocks of {expected} by their shape"
    )]
    BlockShape {
        /// The block size in bytes.
        found: u32,
        /// Bytes of data in the chunk.
        nbytes: u32,
        /// The length of a block of this shape in bytes.
        expected: u64,
    },
    /// The side of the cells of a filter is 0, too large for its type, or larger than a block.
    #[error("filter has cells of {side} elements along each axis, which do not fit the blocks")]
    Cells {
        /// The length of a cell along each axis.
        side: u8,
    },
    /// The settings have a filter that is only read: the first version of bytedelta, or means of cells.
    #[error("filter number {id} is only read; expected 0 to 4, 32, 35 or 36")]
    FilterOnlyRead {
        /// The number.
        id: u8,
    },
    /// The meta byte of a shuffle is not 0; [`ShuffleMeta`](super::ShuffleMeta) explains the
    /// choices.
    #[error(
        "chunk has a shuffle with meta byte {meta}, which has three meanings depending on the \
         version of C-Blosc2; expected 0, or a decoder that knows the meaning"
    )]
    ShuffleMeta {
        /// The byte.
        meta: u8,
    },
    /// An extended header names a compressor that C-Blosc2 does not contain: one of a user, or of a library of its own.
    #[error(
        "chunk has compressor number {id} of format {code}{}, which is not in C-Blosc2; expected blosclz, lz4, lz4hc, zlib, \
         zstd, ndlz or zfp",
        known_plug_in(*id)
    )]
    UserCompressor {
        /// The number of the compressor in the extension.
        id: u8,
        /// The number in the upper three bits of the flags.
        code: u8,
    },
    /// The chunk has a dictionary, but its compressor does not support one.
    #[error("chunk has a dictionary for {format}; only lz4 and zstd support dictionaries")]
    Dictionary {
        /// The format of the streams.
        format: CompressorFormat,
    },
    /// The flags name a compressor that Blosc 1, or Blosc 2 without extension, does not have.
    #[error("chunk has compressor number {code}, expected 0 (blosclz) to 4 (zstd)")]
    UnknownCompressor {
        /// The number in the upper three bits of the flags.
        code: u8,
    },
    /// The streams have another version than 1, the only one of every compressor.
    #[error("chunk has version {found} of the {format} format, expected 1")]
    StreamVersion {
        /// The format of the streams.
        format: CompressorFormat,
        /// The header's `versionlz`.
        found: u8,
    },
    /// This build lacks a compressor, or Blosc 2 chunks altogether.
    #[error("{feature} is not in this build; enable the cargo feature \"{feature}\"")]
    NotBuilt {
        /// Name of the cargo feature that adds it.
        feature: &'static str,
    },
    /// This build reads the format of a compressor but cannot write it.
    #[error("this build cannot write {compressor}; enable the cargo feature \"{feature}\"")]
    OnlyRead {
        /// Name of the compressor.
        compressor: &'static str,
        /// Name of the cargo feature with which it can be written.
        feature: &'static str,
    },
    /// The blocks of the chunk are larger than
    /// [`ChunkDecoder::with_max_block`](super::ChunkDecoder::with_max_block) allows.
    #[error("chunk has blocks of {found} bytes, over the limit of {limit}")]
    BlockOverLimit {
        /// The header's block size in bytes.
        found: u32,
        /// The limit in bytes.
        limit: u32,
    },
    /// The chunk expands more than [`ChunkDecoder::max_ratio`](super::ChunkDecoder::max_ratio)
    /// allows.
    #[error("chunk expands to {found} times its size, over the limit of {limit}")]
    RatioOverLimit {
        /// Uncompressed bytes per byte of the chunk, rounded up.
        found: u32,
        /// The limit.
        limit: u32,
    },
    /// A block starts outside the chunk, or within its header or block table.
    #[error(
        "block {block} starts at byte {found}, outside the streams of its chunk of {ctbytes} bytes"
    )]
    BlockStart {
        /// Index of the block.
        block: u32,
        /// Where it starts according to the block table, in bytes from the beginning of the chunk.
        found: u32,
        /// Length of the chunk in bytes.
        ctbytes: u32,
    },
    /// A stream extends past the end of the chunk, or is longer than any compressor makes it.
    #[error("block {block} has a stream of {found} bytes where at most {available} are possible")]
    StreamLength {
        /// Index of the block.
        block: u32,
        /// The length of the stream in bytes according to the chunk.
        found: u32,
        /// The largest possible length in bytes.
        available: usize,
    },
    /// The length of a Blosc 2 stream is negative, but does not encode a repeated byte.
    #[error(
        "block {block} has a stream of length {found:#010x} and token {}; expected a length, \
         or -1 to -255 and an odd token for a repeated byte",
        token_text(*token)
    )]
    Run {
        /// Index of the block.
        block: u32,
        /// The length according to the chunk, as an unsigned number (two's complement).
        found: u32,
        /// The byte after the length; `None` at the end of the chunk.
        token: Option<u8>,
    },
    /// A compressed stream is invalid, or does not decompress to its expected length.
    #[error("block {block} has a {format} stream that does not decompress to its length")]
    Stream {
        /// Index of the block.
        block: u32,
        /// The format of the streams.
        format: CompressorFormat,
    },
    /// The output slice has the wrong length.
    #[error("output slice has {found} bytes, expected exactly {expected}")]
    OutputLength {
        /// Its length in bytes.
        found: usize,
        /// The required length in bytes.
        expected: usize,
    },
    /// The output slice is too short for the chunk.
    #[error(
        "chunk does not fit an output slice of {found} bytes; `compress_bound` gives a length that is enough"
    )]
    OutputTooShort {
        /// Its length in bytes.
        found: usize,
    },
    /// The requested range of bytes extends past the end of the chunk's data.
    #[error("{len} bytes from byte {start} on were requested, but the chunk has {nbytes}")]
    Range {
        /// First byte requested.
        start: u32,
        /// Number of bytes requested.
        len: usize,
        /// Number of bytes of data in the chunk.
        nbytes: u32,
    },
    /// The requested range of elements extends past the last whole element, or ends before its
    /// start.
    #[error("elements {start} to {end} (exclusive) were requested, but the chunk has {count}")]
    ElementRange {
        /// First element requested.
        start: u32,
        /// The element after the last one requested.
        end: u32,
        /// Number of whole elements in the chunk.
        count: u32,
    },
    /// The requested block does not exist.
    #[error("block {found} was requested, but the chunk has {nblocks} blocks")]
    BlockIndex {
        /// The requested index.
        found: u32,
        /// Number of blocks in the chunk.
        nblocks: u32,
    },
    /// The compression level is above 9.
    #[error("compression level is {found}, expected 0 to 9")]
    Level {
        /// The level.
        found: u8,
    },
    /// The typesize is 0.
    #[error("typesize is 0, expected 1 to 255")]
    Typesize,
    /// The data does not fit in one chunk: more than [`MAX_NBYTES`] bytes, 16 fewer with an
    /// extended header.
    #[error("{found} bytes do not fit one chunk, which holds at most {MAX_NBYTES}")]
    TooMuchData {
        /// Bytes of data.
        found: usize,
    },
    /// More than six filters, the most that a Blosc 2 chunk can store.
    #[error("{found} filters were given, expected at most 6")]
    TooManyFilters {
        /// Number of filters.
        found: usize,
    },
    /// Truncated numbers of a length that the filter does not have, or with more bits than such a number has.
    #[error(
        "precision of {bits} bits for elements of {typesize} bytes; expected 1 to 23 bits to keep \
         for floats of 4 bytes, 1 to 52 for 8 bytes, or the bits of an integer of 1, 2, 4 or 8 bytes"
    )]
    Precision {
        /// Bytes of one element.
        typesize: u8,
        /// Bits to keep or, if negative, to set to zero.
        bits: i8,
    },
    /// A compressor that Blosc 2 does not have: Snappy.
    #[error("Blosc 2 does not have {compressor}; expected blosclz, lz4, lz4hc, zlib or zstd")]
    NotInBlosc2 {
        /// The compressor.
        compressor: Compressor,
    },
    /// The block size is 0 or larger than C-Blosc2 reads.
    #[error("block size is {found}, expected 1 to 536866816 bytes")]
    Blocksize {
        /// The block size in bytes.
        found: u32,
    },
    /// The data is not a whole number of special values, the value has no bytes or more than 255,
    /// or NaN was requested for elements that are not 4 or 8 bytes long.
    #[error(
        "special values for {nbytes} bytes with elements of {typesize}; expected a whole number \
         of values of 1 to 255 bytes, and elements of 4 or 8 bytes for NaN"
    )]
    SpecialLength {
        /// Bytes of data.
        nbytes: u32,
        /// Bytes of one element.
        typesize: u8,
    },
    /// The engine C-Blosc2 handles a feature of the chunk or of the settings differently, or not at
    /// all.
    #[error("C-Blosc2 2.15 does not handle {what}; use the native engine")]
    NotInEngine {
        /// The requested feature.
        what: &'static str,
    },
    /// C-Blosc2 refuses a chunk whose header and stream lengths are consistent.
    #[error("C-Blosc2 failed to decompress the chunk (error {code})")]
    EngineRefused {
        /// Its error number.
        code: i32,
    },
    /// C-Blosc2 cannot compress the data.
    #[error("C-Blosc2 failed to compress the data (error {code})")]
    EngineFailed {
        /// Its error number, or 0 if the chunk would be too long.
        code: i32,
    },
    /// Memory for the output or for a compressor's state could not be allocated.
    #[error("out of memory")]
    Memory,
    /// An invariant of this crate does not hold. The call stopped without making up a value.
    #[error("internal error in blosc1: {what}; please report this")]
    Bug {
        /// The broken invariant.
        what: &'static str,
    },
}

/// The name of a compressor that comes in a library of its own, as text for a message.
fn known_plug_in(id: u8) -> &'static str {
    match id {
        36 => " (OpenHTJ2K)",
        37 => " (Grok)",
        38 => " (OpenZL)",
        39 => " (JPEG 2000)",
        40 => " (HTJ2K)",
        _ => "",
    }
}

/// The byte after a stream's length, as text for a message.
fn token_text(token: Option<u8>) -> String {
    match token {
        Some(token) => format!("{token:#04x}"),
        None => "missing".into(),
    }
}

impl ChunkError {
    /// The error of a build that cannot write a compressor, or can neither read nor write it.
    #[doc(hidden)]
    #[must_use]
    pub const fn not_built(compressor: Compressor) -> Self {
        let feature = compressor.format().name();
        if compressor.format().is_available() {
            Self::OnlyRead {
                compressor: compressor.name(),
                feature,
            }
        } else {
            Self::NotBuilt { feature }
        }
    }

    /// The category of the error, by who has to act.
    ///
    /// | category | variants |
    /// |---|---|
    /// | [`CutShort`](Fault::CutShort) | `CutShort` |
    /// | [`Damaged`](Fault::Damaged) | bytes that contradict each other, do not decode, or follow the chunk |
    /// | [`OverLimit`](Fault::OverLimit) | `BlockOverLimit`, `RatioOverLimit`, `Memory` |
    /// | [`Usage`](Fault::Usage) | wrong arguments: lengths, ranges, settings, too much data |
    /// | [`Bug`](Fault::Bug) | `Bug` |
    /// | [`Unsupported`](Fault::Unsupported) | all others: the bytes may be sound |
    ///
    /// ```
    /// use blosc1::{ChunkDecoder, Fault};
    ///
    /// fn read(chunk: &[u8]) -> Result<Vec<u8>, String> {
    ///     let mut decoder = ChunkDecoder::new().max_ratio(1000);
    ///     decoder.decode_to_vec(chunk).map_err(|error| match error.fault() {
    ///         Fault::CutShort => "fetch the rest".to_owned(),
    ///         Fault::OverLimit => format!("ask the user: {error}"),
    ///         _ => error.to_string(),
    ///     })
    /// }
    /// // Two bytes of a header.
    /// assert_eq!(read(&[2, 1]), Err("fetch the rest".to_owned()));
    /// ```
    #[must_use]
    pub const fn fault(&self) -> Fault {
        match self {
            Self::CutShort { .. } => Fault::CutShort,
            Self::TooLong { .. }
            | Self::NotBlosc { .. }
            | Self::Header { .. }
            | Self::BlockShape { .. }
            | Self::Cells { .. }
            | Self::BlockStart { .. }
            | Self::StreamLength { .. }
            | Self::Run { .. }
            | Self::EngineRefused { .. }
            | Self::Stream { .. } => Fault::Damaged,
            Self::UnsupportedVersion { .. }
            | Self::VariableBlocks
            | Self::InMemoryOnly { .. }
            | Self::UnknownFilter { .. }
            | Self::FilterOrder
            | Self::FilterOnlyRead { .. }
            | Self::NoBlockShape { .. }
            | Self::ShuffleMeta { .. }
            | Self::UserCompressor { .. }
            | Self::Dictionary { .. }
            | Self::ReservedFlag { .. }
            | Self::UnknownCompressor { .. }
            | Self::StreamVersion { .. }
            | Self::NotInEngine { .. }
            | Self::EngineFailed { .. }
            | Self::NotBuilt { .. }
            | Self::OnlyRead { .. } => Fault::Unsupported,
            Self::BlockOverLimit { .. } | Self::RatioOverLimit { .. } | Self::Memory => {
                Fault::OverLimit
            }
            Self::OutputLength { .. }
            | Self::OutputTooShort { .. }
            | Self::Range { .. }
            | Self::ElementRange { .. }
            | Self::BlockIndex { .. }
            | Self::Level { .. }
            | Self::Typesize
            | Self::TooManyFilters { .. }
            | Self::Precision { .. }
            | Self::NotInBlosc2 { .. }
            | Self::Blocksize { .. }
            | Self::SpecialLength { .. }
            | Self::TooMuchData { .. } => Fault::Usage,
            Self::Bug { .. } => Fault::Bug,
        }
    }
}
