//! Errors about small JSON files: what was found, what was expected, and where in the file. The caller adds the file's name.

use bloscpack_error::{Code, Error};
use std::fmt::{self, Display};

/// The error for an invalid value or a contradiction. `name` is a key in quotes, or a field of a header.
pub fn wrong_value(
    code: Code,
    name: impl Display,
    found: impl Display,
    expected: impl Display,
) -> Error {
    Error::new(code, format!("{name} is {found}, should be {expected}"))
}

/// The error for an empty file, which an interrupted writer leaves.
pub fn empty(expected: &str) -> Error {
    Error::new(
        Code::CutShort,
        format!("empty file, should be {expected}; its writer may have been interrupted"),
    )
}

/// The error for a compressor or filter that this library does not know.
pub fn unknown_name(kind: &str, name: &str, known: &[&str]) -> Error {
    let (name, known) = (shown(name), known.join(", "));
    Error::new(
        Code::Unsupported,
        format!("unknown {kind} \"{name}\"; known are {known}"),
    )
}

/// The error for a file, or a part of one, that is longer than any real one.
pub fn too_long(subject: &str, found: u64, limit: u64) -> Error {
    Error::new(
        Code::OverLimit,
        format!("{subject} of {found} bytes, over the limit of {limit}"),
    )
}

/// A line and column of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextPosition {
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The number of the character in its line, counted from 1.
    pub column: usize,
}

impl TextPosition {
    /// The position of byte `at` of a text.
    pub fn of(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let (lines, last) = match before.rsplit_once('\n') {
            Some((lines, last)) => (
                lines.bytes().filter(|byte| *byte == b'\n').count() + 1,
                last,
            ),
            None => (0, before),
        };
        Self {
            line: lines + 1,
            column: last.chars().count() + 1,
        }
    }
}

impl Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Characters of a found value that a message repeats.
const SHOWN: usize = 60;

/// The beginning of a found value, with control characters replaced by spaces.
pub fn shown(found: &str) -> String {
    let line = |c: char| if c.is_control() { ' ' } else { c };
    match found.char_indices().nth(SHOWN) {
        None => found.chars().map(line).collect(),
        Some(_) => found
            .chars()
            .take(SHOWN)
            .map(line)
            .chain("...".chars())
            .collect(),
    }
}
