//! [`DTypeError`]: invalid dtypes, and values that are not elements of a dtype.

use crate::excerpt::excerpt;
use std::borrow::Cow;
use std::fmt::Display;
use thiserror::Error;

/// The error for text that is not a Python literal, for an invalid dtype, and for a value that is not an element of a dtype.
///
/// Messages name what was found and what was expected. They quote at most 60 characters of the input. An error inside a field
/// begins with the field's name.
///
/// ```
/// use bloscpack_dtype::DType;
///
/// let error = DType::parse("<i3").unwrap_err();
/// assert_eq!(error.to_string(), r#""<i3" is not a NumPy type known here"#);
/// let error = DType::U8.parse_text("300", &mut [0]).unwrap_err();
/// assert_eq!(error.to_string(), "300 is out of range for uint8, from 0 to 255");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct DTypeError {
    message: Cow<'static, str>,
    is_too_large: bool,
}

impl DTypeError {
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: message.into(),
            is_too_large: false,
        }
    }

    /// Marks the error as a value that does not fit into an element.
    pub(crate) fn for_want_of_room(mut self) -> Self {
        self.is_too_large = true;
        self
    }

    /// Whether the value is of the right kind, but does not fit: a number or time out of range, or a string or bytes of the
    /// wrong length.
    ///
    /// ```
    /// let error = bloscpack_dtype::DType::U8.parse_text("300", &mut [0]).unwrap_err();
    /// assert!(error.is_too_large());
    /// ```
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// The error for an impossible dtype: a size, a shape, fields that do not fit.
    pub(crate) fn invalid(reason: impl Display) -> Self {
        Self::new(format!("invalid dtype: {reason}"))
    }

    /// The error for `value`, quoted, where something else was expected.
    pub(crate) fn not(value: &str, expected: impl Display) -> Self {
        Self::new(format!("{} is not {expected}", excerpt(value)))
    }

    /// The error for a number or a time that is too large for elements of `dtype`.
    pub(crate) fn too_large(value: &str, dtype: impl Display) -> Self {
        Self::new(format!("{} is too large for {dtype}", excerpt(value))).for_want_of_room()
    }

    /// The error for Python objects, whose bytes are pickles.
    pub(crate) fn object() -> Self {
        Self::new("Python objects are stored as pickles, which are neither read nor written here")
    }

    /// Adds the name of a field to the message.
    pub(crate) fn in_field(self, name: &str) -> Self {
        Self {
            message: format!("field {}: {self}", excerpt(name)).into(),
            ..self
        }
    }
}
