//! `meta/attributes`: the user's attributes, as YAML.

use super::yaml;
use bloscpack_array::json::{shown, wrong_value};
use bloscpack_error::{Code, Error, Result};
use serde_json::{Map, Value};

/// Parses the attributes, in their order. The proposal's attributes with `value`, `type` and `dtype` become maps like any
/// others. YAML's NaN and infinities become strings such as `"NaN"`.
///
/// ```
/// use bloscpack_datasets::{wire::proposal::encode_attributes, wire::proposal::parse_attributes};
/// let text = b"ids:\n  value: [1, 3, 6, 10]\n  type: array\n  dtype: int32\n";
/// let attributes = parse_attributes(text)?;
/// assert_eq!(attributes["ids"]["value"][3], 10);
/// assert_eq!(encode_attributes(&attributes)?, text);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the file is not YAML, or not a map; [`Code::CutShort`] for an empty file; [`Code::Unsupported`] for
/// anchors, aliases, tags, and keys that are not scalars; [`Code::OverLimit`] for more than 16 MiB, a million values, or 127
/// levels.
pub fn parse_attributes(file: &[u8]) -> Result<Map<String, Value>> {
    match yaml::parse(file)? {
        Value::Object(map) => Ok(map),
        other => {
            let found = shown(&other.to_string());
            Err(wrong_value(Code::Metadata, "the file", found, "a map"))
        }
    }
}

/// The bytes of the file for these attributes; `{}` for none.
///
/// # Errors
/// Returns [`Code::CannotStore`] for attributes that could not be read back: with a key of more than a thousand characters,
/// nested too deeply, or too many.
pub fn encode_attributes(attributes: &Map<String, Value>) -> Result<Vec<u8>> {
    let mut text = String::new();
    yaml::write_map(&mut text, attributes, 0);
    if attributes.is_empty() {
        text.push_str("{}\n");
    }
    match parse_attributes(text.as_bytes()) {
        Ok(again) if again == *attributes => Ok(text.into_bytes()),
        Ok(_) => Err(Error::new(
            Code::CannotStore,
            "the attributes would not be the same when read again",
        )),
        Err(error) => Err(Error::new(
            Code::CannotStore,
            format!("the attributes could not be read again: {error}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{encode_attributes, parse_attributes};
    use bloscpack_error::Category;
    use serde_json::{Map, Value, json};

    /// The proposal's own.
    const EXAMPLE: &str = "temperature:
  value: 23.5
  type: scalar
  dtype: float32
pressure:
  value: 225.5
  type: scalar
  dtype: float32
ids:
  value: [1,3,6,10]
  type: array
  dtype: int32
";

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn the_proposals_example_is_read_and_written() {
        let attributes = parse_attributes(EXAMPLE.as_bytes()).unwrap();
        let scalar = |value| json!({"value": value, "type": "scalar", "dtype": "float32"});
        let ids = json!({"value": [1, 3, 6, 10], "type": "array", "dtype": "int32"});
        let expected = json!({"temperature": scalar(23.5), "pressure": scalar(225.5), "ids": ids});
        assert_eq!(Value::Object(attributes.clone()), expected);
        assert!(attributes.keys().eq(["temperature", "pressure", "ids"]));
        let file = encode_attributes(&attributes).unwrap();
        assert_eq!(
            String::from_utf8(file).unwrap(),
            EXAMPLE.replace("1,3,6,10", "1, 3, 6, 10")
        );
    }

    #[test]
    fn no_attributes_are_an_empty_map_and_not_an_empty_file() {
        assert_eq!(encode_attributes(&Map::new()).unwrap(), b"{}\n");
        assert!(parse_attributes(b"{}\n").unwrap().is_empty());
        assert_eq!(
            parse_attributes(b"").unwrap_err().category(),
            Category::CutShort
        );
        assert_eq!(
            parse_attributes(b"[1]").unwrap_err().category(),
            Category::Damaged
        );
    }

    #[test]
    fn unreadable_values_are_not_written() {
        let deep = (0..130).fold(json!(1), |value, _| json!([value]));
        for value in [
            json!({"a": deep}),
            json!({"k".repeat(2000): 1}),
            json!({"a": vec![0; 1 << 21]}),
        ] {
            assert_eq!(
                encode_attributes(&map(value)).unwrap_err().category(),
                Category::Usage
            );
        }
    }
}
