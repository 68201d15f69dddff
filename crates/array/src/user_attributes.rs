//! [`UserAttributes`]: converts the user's attributes between JSON and MessagePack.

use crate::Attributes;
use crate::msgpack::Value;
use bloscpack_error::Result;

/// The longest name of a metalayer in bytes.
const MAX_NAME: usize = 31;

/// The user's attributes of an input as JSON, and the names of those that JSON cannot express.
///
/// Datasets and Zarr store attributes as JSON, frames and stores as MessagePack values in metalayers.
///
/// ```
/// use bloscpack_array::{UserAttributes, msgpack::Value};
/// let values = vec![("unit".to_owned(), Value::Text("m".to_owned())), ("raw".to_owned(), Value::Bytes(vec![1]))];
/// let user = UserAttributes::of_values(values)?;
/// assert_eq!(user.attributes.text(), r#"{"unit": "m"}"#);
/// assert_eq!(user.lost, ["raw"]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserAttributes {
    /// The attributes that JSON can express.
    pub attributes: Attributes,
    /// The names of the other attributes.
    pub lost: Vec<String>,
}

impl UserAttributes {
    /// Attributes that are JSON already; none are lost.
    #[must_use]
    pub fn new(attributes: Attributes) -> Self {
        let lost = Vec::new();
        Self { attributes, lost }
    }

    /// Converts named MessagePack values, as frames and tables of python-blosc2 store them.
    ///
    /// # Errors
    /// Returns `Code::OverLimit` if the attributes would reach 64 MiB, and `Code::CannotStore` for a value that is nested too
    /// deeply.
    pub fn of_values(values: Vec<(String, Value)>) -> Result<Self> {
        let mut user = Self::default();
        for (name, value) in values {
            user.add(&name, Some(&value))?;
        }
        Ok(user)
    }

    /// Adds a value. If it is `None`, or JSON cannot express it, its name is added to `lost`.
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

    /// Converts attributes to named MessagePack values for metalayers. The second list names those that do not fit: empty
    /// names, names of more than 31 bytes, and integers of more than 64 bits.
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
