//! Floats of 2, 4 and 8 bytes as JSON numbers and as text, with the fewest digits that identify each among all floats of its
//! length.
//!
//! Halves are converted here. Crates that round to a half through a single, as processors do, round twice and differ from NumPy
//! in the last bit of some values.

use super::ByteOrder;
use super::error::DTypeError;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Float {
    /// The bits of a half.
    Half(u16),
    Single(f32),
    Double(f64),
}

impl Float {
    /// The float in these bytes; `None` for extended floats.
    pub fn read(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        match bytes.len() {
            2 => Some(Self::Half(u16::from_le_bytes(little(bytes, order)?))),
            4 => Some(Self::Single(f32::from_le_bytes(little(bytes, order)?))),
            8 => Some(Self::Double(f64::from_le_bytes(little(bytes, order)?))),
            _ => None,
        }
    }

    /// Parses a float of `len` bytes.
    pub fn parse(text: &str, len: usize) -> Result<Self, DTypeError> {
        let text = text.trim_ascii();
        let wrong = |_| DTypeError::not(text, "a number");
        let float = match len {
            2 => Self::Half(to_half(text.parse().map_err(wrong)?)),
            4 => Self::Single(text.parse().map_err(wrong)?),
            _ => Self::Double(text.parse().map_err(wrong)?),
        };
        // Both numbers that are too large and words such as `inf` parse as infinite. Only the words are accepted.
        let is_word = text.contains(['i', 'I']);
        if float.double().is_infinite() && !is_word {
            return Err(DTypeError::too_large(
                text,
                format_args!("a float of {len} bytes"),
            ));
        }
        Ok(float)
    }

    /// The bytes, little-endian.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::Half(bits) => bits.to_le_bytes().to_vec(),
            Self::Single(float) => float.to_le_bytes().to_vec(),
            Self::Double(float) => float.to_le_bytes().to_vec(),
        }
    }

    /// A JSON number; text for infinity, and null for NaN, which JSON numbers cannot express.
    pub fn value(self) -> Value {
        match self {
            _ if self.double().is_infinite() => self.text().into(),
            Self::Half(bits) => shortest(bits).into(),
            // The fewest digits among singles. Converted to a double, it would get about twice as many digits.
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

    pub fn is_nan(self) -> bool {
        self.double().is_nan()
    }

    fn double(self) -> f64 {
        match self {
            Self::Half(bits) => from_half(bits),
            Self::Single(float) => float.into(),
            Self::Double(float) => float,
        }
    }
}

/// The bytes of a number, converted to little-endian; `None` if there are not `N`.
pub(super) fn little<const N: usize>(bytes: &[u8], order: ByteOrder) -> Option<[u8; N]> {
    let mut bytes = <[u8; N]>::try_from(bytes).ok()?;
    if order == ByteOrder::Big {
        bytes.reverse();
    }
    Some(bytes)
}

/// The bits of a half: a sign, 5 of exponent and 10 of fraction. A double has 11 and 52.
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

/// The nearest half; halfway between two, the even one.
fn to_half(float: f64) -> u16 {
    let sign = if float.is_sign_negative() { SIGN } else { 0 };
    let size = float.abs();
    if size.is_nan() {
        return sign | INFINITE | 0x200;
    }
    // Halfway between 65,504, the greatest half, and 65,536.
    if size >= 65_520.0 {
        return sign | INFINITE;
    }
    let bits = size.to_bits();
    let (exponent, normal) = (bits >> 52, 1023_u64 - 14);
    let (whole, shift) = match normal.checked_sub(exponent) {
        // A subnormal half stores the implicit first bit of the fraction.
        Some(below @ 1..) => ((bits & ((1 << 52) - 1)) | (1 << 52), 42 + below),
        _ => (bits - ((1023 - 15) << 52), 42),
    };
    if shift > 53 {
        return sign;
    }
    let (kept, rest, middle) = (whole >> shift, whole & ((1 << shift) - 1), 1 << (shift - 1));
    let up = rest > middle || (rest == middle && kept & 1 == 1);
    // A carry increments the exponent, which is correct, and gives infinity at most.
    sign | u16::try_from(kept + u64::from(up)).unwrap_or(INFINITE)
}

/// The number with the fewest digits that rounds to this half.
fn shortest(bits: u16) -> f64 {
    let exact = from_half(bits);
    let with = |digits: usize| format!("{exact:.digits$e}").parse::<f64>().ok();
    let mut candidates = (0..5).filter_map(with);
    candidates
        .find(|candidate| to_half(*candidate) == bits)
        .unwrap_or(exact)
}
