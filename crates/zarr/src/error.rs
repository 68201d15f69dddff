//! Errors that several modules make.

use bloscpack_error::{Code, Error};
use std::fmt::Display;

/// A metadata field that is missing, or has an impossible value: [`Code::Metadata`].
pub(crate) fn wrong_field(
    field: impl Display,
    found: impl ToString,
    expected: impl Display,
) -> Error {
    Error::unexpected(Code::Metadata, field, excerpt(found.to_string()), expected)
}

/// The metadata names something that this crate does not support: [`Code::Unsupported`]. `expected` lists what it supports,
/// unless it is empty.
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

/// A dtype that the format cannot store: [`Code::CannotStore`].
pub(crate) fn cannot_store(dtype: impl Display, format: impl Display, reason: &str) -> Error {
    Error::new(
        Code::CannotStore,
        format!("the dtype {dtype} cannot be stored in {format}: {reason}"),
    )
}

/// The maximum number of characters of a value in an error message.
const SHOWN: usize = 200;

/// The beginning of a text of any length, followed by dots if it is longer.
fn excerpt(text: String) -> String {
    if text.chars().count() > SHOWN {
        text.chars().take(SHOWN).chain("...".chars()).collect()
    } else {
        text
    }
}
