//! Data that is in a chunk as it is, or told by its header: pure copies and special values.

use super::extension::{EXTENDED_LEN_U32, SPECIAL_SHIFT};
use super::header::{BLOSC2_STABLE, EXTENDED_LEN, FLAGS_EXTENDED, MAX_NBYTES, VERSIONLZ};
use super::{ChunkError, ChunkExtension, ChunkHeader, Special};

/// The numbers that are none, as C-Blosc2 writes them: quiet, positive, without a payload.
const NAN_F4: [u8; 4] = 0x7FC0_0000_u32.to_le_bytes();
const NAN_F8: [u8; 8] = 0x7FF8_0000_0000_0000_u64.to_le_bytes();

/// Data that needs no decompressing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Plain<'a> {
    /// The bytes themselves.
    Bytes(&'a [u8]),
    /// These over and over.
    Repeat(&'a [u8]),
}

impl<'a> Plain<'a> {
    /// What a chunk of special values gives; `value` is what follows its header.
    pub fn of(special: Special, typesize: u8, value: &'a [u8]) -> Self {
        Self::Repeat(match special {
            Special::Zeros | Special::Uninit => &[0],
            Special::Nan if typesize == 4 => &NAN_F4,
            Special::Nan => &NAN_F8,
            Special::Value => value,
        })
    }

    /// Fills `out` with the data from byte `start` on.
    pub fn read(self, start: usize, out: &mut [u8]) {
        match self {
            Self::Bytes(bytes) => {
                // The caller has seen that there are as many.
                let bytes = bytes.get(start..).unwrap_or_default();
                if let Some(bytes) = bytes.get(..out.len()) {
                    out.copy_from_slice(bytes);
                }
            }
            Self::Repeat(&[byte]) => out.fill(byte),
            Self::Repeat(value) => repeat(value, start, out),
        }
    }
}

/// Fills `out` with `value` over and over, from its byte `start` on.
fn repeat(value: &[u8], start: usize, out: &mut [u8]) {
    let skip = start.checked_rem(value.len()).unwrap_or(0);
    let first = value.iter().cycle().skip(skip).take(value.len());
    for (to, from) in out.iter_mut().zip(first) {
        *to = *from;
    }
    // What is there doubles until all is filled.
    let mut filled = value.len();
    while filled > 0 && filled < out.len() {
        let more = filled.min(out.len() - filled);
        out.copy_within(..more, filled);
        filled += more;
    }
}

/// What a chunk of Blosc 2 can tell in its header alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialValue<'a> {
    /// Bytes of zero.
    Zeros,
    /// Floating-point numbers that are none.
    Nan,
    /// Nothing that matters; readers give zeros, or what they have in memory.
    Uninit,
    /// These bytes over and over.
    Value(&'a [u8]),
}

impl SpecialValue<'_> {
    const fn code(self) -> u8 {
        match self {
            Self::Zeros => 1,
            Self::Nan => 2,
            Self::Value(_) => 3,
            Self::Uninit => 4,
        }
    }
}

/// A chunk of Blosc 2 that stands for `nbytes` of one value, in 32 bytes, or 32 and the value.
///
/// `blocksize` is what readers by blocks count in; it ends with the data.
///
/// # Errors
///
/// [`Usage`](super::Fault::Usage) for a typesize of 0; for NaN, for any but 4 and 8; for more than
/// [`MAX_NBYTES`] or no whole number of values or elements; for a value of no or more than
/// 255 bytes.
///
/// ```
/// use blosc1::{ChunkDecoder, SpecialValue, special_chunk};
///
/// let chunk = special_chunk(SpecialValue::Value(&[7, 0]), 1_000_000, 2, 4096)?;
/// assert_eq!(chunk.len(), 34);
/// let mut value = [0; 2];
/// ChunkDecoder::new().decode_range(&chunk, 999_998, &mut value)?;
/// assert_eq!(value, [7, 0]);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub fn special_chunk(
    value: SpecialValue<'_>,
    nbytes: u32,
    typesize: u8,
    blocksize: u32,
) -> Result<Vec<u8>, ChunkError> {
    if typesize == 0 {
        return Err(ChunkError::Typesize);
    }
    if nbytes > MAX_NBYTES {
        let found = usize::try_from(nbytes).unwrap_or(usize::MAX);
        return Err(ChunkError::TooMuchData { found });
    }
    let bytes = match value {
        SpecialValue::Value(bytes) => bytes,
        _ => &[],
    };
    let refused = ChunkError::SpecialLength { nbytes, typesize };
    let unit = match value {
        SpecialValue::Value(_) => u8::try_from(bytes.len()).unwrap_or(0),
        SpecialValue::Nan if typesize != 4 && typesize != 8 => 0,
        _ => typesize,
    };
    // C-Blosc2 takes no special values that are not whole elements.
    if nbytes.checked_rem(unit.into()) != Some(0) {
        return Err(refused);
    }
    let header = ChunkHeader {
        version: BLOSC2_STABLE,
        versionlz: VERSIONLZ,
        flags: FLAGS_EXTENDED,
        typesize,
        nbytes,
        blocksize: blocksize.clamp(1, nbytes.max(1)),
        ctbytes: EXTENDED_LEN_U32 + u32::try_from(bytes.len()).unwrap_or(u32::MAX - 32),
    };
    let extension = ChunkExtension {
        filters: [0; 6],
        compressor: 0,
        compressor_meta: 0,
        filters_meta: [0; 6],
        flags2: 0,
        blosc2_flags: value.code() << SPECIAL_SHIFT,
    };
    let mut chunk = Vec::with_capacity(EXTENDED_LEN + bytes.len());
    chunk.extend_from_slice(&header.to_bytes());
    chunk.extend_from_slice(&extension.to_bytes());
    chunk.extend_from_slice(bytes);
    Ok(chunk)
}
