//! Constructors of errors that several parts of this crate return.

use bloscpack_error::{Code, Error};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The error for a folder, link or device in the place of a file.
pub(crate) fn not_a_file() -> Error {
    Error::new(
        Code::MissingFile,
        "not a regular file (links are not followed)",
    )
}

/// The error for a name that is not valid for a file, or that points outside the dataset.
pub(crate) fn invalid_name(reason: impl Display) -> Error {
    Error::new(Code::InvalidName, format!("invalid name: {reason}"))
}

/// The error for a missing superchunk. `chunk` is the first chunk that was requested from it.
pub(crate) fn missing_superchunk(chunk: u64, chunks: u64) -> Error {
    Error::new(
        Code::MissingFile,
        format!("superchunk is missing; it should contain chunk {chunk} of {chunks}"),
    )
}

/// The error for a superchunk header that the layout does not allow.
pub(crate) fn wrong_superchunk_header(found: impl Display, expected: &str) -> Error {
    Error::new(
        Code::Header,
        format!("superchunk header: {found}, should be {expected}"),
    )
}

/// The error for a superchunk with the wrong number of chunks.
pub(crate) fn wrong_count(found: u64, expected: u64) -> Error {
    Error::new(
        Code::UncountedChunk,
        format!("superchunk of {found} chunks, should be {expected}"),
    )
}

/// The error for a chunk whose uncompressed length is not in this range.
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

/// The error for unexpected bytes after a part of a file.
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
