//! The JSON object that a small file is, found in its text without building its value.

use super::error::{MetaError, place, shown};
use bloscpack_wire::{
    json,
    members::{Member, Members},
};
use std::fmt::Display;

/// An object in the text of a file: the file's own, or one inside of it.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    file: &'a str,
    /// Where in the file it begins.
    at: usize,
    text: &'a str,
}

/// The value of a key.
pub(super) struct Field<'a> {
    name: &'static str,
    object: Object<'a>,
    /// Where in the object it begins.
    at: usize,
    pub text: &'a str,
}

impl<'a> Object<'a> {
    /// Takes a file of at most `max` bytes: more would be no file of this kind.
    pub fn parse(file: &'a [u8], max: usize) -> Result<Self, MetaError> {
        if file.len() > max {
            let found = file.len();
            return Err(MetaError::over_limit(format!(
                "it has {found} bytes, over the limit of {max}"
            )));
        }
        let not_json = |error: &dyn Display| MetaError::damaged(format!("not JSON: {error}"));
        let text = std::str::from_utf8(file).map_err(|error| not_json(&error))?;
        if text.trim_ascii().is_empty() {
            return Err(MetaError::cut_short(
                "it is empty, should be a JSON object: perhaps its writer was interrupted",
            ));
        }
        json::check(file).map_err(|error| match error.is_eof() {
            true => MetaError::cut_short(format!("cut short: {error}")),
            false => not_json(&error),
        })?;
        if !text.trim_ascii_start().starts_with('{') {
            let found = shown(text.trim_ascii());
            return Err(MetaError::damaged(format!(
                "it is {found}, should be a JSON object"
            )));
        }
        let (file, at) = (text, 0);
        Ok(Self { file, at, text })
    }

    /// The value of this key, the last one if there are several, as in Python.
    pub fn find(self, name: &'static str) -> Option<Field<'a>> {
        let value = self.members().filter(|m| m.is(name)).last()?.value;
        Some(Field {
            name,
            object: self,
            at: value.start,
            text: self.text.get(value)?,
        })
    }

    /// The value of a key that has to be there.
    pub fn need(self, name: &'static str) -> Result<Field<'a>, MetaError> {
        self.find(name)
            .ok_or_else(|| self.missing(&format!("\"{name}\"")))
    }

    /// That something is not there.
    pub fn missing(self, what: &str) -> MetaError {
        let keys: Vec<_> = self.members().take(8).map(|m| shown(m.key)).collect();
        let keys = keys.join(", ");
        MetaError::damaged(format!("{what} is missing; the keys are {keys}"))
    }

    pub fn members(self) -> impl Iterator<Item = Member<'a>> {
        Members::of(self.text)
    }

    pub fn text(self) -> &'a str {
        self.text
    }
}

impl<'a> Field<'a> {
    /// The object that the value is.
    pub fn object(&self) -> Result<Object<'a>, MetaError> {
        match self.text.starts_with('{') {
            true => Ok(Object {
                file: self.object.file,
                at: self.object.at + self.at,
                text: self.text,
            }),
            false => Err(self.wrong("an object")),
        }
    }

    /// The whole number, 0 or more, that the value is.
    pub fn whole(&self) -> Result<u64, MetaError> {
        let number = self.text.parse();
        number.map_err(|_| self.wrong("a whole number, 0 or more"))
    }

    /// The whole number with a sign that the value is.
    pub fn signed(&self) -> Result<i64, MetaError> {
        let number = self.text.parse();
        number.map_err(|_| self.wrong("a whole number"))
    }

    pub fn string(&self) -> Result<String, MetaError> {
        serde_json::from_str(self.text).map_err(|_| self.wrong("a string"))
    }

    /// That the value is not what it should be.
    pub fn wrong(&self, expected: &str) -> MetaError {
        let (name, found) = (self.name, shown(self.text));
        let place = place(self.object.file, self.object.at + self.at);
        MetaError::damaged(format!(
            "\"{name}\" ({place}) is {found}, should be {expected}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::Object;
    use blosc1::Fault;

    fn refused(text: &[u8]) -> (Fault, String) {
        let error = Object::parse(text, 1 << 20).err().unwrap();
        (error.fault(), error.to_string())
    }

    #[test]
    fn a_file_that_its_writer_did_not_finish_is_cut_short() {
        for text in ["", "\n", r#"{"shape": [10"#, r#"{"shape": [10], "nb"#] {
            assert_eq!(refused(text.as_bytes()).0, Fault::CutShort, "{text}");
        }
        assert!(refused(b"{\"shape\": [10").1.contains("line 1 column 13"));
    }

    #[test]
    fn what_is_no_object_is_damaged() {
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
            assert_eq!(refused(text).0, Fault::Damaged, "{text:?}");
        }
    }

    #[test]
    fn nesting_and_length_are_bounded() {
        let deep = format!("{{\"a\": {}", "[".repeat(1 << 19));
        assert_eq!(refused(deep.as_bytes()).0, Fault::Damaged);
        assert_eq!(refused(&vec![b' '; 2 << 20]).0, Fault::OverLimit);
    }

    #[test]
    fn errors_lead_to_the_place() {
        let text = "{\n \"a\": {\"\u{e9}\": 1, \"b\": \"x\"}}";
        let object = Object::parse(text.as_bytes(), 100).unwrap();
        let inner = object.need("a").unwrap().object().unwrap();
        let error = inner.need("b").unwrap().whole().unwrap_err().to_string();
        assert!(
            error.starts_with(r#""b" (line 2, column 21) is "x", should"#),
            "{error}"
        );
        let error = inner.need("c").err().unwrap().to_string();
        assert_eq!(error, "\"c\" is missing; the keys are \"\u{e9}\", \"b\"");
    }

    #[test]
    fn of_a_key_that_occurs_twice_the_last_value_counts() {
        let object = Object::parse(br#"{"a": 1, "\u0061": 2}"#, 100).unwrap();
        assert_eq!(object.need("a").unwrap().whole().unwrap(), 2);
    }
}
