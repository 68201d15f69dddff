//! JSON documents, and their fields.

use crate::error::{Checked, ZarrError};
use bloscpack_wire::internal::{Members, json};
use serde_json::{Map, Value};

/// A JSON object, with its text. Numbers that only Python writes, such as `NaN`, are allowed, and null in its values.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    text: &'a str,
    object: Map<String, Value>,
}

impl<'a> Document<'a> {
    pub(crate) fn parse(text: &'a [u8]) -> Checked<Self> {
        let failed = |reason: String| ZarrError::Json { reason };
        let value = json::parse(text).map_err(|error| failed(error.to_string()))?;
        let text = std::str::from_utf8(text).map_err(|error| failed(error.to_string()))?;
        match value {
            Value::Object(object) => Ok(Self { text, object }),
            other => Err(ZarrError::field("metadata", other, "a JSON object")),
        }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The text of the last member with this name, if it is an object.
    pub(crate) fn member(&self, name: &str) -> Option<&'a str> {
        let member = Members::of(self.text)
            .filter(|member| member.is(name))
            .last()?;
        let text = self.text.get(member.value)?;
        text.starts_with('{').then_some(text)
    }

    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields {
            name: "",
            object: &self.object,
        }
    }
}

/// The fields of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    /// The name of the object, for errors.
    name: &'a str,
    object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// The fields of a value.
    pub(crate) fn of(name: &'a str, value: &'a Value) -> Checked<Self> {
        match value {
            Value::Object(object) => Ok(Self { name, object }),
            other => Err(ZarrError::field(name, other, "an object")),
        }
    }

    /// A name with an object `configuration`, which may be missing, or the name alone, as version 3 writes codecs and types.
    pub(crate) fn named(what: &'a str, value: &'a Value) -> Checked<(&'a str, Self)> {
        static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        if let Value::String(name) = value {
            return Ok((
                name,
                Self {
                    name,
                    object: &EMPTY,
                },
            ));
        }
        let fields = Self::of(what, value)?;
        let name = fields.text("name")?;
        match fields.get("configuration") {
            None => Ok((
                name,
                Self {
                    name,
                    object: &EMPTY,
                },
            )),
            Some(value) => Ok((name, Self::of(name, value)?)),
        }
    }

    /// A field; `None` if it is missing or null.
    pub(crate) fn get(&self, field: &str) -> Option<&'a Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.object.keys().map(String::as_str)
    }

    /// The field as an error names it.
    pub(crate) fn path(&self, field: &str) -> String {
        match self.name {
            "" => field.to_owned(),
            name => format!("{name}: {field}"),
        }
    }

    fn wrong(&self, field: &str, expected: &str) -> ZarrError {
        let found = self.object.get(field);
        let found = found.map_or_else(|| "nothing".to_owned(), Value::to_string);
        ZarrError::field(self.path(field), found, expected)
    }

    pub(crate) fn required(&self, field: &str) -> Checked<&'a Value> {
        self.object
            .get(field)
            .ok_or_else(|| self.wrong(field, "a value"))
    }

    pub(crate) fn text(&self, field: &str) -> Checked<&'a str> {
        let text = self.get(field).and_then(Value::as_str);
        text.ok_or_else(|| self.wrong(field, "a string"))
    }

    pub(crate) fn number(&self, field: &str) -> Checked<u64> {
        let number = self.get(field).and_then(Value::as_u64);
        number.ok_or_else(|| self.wrong(field, "a whole number that is not negative"))
    }

    pub(crate) fn list(&self, field: &str) -> Checked<&'a [Value]> {
        let list = self.get(field).and_then(Value::as_array);
        list.map(Vec::as_slice)
            .ok_or_else(|| self.wrong(field, "a list"))
    }

    /// A list of lengths.
    pub(crate) fn lengths(&self, field: &str) -> Checked<Vec<u64>> {
        let lengths = self.list(field)?.iter().map(Value::as_u64);
        let lengths: Option<Vec<u64>> = lengths.collect();
        lengths.ok_or_else(|| self.wrong(field, "a list of whole numbers that are not negative"))
    }

    /// A separator of names, or another one if it is missing.
    pub(crate) fn separator(&self, field: &str, default: char) -> Checked<char> {
        match self.get(field).map(|value| value.as_str()) {
            None => Ok(default),
            Some(Some(".")) => Ok('.'),
            Some(Some("/")) => Ok('/'),
            _ => Err(self.wrong(field, "\".\" or \"/\"")),
        }
    }

    /// Refuses a number other than this one.
    pub(crate) fn expect(&self, field: &str, number: u64) -> Checked<()> {
        match self.number(field)? == number {
            true => Ok(()),
            false => Err(self.wrong(field, &number.to_string())),
        }
    }
}
