//! [`Object`]: a JSON object in a small file. Values are found in the text, without building a tree.

use super::error::{TextPosition, empty, shown, too_long, wrong_value};
use bloscpack_error::{Code, Error, Result};
use bloscpack_wire::internal::{Member, Members, json, to_u64};
use std::fmt::Display;

/// Keys that the message about a missing one lists.
const LISTED_KEYS: usize = 8;

/// A JSON object in the text of a file: the outermost one, or one inside it.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    file: &'a str,
    /// The position of its first byte in the file.
    at: usize,
    text: &'a str,
}

/// The value of a key.
pub struct Field<'a> {
    name: &'static str,
    object: Object<'a>,
    /// The position of its first byte in the object.
    at: usize,
    pub text: &'a str,
}

impl<'a> Object<'a> {
    /// Parses a file of at most `max` bytes.
    ///
    /// # Errors
    /// Returns [`Code::OverLimit`] for a longer file, [`Code::CutShort`] for an empty or truncated one, and [`Code::Metadata`]
    /// for text that is not JSON, or not an object.
    pub fn parse(file: &'a [u8], max: usize) -> Result<Self> {
        if file.len() > max {
            return Err(too_long("file", to_u64(file.len()), to_u64(max)));
        }
        let text = std::str::from_utf8(file).map_err(|error| not_json(&error))?;
        if text.trim_ascii().is_empty() {
            return Err(empty("a JSON object"));
        }
        json::check(file).map_err(|error| {
            if error.is_eof() {
                Error::new(Code::CutShort, format!("cut short: {error}"))
            } else {
                not_json(&error)
            }
        })?;
        if !text.trim_ascii_start().starts_with('{') {
            let found = shown(text.trim_ascii());
            return Err(wrong_value(
                Code::Metadata,
                "the file",
                found,
                "a JSON object",
            ));
        }
        let (file, at) = (text, 0);
        Ok(Self { file, at, text })
    }

    /// The value of a key. If the key occurs several times, the last value counts, as in Python.
    pub fn find(self, name: &'static str) -> Option<Field<'a>> {
        let value = self.members().filter(|m| m.is(name)).last()?.value;
        Some(Field {
            name,
            object: self,
            at: value.start,
            text: self.text.get(value)?,
        })
    }

    /// The value of a required key.
    ///
    /// # Errors
    /// Returns [`Code::Metadata`] with the keys that the object has.
    pub fn need(self, name: &'static str) -> Result<Field<'a>> {
        self.find(name)
            .ok_or_else(|| self.missing(&format!("\"{name}\"")))
    }

    /// The error for a missing key, or for a missing choice of several keys.
    pub fn missing(self, key: &str) -> Error {
        let found = self.members().take(LISTED_KEYS).map(|m| shown(m.key));
        let found: Vec<_> = found.collect();
        let found = if found.is_empty() {
            String::new()
        } else {
            format!(" (found: {})", found.join(", "))
        };
        Error::new(Code::Metadata, format!("{key} is missing{found}"))
    }

    pub fn members(self) -> impl Iterator<Item = Member<'a>> {
        Members::of(self.text)
    }

    pub fn text(self) -> &'a str {
        self.text
    }
}

fn not_json(error: &dyn Display) -> Error {
    Error::new(Code::Metadata, format!("not JSON: {error}"))
}

impl<'a> Field<'a> {
    /// The value as an object.
    pub fn object(&self) -> Result<Object<'a>> {
        if self.text.starts_with('{') {
            Ok(Object {
                file: self.object.file,
                at: self.object.at + self.at,
                text: self.text,
            })
        } else {
            Err(self.wrong("an object"))
        }
    }

    /// The value as an integer, 0 or more.
    pub fn unsigned(&self) -> Result<u64> {
        let number = self.text.parse();
        number.map_err(|_| self.wrong("an integer, 0 or more"))
    }

    /// The value as an integer with a sign.
    pub fn signed(&self) -> Result<i64> {
        let number = self.text.parse();
        number.map_err(|_| self.wrong("an integer"))
    }

    /// The value as a string.
    pub fn string(&self) -> Result<String> {
        serde_json::from_str(self.text).map_err(|_| self.wrong("a string"))
    }

    /// The error for an invalid value, with its line and column.
    pub fn wrong(&self, expected: &str) -> Error {
        let position = TextPosition::of(self.object.file, self.object.at + self.at);
        let name = format!("\"{}\" ({position})", self.name);
        wrong_value(Code::Metadata, name, shown(self.text), expected)
    }
}

#[cfg(test)]
mod tests {
    use super::Object;
    use bloscpack_error::Category;

    fn refused(text: &[u8]) -> (Category, String) {
        let error = Object::parse(text, 1 << 20).err().unwrap();
        (error.category(), error.to_string())
    }

    #[test]
    fn a_file_that_its_writer_did_not_finish_is_cut_short() {
        for text in ["", "\n", r#"{"shape": [10"#, r#"{"shape": [10], "nb"#] {
            assert_eq!(refused(text.as_bytes()).0, Category::CutShort, "{text}");
        }
        assert!(refused(b"{\"shape\": [10").1.contains("line 1 column 13"));
    }

    #[test]
    fn a_file_without_an_object_is_damaged() {
        let texts: [&[u8]; 7] = [
            b"[1]",
            b"1",
            b"NaN",
            b"{} {}",
            b"{,}",
            b"{\"a\": \"\xff\"}",
            b"\0\0\0",
        ];
        for text in texts {
            assert_eq!(refused(text).0, Category::Damaged, "{text:?}");
        }
    }

    #[test]
    fn nesting_and_length_are_bounded() {
        let deep = format!("{{\"a\": {}", "[".repeat(1 << 19));
        assert_eq!(refused(deep.as_bytes()).0, Category::Damaged);
        assert_eq!(refused(&vec![b' '; 2 << 20]).0, Category::OverLimit);
    }

    #[test]
    fn errors_lead_to_the_place() {
        let text = "{\n \"a\": {\"\u{e9}\": 1, \"b\": \"x\"}}";
        let object = Object::parse(text.as_bytes(), 100).unwrap();
        let inner = object.need("a").unwrap().object().unwrap();
        let error = inner.need("b").unwrap().unsigned().unwrap_err().to_string();
        assert!(
            error.starts_with(r#""b" (line 2, column 21) is "x", should"#),
            "{error}"
        );
        let error = inner.need("c").err().unwrap().to_string();
        assert_eq!(error, "\"c\" is missing (found: \"\u{e9}\", \"b\")");
    }

    #[test]
    fn of_a_key_that_occurs_twice_the_last_value_counts() {
        let object = Object::parse(br#"{"a": 1, "\u0061": 2}"#, 100).unwrap();
        assert_eq!(object.need("a").unwrap().unsigned().unwrap(), 2);
    }
}
