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
#[error("{0}")]
pub struct DTypeError(Cow<'static, str>);

impl DTypeError {
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(message.into())
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
        Self::new(format!("{} is too large for {dtype}", excerpt(value)))
    }

    /// Python objects, whose bytes are pickles.
    pub(crate) fn object() -> Self {
        Self::new("Python objects are stored as pickles, which are neither read nor written here")
    }

    /// The same error, of a field.
    pub(crate) fn in_field(self, name: &str) -> Self {
        Self::new(format!("field {}: {self}", excerpt(name)))
    }
}
