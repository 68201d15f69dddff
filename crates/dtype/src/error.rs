//! Why a dtype cannot be, or an element not be of it.

use std::fmt;

/// A dtype that cannot be, or a value that no element of a dtype can have: what was found, and what
/// was expected.
///
/// ```
/// let error = bloscpack_dtype::DType::parse("<i3").unwrap_err();
/// assert_eq!(error.to_string(), r#""<i3" is no NumPy type that is known here"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DTypeError {
    why: String,
}

impl DTypeError {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl fmt::Display for DTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for DTypeError {}

impl From<String> for DTypeError {
    fn from(why: String) -> Self {
        Self { why }
    }
}

/// As much of a text as an error repeats.
pub(super) fn excerpt(text: &str) -> String {
    const CHARS: usize = 60;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{:?}...", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}
