//! `_meta`: what a table says of itself.

use crate::META;
use crate::error::damaged;
use crate::table::{ATTRIBUTES, StoreColumn};
use bloscpack::Options;
use bloscpack_array::msgpack::Value;
use bloscpack_error::Result;
use bloscpack_frames::Frame;
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};

/// The chunk size that python-blosc2 gives to a frame without chunks.
const CHUNK: u32 = 1 << 24;
/// Versions of a schema, without and with null masks.
const PLAIN: u64 = 1;
const MASKED: u64 = 3;
/// Numbers that only Python's JSON has, and the text that stands for each while others read it.
const NUMBERS: [(&str, &str); 3] = [
    ("-Infinity", "\"\\u0001-Infinity\""),
    ("Infinity", "\"\\u0001Infinity\""),
    ("NaN", "\"\\u0001NaN\""),
];

fn path(folder: &Path) -> PathBuf {
    folder.join(format!("{META}.b2f"))
}

/// A value as the bytes of a metalayer.
pub(super) fn layer(value: &Value) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    value.encode(&mut bytes)?;
    Ok(bytes)
}

/// Describes a new table.
pub(super) fn create(
    folder: &Path,
    columns: &[StoreColumn],
    rows: u64,
    attributes: &[(String, Value)],
) -> Result<()> {
    if !attributes.is_empty() {
        let mut frame = Frame::builder(1, CHUNK);
        for (name, value) in attributes {
            frame = frame.vlmetalayer(name, &layer(value)?)?;
        }
        frame.create(folder.join(format!("{ATTRIBUTES}.b2f")))?;
    }
    let has_masks = columns.iter().any(|column| column.nullable);
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

/// Describes a table that has so many rows now. Indexes are forgotten, and python-blosc2 makes those anew that it makes by itself.
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

/// A schema with another number of rows, and without indexes. All else stays as it is.
fn with_rows(text: &str, rows: u64) -> Result<String> {
    let mut plain = String::with_capacity(text.len());
    for (is_string, part) in bloscpack_array::msgpack::split_strings(text) {
        let mut part = part.to_owned();
        if !is_string {
            part = NUMBERS.iter().fold(part, |part, (number, instead)| {
                // A part that was replaced already is within quotes, and begins with another character.
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

/// Replaces a number of Python, unless it is part of what was replaced before.
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
