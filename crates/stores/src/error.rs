//! Errors in a store. Each names the path in the store, or the column.

use bloscpack_error::{Code, Error};
use std::fmt::Display;

/// A value that no program writes, or that contradicts another one: [`Code::Damaged`].
pub(crate) fn damaged(path: impl Display, what: impl Display) -> Error {
    Error::new(Code::Damaged, what.to_string()).in_part(path)
}

/// A version or a kind of value that this crate does not read: [`Code::Unsupported`].
pub(crate) fn unsupported(path: impl Display, what: impl Display) -> Error {
    Error::new(Code::Unsupported, what.to_string()).in_part(path)
}

/// More than this crate reads or writes under any options: [`Code::OverLimit`].
pub(crate) fn over_limit(path: impl Display, what: impl Display) -> Error {
    Error::new(Code::OverLimit, what.to_string()).in_part(path)
}

/// The store has no frame, table or column with this name: [`Code::NotFound`].
pub(crate) fn not_found(path: &str) -> Error {
    Error::new(Code::NotFound, format!("the store has no {path:?}"))
}

/// Adds the path of a frame in the store to its error.
pub(crate) fn at(path: &str) -> impl Fn(Error) -> Error + '_ {
    move |error| error.in_file(path)
}
