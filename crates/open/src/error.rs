//! Errors about selections that do not suit an input.

use crate::text::{count, plain};
use bloscpack_error::{Code, Error};

/// A chunk past the last one, [`Code::OutOfBounds`].
pub(crate) fn no_chunk(chunk: u64, chunks: u64) -> Error {
    Error::new(Code::OutOfBounds, format!("there is no chunk {chunk}"))
        .with_hint(number_of(chunks, "chunk"))
}

/// The hint for positions past the end.
pub(crate) fn number_of(len: u64, noun: &str) -> String {
    format!("it has {}, counted from 0", count(len, noun))
}

/// The error for columns of an input that is not a table, [`Code::NotATable`].
#[must_use]
pub fn not_a_table() -> Error {
    Error::new(Code::NotATable, "this is not a table, so it has no columns")
        .with_hint("only tables, which are in directories, have columns")
}

/// The error for a whole table where one column is needed, [`Code::NeedsColumn`]. It lists these columns.
#[must_use]
pub fn needs_column(columns: &[String]) -> Error {
    let message = match columns {
        [] => "this is a table without columns".to_owned(),
        columns => format!("this is a table; columns: {}", plain(&columns.join(", "))),
    };
    Error::new(Code::NeedsColumn, message).with_hint("choose a single column")
}

/// Chunks, rows or columns of an input that can only be read in order, [`Code::NeedsFile`].
pub(crate) fn needs_file() -> Error {
    Error::new(
        Code::NeedsFile,
        "this needs a regular file, read from its beginning",
    )
    .with_hint("save it to a file first")
}

/// A dtype that was given for an input which stores its own.
pub(crate) fn has_dtype() -> Error {
    Error::usage("this already has a dtype")
        .with_hint("a dtype is only for Blosc2 frames without one")
}
