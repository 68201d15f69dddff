//! Default values: JSON in `meta/storage`, bytes in memory.
//!
//! It is what Python's `tolist` makes of the default: fields are a list, void is text with a character for each byte, times
//! are counts. Of rows with several elements, BLZ and bcolz until 1.0 list them all, later ones have one for all.

use super::Note;
use crate::wire::python_json;
use bloscpack_dtype::{DType, Kind, TimeUnit, boxes::to_usize};
use bloscpack_storage::Key;
use serde_json::Value;

/// A default longer than this, as text or in bytes, is nobody's: it is parsed into many times its length.
const MAX_LEN: usize = 1 << 20;

/// Zeros are spelled out for elements, and rows, up to this long; a zero stands for others.
const MAX_SPELLED: u64 = 1 << 16;

/// What columns may share is no longer, as text or in bytes.
const MAX_SHARED: usize = 256;

/// That a text is no default of its dtype.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unusable;

/// The bytes of a default: an element, or a row of them where the text has lists as deep as the row. Nothing if they are zeros,
/// which take no memory, however long the dtype says that they are.
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
    let value: Value = serde_json::from_str(&quoted(text)).map_err(|_| Unusable)?;
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

/// The same, with a note where it cannot be used.
pub(super) fn parse_or_note(
    text: &str,
    dtype: &DType,
    row_shape: &[u64],
    path: &Key,
    notes: &mut Vec<Note>,
) -> Option<Vec<u8>> {
    parse(text, dtype, row_shape).unwrap_or_else(|Unusable| {
        let (text, dtype) = (excerpt(text), excerpt(&dtype.to_string()));
        notes.push(Note {
            path: path.to_string(),
            what: format!("the default {text} is no {dtype}: new elements are zeros"),
        });
        None
    })
}

/// The same of a text that several columns share: a bare zero is one for all, and a long default is none, as each column would
/// have its own.
pub(super) fn parse_shared(
    text: &str,
    dtype: &DType,
    row_shape: &[u64],
    path: &Key,
    notes: &mut Vec<Note>,
) -> Option<Vec<u8>> {
    let text = text.trim();
    let is_long = text.len() > MAX_SHARED || to_usize(dtype.itemsize()) > MAX_SHARED;
    match text {
        "0" => None,
        _ if is_long => {
            let (text, dtype) = (excerpt(text), excerpt(&dtype.to_string()));
            notes.push(Note {
                path: path.to_string(),
                what: format!(
                    "the default {text} of all columns is not used for {dtype}: new elements are zeros"
                ),
            });
            None
        }
        _ => parse_or_note(text, dtype, row_shape, path, notes),
    }
}

/// As much of a text as a note repeats.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Whether that are zeros for sure, whatever the length of an element.
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

/// The text with Python's numbers that JSON does not know as strings, which floats may be.
fn quoted(text: &str) -> String {
    let (mut quoted, mut rest, mut within) = (String::new(), text.trim(), false);
    while let Some(next) = rest.chars().next() {
        let word = ["NaN", "-Infinity", "Infinity"]
            .into_iter()
            .find(|word| !within && rest.starts_with(word));
        let step = match (word, next) {
            (Some(word), _) => {
                quoted.extend(["\"", word, "\""]);
                word.len()
            }
            // What is escaped never ends a string.
            (None, '\\') => {
                let mut chars = rest.chars();
                let pair: String = chars.by_ref().take(2).collect();
                quoted.push_str(&pair);
                pair.len()
            }
            (None, next) => {
                within ^= next == '"';
                quoted.push(next);
                next.len_utf8()
            }
        };
        rest = rest.get(step..).unwrap_or_default();
    }
    quoted
}

fn put_row(value: &Value, dtype: &DType, shape: &[u64], row: &mut Vec<u8>) -> Option<()> {
    let Some((side, within)) = shape.split_first() else {
        let size = to_usize(dtype.itemsize());
        let len = row.len().checked_add(size)?;
        (len <= MAX_LEN).then_some(())?;
        let mut element = vec![0; size];
        dtype.from_value(value, &mut element).ok()?;
        row.extend(element);
        return Some(());
    };
    let items = value.as_array()?;
    let is_whole = u64::try_from(items.len()) == Ok(*side);
    is_whole.then_some(())?;
    let mut items = items.iter();
    items.try_for_each(|item| put_row(item, dtype, within, row))
}

