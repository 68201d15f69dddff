//! Errors in a store of frames, each with the path in the store or the column that it is about.

use bloscpack_error::{Code, Error};
use std::fmt::Display;

/// A value that no program writes, or one that contradicts another.
pub(crate) fn damaged(path: impl Display, what: impl Display) -> Error {
    Error::new(Code::Damaged, what.to_string()).in_part(path)
}

/// A version or a kind of value that this library does not read.
pub(crate) fn unsupported(path: impl Display, what: impl Display) -> Error {
    Error::new(Code::Unsupported, what.to_string()).in_part(path)
}

/// More than this library reads at most, whatever the limits.
pub(crate) fn over_limit(path: impl Display, what: impl Display) -> Error {
    Error::new(Code::OverLimit, what.to_string()).in_part(path)
}

/// The store has nothing at this path.
pub(crate) fn not_found(path: &str) -> Error {
    Error::new(Code::NotFound, format!("the store has no {path:?}"))
}

/// The error of a frame, with the path of the frame in the store.
pub(crate) fn at(path: &str) -> impl Fn(Error) -> Error + '_ {
    move |error| error.in_file(path)
}
