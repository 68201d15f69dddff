//! Errors that several modules build.

use bloscpack_error::{Code, Error};
use std::fmt::Display;

/// A field of the metadata that is missing, or has a value that it cannot have.
pub(crate) fn wrong_field(
    field: impl Display,
    found: impl ToString,
    expected: impl Display,
) -> Error {
    Error::unexpected(Code::Metadata, field, excerpt(found.to_string()), expected)
}

/// The metadata names something that this library does not support. `expected` lists what it supports, unless it is empty.
pub(crate) fn unsupported(field: &str, found: impl ToString, expected: &str) -> Error {
    let expected = match expected {
        "" => String::new(),
        expected => format!(" (expected {expected})"),
    };
    let found = excerpt(found.to_string());
    Error::new(
        Code::Unsupported,
        format!("{field} {found} is not supported{expected}"),
    )
}

/// A dtype for which the format has no place.
pub(crate) fn cannot_store(dtype: impl Display, format: impl Display, reason: &str) -> Error {
    Error::new(
        Code::CannotStore,
        format!("the dtype {dtype} cannot be stored in {format}: {reason}"),
    )
}

/// Characters of a value that an error shows.
const SHOWN: usize = 200;

/// The beginning of a text that may have any length.
fn excerpt(text: String) -> String {
    if text.chars().count() > SHOWN {
        text.chars().take(SHOWN).chain("...".chars()).collect()
    } else {
        text
    }
}