/// The text of a default, which is an element or a row of this shape, or zeros. One element stands for all of a row if all are
/// the same, unless each is to be listed.
pub(super) fn text(
    dtype: &DType,
    default: Option<&[u8]>,
    row_shape: &[u64],
    listed: bool,
) -> String {
    let size = to_usize(dtype.itemsize()).max(1);
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
    let element = default.get(..size).unwrap_or(default);
    let is_same = default.chunks(size).all(|other| other == element);
    let mut axes = row_shape.iter();
    let elements = axes.try_fold(1u64, |product, len| product.checked_mul(*len));
    let is_short = elements.is_some_and(|elements| elements <= MAX_SPELLED);
    match is_same && !(listed && is_short) {
        true => one(dtype, element),
        false => list(dtype, row_shape, &mut default.chunks(size).cycle()),
    }
}

/// Whether this default, if there is one, can be read again.
pub(super) fn is_short(dtype: &DType, default: Option<&[u8]>, row_shape: &[u64]) -> bool {
    default.is_none_or(|bytes| {
        bytes.len() <= MAX_LEN && text(dtype, Some(bytes), row_shape, true).len() <= MAX_LEN
    })
}

/// One element as a value, of which the same is read again: what is no number is text.
pub(super) fn value(dtype: &DType, element: &[u8]) -> Value {
    serde_json::from_str(&quoted(&one(dtype, element))).unwrap_or_default()
}

/// Elements one after the other, in lists as deep as the shape.
fn list<'a>(dtype: &DType, shape: &[u64], elements: &mut impl Iterator<Item = &'a [u8]>) -> String {
    let Some((side, within)) = shape.split_first() else {
        return one(dtype, elements.next().unwrap_or_default());
    };
    // What has no bytes is an empty list, however many elements it has.
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
        // Counts of units, as bcolz has them.
        Kind::Datetime(_) | Kind::Timedelta(_) => {
            let mut bytes = [0; 8];
            let mut little = element.to_vec();
            dtype.to_little(&mut little);
            bytes
                .iter_mut()
                .zip(little)
                .for_each(|(to, from)| *to = from);
            match i64::from_le_bytes(bytes) {
                // No moment, which is no number to bcolz.
                i64::MIN => "null".to_owned(),
                _ if is_bare_moment(dtype.kind()) => "null".to_owned(),
                count => count.to_string(),
            }
        }
        Kind::Void => {
            let text: String = element.iter().copied().map(char::from).collect();
            python_json(&text.into())
        }
        Kind::Struct(of) => {
            let fields = of.fields.iter().map(|field| {
                let bytes = element.get(to_usize(field.offset)..).unwrap_or_default();
                let size = to_usize(field.dtype.itemsize()).max(1);
                list(&field.dtype, &field.shape, &mut bytes.chunks(size))
            });
            format!("[{}]", fields.collect::<Vec<_>>().join(", "))
        }
        _ => python_json(&dtype.value(element)),
    }
}

/// Whether these are moments of which nobody says what they are counted in: NumPy takes no number for one.
fn is_bare_moment(kind: &Kind) -> bool {
    matches!(kind, Kind::Datetime(unit) if *unit == TimeUnit::GENERIC)
}

#[cfg(test)]
mod tests {
    use super::{Unusable, parse, text};
    use bloscpack_dtype::DType;

    /// What a program wrote, and its dtype.
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
    fn what_would_take_more_memory_than_a_default_may_is_none() {
        let dtype = DType::parse("|S1000000").unwrap();
        let two = parse("[\"a\", \"b\"]", &dtype, &[2]);
        assert_eq!(two, Err(Unusable));
        let dtype = DType::parse("|S2000000000").unwrap();
        assert_eq!(parse("\"a\"", &dtype, &[]), Err(Unusable));
        let long = format!("[{}0]", "0,".repeat(1 << 20));
        assert_eq!(parse(&long, &DType::I16, &[(1 << 20) + 1]), Err(Unusable));
    }
}
