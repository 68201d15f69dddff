//! The further 16 bytes of header that most chunks of Blosc 2 have.
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
//!   flags2        bit 0  0x01  blocks of any length, told by themselves
//!   blosc2_flags  bit 0  0x01  a dictionary follows the table of blocks
//!                 bit 3  0x08  lazy: the blocks are elsewhere (in memory only)
//!                 bits 4-6     1 zeros, 2 NaN, 3 one value over and over, 4 of no matter
//!                 bit 7  0x80  the blocks are measurements of the compressor
//! ```
//!
//! Version 3 (alpha) left the sixth filter as it happened to be in memory.

use super::header::{EXTENDED_LEN, HEADER_LEN};
use super::{ChunkError, ChunkHeader, FilterPipeline};

/// Bytes of the extension.
const LEN: usize = EXTENDED_LEN - HEADER_LEN;
/// The format version that has but five filters.
const VERSION_ALPHA: u8 = 3;

const VARIABLE_BLOCKS: u8 = 0x01;
pub(super) const DICTIONARY: u8 = 0x01;
const LAZY: u8 = 0x08;
const INSTRUMENTED: u8 = 0x80;
pub(super) const SPECIAL_SHIFT: u32 = 4;
const SPECIAL_MASK: u8 = 0x07;

/// The further half of an [extended](ChunkHeader::is_extended) header.
///
/// ```
/// use blosc1::{ChunkExtension, ChunkHeader, Special, SpecialValue, special_chunk};
///
/// let chunk = special_chunk(SpecialValue::Nan, 8000, 8, 4096)?;
/// let header = ChunkHeader::parse(chunk.first_chunk().unwrap())?;
/// let extension = ChunkExtension::parse(&header, chunk[16..32].try_into().unwrap())?;
/// assert_eq!(extension.special(), Some(Special::Nan));
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkExtension {
    /// Numbers of the filters.
    pub filters: [u8; 6],
    /// Number of the compressor, which tells those of a format apart. Early Blosc 2 left it 0.
    pub compressor: u8,
    /// A byte for the compressor, 0 for those built in.
    pub compressor_meta: u8,
    /// A byte for each filter.
    pub filters_meta: [u8; 6],
    /// The first byte of flags.
    pub flags2: u8,
    /// The second byte of flags.
    pub blosc2_flags: u8,
}

/// What a chunk without streams stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// Bytes of zero.
    Zeros,
    /// Floating-point numbers that are none, of 4 or 8 bytes as the typesize says.
    Nan,
    /// One value over and over, which follows the header.
    Value,
    /// Nothing that matters. It is read as zeros.
    Uninit,
}

impl ChunkExtension {
    /// Reads the bytes that follow this header and checks what they alone can tell.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](super::Fault::Unsupported) for blocks of variable length, lazy and
    /// instrumented chunks; [`Damaged`](super::Fault::Damaged) for a kind of special values
    /// without a meaning, or one whose lengths cannot be.
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

    /// The extension as it stands in a chunk.
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

    /// What the chunk stands for, if it has no streams.
    #[must_use]
    pub const fn special(&self) -> Option<Special> {
        match self.special_code() {
            1 => Some(Special::Zeros),
            2 => Some(Special::Nan),
            3 => Some(Special::Value),
            4 => Some(Special::Uninit),
            _ => None,
        }
    }

    /// Whether a dictionary for the compressor follows the table of blocks.
    #[must_use]
    pub const fn has_dictionary(&self) -> bool {
        self.blosc2_flags & DICTIONARY != 0
    }

    /// The filters.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](super::Fault::Unsupported) for filters that are not known here.
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
        let item = header.ctbytes.saturating_sub(EXTENDED_LEN_U32);
        match special {
            Special::Value if item == 0 || item > 255 => {
                wrong("ctbytes", header.ctbytes, "33 to 287 for one value")
            }
            Special::Value if !header.nbytes.is_multiple_of(item) => {
                wrong("nbytes", header.nbytes, "a multiple of the value's bytes")
            }
            Special::Value => Ok(()),
            _ if item != 0 => wrong("ctbytes", header.ctbytes, "32 for special values"),
            Special::Nan if header.typesize != 4 && header.typesize != 8 => {
                wrong("typesize", header.typesize.into(), "4 or 8 for NaN")
            }
            Special::Nan if !header.nbytes.is_multiple_of(header.typesize.into()) => {
                wrong("nbytes", header.nbytes, "a multiple of typesize for NaN")
            }
            Special::Zeros | Special::Nan | Special::Uninit => Ok(()),
        }
    }
}

/// Bytes of an extended header.
pub(super) const EXTENDED_LEN_U32: u32 = 32;
