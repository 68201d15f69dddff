//! JSON spelled byte for byte as Python's `json.dumps` spells it, as in the files of bcolz and BLZ.

use serde_json::{Number, Value};
use std::fmt::Write as _;

/// The JSON text of a value in the spelling of Python's `json.dumps`: separators `", "` and `": "`, all characters outside
/// ASCII escaped, floats as Python's `repr` writes them.
///
/// ```
/// use bloscpack_array::python_json;
/// use serde_json::json;
/// let value = json!({"unit": "\u{b0}C", "range": [-1e-5, 1e16], "ok": null});
/// assert_eq!(python_json(&value), r#"{"unit": "\u00b0C", "range": [-1e-05, 1e+16], "ok": null}"#);
/// ```
#[must_use]
pub fn python_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => text.push_str(&number_text(number)),
        Value::String(string) => write_string(text, string),
        Value::Array(items) => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                write_value(text, item);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (number, (key, value)) in members.iter().enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                write_string(text, key);
                text.push_str(": ");
                write_value(text, value);
            }
            text.push('}');
        }
    }
}

/// Writes a string with its quotes. A character outside the basic plane becomes two escapes, as in UTF-16.
pub fn write_string(text: &mut String, string: &str) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string never fails.
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    text.push('"');
}

fn number_text(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => float_text(float),
        None => number.to_string(),
    }
}

/// The text of Python's `repr`: the fewest digits that identify the number, with an exponent of at least two digits below 1e-4
/// and from 1e16 on.
fn float_text(float: f64) -> String {
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(-4..=15) => format!("{float:?}"),
        Ok(exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        Err(_) => scientific,
    }
}

#[cfg(test)]
mod tests {
    use super::python_json;
    use serde_json::{Value, json};

    /// The results of `json.dumps` in Python 3.11.
    #[test]
    fn values_are_written_as_python_writes_them() {
        let facts: [(Value, &str); 12] = [
            (json!({}), "{}"),
            (json!([]), "[]"),
            (json!([[], {}]), "[[], {}]"),
            (
                json!({"a": [1, 2, null, true], "b": {"c": false}}),
                r#"{"a": [1, 2, null, true], "b": {"c": false}}"#,
            ),
            (json!("\u{e9}\u{20ac}"), r#""\u00e9\u20ac""#),
            (json!("\u{1f600}"), r#""\ud83d\ude00""#),
            (json!("\"\\/\u{8}\u{c}\n\r\t"), r#""\"\\/\b\f\n\r\t""#),
            (
                json!("\0\u{1f} ~\u{7f}\u{80}"),
                r#""\u0000\u001f ~\u007f\u0080""#,
            ),
            (json!(u64::MAX), "18446744073709551615"),
            (json!(i64::MIN), "-9223372036854775808"),
            (json!(1_152_921_504_606_846_976_u64), "1152921504606846976"),
            (json!({"\u{e9}": 0}), r#"{"\u00e9": 0}"#),
        ];
        for (value, expected) in facts {
            assert_eq!(python_json(&value), expected);
        }
    }

    /// The results of `repr` in Python 3.11.
    #[test]
    fn floats_are_written_as_python_writes_them() {
        let facts = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (22.5, "22.5"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (1.5e-4, "0.00015"),
            (1e-5, "1e-05"),
            (-1.5e-300, "-1.5e-300"),
            (5e-324, "5e-324"),
            (1e15, "1000000000000000.0"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (1e16, "1e+16"),
            (1.234e16, "1.234e+16"),
            (1e22, "1e+22"),
            (f64::MAX, "1.7976931348623157e+308"),
            (std::f64::consts::PI, "3.141592653589793"),
        ];
        for (float, expected) in facts {
            assert_eq!(python_json(&json!(float)), expected);
        }
    }
}
