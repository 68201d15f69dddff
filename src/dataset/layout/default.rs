//! Default values: JSON in `meta/storage`, bytes in memory.
//!
//! It is what Python's `tolist` makes of the default: fields are a list, void is text with a character for each byte, times
//! are counts. Of rows with several elements, BLZ and bcolz until 1.0 list them all, later ones have one for all.

use crate::array::boxes::to_usize;
use crate::wire::DType;
use crate::wire::dataset::python_json;
use crate::wire::dtype::{Kind, TimeUnit};
use serde_json::Value;

/// The bytes of a default: an element, or a row of them where the text has lists as deep as the row. Nothing if it is neither.
pub(super) fn parse(text: &str, dtype: &DType, row_shape: &[u64]) -> Option<Vec<u8>> {
    let size = to_usize(dtype.itemsize());
    if dtype.has_object() {
        return Some(vec![0; size]);
    }
    let value: Value = serde_json::from_str(&quoted(text)).ok()?;
    let mut element = vec![0; size];
    if dtype.from_value(&value, &mut element).is_ok() {
        return Some(element);
    }
    let mut row = Vec::new();
    put_row(&value, dtype, row_shape, &mut row)?;
    Some(row)
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
        let mut element = vec![0; to_usize(dtype.itemsize())];
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

/// The text of a default, which is an element or a row of this shape. One element stands for all of a row if all are the same,
/// unless each is to be listed.
pub(super) fn text(dtype: &DType, default: &[u8], row_shape: &[u64], listed: bool) -> String {
    let size = to_usize(dtype.itemsize()).max(1);
    let element = default.get(..size).unwrap_or(default);
    let is_same = default.chunks(size).all(|other| other == element);
    match is_same && !listed {
        true => one(dtype, element),
        false => list(dtype, row_shape, &mut default.chunks(size).cycle()),
    }
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
    use super::{parse, text};
    use crate::wire::DType;

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
            assert_eq!(text(&dtype, &default, &[], true), written);
        }
    }

    #[test]
    fn a_row_is_one_for_all_or_a_list_as_deep_as_it() {
        let dtype = DType::I16;
        let row = parse("[[1, 2, 3], [4, 5, 6]]", &dtype, &[2, 3]).unwrap();
        assert_eq!(row, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
        assert_eq!(text(&dtype, &row, &[2, 3], false), "[[1, 2, 3], [4, 5, 6]]");
        assert_eq!(text(&dtype, &[7, 0], &[2, 2], true), "[[7, 7], [7, 7]]");
        assert_eq!(text(&dtype, &[7, 0, 7, 0], &[2], false), "7");
        assert_eq!(parse("7", &dtype, &[2, 2]), Some(vec![7, 0]));
        for wrong in [
            "[1, 2]",
            "[[1, 2], [3]]",
            "\"x\"",
            "[[[1, 2], [3, 4]]]",
            "[",
            "NaN",
        ] {
            assert_eq!(parse(wrong, &dtype, &[2, 2]), None, "{wrong}");
        }
    }
}
