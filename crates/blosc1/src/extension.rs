//! The second half of the header that most Blosc 2 chunks have.

use super::layout::{EXTENDED_LEN, HEADER_LEN};
use super::{ChunkError, ChunkHeader, FilterPipeline};

/// Bytes of the extension.
const LEN: usize = EXTENDED_LEN - HEADER_LEN;
/// The format version with five filters. Its writers left the sixth filter and its parameter
/// uninitialized.
const VERSION_ALPHA: u8 = 3;

/// In `flags2`: blocks of variable length.
const VARIABLE_BLOCKS: u8 = 0x01;
/// In `blosc2_flags`: a dictionary follows the block table.
pub(super) const DICTIONARY: u8 = 0x01;
/// In `blosc2_flags`: the chunk contains no blocks.
const LAZY: u8 = 0x08;
/// In `blosc2_flags`: measurements of the compressor in place of the data.
const INSTRUMENTED: u8 = 0x80;
/// Position in `blosc2_flags` of the three bits for special values.
pub(super) const SPECIAL_SHIFT: u32 = 4;
const SPECIAL_MASK: u8 = 0x07;

/// The second half, bytes 16 to 31, of an [extended](ChunkHeader::is_extended) Blosc 2 header.
///
/// ```text
/// offset   length  field
/// 16       6       filters: 0 none, 1 shuffle, 2 bitshuffle, 3 delta, 4 truncated precision;
///                           plug-ins from 32. Applied from the first to the last
/// 22       1       compressor: 0 blosclz, 1 lz4, 2 lz4hc, 4 zlib, 5 zstd; plug-ins from 32
/// 23       1       compressor_meta
/// 24       6       filters_meta
/// 30       1       flags2
/// 31       1       blosc2_flags
///
/// flags2        bit 0     0x01  blocks of variable length
/// blosc2_flags  bit 0     0x01  a dictionary follows the block table
///               bit 3     0x08  lazy: the blocks are elsewhere (only in memory)
///               bits 4-6  0x70  special values: 1 zeros, 2 NaN, 3 one repeated value, 4 uninitialized
///               bit 7     0x80  instrumented: measurements of the compressor in place of the data
/// ```
///
/// Version 3 (alpha) has five filters and does not initialize the sixth, which is read as 0.
///
/// ```
/// use blosc1::{ChunkExtension, SpecialKind, SpecialValue, special_chunk};
///
/// let chunk = special_chunk(SpecialValue::Nan, 8000, 8, 4096)?;
/// let header = blosc1::read_header(&chunk)?;
/// assert!(header.is_extended());
///
/// let extension = ChunkExtension::parse(&header, chunk[16..32].try_into().unwrap())?;
/// assert_eq!(extension.special(), Some(SpecialKind::Nan));
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkExtension {
    /// Numbers of the filters, in the order in which they are applied; 0 for unused places.
    pub filters: [u8; 6],
    /// Number of the compressor, which distinguishes compressors of the same format. Early versions
    /// of C-Blosc2 stored 0.
    pub compressor: u8,
    /// A parameter of the compressor, 0 for the built-in ones.
    pub compressor_meta: u8,
    /// A parameter for each filter: for truncated precision its bits, for shuffle 0 or the byte
    /// that [`ShuffleMeta`](super::ShuffleMeta) explains.
    pub filters_meta: [u8; 6],
    /// The first byte of flags. Only bit 0, blocks of variable length, has a meaning.
    pub flags2: u8,
    /// The second byte of flags: dictionary, lazy, kind of special values, instrumented.
    pub blosc2_flags: u8,
}

/// The content of a Blosc 2 chunk that consists of special values instead of streams.
///
/// Such a chunk is 32 bytes long, plus the value for [`Value`](Self::Value). For writing one, use
/// [`SpecialValue`](super::SpecialValue).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialKind {
    /// All bytes are zero.
    Zeros,
    /// All elements are the floating-point value NaN; the typesize is 4 or 8 bytes.
    Nan,
    /// All elements are equal to the value of 1 to 255 bytes that follows the header.
    Value,
    /// The content is unspecified. The native engine reads it as zeros.
    Uninit,
}

impl ChunkExtension {
    /// Parses the 16 bytes that follow `header` and checks that both are consistent.
    ///
    /// Unknown filters and compressors are accepted here: [`pipeline`](Self::pipeline) and decoding
    /// refuse them.
    ///
    /// # Errors
    ///
    /// - [`ChunkError::VariableBlocks`] and [`ChunkError::InMemoryOnly`] (lazy or instrumented),
    ///   which are [`Unsupported`](super::Fault::Unsupported);
    /// - [`ChunkError::Header`] for special values of an unknown kind, of an impossible length, or
    ///   in a pure copy, which are [`Damaged`](super::Fault::Damaged).
    pub fn parse(header: &ChunkHeader, bytes: &[u8; LEN]) -> Result<Self, ChunkError> {
        let [f0, f1, f2, f3, f4, mut f5, rest @ ..] = *bytes;
        let [
            compressor,
            compressor_meta,
            m0,
            m1,
            m2,
            m3,
            m4,
            mut m5,
            flags2,
            blosc2_flags,
        ] = rest;
        if header.version == VERSION_ALPHA {
            (f5, m5) = (0, 0);
        }
        let extension = Self {
            filters: [f0, f1, f2, f3, f4, f5],
            compressor,
            compressor_meta,
            filters_meta: [m0, m1, m2, m3, m4, m5],
            flags2,
            blosc2_flags,
        };
        extension.check(header)?;
        Ok(extension)
    }

