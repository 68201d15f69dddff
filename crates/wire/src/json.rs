//! JSON as Python writes it: with `NaN`, `Infinity` and `-Infinity`.
//!
//! As values they are strings of these names, not null, which has a meaning of its own.

use serde_core::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::string::FromUtf8Error;

/// The numbers that only Python writes. `-Infinity` comes before `Infinity`, so that no sign is
/// left over.
const PYTHON_ONLY: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];

/// Parses JSON. The three numbers that only Python writes become strings of their names, as do
/// numbers beyond the floats, which Python reads as infinite.
///
/// Nesting deeper than 128 is an error. If a key occurs twice, the last value counts.
pub fn parse(text: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(text).or_else(|error| match with_named_numbers(text, is_beyond_floats) {
        Some(plain) => serde_json::from_slice(&plain),
        None => Err(error),
    })
}

/// Whether [`parse`] will succeed, without building a value.
pub fn check(text: &[u8]) -> Result<(), serde_json::Error> {
    let check = |text: &[u8]| serde_json::from_slice::<Sound>(text).map(|_| ());
    check(text).or_else(|error| match with_named_numbers(text, is_beyond_floats) {
        Some(plain) => check(&plain),
        None => Err(error),
    })
}

/// Any JSON value, parsed by the same rules as [`Value`] but not kept.
struct Sound;

impl<'de> Deserialize<'de> for Sound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Sound {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

/// The text with the names in quotes in place of the numbers that only Python writes. All other
/// numbers keep their digits, even those that are too large for a float.
///
/// # Errors
/// Returns no error: only ASCII is replaced.
pub fn plain(text: &str) -> Result<String, FromUtf8Error> {
    match with_named_numbers(text.as_bytes(), |_| false) {
        Some(plain) => String::from_utf8(plain),
        None => Ok(text.to_owned()),
    }
}

/// The text with quotes around the numbers that only Python writes, and with such names in place of
/// numbers that are `infinite`; `None` if there are none.
fn with_named_numbers(text: &[u8], infinite: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    // `NaN` grows by two thirds.
    let mut plain = Vec::with_capacity(text.len() + text.len() / 3 * 2);
    let (mut rest, mut in_string) = (text, false);
    let mut replaced = false;
    while let Some((&byte, after)) = rest.split_first() {
        let mut words = PYTHON_ONLY.into_iter();
        if !in_string
            && let Some((word, after)) =
                words.find_map(|word| Some((word, rest.strip_prefix(word)?)))
        {
            push_name(&mut plain, word);
            replaced = true;
            rest = after;
            continue;
        }
        // A number is copied as a whole: looking at each digit with all that follow would be
        // quadratic.
        if !in_string && let Some((number, after)) = split_number(rest) {
            if infinite(number) {
                let is_negative = number.starts_with(b"-");
                push_name(
                    &mut plain,
                    if is_negative {
                        b"-Infinity"
                    } else {
                        b"Infinity"
                    },
                );
                replaced = true;
            } else {
                plain.extend_from_slice(number);
            }
            rest = after;
            continue;
        }
        plain.push(byte);
        rest = after;
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string && let Some((escaped, after)) = rest.split_first() => {
                plain.push(*escaped);
                rest = after;
            }
            _ => {}
        }
    }
    replaced.then_some(plain)
}

/// Appends a name in quotes.
fn push_name(text: &mut Vec<u8>, name: &[u8]) {
    text.push(b'"');
    text.extend_from_slice(name);
    text.push(b'"');
}

/// The number at the beginning of the text, and the rest; `None` if it does not begin with one.
fn split_number(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let digit_at = usize::from(text.first() == Some(&b'-'));
    text.get(digit_at).filter(|byte| byte.is_ascii_digit())?;
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    text.split_at_checked(text.iter().take_while(|byte| is_part(byte)).count())
}

/// Whether the number is too large for a float, and so infinite to Python.
fn is_beyond_floats(number: &[u8]) -> bool {
    let number = std::str::from_utf8(number).ok();
    number
        .and_then(|number| number.parse().ok())
        .is_some_and(f64::is_infinite)
}

#[cfg(test)]
mod tests {
    use super::{parse, plain};
    use serde_json::json;

    #[test]
    fn plain_text_keeps_all_digits() {
        let text = r#"{"NaN \" NaN": [1e400, -Infinity, NaN, Infinity, -1.50, "ä"]}"#;
        let expected = r#"{"NaN \" NaN": [1e400, "-Infinity", "NaN", "Infinity", -1.50, "ä"]}"#;
        assert_eq!(plain(text).unwrap(), expected);
        assert_eq!(plain(expected).unwrap(), expected);
    }

    #[test]
    fn numbers_that_only_python_knows_are_named() {
        let text = br#"{"a": NaN, "b": [-Infinity, Infinity, -1.5], "c": "NaN \" -Infinity\\"}"#;
        let value =
            json!({"a": "NaN", "b": ["-Infinity", "Infinity", -1.5], "c": "NaN \" -Infinity\\"});
        assert_eq!(parse(text).unwrap(), value);
    }

    #[test]
    fn numbers_that_no_float_holds_are_infinite() {
        let text = br#"{"a": 1e400, "b": [-2.5E+999, 12345678901234567890123], "c": "1e400", "d": 1e-400}"#;
        let value = parse(text).unwrap();
        assert_eq!(
            (&value["a"], &value["b"][0]),
            (&json!("Infinity"), &json!("-Infinity"))
        );
        assert_eq!((&value["c"], &value["d"]), (&json!("1e400"), &json!(0.0)));
        assert!(value["b"][1].as_f64().unwrap() > 1e22);
    }

    #[test]
    fn digits_after_the_point_are_not_a_number_of_their_own() {
        let digits = "9".repeat(400);
        let text = format!("{{\"a\": 0.{digits}, \"b\": NaN, \"c\": {digits}}}");
        assert_eq!(
            parse(text.as_bytes()).unwrap(),
            json!({"a": 1.0, "b": "NaN", "c": "Infinity"})
        );
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
