//! Fill values.
//!
//! | dtype | JSON |
//! |---|---|
//! | bool, integers | `true`, `5` |
//! | floats | `0.5`, `"NaN"`, `"Infinity"`, `"-Infinity"`; in version 3 also the bits, `"0x7fc00001"` |
//! | complex | `[re, im]` |
//! | times | the count of units, or `"NaT"` |
//! | text | `"abc"` |
//! | bytes, void | Base64; in version 3 also a list of numbers |
//! | fields | Base64; in version 3 also an object of the values by name |
//! | any but text, bytes, void and fields, by some writers | numbers in quotes, `NaN` without quotes |

use super::Format;
use crate::error::wrong_field;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bloscpack_dtype::{ByteOrder, DType, Kind, Struct};
use bloscpack_error::Result;
use bloscpack_error::checked::zeros;
use bloscpack_wire::internal::{Member, Members, json as python_json};
use serde_json::{Value, json};

/// The element that the JSON text of a fill value describes. `None` and null are `None`, which reads as zeros; for times they
/// are "not a time", as in zarr-python.
pub(super) fn read(format: Format, dtype: &DType, text: Option<&str>) -> Result<Option<Vec<u8>>> {
    let text = text.filter(|text| *text != "null");
    if text.is_none() && !is_time(dtype) {
        return Ok(None);
    }
    let wrong = |expected: &str| wrong_field("fill_value", text.unwrap_or("null"), expected);
    let mut element = zeros(dtype.itemsize())?;
    let put = match text {
        Some(text) => put(format, dtype, text, &mut element),
        None => not_a_time(dtype.order(), &mut element),
    };
    put.ok_or_else(|| wrong(&format!("a value of {dtype}")))?;
    Ok(Some(element))
}

/// Whether elements are times or spans of time.
fn is_time(dtype: &DType) -> bool {
    matches!(dtype.kind(), Kind::Datetime(_) | Kind::Timedelta(_))
}

/// Writes the value in this JSON text into `element`, which contains zeros; `None` if it does not fit the dtype.
fn put(format: Format, dtype: &DType, text: &str, element: &mut [u8]) -> Option<()> {
    let value = &python_json::parse(text.as_bytes()).ok()?;
    // `NaN` without quotes is a number, not text.
    let is_bare = value.is_string() && !text.starts_with('"');
    let is_zero = value == &json!(0) || value == &json!("") || value == &json!(0.0);
    match dtype.kind() {
        Kind::Float => float(value, dtype.order(), element),
        _ if is_bare => None,
        Kind::Complex => complex(value, dtype.order(), element),
        Kind::Datetime(_) | Kind::Timedelta(_) => moment(value, dtype.order(), element),
        // Writers of version 2 use zero for any type.
        Kind::Text | Kind::Bytes | Kind::Void | Kind::Struct(_) if is_zero => Some(()),
        Kind::Struct(of) if format == Format::V3 && value.is_object() => fields(of, text, element),
        Kind::Bytes | Kind::Void | Kind::Struct(_) => {
            bytes(format, value, dtype, element)?;
            // The bytes of fields are little-endian, even if the chunks are big-endian.
            if format == Format::V3 {
                dtype.to_little(element);
            }
            Some(())
        }
        Kind::Bool if format == Format::V2 && value.is_number() => {
            *element.first_mut()? = u8::from(value.as_f64()? != 0.0);
            Some(())
        }
        Kind::Int | Kind::Uint => match value.as_str() {
            Some(text) => dtype.parse_text(text, element).ok(),
            None => dtype.from_value(value, element).ok(),
        },
        _ => dtype.from_value(value, element).ok(),
    }
}

/// The members of an object, by the names of the fields. A missing field has its default, as in zarr-python.
fn fields(of: &Struct, text: &str, element: &mut [u8]) -> Option<()> {
    let is_field = |member: Member<'_>| of.fields.iter().any(|field| member.is(&field.name));
    if !Members::of(text).all(is_field) {
        return None;
    }
    for field in &of.fields {
        let (start, len) = (field.offset, field.dtype.itemsize());
        let range = usize::try_from(start).ok()?..usize::try_from(start.checked_add(len)?).ok()?;
        let part = element.get_mut(range)?;
        match Members::of(text)
            .filter(|member| member.is(&field.name))
            .last()
        {
            Some(member) => put(Format::V3, &field.dtype, member.text, part)?,
            None if is_time(&field.dtype) => not_a_time(field.dtype.order(), part)?,
            None => {}
        }
    }
    Some(())
}

/// A number, the name of one that JSON lacks, or its bits in hexadecimal digits.
fn float(value: &Value, order: ByteOrder, element: &mut [u8]) -> Option<()> {
    let hex = value.as_str().and_then(|text| text.strip_prefix("0x"));
    if let Some(digits) = hex {
        return bits(digits, order, element);
    }
    let dtype = DType::new(Kind::Float, order, u64::try_from(element.len()).ok()?).ok()?;
    match value.as_str() {
        Some("NaN" | "nan") => dtype.parse_text("nan", element).ok(),
        Some("Infinity" | "inf") => dtype.parse_text("inf", element).ok(),
        Some("-Infinity" | "-inf") => dtype.parse_text("-inf", element).ok(),
        // Some writers put numbers between quotes.
        Some(text) if text.parse().is_ok_and(f64::is_finite) => {
            dtype.parse_text(text, element).ok()
        }
        Some(_) => None,
        None if value.is_number() => dtype.from_value(value, element).ok(),
        None => None,
    }
}

