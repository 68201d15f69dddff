//! Default elements: JSON in `meta/storage`, bytes in memory.
//!
//! The JSON is the result of Python's `tolist`: fields are a list, void is a string with one character for each byte, and times
//! are counts. For rows of several elements, BLZ and bcolz up to 1.0 list all elements; later versions write one for all.

use crate::wire::python_json;
use bloscpack_dtype::{DType, Kind, TimeUnit};
#[cfg(feature = "documents")]
use bloscpack_error::Error;
use bloscpack_error::checked::to_u64;
use bloscpack_storage::Key;
use bloscpack_wire::internal::json;
use serde_json::Value;

/// The maximum length of a default, both of its text and of its bytes. Parsing takes many times as much memory.
const MAX_LEN: usize = 1 << 20;

/// The maximum length of elements in bytes, and of rows in elements, for which zeros are spelled out. Beyond it, the text is
/// one zero.
const MAX_SPELLED: u64 = 1 << 16;

/// The maximum length of a default that columns share, both of its text and of its bytes.
#[cfg(feature = "documents")]
const MAX_SHARED: usize = 256;

/// The error for a text that is not a default of the dtype, or too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unusable;

/// The bytes of a default: one element, or a row if the text has lists as deep as the row's shape. `None` for zeros, which take
/// no memory even for very long dtypes.
pub(super) fn parse(
    text: &str,
    dtype: &DType,
    row_shape: &[u64],
) -> Result<Option<Vec<u8>>, Unusable> {
    if dtype.has_object() {
        return Ok(None);
    }
    if text.len() > MAX_LEN {
        return Err(Unusable);
    }
    // Python's NaN and infinities become strings, which float dtypes accept.
    let value = json::parse(text.as_bytes()).map_err(|_| Unusable)?;
    if is_zero(&value, dtype) {
        return Ok(None);
    }
    let mut row = Vec::new();
    if put_row(&value, dtype, &[], &mut row).is_none() {
        row.clear();
        put_row(&value, dtype, row_shape, &mut row).ok_or(Unusable)?;
    }
    Ok(row.iter().any(|byte| *byte != 0).then_some(row))
}

/// Parses a default. If it cannot be used, adds a warning and returns `None`, zeros.
pub(super) fn parse_or_warn(
    text: &str,
    dtype: &DType,
    row_shape: &[u64],
    path: &Key,
    warnings: &mut Vec<String>,
) -> Option<Vec<u8>> {
    parse(text, dtype, row_shape).unwrap_or_else(|Unusable| {
        let (text, dtype) = (excerpt(text), excerpt(&dtype.to_string()));
        let message =
            format!("the default {text} is not a value of {dtype}: new elements are zeros");
        warnings.push(format!("{path}: {message}"));
        None
    })
}

/// Parses a default that several columns share. 0 is zero in every dtype. A long default is not used, because each column would
/// have a copy of it.
#[cfg(feature = "documents")]
pub(super) fn parse_shared(
    text: &str,
    dtype: &DType,
    row_shape: &[u64],
    path: &Key,
    warnings: &mut Vec<String>,
) -> Option<Vec<u8>> {
    let text = text.trim();
    let is_long = text.len() > MAX_SHARED || dtype.itemsize() > to_u64(MAX_SHARED);
    match text {
        "0" => None,
        _ if is_long => {
            let (text, dtype) = (excerpt(text), excerpt(&dtype.to_string()));
            let message = format!(
                "the default {text} of all columns is not used for {dtype}: new elements are zeros"
            );
            warnings.push(format!("{path}: {message}"));
            None
        }
        _ => parse_or_warn(text, dtype, row_shape, path, warnings),
    }
}

/// The first 60 characters of a text, for a warning.
fn excerpt(text: &str) -> String {
    let excerpt: String = text.chars().take(60).collect();
    if excerpt.len() < text.len() {
        excerpt + "..."
    } else {
        excerpt
    }
}

/// Whether a JSON value means zeros, without converting it to bytes.
fn is_zero(value: &Value, dtype: &DType) -> bool {
    let is_text = matches!(dtype.kind(), Kind::Bytes | Kind::Text);
    match value {
        Value::Number(number) => {
            !is_text
                && number
                    .as_f64()
                    .is_some_and(|number| number == 0.0 && number.is_sign_positive())
        }
        Value::String(text) => text.is_empty() && (is_text || *dtype.kind() == Kind::Void),
        _ => false,
    }
}

