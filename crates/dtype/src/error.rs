//! [`DTypeError`]: why there is no such dtype, or why a value is not an element of it.

use crate::excerpt::excerpt;
use std::borrow::Cow;
use std::fmt::Display;
use thiserror::Error;

/// Why a text is not a Python literal, why there is no such dtype, or why a value is not an element of a dtype.
///
/// Messages name what was found and what was expected; of long texts they repeat the beginning.
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

    /// The same error, of a value for which elements have no room.
    pub(crate) fn for_want_of_room(mut self) -> Self {
        self.is_too_large = true;
        self
    }

    /// Whether the value is one of its kind, but elements have no room for it.
    ///
    /// ```
    /// let error = bloscpack_dtype::DType::U8.parse_text("300", &mut [0]).unwrap_err();
    /// assert!(error.is_too_large());
    /// ```
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// A description of a type that no type has: a size, a shape, fields that do not fit.
    pub(crate) fn invalid(reason: impl Display) -> Self {
        Self::new(format!("invalid dtype: {reason}"))
    }

    /// The value in its own words is not what was expected.
    pub(crate) fn not(value: &str, expected: impl Display) -> Self {
        Self::new(format!("{} is not {expected}", excerpt(value)))
    }

    /// A number or a time that is too large for elements of this dtype.
    pub(crate) fn too_large(value: &str, dtype: impl Display) -> Self {
        Self::new(format!("{} is too large for {dtype}", excerpt(value))).for_want_of_room()
    }

    /// Python objects, whose bytes are pickles.
    pub(crate) fn object() -> Self {
        Self::new("Python objects are stored as pickles, which are neither read nor written here")
    }

    /// The same error, of a field.
    pub(crate) fn in_field(self, name: &str) -> Self {
        Self {
            message: format!("field {}: {self}", excerpt(name)).into(),
            ..self
        }
    }
}
