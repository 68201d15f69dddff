//! Fill values, read and written.

use super::Format;
use crate::error::wrong_field;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bloscpack_dtype::{ByteOrder, DType, Kind, Struct};
use bloscpack_error::Result;
use bloscpack_error::checked::zeros;
use bloscpack_wire::internal::{Member, Members, json as python_json};
use serde_json::{Value, json};

/// The bytes of an element that the JSON of a fill value describes. Null leaves it open: zarr-python then reads times as "not a
/// time", and `None` stands for zeros.
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

fn is_time(dtype: &DType) -> bool {
    matches!(dtype.kind(), Kind::Datetime(_) | Kind::Timedelta(_))
}

/// Puts the value that this JSON describes into the bytes of an element, which are zeros.
fn put(format: Format, dtype: &DType, text: &str, element: &mut [u8]) -> Option<()> {
    let value = &python_json::parse(text.as_bytes()).ok()?;
    // `NaN` without quotes is a number, and no text.
    let is_bare = value.is_string() && !text.starts_with('"');
    let is_zero = value == &json!(0) || value == &json!("") || value == &json!(0.0);
    match dtype.kind() {
        Kind::Float => float(value, dtype.order(), element),
        _ if is_bare => None,
        Kind::Complex => complex(value, dtype.order(), element),
        Kind::Datetime(_) | Kind::Timedelta(_) => moment(value, dtype.order(), element),
        // Before version 3, zero was written for any type.
        Kind::Text | Kind::Bytes | Kind::Void | Kind::Struct(_) if is_zero => Some(()),
        Kind::Struct(of) if format == Format::V3 && value.is_object() => fields(of, text, element),
        Kind::Bytes | Kind::Void | Kind::Struct(_) => {
            bytes(format, value, dtype, element)?;
            // The bytes of fields are little-endian, whatever the byte order of the chunks.
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

/// The members of an object, by the names of the fields. A field without one has its default, as in zarr-python.
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

/// A number, a name of one that JSON has not, or the bits in hexadecimal digits.
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

/// Both parts; some writers have a single number, or the name of one, for both of them.
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

/// The count of units.
fn moment(value: &Value, order: ByteOrder, element: &mut [u8]) -> Option<()> {
    let count = match value.as_str() {
        Some("NaT") => return not_a_time(order, element),
        Some(_) => return None,
        None => value.as_i64()?,
    };
    put_count(count, order, element)
}

fn not_a_time(order: ByteOrder, element: &mut [u8]) -> Option<()> {
    put_count(i64::MIN, order, element)
}

fn put_count(count: i64, order: ByteOrder, element: &mut [u8]) -> Option<()> {
    let bytes = match order {
        ByteOrder::Little => count.to_le_bytes(),
        ByteOrder::Big => count.to_be_bytes(),
    };
    (element.len() == bytes.len()).then(|| element.copy_from_slice(&bytes))
}

/// Base64, or in version 3 a list of numbers.
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

/// The value that describes the bytes of an element.
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
        // With the zeros at the end: TensorStore wants all bytes, and others do not mind them.
        Kind::Bytes | Kind::Void | Kind::Struct(_) => STANDARD.encode(element).into(),
        _ => dtype.value(element),
    }
}

/// A number; not-a-numbers that are not the usual one have their bits in version 3.
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
        // Extended floats: JSON has no number for them.
        Value::Object(_) => Value::Null,
        number => number,
    }
}
