//! [`UserAttributes`]: what users attach to data, between the formats that store it.

use crate::Attributes;
use crate::msgpack::Value;
use bloscpack_error::Result;

/// Bytes of the longest name of a metalayer.
const MAX_NAME: usize = 31;

/// The user's attributes of an input as a JSON object, and the names of those that JSON does not express.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserAttributes {
    /// The attributes that JSON expresses.
    pub attributes: Attributes,
    /// The names of all others.
    pub lost: Vec<String>,
}

impl UserAttributes {
    /// Attributes that are JSON already.
    #[must_use]
    pub fn new(attributes: Attributes) -> Self {
        let lost = Vec::new();
        Self { attributes, lost }
    }

    /// Named values of MessagePack, as tables of python-blosc2 have them.
    ///
    /// # Errors
    /// Returns the errors of [`Attributes::set`].
    pub fn of_values(values: Vec<(String, Value)>) -> Result<Self> {
        let mut user = Self::default();
        for (name, value) in values {
            user.add(&name, Some(&value))?;
        }
        Ok(user)
    }

    /// Adds a value under its name; one that JSON does not express, or none at all, is lost.
    ///
    /// # Errors
    /// Returns the errors of [`Attributes::set_text`].
    pub fn add(&mut self, name: &str, value: Option<&Value>) -> Result<()> {
        match value.and_then(Value::to_json) {
            Some(text) => self.attributes.set_text(name, &text)?,
            None => self.lost.push(name.to_owned()),
        }
        Ok(())
    }

    /// The attributes as named values of MessagePack, and the names of those that metalayers do not store: names of more than 31
    /// bytes, and integers of more than 64 bits.
    #[must_use]
    pub fn values(attributes: &Attributes) -> (Vec<(String, Value)>, Vec<String>) {
        let (mut values, mut lost) = (Vec::new(), Vec::new());
        for name in attributes.keys() {
            let text = attributes.get_text(&name).unwrap_or_default();
            match Value::of_json(text) {
                Ok(value) if (1..=MAX_NAME).contains(&name.len()) => values.push((name, value)),
                _ => lost.push(name),
            }
        }
        (values, lost)
    }
}
