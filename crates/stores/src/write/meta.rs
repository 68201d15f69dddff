//! `_meta.b2f`: the frame that describes a table.
//!
//! ```text
//!  vlmetalayers, each a MessagePack value:
//!    kind          "ctable"
//!    version       1
//!    schema        the schema, JSON as text
//!    value_epoch   a counter of changes; written when rows are added
//!    index_catalog {}; written when rows are added to a table with indexes
//! ```

use crate::META;
use crate::error::damaged;
use crate::table::{ATTRIBUTES, Nulls, StoreColumn};
use bloscpack::Options;
use bloscpack_array::msgpack::Value;
use bloscpack_error::Result;
use bloscpack_frames::Frame;
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};

/// The chunk size of a frame without chunks. python-blosc2 uses the same.
const CHUNK: u32 = 1 << 24;
/// The versions of a schema without and with null masks.
const PLAIN: u64 = 1;
const MASKED: u64 = 3;
/// Numbers that only the JSON of Python has, and the strings that replace them while the JSON is parsed.
const NUMBERS: [(&str, &str); 3] = [
    ("-Infinity", "\"\\u0001-Infinity\""),
    ("Infinity", "\"\\u0001Infinity\""),
    ("NaN", "\"\\u0001NaN\""),
];

/// The file that describes the table in this folder.
fn path(folder: &Path) -> PathBuf {
    folder.join(format!("{META}.b2f"))
}

/// A value as the bytes of a metalayer.
pub(super) fn layer(value: &Value) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    value.encode(&mut bytes)?;
    Ok(bytes)
}

/// Writes the description of a new table, and the user's attributes if there are any.
pub(super) fn create(
    folder: &Path,
    columns: &[StoreColumn],
    rows: u64,
    attributes: &[(String, Value)],
) -> Result<()> {
    write_attributes(folder, ATTRIBUTES, attributes)?;
    let has_masks = columns.iter().any(|column| column.nulls == Nulls::Mask);
    let schema = json!({
        "version": if has_masks { MASKED } else { PLAIN },
        "columns": columns.iter().map(StoreColumn::to_json).collect::<Vec<_>>(),
        "n_rows": rows,
        "summary_indexes_built": false,
    });
    let frame = Frame::builder(1, CHUNK)
        .vlmetalayer("kind", &layer(&Value::Text("ctable".to_owned()))?)?
        .vlmetalayer("version", &layer(&Value::Int(1))?)?
        .vlmetalayer("schema", &layer(&Value::Text(schema.to_string()))?)?;
    frame.create(path(folder)).map(drop)
}

/// Writes the frame of this name with the user's attributes, if there are any.
pub(super) fn write_attributes(
    folder: &Path,
    name: &str,
    attributes: &[(String, Value)],
) -> Result<()> {
    if attributes.is_empty() {
        return Ok(());
    }
    let mut frame = Frame::builder(1, CHUNK);
    for (name, value) in attributes {
        frame = frame.vlmetalayer(name, &layer(value)?)?;
    }
    frame.create(folder.join(format!("{name}.b2f"))).map(drop)
}

/// Updates the description of a table to this number of rows. The catalogue of indexes is emptied; python-blosc2 makes its
/// summaries again when it next closes the table.
pub(super) fn update(folder: &Path, rows: u64, options: &Options) -> Result<()> {
    let path = path(folder);
    let mut frame = Frame::edit_with(&path, options)?;
    let read = |name: &str| -> Result<Option<Value>> {
        let bytes = frame.vlmetalayer(name)?;
        let value = bytes.map(|bytes| Value::decode(&bytes)).transpose();
        value.map_err(|error| error.in_part(META))
    };
    let epoch = read("value_epoch")?.as_ref().and_then(Value::as_count);
    let has_indexes = read("index_catalog")?.is_some();
    let schema = match read("schema")? {
        Some(Value::Text(text)) => with_rows(&text, rows)?,
        _ => return Err(damaged(META, "no schema")),
    };
    frame.set_vlmetalayer("schema", &layer(&Value::Text(schema))?)?;
    if has_indexes {
        frame.set_vlmetalayer("index_catalog", &layer(&Value::Map(Vec::new()))?)?;
    }
    let epoch = i64::try_from(epoch.unwrap_or(0))
        .ok()
        .and_then(|epoch| epoch.checked_add(1));
    frame.set_vlmetalayer("value_epoch", &layer(&Value::Int(epoch.unwrap_or(1)))?)?;
    frame.flush()
}

/// A schema with another number of rows and without summary indexes. Everything else keeps its spelling.
fn with_rows(text: &str, rows: u64) -> Result<String> {
    let mut plain = String::with_capacity(text.len());
    for (is_string, part) in bloscpack_array::msgpack::split_strings(text) {
        let mut part = part.to_owned();
        if !is_string {
            part = NUMBERS.iter().fold(part, |part, (number, instead)| {
                // A number that was replaced before is within quotes, after another character.
                replace_bare(&part, number, instead)
            });
        }
        plain.push_str(&part);
    }
    let schema: std::result::Result<Map<String, Json>, _> = serde_json::from_str(&plain);
    let mut schema = schema.map_err(|error| damaged(META, error))?;
    schema.insert("n_rows".to_owned(), rows.into());
    schema.insert("summary_indexes_built".to_owned(), false.into());
    let text = Json::Object(schema).to_string();
    let back = |text: String, (number, instead): &(&str, &str)| text.replace(instead, number);
    Ok(NUMBERS.iter().fold(text, back))
}

/// Replaces a number of Python, unless it is part of a string that replaced another one.
fn replace_bare(text: &str, number: &str, instead: &str) -> String {
    let mut parts = text.split(number);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_part = all.ends_with(['-', '1']);
        all.push_str(if is_part { number } else { instead });
        all.push_str(part);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::with_rows;

    #[test]
    fn only_the_number_of_rows_changes() {
        let text = r#"{"version":1,"columns":[{"null_value":NaN,"default":-Infinity,"label":"NaN \" Infinity"}],"n_rows":3,"x":[Infinity,18446744073709551615,0.1]}"#;
        let expected = r#"{"version":1,"columns":[{"null_value":NaN,"default":-Infinity,"label":"NaN \" Infinity"}],"n_rows":7,"x":[Infinity,18446744073709551615,0.1],"summary_indexes_built":false}"#;
        assert_eq!(with_rows(text, 7).unwrap(), expected);
    }
}
