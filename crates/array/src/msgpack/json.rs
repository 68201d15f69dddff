//! [`Value::of_json`] and [`Value::to_json`], with the extensions of Python's `json`.

use super::{Value, error};
use bloscpack_error::{Code, Result};
use serde_json::Value as Json;

/// Numbers that only Python's JSON has, and the string that replaces each while JSON is parsed.
const NUMBERS: [(&str, &str, f64); 3] = [
    ("-Infinity", "\"\\u0001-inf\"", f64::NEG_INFINITY),
    ("Infinity", "\"\\u0001inf\"", f64::INFINITY),
    ("NaN", "\"\\u0001nan\"", f64::NAN),
];
/// The first character of such a string.
const MARK: char = '\u{1}';
/// The first item of a list that was a Python tuple.
const TUPLE: &str = "__tuple__";

impl Value {
    /// Parses JSON, with `NaN`, `Infinity` and `-Infinity` as Python writes them. An object becomes a map with text keys.
    ///
    /// ```
    /// use bloscpack_array::msgpack::Value;
    /// let text = r#"{"unit": "m", "limits": [0.5, -Infinity]}"#;
    /// let value = Value::of_json(text)?;
    /// assert_eq!(value.get("unit"), Some(&Value::Text("m".to_owned())));
    /// assert_eq!(value.to_json().as_deref(), Some(text));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::Value`] for text that is not JSON, and for an integer of more than 64 bits.
    pub fn of_json(text: &str) -> Result<Self> {
        let mut plain = String::with_capacity(text.len());
        for (is_string, part) in split_strings(text) {
            if is_string {
                plain.push_str(part);
                continue;
            }
            let is_in_number = |char: char| char.is_ascii_alphanumeric() || "+-.".contains(char);
            let mut words = part.split(|char| !is_in_number(char));
            if let Some(number) = words.find(|word| is_long(word)) {
                let what = format_args!("{number} has more than 64 bits");
                return Err(error(Code::Value, what));
            }
            // The replacements are in lower case, so they do not contain a later name.
            let replaced = NUMBERS
                .iter()
                .fold(part.to_owned(), |part, (name, mark, _)| {
                    part.replace(name, mark)
                });
            plain.push_str(&replaced);
        }
        let json = serde_json::from_str(&plain);
        json.map(of)
            .map_err(|why| error(Code::Value, format_args!("not JSON: {why}")))
    }

    /// The value as JSON, with `NaN`, `Infinity` and `-Infinity` as Python writes them. `None` if the value contains bytes, an
    /// application's type, or a map with keys other than text. A Python tuple becomes a list.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        let mut text = String::new();
        write(self, &mut text)?;
        Some(text)
    }
}

/// Whether a word is an integer of more than 64 bits.
fn is_long(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_integer && word.parse::<i64>().is_err() && word.parse::<u64>().is_err()
}

fn of(json: Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::UInt(number),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => match text.strip_prefix(MARK).map(str::parse) {
            Some(Ok(float)) => Value::Float(float),
            _ => Value::Text(text),
        },
        Json::Array(values) => Value::List(values.into_iter().map(of).collect()),
        Json::Object(members) => {
            let pairs = members.into_iter();
            Value::Map(
                pairs
                    .map(|(key, value)| (Value::Text(key), of(value)))
                    .collect(),
            )
        }
    }
}

fn write(value: &Value, out: &mut String) -> Option<()> {
    match value {
        Value::Float(float) if !float.is_finite() => {
            let found = NUMBERS.iter().find(|(.., number)| number == float);
            // NaN does not equal itself.
            out.push_str(found.map_or("NaN", |(name, ..)| name));
        }
        Value::Nil => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::UInt(number) => out.push_str(&number.to_string()),
        Value::Float(float) => out.push_str(&Json::from(*float).to_string()),
        Value::Text(text) => out.push_str(&Json::from(text.as_str()).to_string()),
        Value::List(values) => {
            let is_tuple = values.first().and_then(Value::as_text) == Some(TUPLE);
            out.push('[');
            for (at, value) in values.iter().skip(usize::from(is_tuple)).enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write(value, out)?;
            }
            out.push(']');
        }
        Value::Map(pairs) => {
            out.push('{');
            for (at, (key, value)) in pairs.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&Json::from(key.as_text()?).to_string());
                out.push_str(": ");
                write(value, out)?;
            }
            out.push('}');
        }
        Value::Bytes(_) | Value::Ext(..) => return None,
    }
    Some(())
}

/// Splits JSON text into parts, each with a flag: true inside quotes.
pub fn split_strings(text: &str) -> Vec<(bool, &str)> {
    let (mut parts, mut rest, mut inside) = (Vec::new(), text, false);
    while let Some(quote) = next_quote(rest, inside) {
        let (part, after) = rest.split_at(quote + 1);
        parts.push((inside, part));
        (rest, inside) = (after, !inside);
    }
    parts.push((inside, rest));
    parts
}

/// The next quote that is not escaped.
fn next_quote(text: &str, inside: bool) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let is_quote = byte == b'"' && !escaped;
        escaped = inside && byte == b'\\' && !escaped;
        is_quote
    })
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn json_comes_back() {
        let text = r#"{"a": [1, -2.5, 18446744073709551615, -9223372036854775808], "NaN \" x": "Infinity", "e": {}, "n": [null, true, [], NaN, Infinity, -Infinity, 1e+300]}"#;
        let value = Value::of_json(text).unwrap();
        assert_eq!(value.to_json().unwrap(), text);
        let mut bytes = Vec::new();
        value.encode(&mut bytes).unwrap();
        assert_eq!(Value::decode(&bytes).unwrap().to_json(), value.to_json());
    }

    #[test]
    fn what_one_of_the_two_does_not_express_is_refused() {
        for text in [
            "18446744073709551616",
            "[-9223372036854775809]",
            "{",
            "nan",
            "",
        ] {
            assert!(Value::of_json(text).is_err(), "{text}");
        }
        let text = |text: &str| Value::Text(text.to_owned());
        for value in [
            Value::Bytes(vec![1]),
            Value::Ext(1, vec![1]),
            Value::Map(vec![(Value::Int(1), Value::Nil)]),
            Value::List(vec![Value::Bytes(vec![])]),
        ] {
            assert_eq!(value.to_json(), None, "{value:?}");
        }
        let tuple = Value::List(vec![text("__tuple__"), Value::Int(1)]);
        assert_eq!(tuple.to_json().as_deref(), Some("[1]"));
    }
}
