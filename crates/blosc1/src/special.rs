//! Data that needs no decompression: pure copies and special values. Also makes chunks of special
//! values.

use super::extension::{EXTENDED_LEN_U32, SPECIAL_SHIFT, SpecialKind};
use super::header::{BLOSC2_STABLE, FLAGS_EXTENDED, VERSIONLZ};
use super::layout::{EXTENDED_LEN, MAX_NBYTES};
use super::scratch::copy;
use super::{ChunkError, ChunkExtension, ChunkHeader};

/// NaN as C-Blosc2 writes it: quiet, positive, without a payload.
const NAN_F4: [u8; 4] = 0x7FC0_0000_u32.to_le_bytes();
const NAN_F8: [u8; 8] = 0x7FF8_0000_0000_0000_u64.to_le_bytes();

/// Data that needs no decompression.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlainData<'a> {
    /// The bytes themselves.
    Bytes(&'a [u8]),
    /// A value, repeated.
    Repeat(&'a [u8]),
}

impl<'a> PlainData<'a> {
    /// The data of a chunk of special values; `value` are the bytes after its header.
    pub fn of(special: SpecialKind, typesize: u8, value: &'a [u8]) -> Self {
        Self::Repeat(match special {
            SpecialKind::Zeros | SpecialKind::Uninit => &[0],
            SpecialKind::Nan if typesize == 4 => &NAN_F4,
            SpecialKind::Nan => &NAN_F8,
            SpecialKind::Value => value,
        })
    }

    /// Fills `out` with the data from byte `start`. The caller has checked the range.
    ///
    /// # Errors
    ///
    /// Returns [`ChunkError::Bug`] if there is less data.
    pub fn read(self, start: usize, out: &mut [u8]) -> Result<(), ChunkError> {
        match self {
            Self::Bytes(bytes) => {
                let bytes = bytes.get(start..).and_then(|rest| rest.get(..out.len()));
                let what = "a pure copy is shorter than its header says";
                copy(bytes.ok_or(ChunkError::Bug { what })?, out);
            }
            Self::Repeat(&[byte]) => out.fill(byte),
            Self::Repeat(&[]) => {
                let what = "a special value has no bytes";
                return Err(ChunkError::Bug { what });
            }
            Self::Repeat(value) => repeat(value, start, out),
        }
        Ok(())
    }
}

/// Fills `out` with the repetition of `value`, which is not empty, from byte `start` of that
/// repetition.
fn repeat(value: &[u8], start: usize, out: &mut [u8]) {
    let skip = start % value.len();
    let first = value.iter().cycle().skip(skip).take(value.len());
    for (to, from) in out.iter_mut().zip(first) {
        *to = *from;
    }
    // The filled part doubles until it reaches the end.
    let mut filled = value.len();
    while filled < out.len() {
        let more = filled.min(out.len() - filled);
        out.copy_within(..more, filled);
        filled += more;
    }
}

/// The content of a [special chunk](special_chunk), a Blosc 2 chunk of 32 bytes plus the value, for
/// data of any length.
///
/// A chunk that was read has the corresponding [`SpecialKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialValue<'a> {
    /// All bytes are zero.
    Zeros,
    /// All elements are the floating-point value NaN. The typesize must be 4 or 8.
    Nan,
    /// The content is unspecified: this crate reads zeros, other readers may leave memory as it
    /// was.
    Uninit,
    /// All elements are these 1 to 255 bytes, which follow the header. Their number need not be the
    /// typesize.
    Value(&'a [u8]),
}

impl SpecialValue<'_> {
    /// The number of the kind in the header's flags.
    const fn code(self) -> u8 {
        match self {
            Self::Zeros => 1,
            Self::Nan => 2,
            Self::Value(_) => 3,
            Self::Uninit => 4,
        }
    }
}

/// Makes a Blosc 2 chunk that decodes to `nbytes` bytes of a repeated value. It is 32 bytes long,
/// plus the bytes of the value.
///
/// `blocksize` is the block size in bytes for readers that read block by block; it is clamped to 1
/// to `nbytes`. `nbytes` may be 0.
///
/// # Errors
///
/// Returns [`Usage`](super::Fault::Usage) if
///
/// - `typesize` is 0, or neither 4 nor 8 for NaN;
/// - `nbytes` exceeds [`MAX_NBYTES`], or is not a whole number of values or elements;
/// - the value has no bytes, or more than 255.
///
/// ```
/// use blosc1::{SpecialValue, special_chunk};
///
/// let chunk = special_chunk(SpecialValue::Value(&[7, 0]), 1_000_000, 2, 4096)?;
/// assert_eq!(chunk.len(), 34);
/// assert_eq!(blosc1::decompress_range(&chunk, 499_998..500_000)?, [7, 0, 7, 0]);
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
        let found = nbytes as usize;
        return Err(ChunkError::TooMuchData { found });
    }
    let bytes = match value {
        SpecialValue::Value(bytes) => bytes,
        _ => &[],
    };
    let refused = ChunkError::SpecialLength { nbytes, typesize };
    let Ok(len) = u8::try_from(bytes.len()) else {
        return Err(refused);
    };
    let unit = match value {
        SpecialValue::Value(_) => len,
        SpecialValue::Nan if typesize != 4 && typesize != 8 => return Err(refused),
        _ => typesize,
    };
    // C-Blosc2 does not read special values that are not whole elements.
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
        ctbytes: EXTENDED_LEN_U32 + u32::from(len),
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

#[cfg(test)]
mod tests {
    use super::PlainData;
    use crate::ChunkError;

    #[test]
    fn a_range_outside_the_data_is_a_bug_and_not_made_up() {
        let mut out = [9; 4];
        for (data, start) in [
            (PlainData::Bytes(&[1, 2, 3, 4]), 1),
            (PlainData::Bytes(&[1, 2, 3, 4]), usize::MAX),
            (PlainData::Repeat(&[]), 0),
        ] {
            let error = data.read(start, &mut out).unwrap_err();
            assert!(matches!(error, ChunkError::Bug { .. }), "{error}");
            assert_eq!(out, [9; 4]);
        }
        PlainData::Bytes(&[1, 2, 3, 4]).read(0, &mut out).unwrap();
        assert_eq!(out, [1, 2, 3, 4]);
        PlainData::Repeat(&[5, 6, 7]).read(4, &mut out).unwrap();
        assert_eq!(out, [6, 7, 5, 6]);
    }
}