fn put_row(value: &Value, dtype: &DType, shape: &[u64], row: &mut Vec<u8>) -> Option<()> {
    let Some((side, within)) = shape.split_first() else {
        let size = usize::try_from(dtype.itemsize()).ok()?;
        let len = row.len().checked_add(size)?;
        (len <= MAX_LEN).then_some(())?;
        let mut element = vec![0; size];
        dtype.from_value(value, &mut element).ok()?;
        row.extend(element);
        return Some(());
    };
    let items = value.as_array()?;
    (to_u64(items.len()) == *side).then_some(())?;
    let mut items = items.iter();
    items.try_for_each(|item| put_row(item, dtype, within, row))
}

/// The text of a default: of one element, of a row of this shape, or of zeros. If all elements of a row are equal, the text is
/// one element, unless `listed`.
pub(super) fn text(
    dtype: &DType,
    default: Option<&[u8]>,
    row_shape: &[u64],
    listed: bool,
) -> String {
    let size = element_len(dtype);
    let zeros;
    let default = match (default, dtype.kind()) {
        (Some(default), _) => default,
        (None, _) if dtype.itemsize() <= MAX_SPELLED => {
            zeros = vec![0; size];
            &zeros
        }
        (None, Kind::Bytes | Kind::Text | Kind::Void) => return "\"\"".to_owned(),
        (None, _) => return "0".to_owned(),
    };
    let (element, _) = default.split_at_checked(size).unwrap_or((default, &[]));
    let is_same = default.chunks(size).all(|other| other == element);
    let mut axes = row_shape.iter();
    let elements = axes.try_fold(1u64, |product, len| product.checked_mul(*len));
    let is_short = elements.is_some_and(|elements| elements <= MAX_SPELLED);
    if is_same && !(listed && is_short) {
        one(dtype, element)
    } else {
        list(dtype, row_shape, &mut default.chunks(size).cycle())
    }
}

/// Whether a default is short enough to be read back; true without one.
pub(crate) fn is_short(dtype: &DType, default: Option<&[u8]>, row_shape: &[u64]) -> bool {
    default.is_none_or(|bytes| {
        bytes.len() <= MAX_LEN && text(dtype, Some(bytes), row_shape, true).len() <= MAX_LEN
    })
}

/// One element as a JSON value that is read back as the same element. NaN and infinities are strings.
#[cfg(feature = "documents")]
pub(super) fn value(dtype: &DType, element: &[u8]) -> bloscpack_error::Result<Value> {
    let text = one(dtype, element);
    json::parse(text.as_bytes()).map_err(|error| Error::bug(format!("a default {text}: {error}")))
}

/// Bytes of an element, at least 1.
fn element_len(dtype: &DType) -> usize {
    usize::try_from(dtype.itemsize()).map_or(usize::MAX, |len| len.max(1))
}

/// The elements as nested lists of this shape.
fn list<'a>(dtype: &DType, shape: &[u64], elements: &mut impl Iterator<Item = &'a [u8]>) -> String {
    let Some((side, within)) = shape.split_first() else {
        // The iterator has no items for elements of no bytes.
        let element = match dtype.itemsize() {
            0 => None,
            _ => elements.next(),
        };
        return one(dtype, element.unwrap_or(&[]));
    };
    // An array of no bytes is an empty list, whatever its number of elements.
    if dtype.itemsize() == 0 || shape.contains(&0) {
        return "[]".to_owned();
    }
    let items: Vec<String> = (0..*side).map(|_| list(dtype, within, elements)).collect();
    format!("[{}]", items.join(", "))
}

fn one(dtype: &DType, element: &[u8]) -> String {
    match dtype.kind() {
        Kind::Float => {
            let mut text = String::new();
            dtype.write_text(element, &mut text);
            match text.as_str() {
                "nan" => "NaN".to_owned(),
                "inf" => "Infinity".to_owned(),
                "-inf" => "-Infinity".to_owned(),
                _ => python_json(&dtype.value(element)),
            }
        }
        // bcolz writes times as counts of their unit.
        Kind::Datetime(_) | Kind::Timedelta(_) => {
            let mut bytes = [0; 8];
            let mut little = element.to_vec();
            dtype.to_little(&mut little);
            bytes
                .iter_mut()
                .zip(little)
                .for_each(|(to, from)| *to = from);
            match i64::from_le_bytes(bytes) {
                // bcolz writes "not a time" as null.
                i64::MIN => "null".to_owned(),
                _ if has_no_unit(dtype.kind()) => "null".to_owned(),
                count => count.to_string(),
            }
        }
        Kind::Void => {
            let text: String = element.iter().copied().map(char::from).collect();
            python_json(&text.into())
        }
        Kind::Struct(of) => {
            let fields = of.fields.iter().map(|field| {
                let offset = usize::try_from(field.offset).ok();
                let bytes = offset.and_then(|offset| element.split_at_checked(offset));
                let (_, bytes) = bytes.unwrap_or((&[], &[]));
                list(
                    &field.dtype,
                    &field.shape,
                    &mut bytes.chunks(element_len(&field.dtype)),
                )
            });
            format!("[{}]", fields.collect::<Vec<_>>().join(", "))
        }
        _ => python_json(&dtype.value(element)),
    }
}