/// Writes the bits of a float, given as hexadecimal digits.
fn bits(digits: &str, order: ByteOrder, element: &mut [u8]) -> Option<()> {
    let bits = u64::from_str_radix(digits, 16).ok()?;
    let bytes = bits.to_be_bytes();
    let (zeros, bytes) = bytes.split_at_checked(bytes.len().checked_sub(element.len())?)?;
    if zeros.iter().any(|byte| *byte != 0) {
        return None;
    }
    element.copy_from_slice(bytes);
    if order == ByteOrder::Little {
        element.reverse();
    }
    Some(())
}

/// Both parts. Some writers give a single number, or the name of one, for both.
fn complex(value: &Value, order: ByteOrder, element: &mut [u8]) -> Option<()> {
    let (re, im) = element.split_at_mut_checked(element.len() / 2)?;
    match value.as_array().map(Vec::as_slice) {
        Some([real, imaginary]) => {
            float(real, order, re)?;
            float(imaginary, order, im)
        }
        Some(_) => None,
        None => {
            float(value, order, re)?;
            match value.as_str() {
                Some(_) => float(value, order, im),
                None => Some(()),
            }
        }
    }
}

/// The count of units of a time, or `NaT`.
fn moment(value: &Value, order: ByteOrder, element: &mut [u8]) -> Option<()> {
    let count = match value.as_str() {
        Some("NaT") => return not_a_time(order, element),
        Some(_) => return None,
        None => value.as_i64()?,
    };
    put_count(count, order, element)
}

/// Writes NumPy's "not a time", the smallest int64.
fn not_a_time(order: ByteOrder, element: &mut [u8]) -> Option<()> {
    put_count(i64::MIN, order, element)
}

/// Writes an int64 in this byte order. `None` if the element has another length.
fn put_count(count: i64, order: ByteOrder, element: &mut [u8]) -> Option<()> {
    let bytes = match order {
        ByteOrder::Little => count.to_le_bytes(),
        ByteOrder::Big => count.to_be_bytes(),
    };
    (element.len() == bytes.len()).then(|| element.copy_from_slice(&bytes))
}

/// Base64, or in version 3 a list of numbers. Only `S` elements may be longer than the value.
fn bytes(format: Format, value: &Value, dtype: &DType, element: &mut [u8]) -> Option<()> {
    let found: Vec<u8> = match value {
        Value::String(text) => STANDARD.decode(text).ok()?,
        Value::Array(list) if format == Format::V3 => list
            .iter()
            .map(|byte| byte.as_u64().and_then(|byte| u8::try_from(byte).ok()))
            .collect::<Option<_>>()?,
        _ => return None,
    };
    let is_shorter = dtype.kind() == &Kind::Bytes && found.len() < element.len();
    let len = found.len();
    (is_shorter || len == element.len()).then_some(())?;
    element.get_mut(..len)?.copy_from_slice(&found);
    Some(())
}

/// The JSON value that describes an element.
pub(super) fn write(format: Format, dtype: &DType, element: &[u8]) -> Value {
    match dtype.kind() {
        Kind::Float => write_float(format, dtype.order(), element),
        Kind::Complex => {
            let (re, im) = element
                .split_at_checked(element.len() / 2)
                .unwrap_or((element, &[]));
            let part = |part| write_float(format, dtype.order(), part);
            json!([part(re), part(im)])
        }
        Kind::Datetime(_) | Kind::Timedelta(_) => {
            let mut count = [0; 8];
            let fits = element.len() == count.len();
            if fits {
                count.copy_from_slice(element);
            }
            match dtype.order() {
                ByteOrder::Little => i64::from_le_bytes(count).into(),
                ByteOrder::Big => i64::from_be_bytes(count).into(),
            }
        }
        // With the zeros at the end: TensorStore requires all bytes, and other readers accept them.
        Kind::Bytes | Kind::Void | Kind::Struct(_) => STANDARD.encode(element).into(),
        _ => dtype.value(element),
    }
}

/// A number, or the name of one that JSON lacks. In version 3, an unusual NaN is written as its bits.
fn write_float(format: Format, order: ByteOrder, element: &[u8]) -> Value {
    let plain = u64::try_from(element.len())
        .ok()
        .and_then(|len| DType::new(Kind::Float, order, len).ok());
    let Some(dtype) = plain else {
        return Value::Null;
    };
    match dtype.value(element) {
        Value::String(text) if text == "inf" => "Infinity".into(),
        Value::String(text) if text == "-inf" => "-Infinity".into(),
        Value::Null => {
            let mut usual = vec![0; element.len()];
            let is_usual = dtype.parse_text("nan", &mut usual).is_ok() && usual == element;
            if is_usual || format == Format::V2 {
                return "NaN".into();
            }
            let mut bytes = element.to_vec();
            if order == ByteOrder::Little {
                bytes.reverse();
            }
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("0x{digits}").into()
        }
        // Extended floats, for which JSON has no number.
        Value::Object(_) => Value::Null,
        number => number,
    }
}
