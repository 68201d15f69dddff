//! [`MetaError`]: why a small file of a dataset cannot be read or written.

use blosc1::{ChunkError, Fault};
use std::fmt;
use thiserror::Error;

/// Why one of the small files of a dataset cannot be read or written.
///
/// The error says what was found, what was expected, and where in the file. It does not contain the name of the file,
/// which only the caller knows.
///
/// ```
/// use blosc1::Fault;
/// use bloscpack_datasets::wire::{MetaError, Sizes};
/// let error = Sizes::parse(br#"{"shape": [10, -3], "nbytes": 1, "cbytes": 1}"#).unwrap_err();
/// assert_eq!(error.fault(), Fault::Damaged);
/// assert!(matches!(error, MetaError::Value { .. }));
/// assert_eq!(
///     error.to_string(),
///     r#""shape" (line 1, column 11) is [10, -3], should be a list of integers, each 0 or more"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MetaError {
    /// The file has no content, as a writer leaves it that is interrupted.
    #[error("empty file, should be {expected}; its writer may have been interrupted")]
    Empty {
        /// The content that it should have.
        expected: &'static str,
    },
    /// The text ends in the middle of a value.
    #[error("cut short: {reason}")]
    Unfinished {
        /// The message of the parser, with line and column.
        reason: String,
    },
    /// There are fewer bytes than there should be.
    #[error("cut short: {found} of {expected} bytes are present")]
    CutShort {
        /// The bytes that are present.
        found: u64,
        /// The bytes that there should be.
        expected: u64,
    },
    /// There are more bytes than there should be.
    #[error("{found} unexpected bytes follow the chunk")]
    Trailing {
        /// How many follow.
        found: u64,
    },
    /// The text is not in the language of the file.
    #[error("not {language}: {reason}")]
    Syntax {
        /// JSON or YAML.
        language: &'static str,
        /// The message of the parser, with line and column where it has them.
        reason: String,
    },
    /// A required key is missing.
    #[error("{key} is missing{}", known(found))]
    MissingKey {
        /// The key in quotes, or the keys of which one is required.
        key: String,
        /// Up to eight keys of the file, in quotes; empty where they are not listed.
        found: Vec<String>,
    },
    /// A key occurs twice where that is not allowed.
    #[error("\"{key}\" ({position}) occurs twice")]
    DuplicateKey {
        /// The key.
        key: String,
        /// The position of its second occurrence.
        position: TextPosition,
    },
    /// A value is invalid, or contradicts another one.
    #[error("{name}{} is {found}, should be {expected}", after(position.as_ref()))]
    Value {
        /// The key in quotes, or the field of a header.
        name: String,
        /// The position of the value, where it is known.
        position: Option<TextPosition>,
        /// The beginning of the value.
        found: String,
        /// The values that are allowed.
        expected: String,
    },
    /// A header of a Blosc chunk is wrong.
    #[error("byte {byte}: {error}")]
    Chunk {
        /// The position of the header in the file.
        byte: u64,
        /// The reason.
        error: ChunkError,
    },
    /// A name that nothing here implements.
    #[error("unknown {kind} \"{name}\"; known are {known}")]
    UnknownName {
        /// The kind of thing that has a name: a compressor or a filter.
        kind: &'static str,
        /// The beginning of the name.
        name: String,
        /// All known names.
        known: String,
    },
    /// The file uses something that is not supported.
    #[error("{reason}")]
    Unsupported {
        /// The feature, and its position.
        reason: String,
    },
    /// The file, or a part of it, is longer than any real one.
    #[error("{subject} of {found} bytes, over the limit of {limit}")]
    TooLong {
        /// The part of the file.
        subject: &'static str,
        /// Its length in bytes.
        found: u64,
        /// The greatest length in bytes.
        limit: u64,
    },
    /// Values are nested too deeply, or there are too many of them.
    #[error("{reason}")]
    TooComplex {
        /// The limit, and the position where it is known.
        reason: String,
    },
    /// The caller wants to write something that the file cannot express, or that could not be read again.
    #[error("{reason}")]
    Unwritable {
        /// Why it cannot be written.
        reason: String,
    },
}

impl MetaError {
    /// The cause of the error, which decides what a caller can do about it.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Empty { .. } | Self::Unfinished { .. } | Self::CutShort { .. } => Fault::CutShort,
            Self::Trailing { .. }
            | Self::Syntax { .. }
            | Self::MissingKey { .. }
            | Self::DuplicateKey { .. }
            | Self::Value { .. } => Fault::Damaged,
            Self::Chunk { error, .. } => error.fault(),
            Self::UnknownName { .. } | Self::Unsupported { .. } => Fault::Unsupported,
            Self::TooLong { .. } | Self::TooComplex { .. } => Fault::OverLimit,
            Self::Unwritable { .. } => Fault::Usage,
        }
    }

    /// A field of a header that has a value which it cannot have.
    pub(super) fn field(
        name: impl Into<String>,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self::Value {
            name: name.into(),
            position: None,
            found: found.to_string(),
            expected: expected.into(),
        }
    }

    #[cfg(feature = "documents")]
    pub(super) fn unsupported(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Unsupported { reason }
    }

    pub(super) fn unwritable(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Unwritable { reason }
    }

    pub(super) fn too_long(subject: &'static str, found: usize, limit: usize) -> Self {
        Self::TooLong {
            subject,
            found: found as u64,
            limit: limit as u64,
        }
    }
}

/// The end of the message about a missing key.
fn known(keys: &[String]) -> String {
    match keys {
        [] => String::new(),
        keys => format!(" (found: {})", keys.join(", ")),
    }
}

fn after(position: Option<&TextPosition>) -> String {
    position.map_or_else(String::new, |position| format!(" ({position})"))
}

/// A position in a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextPosition {
    /// The number of the line, from 1 on.
    pub line: usize,
    /// The number of the character in its line, from 1 on.
    pub column: usize,
}

impl TextPosition {
    /// The position of byte `at` of a text.
    pub(super) fn of(text: &str, at: usize) -> Self {
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

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Characters of a found value that a message repeats.
const SHOWN: usize = 60;

/// The beginning of a found value, on one line.
pub(super) fn shown(found: &str) -> String {
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