/// Whether this is a datetime without a unit, which NumPy cannot make from a number.
fn has_no_unit(kind: &Kind) -> bool {
    matches!(kind, Kind::Datetime(unit) if *unit == TimeUnit::GENERIC)
}

#[cfg(test)]
mod tests {
    use super::{Unusable, parse, text};
    use bloscpack_dtype::DType;

    /// A dtype, and a default that a program wrote.
    const WRITTEN: [(&str, &str); 9] = [
        ("int32", "-7"),
        ("float64", "-Infinity"),
        ("bool", "true"),
        ("|S4", "\"zz\""),
        ("<U3", "\"\\u00e9\\u20ac\""),
        ("|V3", "\"\\u0000\\u00ff\\u0001\""),
        ("datetime64[ns]", "5"),
        ("[('a', '<i4'), ('b', '>f8'), ('c', '<u2')]", "[1, NaN, 2]"),
        (
            "[('a', '<f4', (2,)), ('b', '<U9')]",
            "[[Infinity, 0.5], \"NaN \\\\\"]",
        ),
    ];

    #[test]
    fn one_element_is_as_python_lists_it() {
        for (dtype, written) in WRITTEN {
            let dtype = DType::parse(dtype).unwrap();
            let default = parse(written, &dtype, &[]).unwrap();
            assert_eq!(text(&dtype, default.as_deref(), &[], true), written);
        }
    }

    #[test]
    fn a_row_is_one_for_all_or_a_list_as_deep_as_it() {
        let dtype = DType::I16;
        let row = parse("[[1, 2, 3], [4, 5, 6]]", &dtype, &[2, 3])
            .unwrap()
            .unwrap();
        assert_eq!(row, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
        assert_eq!(
            text(&dtype, Some(&row), &[2, 3], false),
            "[[1, 2, 3], [4, 5, 6]]"
        );
        assert_eq!(
            text(&dtype, Some(&[7, 0]), &[2, 2], true),
            "[[7, 7], [7, 7]]"
        );
        assert_eq!(text(&dtype, Some(&[7, 0, 7, 0]), &[2], false), "7");
        assert_eq!(parse("7", &dtype, &[2, 2]), Ok(Some(vec![7, 0])));
        for wrong in [
            "[1, 2]",
            "[[1, 2], [3]]",
            "\"x\"",
            "[[[1, 2], [3, 4]]]",
            "[",
            "NaN",
        ] {
            assert_eq!(parse(wrong, &dtype, &[2, 2]), Err(Unusable), "{wrong}");
        }
    }

    #[test]
    fn zeros_have_no_bytes_and_a_short_text() {
        for (dtype, written) in [
            ("int16", "0"),
            ("float64", "0.0"),
            ("|S2000000000", "\"\""),
            ("|V2000000000", "\"\""),
            ("[('a', '|V2000000000')]", "0"),
            ("[('a', '|S0', (2000000000,)), ('b', 'i1')]", "[[], 0]"),
            ("[('a', 'i4', (3, 0)), ('b', 'i1')]", "[[], 0]"),
        ] {
            let dtype = DType::parse(dtype).unwrap();
            assert_eq!(text(&dtype, None, &[], false), written);
            assert_eq!(parse(written, &dtype, &[]), Ok(None), "{written}");
        }
        let dtype = DType::parse("int8").unwrap();
        assert_eq!(text(&dtype, None, &[1 << 40], true), "0");
        assert_eq!(text(&dtype, None, &[3], true), "[0, 0, 0]");
    }

    #[test]
    fn defaults_that_take_too_much_memory_are_unusable() {
        let dtype = DType::parse("|S1000000").unwrap();
        let two = parse("[\"a\", \"b\"]", &dtype, &[2]);
        assert_eq!(two, Err(Unusable));
        let dtype = DType::parse("|S2000000000").unwrap();
        assert_eq!(parse("\"a\"", &dtype, &[]), Err(Unusable));
        let long = format!("[{}0]", "0,".repeat(1 << 20));
        assert_eq!(parse(&long, &DType::I16, &[(1 << 20) + 1]), Err(Unusable));
    }
}
