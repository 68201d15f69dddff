//! [`DTypeError`]: why there is no such dtype, or why a value is not an element of it.

use crate::excerpt::excerpt;
use crate::literal::LiteralError;
use thiserror::Error;

/// Why there is no such dtype, or why a value is not an element of a dtype.
///
/// Messages name what was found and what was expected; of long texts they repeat the beginning.
///
/// ```
/// use bloscpack_dtype::{DType, DTypeError};
///
/// let error = DType::parse("<i3").unwrap_err();
/// assert_eq!(error.to_string(), r#""<i3" is not a NumPy type known here"#);
/// let error = DType::U8.parse_text("300", &mut [0]).unwrap_err();
/// assert!(matches!(error, DTypeError::OutOfRange { greatest: 255, .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DTypeError {
    /// A name or a code that is none of NumPy's, or whose size depends on the machine.
    #[error("{name} is not a NumPy type known here")]
    Unknown {
        /// The name, quoted.
        name: String,
    },
    /// A text that is not a Python literal.
    #[error(transparent)]
    Literal(#[from] LiteralError),
    /// A description of a type that no type has: a size, a shape, fields that do not fit.
    #[error("invalid dtype: {reason}")]
    Invalid {
        /// The contradiction.
        reason: String,
    },
    /// A type that is larger than this crate, or NumPy, supports.
    #[error("{what} of {found} exceeds the limit of {limit}")]
    Limit {
        /// The property that is limited, with its unit.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The largest value that is supported.
        limit: u64,
    },
    /// A value of another type, or a text that is not a value.
    #[error("{value} is not {expected}")]
    NotAValue {
        /// The value, quoted.
        value: String,
        /// A description of the values that are accepted.
        expected: String,
    },
    /// An integer that elements of this dtype cannot be.
    #[error("{value} is out of range for {dtype}, from {least} to {greatest}")]
    OutOfRange {
        /// The integer.
        value: i128,
        /// The dtype.
        dtype: String,
        /// The least integer of this dtype.
        least: i128,
        /// The greatest integer of this dtype.
        greatest: i128,
    },
    /// A number or a time that is too large for elements of this dtype.
    #[error("{value} is too large for {dtype}")]
    TooLarge {
        /// The value, quoted.
        value: String,
        /// The dtype.
        dtype: String,
    },
    /// A string or bytes of a length that elements of this dtype do not have.
    #[error("{found} {unit} do not fit {dtype}")]
    Length {
        /// The length of the value.
        found: usize,
        /// The counted unit: bytes or characters.
        unit: &'static str,
        /// The dtype.
        dtype: String,
    },
    /// A buffer that has not as many bytes as an element.
    #[error("buffer of {found} bytes for an element of {expected}")]
    Buffer {
        /// The length of the buffer.
        found: usize,
        /// The item size of the dtype.
        expected: u64,
    },
    /// Python objects, whose bytes are pickles.
    #[error("Python objects are stored as pickles, which are neither read nor written here")]
    Object,
    /// An error of a field.
    #[error("field {name}: {error}")]
    Field {
        /// The name of the field, quoted.
        name: String,
        /// The error.
        error: Box<Self>,
    },
}

impl DTypeError {
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Invalid { reason }
    }

    /// The value in its own words is not what was expected.
    pub(crate) fn not(value: &str, expected: impl Into<String>) -> Self {
        Self::NotAValue {
            value: excerpt(value),
            expected: expected.into(),
        }
    }

    pub(crate) fn in_field(self, name: &str) -> Self {
        Self::Field {
            name: excerpt(name),
            error: Box::new(self),
        }
    }
}
