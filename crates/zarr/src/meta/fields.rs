//! Parses JSON documents, and reads their fields.

use crate::error::wrong_field;
use bloscpack_error::{Code, Error, Result};
use bloscpack_wire::internal::{Members, json};
use serde_json::{Map, Value};
use std::fmt;

/// The members in which `NaN` and infinities, which only Python writes, may occur. Their values get them as strings.
const WITH_FLOATS: [&str; 3] = ["attributes", "consolidated_metadata", "fill_value"];

/// Checks that this is the text of a JSON object, in which `NaN` and infinities may occur, and returns it trimmed.
pub(crate) fn object_text(text: &[u8]) -> Result<&str> {
    json::check(text).map_err(not_json)?;
    let text = std::str::from_utf8(text).map_err(not_json)?;
    let text = text.trim_ascii();
    if text.starts_with('{') {
        Ok(text)
    } else {
        Err(wrong_field("metadata", text, "a JSON object"))
    }
}

/// The error for text that is not JSON.
fn not_json(error: impl fmt::Display) -> Error {
    Error::new(Code::Metadata, format!("not JSON: {error}"))
}

/// The JSON object in a metadata file, with its text.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    text: &'a str,
    object: Map<String, Value>,
}

impl<'a> Document<'a> {
    /// Parses a metadata file. If a name occurs twice, the last value counts.
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self> {
        let text = object_text(text)?;
        let mut object = Map::new();
        for member in Members::of(text) {
            let name: String = serde_json::from_str(member.key).map_err(not_json)?;
            let value = if WITH_FLOATS.contains(&name.as_str()) {
                json::parse(member.text.as_bytes())
            } else {
                serde_json::from_str(member.text)
            };
            let value = value.map_err(|error| {
                let expected = format!("JSON ({error})");
                wrong_field(name.as_str(), member.text, expected)
            })?;
            object.insert(name, value);
        }
        Ok(Self { text, object })
    }

    /// The text of the last member with this name.
    pub(crate) fn member(&self, name: &str) -> Option<&'a str> {
        let found = Members::of(self.text).filter(|member| member.is(name));
        found.last().map(|member| member.text)
    }

    /// The text of the attributes; `{}` if they are missing or null.
    pub(crate) fn attributes(&self) -> Result<&'a str> {
        match self.member("attributes") {
            None | Some("null") => Ok("{}"),
            Some(text) if text.starts_with('{') => Ok(text),
            Some(text) => Err(wrong_field("attributes", text, "an object")),
        }
    }

    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields {
            name: "",
            object: &self.object,
        }
    }
}

/// The fields of a JSON object, for parsing with errors that name the field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    /// The name of the object, for errors.
    name: &'a str,
    object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// The fields of a value, which must be an object.
    pub(crate) fn of(name: &'a str, value: &'a Value) -> Result<Self> {
        match value {
            Value::Object(object) => Ok(Self { name, object }),
            other => Err(wrong_field(name, other, "an object")),
        }
    }

    /// The name and the configuration of a codec or type of version 3: an object with both, or the name alone.
    pub(crate) fn named(what: &'a str, value: &'a Value) -> Result<(&'a str, Self)> {
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

    /// The value of a field; `None` if it is missing or null.
    pub(crate) fn get(&self, field: &str) -> Option<&'a Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.object.keys().map(String::as_str)
    }

    /// The field as errors name it.
    pub(crate) fn path(&self, field: &str) -> String {
        match self.name {
            "" => field.to_owned(),
            name => format!("{name}: {field}"),
        }
    }

    /// The error for a field with a wrong value.
    fn wrong(&self, field: &str, expected: &str) -> Error {
        let found = self.object.get(field);
        let found = found.map_or_else(|| "nothing".to_owned(), Value::to_string);
        wrong_field(self.path(field), found, expected)
    }

    /// The value of a field, which may be null but must exist.
    pub(crate) fn required(&self, field: &str) -> Result<&'a Value> {
        self.object
            .get(field)
            .ok_or_else(|| self.wrong(field, "a value"))
    }

    pub(crate) fn text(&self, field: &str) -> Result<&'a str> {
        let text = self.get(field).and_then(Value::as_str);
        text.ok_or_else(|| self.wrong(field, "a string"))
    }

    /// A whole number of 0 or more.
    pub(crate) fn number(&self, field: &str) -> Result<u64> {
        let number = self.get(field).and_then(Value::as_u64);
        number.ok_or_else(|| self.wrong(field, "a whole number that is not negative"))
    }

    pub(crate) fn list(&self, field: &str) -> Result<&'a [Value]> {
        let list = self.get(field).and_then(Value::as_array);
        list.map(Vec::as_slice)
            .ok_or_else(|| self.wrong(field, "a list"))
    }

    /// A list of lengths: whole numbers of 0 or more.
    pub(crate) fn lengths(&self, field: &str) -> Result<Vec<u64>> {
        let lengths = self.list(field)?.iter().map(Value::as_u64);
        let lengths: Option<Vec<u64>> = lengths.collect();
        lengths.ok_or_else(|| self.wrong(field, "a list of whole numbers that are not negative"))
    }

    /// A separator of names, `.` or `/`; `default` if the field is missing.
    pub(crate) fn separator(&self, field: &str, default: char) -> Result<char> {
        match self.get(field).map(|value| value.as_str()) {
            None => Ok(default),
            Some(Some(".")) => Ok('.'),
            Some(Some("/")) => Ok('/'),
            _ => Err(self.wrong(field, "\".\" or \"/\"")),
        }
    }

    /// Refuses a field that is not this number.
    pub(crate) fn expect(&self, field: &str, number: u64) -> Result<()> {
        if self.number(field)? == number {
            Ok(())
        } else {
            Err(self.wrong(field, &number.to_string()))
        }
    }
}
