//! The errors that several parts of this crate return.

use bloscpack_error::{Code, Error};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The error for something other than a regular file with the name of one.
pub(crate) fn not_a_file() -> Error {
    Error::new(
        Code::MissingFile,
        "not a regular file (links are not followed)",
    )
}

/// The error for a name that no file can have, or that points outside of the dataset.
pub(crate) fn invalid_name(reason: impl Display) -> Error {
    Error::new(Code::InvalidName, format!("invalid name: {reason}"))
}

/// The error for a missing superchunk with this chunk, the first one that was asked for.
pub(crate) fn missing_superchunk(chunk: u64, chunks: u64) -> Error {
    Error::new(
        Code::MissingFile,
        format!("superchunk is missing; it should contain chunk {chunk} of {chunks}"),
    )
}

/// The error for a superchunk with another header than the layout allows.
pub(crate) fn wrong_superchunk_header(found: impl Display, expected: &str) -> Error {
    Error::new(
        Code::Header,
        format!("superchunk header: {found}, should be {expected}"),
    )
}

/// The error for a superchunk with another number of chunks than it should have.
pub(crate) fn wrong_count(found: u64, expected: u64) -> Error {
    Error::new(
        Code::UncountedChunk,
        format!("superchunk of {found} chunks, should be {expected}"),
    )
}

/// The error for a chunk of another uncompressed length than one of these.
pub(crate) fn wrong_length(chunk: u64, found: u64, expected: RangeInclusive<u64>) -> Error {
    let expected = match (expected.start(), expected.end()) {
        (least, most) if least == most => least.to_string(),
        (0, most) => format!("at most {most}"),
        (least, most) => format!("{least} to {most}"),
    };
    Error::new(
        Code::Chunk,
        format!("chunk {chunk} has {found} bytes of data, should be {expected}"),
    )
}

/// The error for bytes that belong to nothing.
pub(crate) fn trailing(found: u64, place: impl Display) -> Error {
    Error::new(
        Code::Trailing,
        format!("{found} unexpected bytes follow {place}"),
    )
}

/// The error for an array that cannot have an index.
pub(crate) fn no_index(reason: impl Display) -> Error {
    Error::new(
        Code::NoIndex,
        format!("an array like this has no index: {reason}"),
    )
}
