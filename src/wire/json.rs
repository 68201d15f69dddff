//! JSON as Python writes it: with `NaN`, `Infinity` and `-Infinity`.

use serde_json::Value;

/// The longest first, so that a sign is not left behind.
const PYTHON_ONLY: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];

/// Parses JSON; the three numbers that only Python knows become `null`.
///
/// Nesting deeper than 128 is an error, and of a key that occurs twice the last value counts.
pub(super) fn parse(text: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(text).or_else(|error| match without_python_numbers(text) {
        Some(plain) => serde_json::from_slice(&plain),
        None => Err(error),
    })
}

/// The text with `null` for each such number, or nothing if there is none.
fn without_python_numbers(text: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let (mut rest, mut in_string) = (text, false);
    let mut replaced = false;
    while let Some((&byte, after)) = rest.split_first() {
        if !in_string && let Some(word) = PYTHON_ONLY.iter().find(|word| rest.starts_with(word)) {
            plain.extend_from_slice(b"null");
            replaced = true;
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        plain.push(byte);
        rest = after;
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                plain.extend(rest.first());
                rest = rest.get(1..).unwrap_or_default();
            }
            _ => {}
        }
    }
    replaced.then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use serde_json::json;

    #[test]
    fn numbers_that_only_python_knows_are_null() {
        let text = br#"{"a": NaN, "b": [-Infinity, Infinity, -1.5], "c": "NaN \" -Infinity\\"}"#;
        let value = json!({"a": null, "b": [null, null, -1.5], "c": "NaN \" -Infinity\\"});
        assert_eq!(parse(text).unwrap(), value);
    }

    #[test]
    fn what_is_not_json_even_for_python_is_refused() {
        for text in ["", "{", "nan", "[NaN", "{\"a\": Infinit}", "{} x", "NaNNaN"] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_stack_overflow() {
        let text = "[".repeat(1 << 20);
        assert!(parse(text.as_bytes()).is_err());
    }
}
