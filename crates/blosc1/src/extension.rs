//! The second half of the header that most chunks of Blosc 2 have.
//!
//! ```text
//!    16..22      22           23            24..30           30       31
//!  +-----------+------------+-------------+----------------+--------+--------------+
//!  | filters   | compressor | compressor  | filters' meta  | flags2 | blosc2_flags |
//!  | 6 numbers | number     | meta        | 6 bytes        |        |              |
//!  +-----------+------------+-------------+----------------+--------+--------------+
//!   filters       0 none, 1 shuffle, 2 bitshuffle, 3 delta, 4 truncated precision; plug-ins from 32
//!                 on. Applied from the first to the last, undone from the last to the first
//!   compressor    0 blosclz, 1 lz4, 2 lz4hc, 4 zlib, 5 zstd; plug-ins from 32 on
//!   flags2        bit 0  0x01  blocks of variable length
//!   blosc2_flags  bit 0  0x01  a dictionary follows the table of blocks
//!                 bit 3  0x08  lazy: the blocks are elsewhere (in memory only)
//!                 bits 4-6     1 zeros, 2 NaN, 3 one repeated value, 4 uninitialized
//!                 bit 7  0x80  the blocks are measurements of the compressor
//! ```
//!
//! Version 3 (alpha) left the sixth filter as it happened to be in memory.

use super::layout::{EXTENDED_LEN, HEADER_LEN};
use super::{ChunkError, ChunkHeader, FilterPipeline};

/// Bytes of the extension.
const LEN: usize = EXTENDED_LEN - HEADER_LEN;
/// The format version with five filters only.
const VERSION_ALPHA: u8 = 3;

const VARIABLE_BLOCKS: u8 = 0x01;
pub(super) const DICTIONARY: u8 = 0x01;
const LAZY: u8 = 0x08;
const INSTRUMENTED: u8 = 0x80;
pub(super) const SPECIAL_SHIFT: u32 = 4;
const SPECIAL_MASK: u8 = 0x07;

/// The second half, bytes 16 to 31, of an [extended](ChunkHeader::is_extended) header.
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
    /// of Blosc 2 left it 0.
    pub compressor: u8,
    /// A parameter of the compressor, 0 for the built-in ones.
    pub compressor_meta: u8,
    /// A parameter for each filter.
    pub filters_meta: [u8; 6],
    /// The first byte of flags; bit 0: blocks of variable length.
    pub flags2: u8,
    /// The second byte of flags: dictionary, lazy, kind of special values, instrumented.
    pub blosc2_flags: u8,
}

/// The content of a chunk of Blosc 2 that consists of special values instead of streams.
///
/// [`SpecialValue`](super::SpecialValue) is the counterpart for writing such a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialKind {
    /// All bytes are zero.
    Zeros,
    /// All elements are the floating-point value NaN; the typesize is 4 or 8 bytes.
    Nan,
    /// All elements are the value that follows the header.
    Value,
    /// The content is unspecified. It is read as zeros.
    Uninit,
}

impl ChunkExtension {
    /// Parses the 16 bytes that follow this header and checks that both are consistent.
    ///
    /// # Errors
    ///
    /// Returns [`Unsupported`](super::Fault::Unsupported) for blocks of variable length, lazy and
    /// instrumented chunks, and [`Damaged`](super::Fault::Damaged) for special values of an unknown
    /// kind or an impossible length.
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

    /// The extension as it is stored in a chunk.
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

    /// The kind of special values, if the chunk consists of these instead of streams.
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

    /// Whether a dictionary for the compressor follows the table of blocks.
    #[must_use]
    pub const fn has_dictionary(&self) -> bool {
        self.blosc2_flags & DICTIONARY != 0
    }

    /// The filters, in the order in which they are applied.
    ///
    /// # Errors
    ///
    /// Returns [`Unsupported`](super::Fault::Unsupported) for unknown filters.
    pub fn pipeline(&self) -> Result<FilterPipeline, ChunkError> {
        FilterPipeline::from_ids(self.filters, self.filters_meta)
    }

    const fn special_code(&self) -> u8 {
        self.blosc2_flags >> SPECIAL_SHIFT & SPECIAL_MASK
    }

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

/// Bytes of an extended header, in the type of positions in a chunk.
pub(super) const EXTENDED_LEN_U32: u32 = 32;
