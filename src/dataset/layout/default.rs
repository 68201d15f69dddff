//! Default values: JSON in `meta/storage`, bytes in memory.

use crate::dataset::boxes::to_usize;
use crate::wire::DType;
use crate::wire::dtype::Kind;
use serde_json::Value;

/// The bytes of a default: an element, or a row of them where the text is a list of as many. Nothing if it is neither.
pub(super) fn parse(text: &str, dtype: &DType, row_len: u64) -> Option<Vec<u8>> {
    let text = text.trim();
    let size = to_usize(dtype.itemsize());
    if dtype.has_object() {
        return Some(vec![0; size]);
    }
    let mut element = vec![0; size];
    // JSON has no word for them, Python has.
    if matches!(text, "NaN" | "Infinity" | "-Infinity") {
        dtype.parse_text(text, &mut element).ok()?;
        return Some(element);
    }
    let value: Value = serde_json::from_str(text).ok()?;
    if dtype.from_value(&value, &mut element).is_ok() {
        return Some(element);
    }
    let mut leaves = Vec::new();
    flatten(&value, &mut leaves);
    if !matches!(value, Value::Array(_)) || u64::try_from(leaves.len()) != Ok(row_len) {
        return None;
    }
    let mut row = Vec::new();
    for leaf in leaves {
        dtype.from_value(leaf, &mut element).ok()?;
        row.extend_from_slice(&element);
    }
    Some(row)
}

fn flatten<'a>(value: &'a Value, leaves: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flatten(item, leaves)),
        leaf => leaves.push(leaf),
    }
}

/// The text of a default.
pub(super) fn text(dtype: &DType, default: &[u8]) -> String {
    let size = to_usize(dtype.itemsize()).max(1);
    let items: Vec<String> = default
        .chunks_exact(size)
        .map(|element| one(dtype, element))
        .collect();
    match items.as_slice() {
        [only] => only.clone(),
        items
            if default
                .chunks_exact(size)
                .all(|element| default.starts_with(element)) =>
        {
            items.first().cloned().unwrap_or_default()
        }
        items => format!("[{}]", items.join(", ")),
    }
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
                _ => crate::wire::dataset::python_json(&dtype.value(element)),
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
            i64::from_le_bytes(bytes).to_string()
        }
        _ => crate::wire::dataset::python_json(&dtype.value(element)),
    }
}
