//! [`Cells`]: what rows are apart from elements of a fixed length.

use crate::msgpack::Value;
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use serde_json::{Map, Value as Json, json};

/// The form of the rows of a column in a batch.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Cells {
    /// Elements, all of which are there: their bytes are all there is to know.
    #[default]
    Elements,
    /// Elements, of which those are missing where this is false.
    Present(Vec<bool>),
    /// Values of varying length; nil is a missing one. The column has no bytes.
    Varying(Vec<Value>),
}

impl Cells {
    /// The text of a row, empty if it is missing; `None` for one that is bytes.
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

    /// The same as JSON.
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

/// A value as JSON, which has no NaN and no bytes.
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

/// The dtype that stands for values of varying length: it has no bytes.
pub fn no_bytes() -> Result<DType> {
    Ok(DType::void(0)?)
}
