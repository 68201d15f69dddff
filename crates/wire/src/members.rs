//! The members of a JSON object, found in its text without building a value.
//!
//! Metadata can be 64 MiB long, while the description of an array is one line of it. And when one
//! value is changed, the bytes of all others must stay the same.

use std::ops::Range;

/// Iterates over the members of the object that a text contains; a text with another value has
/// none.
///
/// The text must be valid JSON (including the numbers that only Python writes), as in
/// [`Metadata`](crate::Metadata).
pub struct Members<'a> {
    text: &'a str,
    at: usize,
}

/// One key and its value, as parts of the text.
pub struct Member<'a> {
    /// The key with its quotes and escapes.
    pub key: &'a str,
    /// The text of the value.
    pub text: &'a str,
    /// The byte range of the value in the whole text.
    pub value: Range<usize>,
}

impl Member<'_> {
    /// Whether the key is `name`, however it is escaped.
    pub fn is(&self, name: &str) -> bool {
        let plain = self.key.strip_prefix('"').and_then(|k| k.strip_suffix('"'));
        plain == Some(name)
            || (self.key.contains('\\')
                && serde_json::from_str::<String>(self.key).is_ok_and(|key| key == name))
    }
}

impl<'a> Members<'a> {
    /// The members of the object in this text.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        let start = skip_space(text.as_bytes(), 0);
        let at = match text.as_bytes().get(start) {
            Some(b'{') => start + 1,
            _ => text.len(),
        };
        Self { text, at }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        let bytes = self.text.as_bytes();
        let mut key = skip_space(bytes, self.at);
        if bytes.get(key) == Some(&b',') {
            key = skip_space(bytes, key + 1);
        }
        if bytes.get(key) != Some(&b'"') {
            return None;
        }
        let key_end = string_end(bytes, key);
        let colon = skip_space(bytes, key_end);
        let value = skip_space(bytes, colon + 1);
        self.at = value_end(bytes, value);
        let written = self.text.get(value..self.at)?.trim_ascii_end();
        Some(Member {
            key: self.text.get(key..key_end)?,
            text: written,
            value: value..value + written.len(),
        })
    }
}

/// The text with another value for this key, and no other byte changed; `None` if there is no such
/// key.
///
/// If the key occurs twice, both values are replaced, so that every reader finds the new one.
pub fn with_value(text: &str, key: &str, value: &str) -> Option<String> {
    with_values(text, |member| member.is(key).then_some(value))
}

/// [`with_value`] for every member for which `value_of` returns a value.
pub fn with_values<'v>(
    text: &str,
    value_of: impl Fn(&Member<'_>) -> Option<&'v str>,
) -> Option<String> {
    let (mut renewed, mut done) = (String::with_capacity(text.len()), 0);
    for member in Members::of(text) {
        let Some(value) = value_of(&member) else {
            continue;
        };
        renewed.push_str(text.get(done..member.value.start)?);
        renewed.push_str(value);
        done = member.value.end;
    }
    renewed.push_str(text.get(done..)?);
    (done > 0).then_some(renewed)
}

/// The position of the first byte from `at` that is not white space.
fn skip_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.iter().skip(at);
    at + rest.take_while(|b| b.is_ascii_whitespace()).count()
}

/// The position after the string whose opening quote is at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    loop {
        at += match bytes.get(at) {
            Some(b'\\') => 2,
            Some(b'"') => return at + 1,
            Some(_) => 1,
            None => return at,
        };
    }
}

/// The position of the comma or bracket after the value that begins at `at`.
fn value_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b',' | b']' | b'}' if depth == 0 => break,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::Members;

    fn found(text: &str) -> Vec<(&str, &str)> {
        Members::of(text)
            .map(|member| (member.key, member.text))
            .collect()
    }

    #[test]
    fn members_are_those_of_the_outermost_object() {
        let text = r#" { "a" : {"b": [1, {"c": "}"}], "d": "\"]"} , "e\"":NaN,
            "f": [[], "," ], "g": -Infinity	,"h":"x" } "#;
        assert_eq!(
            found(text),
            [
                (r#""a""#, r#"{"b": [1, {"c": "}"}], "d": "\"]"}"#),
                (r#""e\"""#, "NaN"),
                (r#""f""#, r#"[[], "," ]"#),
                (r#""g""#, "-Infinity"),
                (r#""h""#, r#""x""#),
            ]
        );
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        for text in ["{}", " { } ", "[]", r#"["a", {"b": 1}]"#, "1", r#""{""#, ""] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn keys_are_the_same_however_they_are_escaped() {
        let is = |text: &'static str, name: &str| Members::of(text).next().unwrap().is(name);
        assert!(is(r#"{"shape": 1}"#, "shape"));
        assert!(is(r#"{"\u0073hap\u0065": 1}"#, "shape"));
        assert!(is(r#"{"\"": 1}"#, "\""));
        for other in [
            r#"{"shape ": 1}"#,
            r#"{"Shape": 1}"#,
            r#"{"\\u0073hape": 1}"#,
        ] {
            assert!(!is(other, "shape"), "{other}");
        }
    }
}
