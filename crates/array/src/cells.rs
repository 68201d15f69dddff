//! [`Cells`]: whether the rows of a column are plain elements, may be missing, or vary in length.

use crate::msgpack::Value;
use bloscpack_dtype::DType;
use serde_json::{Map, Value as Json, json};

/// What the rows of a column consist of in a batch, besides the bytes of fixed-length elements.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Cells {
    /// Fixed-length elements, none of them missing. Their bytes say everything.
    #[default]
    Elements,
    /// Fixed-length elements with a flag per row: false where the row is missing. A missing row has bytes, too.
    Present(Vec<bool>),
    /// Values of varying length, one per row; [`Value::Nil`] is a missing one. The column has no bytes.
    Varying(Vec<Value>),
}

impl Cells {
    /// The text of a row for CSV, empty if the row is missing; `None` if the row is in the bytes of the column.
    ///
    /// ```
    /// use bloscpack_array::Cells;
    /// let cells = Cells::Present(vec![true, false]);
    /// assert_eq!((cells.text(0), cells.text(1).as_deref()), (None, Some("")));
    /// ```
    #[must_use]
    pub fn text(&self, row: usize) -> Option<String> {
        match self {
            Self::Elements => None,
            Self::Present(present) => match present.get(row) {
                Some(true) => None,
                _ => Some(String::new()),
            },
            Self::Varying(values) => Some(values.get(row).map(text).unwrap_or_default()),
        }
    }

    /// The JSON value of a row, null if the row is missing; `None` if the row is in the bytes of the column.
    pub fn json(&self, row: usize) -> Option<Json> {
        match self {
            Self::Elements => None,
            Self::Present(present) => match present.get(row) {
                Some(true) => None,
                _ => Some(Json::Null),
            },
            Self::Varying(values) => Some(values.get(row).map_or(Json::Null, value_json)),
        }
    }
}

/// A value as a cell of CSV.
fn text(value: &Value) -> String {
    match value {
        Value::Float(float) => {
            let mut text = String::new();
            DType::F64.write_text(&float.to_le_bytes(), &mut text);
            text
        }
        other => match value_json(other) {
            Json::Null => String::new(),
            Json::String(text) => text,
            json => json.to_string(),
        },
    }
}

/// A MessagePack value as JSON.
///
/// NaN becomes null and an infinity its text. Bytes become a string if they are UTF-8, otherwise `{"hex": "…"}`. A map with
/// keys other than text becomes a list of pairs, and an application's type becomes null.
///
/// ```
/// use bloscpack_array::{msgpack::Value, value_json};
/// use serde_json::json;
/// assert_eq!(value_json(&Value::Bytes(vec![0xff, 0x00])), json!({"hex": "ff00"}));
/// assert_eq!(value_json(&Value::Float(f64::NAN)), json!(null));
/// ```
pub fn value_json(value: &Value) -> Json {
    match value {
        Value::Bool(bool) => (*bool).into(),
        Value::Int(number) => (*number).into(),
        Value::UInt(number) => (*number).into(),
        Value::Float(float) => DType::F64.value(&float.to_le_bytes()),
        Value::Text(text) => text.as_str().into(),
        Value::Bytes(bytes) => match str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => json!({ "hex": hex(bytes) }),
        },
        Value::List(values) => values.iter().map(value_json).collect(),
        Value::Map(pairs) => map(pairs),
        _ => Json::Null,
    }
}

/// An object, or a list of pairs where keys are not text.
fn map(pairs: &[(Value, Value)]) -> Json {
    let named = pairs
        .iter()
        .map(|(key, value)| Some((key.as_text()?.to_owned(), value_json(value))));
    match named.collect::<Option<Map<_, _>>>() {
        Some(object) => Json::Object(object),
        None => pairs
            .iter()
            .map(|(key, value)| json!([value_json(key), value_json(value)]))
            .collect(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