    /// The 16 bytes as they are stored in a chunk. The fields are not checked.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; LEN] {
        let [f0, f1, f2, f3, f4, f5] = self.filters;
        let [m0, m1, m2, m3, m4, m5] = self.filters_meta;
        let (c, meta) = (self.compressor, self.compressor_meta);
        let (g, b) = (self.flags2, self.blosc2_flags);
        [
            f0, f1, f2, f3, f4, f5, c, meta, m0, m1, m2, m3, m4, m5, g, b,
        ]
    }

    /// The kind of special values; `None` if the chunk has streams or is a pure copy.
    #[must_use]
    pub const fn special(&self) -> Option<SpecialKind> {
        match self.special_code() {
            1 => Some(SpecialKind::Zeros),
            2 => Some(SpecialKind::Nan),
            3 => Some(SpecialKind::Value),
            4 => Some(SpecialKind::Uninit),
            _ => None,
        }
    }

    /// Whether a dictionary for the compressor follows the block table. Only LZ4 and Zstandard
    /// support one.
    #[must_use]
    pub const fn has_dictionary(&self) -> bool {
        self.blosc2_flags & DICTIONARY != 0
    }

    /// The filters, in the order in which they are applied.
    ///
    /// # Errors
    ///
    /// Returns [`ChunkError::UnknownFilter`] for plug-ins and unassigned numbers, and
    /// [`ChunkError::FilterOrder`] for delta after another filter than truncated precision. Both
    /// are [`Unsupported`](super::Fault::Unsupported).
    ///
    /// ```
    /// use blosc1::{Blosc2Encoder, Blosc2Settings, ChunkExtension, FilterPipeline, FilterStep};
    ///
    /// let filters = FilterPipeline::new(&[FilterStep::Delta, FilterStep::Bitshuffle])?;
    /// let mut chunk = Vec::new();
    /// let settings = Blosc2Settings::default().filters(filters);
    /// let header = Blosc2Encoder::new(settings)?.encode(&[7; 8000], &mut chunk)?;
    ///
    /// let extension = ChunkExtension::parse(&header, chunk[16..32].try_into().unwrap())?;
    /// assert_eq!(extension.pipeline()?, filters);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    pub fn pipeline(&self) -> Result<FilterPipeline, ChunkError> {
        FilterPipeline::from_ids(self.filters, self.filters_meta)
    }

    /// The number of the kind of special values, 0 for none.
    const fn special_code(&self) -> u8 {
        self.blosc2_flags >> SPECIAL_SHIFT & SPECIAL_MASK
    }

    /// Refuses forms without data in the chunk, and special values that contradict the header.
    fn check(&self, header: &ChunkHeader) -> Result<(), ChunkError> {
        if self.flags2 & VARIABLE_BLOCKS != 0 {
            return Err(ChunkError::VariableBlocks);
        }
        if self.blosc2_flags & (LAZY | INSTRUMENTED) != 0 {
            let flags = self.blosc2_flags;
            return Err(ChunkError::InMemoryOnly { flags });
        }
        let wrong = |field, found, expected| {
            Err(ChunkError::Header {
                field,
                found,
                expected,
            })
        };
        let Some(special) = self.special() else {
            return match self.special_code() {
                0 => Ok(()),
                code => wrong("special value", code.into(), "0 to 4"),
            };
        };
        if header.is_pure_copy() {
            let code = self.special_code().into();
            return wrong("special value", code, "0 for a pure copy");
        }
        let Some(item) = header.ctbytes.checked_sub(EXTENDED_LEN_U32) else {
            return wrong("ctbytes", header.ctbytes, "at least 32 for special values");
        };
        match special {
            SpecialKind::Value if item == 0 || item > 255 => {
                wrong("ctbytes", header.ctbytes, "33 to 287 for one value")
            }
            SpecialKind::Value if !header.nbytes.is_multiple_of(item) => {
                wrong("nbytes", header.nbytes, "a multiple of the value's length")
            }
            SpecialKind::Value => Ok(()),
            _ if item != 0 => wrong("ctbytes", header.ctbytes, "32 for special values"),
            SpecialKind::Nan if header.typesize != 4 && header.typesize != 8 => {
                wrong("typesize", header.typesize.into(), "4 or 8 for NaN")
            }
            SpecialKind::Nan if !header.nbytes.is_multiple_of(header.typesize.into()) => {
                wrong("nbytes", header.nbytes, "a multiple of typesize for NaN")
            }
            SpecialKind::Zeros | SpecialKind::Nan | SpecialKind::Uninit => Ok(()),
        }
    }
}

/// Bytes of an extended header as `u32`, the type of positions in a chunk.
pub(super) const EXTENDED_LEN_U32: u32 = 32;
