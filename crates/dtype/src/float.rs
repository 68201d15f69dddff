//! Floats of 2, 4 and 8 bytes, as numbers and as text, each with as few digits as tell it from any
//! other of its length.

use super::ByteOrder;
use super::error::{DTypeError, excerpt};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Float {
    /// Its bits.
    Half(u16),
    Single(f32),
    Double(f64),
}

impl Float {
    /// From its bytes; `None` for the extended ones of some machine.
    pub fn read(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        match bytes.len() {
            2 => Some(Self::Half(u16::from_le_bytes(little(bytes, order)?))),
            4 => Some(Self::Single(f32::from_le_bytes(little(bytes, order)?))),
            8 => Some(Self::Double(f64::from_le_bytes(little(bytes, order)?))),
            _ => None,
        }
    }

    /// Of so many bytes, from text that is not empty.
    pub fn parse(text: &str, len: usize) -> Result<Self, DTypeError> {
        let text = text.trim_ascii();
        let wrong = |_| DTypeError::new(format!("{} is no number", excerpt(text)));
        let float = match len {
            2 => Self::Half(to_half(text.parse().map_err(wrong)?)),
            4 => Self::Single(text.parse().map_err(wrong)?),
            _ => Self::Double(text.parse().map_err(wrong)?),
        };
        // Numbers too large become infinite, and so do words that say so.
        let is_word = text.contains(['i', 'I']);
        if float.double().is_infinite() && !is_word {
            let why = format!("{} is too large for a float of {len} bytes", excerpt(text));
            return Err(DTypeError::new(why));
        }
        Ok(float)
    }

    /// Its bytes, the least first.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::Half(bits) => bits.to_le_bytes().to_vec(),
            Self::Single(float) => float.to_le_bytes().to_vec(),
            Self::Double(float) => float.to_le_bytes().to_vec(),
        }
    }

    /// A number of JSON, which knows only finite ones.
    pub fn value(self) -> Value {
        match self {
            Self::Half(bits) => shortest(bits).into(),
            // What its own digits say, not all the digits of the same number among doubles.
            Self::Single(float) => format!("{float:?}").parse::<f64>().ok().into(),
            Self::Double(float) => float.into(),
        }
    }

    pub fn text(self) -> String {
        match self {
            _ if self.double().is_nan() => "nan".to_owned(),
            Self::Half(bits) => format!("{:?}", shortest(bits)),
            Self::Single(float) => format!("{float:?}"),
            Self::Double(float) => format!("{float:?}"),
        }
    }

    fn double(self) -> f64 {
        match self {
            Self::Half(bits) => from_half(bits),
            Self::Single(float) => float.into(),
            Self::Double(float) => float,
        }
    }
}

/// The bytes of a number with the least first.
pub(super) fn little<const N: usize>(bytes: &[u8], order: ByteOrder) -> Option<[u8; N]> {
    let mut bytes = <[u8; N]>::try_from(bytes).ok()?;
    if order == ByteOrder::Big {
        bytes.reverse();
    }
    Some(bytes)
}

/// Bits of the exponent and of the fraction: 5 and 10, of doubles 11 and 52.
const FRACTION: u16 = 0x3ff;
const INFINITE: u16 = 0x7c00;
const SIGN: u16 = 0x8000;

fn from_half(bits: u16) -> f64 {
    let (exponent, fraction) = ((bits & INFINITE) >> 10, f64::from(bits & FRACTION));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(i32::from(exponent) - 25),
    };
    if bits & SIGN == 0 { size } else { -size }
}

/// The nearest one, of two that are as near the even one.
fn to_half(float: f64) -> u16 {
    let sign = if float.is_sign_negative() { SIGN } else { 0 };
    let size = float.abs();
    if size.is_nan() {
        return sign | INFINITE | 0x200;
    }
    // Above the middle between the greatest and what would come next.
    if size >= 65_520.0 {
        return sign | INFINITE;
    }
    let bits = size.to_bits();
    let (exponent, normal) = (bits >> 52, 1023_u64 - 14);
    let (whole, shift) = match normal.checked_sub(exponent) {
        // With one more exponent below, where the fraction's first bit is written out.
        Some(below @ 1..) => ((bits & ((1 << 52) - 1)) | (1 << 52), 42 + below),
        _ => (bits - ((1023 - 15) << 52), 42),
    };
    if shift > 53 {
        return sign;
    }
    let (kept, rest, middle) = (whole >> shift, whole & ((1 << shift) - 1), 1 << (shift - 1));
    let up = rest > middle || (rest == middle && kept & 1 == 1);
    // What is carried over goes into the exponent, as it should.
    sign | u16::try_from(kept + u64::from(up)).unwrap_or(INFINITE)
}

/// The number of the fewest digits that is nearest to this one and to no other.
fn shortest(bits: u16) -> f64 {
    let exact = from_half(bits);
    let with = |digits: usize| format!("{exact:.digits$e}").parse::<f64>().ok();
    let mut candidates = (0..5).filter_map(with);
    candidates
        .find(|candidate| to_half(*candidate) == bits)
        .unwrap_or(exact)
}
