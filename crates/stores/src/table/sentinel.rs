//! [`Sentinel`]: a value that marks missing values.

use bloscpack_dtype::{DType, Kind};
use serde_json::Value as Json;

/// A value that marks missing values: all elements that equal it are missing.
pub(crate) enum Sentinel {
    /// Any NaN.
    Nan,
    /// An element with these bytes.
    Element(Vec<u8>),
}

impl Sentinel {
    /// The sentinel for the `null_value` of a column; `None` if it is not a value of this dtype.
    ///
    /// Byte strings are `{"__bytes__": true, "base64": ..}`, NaN is the string `nan`, and timestamps are integers.
    pub fn of(json: &Json, dtype: &DType) -> Option<Self> {
        let is_float = matches!(dtype.kind(), Kind::Float | Kind::Complex);
        if is_float && json.as_str() == Some("nan") {
            return Some(Self::Nan);
        }
        let mut element = vec![0; usize::try_from(dtype.itemsize()).ok()?];
        match (dtype.kind(), json) {
            (Kind::Bytes, Json::Object(_)) => {
                let bytes = base64(json.get("base64")?.as_str()?)?;
                if bytes.len() > element.len() {
                    return None;
                }
                for (to, from) in element.iter_mut().zip(bytes) {
                    *to = from;
                }
            }
            (Kind::Datetime(_), json) => {
                let count = json.as_i64()?.to_le_bytes();
                element.clone_from(&count.to_vec());
            }
            (_, json) => dtype.from_value(json, &mut element).ok()?,
        }
        Some(Self::Element(element))
    }

    /// An element with this value; `None` if the dtype has none.
    pub fn element(&self, dtype: &DType) -> Option<Vec<u8>> {
        match self {
            Self::Element(bytes) => Some(bytes.clone()),
            Self::Nan => {
                let mut element = vec![0; usize::try_from(dtype.itemsize()).ok()?];
                dtype.parse_text("nan", &mut element).ok()?;
                Some(element)
            }
        }
    }

    /// Whether all elements of a row equal the sentinel.
    pub fn is(&self, row: &[u8], dtype: &DType) -> bool {
        let Ok(size) = usize::try_from(dtype.itemsize()) else {
            return false;
        };
        let mut elements = row.chunks_exact(size.max(1));
        elements.all(|element| match self {
            Self::Nan => is_nan(element),
            Self::Element(bytes) => element == bytes,
        })
    }
}

/// Whether a float of 4 or 8 bytes is NaN. Other lengths are never NaN.
fn is_nan(element: &[u8]) -> bool {
    match element.len() {
        4 => element
            .first_chunk()
            .is_some_and(|bytes| f32::from_le_bytes(*bytes).is_nan()),
        8 => element
            .first_chunk()
            .is_some_and(|bytes| f64::from_le_bytes(*bytes).is_nan()),
        _ => false,
    }
}

/// The bytes of a Base64 text; `None` for characters outside of the alphabet.
fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for char in text.trim_end_matches('=').bytes() {
        let six = match char {
            b'A'..=b'Z' => char - b'A',
            b'a'..=b'z' => char - b'a' + 26,
            b'0'..=b'9' => char - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = ((bits << 6 | u32::from(six)) & 0x3fff, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        for (text, expected) in [
            ("", &b""[..]),
            ("TQ==", b"M"),
            ("TWE=", b"Ma"),
            ("X19CTE9TQzJfTlVMTF9f", b"__BLOSC2_NULL__"),
        ] {
            assert_eq!(base64(text).unwrap(), expected);
        }
        assert_eq!(base64("a b"), None);
    }

    #[test]
    fn rows_of_the_sentinel_are_missing() {
        let nan = Sentinel::of(&"nan".into(), &DType::F32).unwrap();
        let row = [f32::NAN.to_le_bytes(), (-f32::NAN).to_le_bytes()].concat();
        assert!(nan.is(&row, &DType::F32));
        let least = Sentinel::of(&Json::from(-5), &DType::I16).unwrap();
        assert!(least.is(&(-5i16).to_le_bytes(), &DType::I16));
        assert!(!least.is(&[0xfb, 0xff, 0, 0], &DType::I16));
        assert!(Sentinel::of(&Json::from(300), &DType::I8).is_none());
    }
}
