//! The errors of this crate.

#![cfg_attr(
    not(all(feature = "arrow", feature = "csv", feature = "npz")),
    allow(dead_code, reason = "formats that are off need less")
)]

use super::format::Format;
use bloscpack_dtype::DType;
use bloscpack_error::{Code, Error};
use std::fmt::Display;

/// The input begins with other bytes than the format.
pub(crate) fn wrong_magic(format: Format) -> Error {
    let error = Error::new(
        Code::UnknownFormat,
        format!("not a file of the format {format}: wrong magic at its beginning"),
    );
    match format {
        Format::Arrow => error.with_hint("convert a stream to a file first"),
        _ => error,
    }
}

/// The format lacks a type, or this library does not support a property of a file.
pub(crate) fn unsupported(format: Format, part: &str, found: impl Display) -> Error {
    Error::new(
        Code::Unsupported,
        format!("{format}: {part}: {found} is not supported"),
    )
}

/// A column has a type that the other format lacks.
pub(crate) fn unsupported_column(format: Format, column: &str, found: impl Display) -> Error {
    Error::new(
        Code::Unsupported,
        format!(
            "{format}: column {column:?}: {found} is not supported: cast it to another type first"
        ),
    )
}

/// A part at the end is missing.
pub(crate) fn missing_part(format: Format, part: &str) -> Error {
    Error::new(
        Code::CutShort,
        format!("{format}: cut short: {part} is missing"),
    )
}

/// A part has more or fewer bytes than it should.
pub(crate) fn wrong_length(format: Format, part: impl Display, found: u64, expected: u64) -> Error {
    let code = if found < expected {
        Code::CutShort
    } else {
        Code::Trailing
    };
    Error::new(
        code,
        format!("{format}: {part}: found {found} bytes, expected {expected}"),
    )
}

/// A part has an impossible value, or contradicts another part.
pub(crate) fn damaged(format: Format, part: &str, found: impl Display) -> Error {
    Error::new(
        Code::Damaged,
        format!("{format}: {part}: {}", one_line(found)),
    )
}

/// A file exceeds a limit of this library.
pub(crate) fn over_limit(format: Format, unit: &str, found: u64, limit: u64) -> Error {
    Error::new(
        Code::OverLimit,
        format!("{format}: {found} {unit} exceed the limit of {limit}"),
    )
}

/// The error for a string whose length is too large for every element of its column.
pub(crate) fn long_string(format: Format, column: &str, found: u64) -> Error {
    Error::new(
        Code::OverLimit,
        format!(
            "{format}: column {column:?} has a string of {found} characters, and every element would take that much: give its type"
        ),
    )
}

/// A value is missing, and its type has none for that.
pub(crate) fn missing_value(dtype: &DType) -> Error {
    Error::new(
        Code::Value,
        format!("the value is missing, and {dtype} has none for that: say what to fill in"),
    )
}

/// A value is longer than the elements.
pub(crate) fn too_long(found: usize, unit: &str, dtype: &DType) -> Error {
    Error::new(
        Code::CannotStore,
        format!("{found} {unit} do not fit {dtype}"),
    )
}

/// A value is not UTF-8.
pub(crate) fn not_utf8(found: impl Display) -> Error {
    Error::new(Code::Value, format!("{found} is not UTF-8"))
}

/// A text of another crate, on one line.
pub(crate) fn one_line(text: impl Display) -> String {
    let text = text.to_string();
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}
