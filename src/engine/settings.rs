//! How an engine reads, and what it may have to say.

use bloscpack_wire::{Form, FormatError, Hashers, Limits, ParseError, Trailing};
use std::ops::Range;

/// What the chunks have to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Bytes of one content.
    Content,
    /// Records, packed or not.
    Records,
    /// Anything.
    Chunks,
}

impl Wanted {
    /// Refuses chunks that hold something else, or that nothing tells the form of.
    pub(crate) fn check(self, form: &Result<Form, FormatError>) -> Result<(), FormatError> {
        match (self, form) {
            (Self::Content, Ok(form)) => form.check_content(),
            (Self::Records, Ok(form)) => form.check_records(),
            // As chunks they are sound whatever they hold.
            (Self::Chunks, Ok(_) | Err(FormatError::Unsupported { .. })) => Ok(()),
            (_, Err(error)) => Err(error.clone()),
        }
    }
}

/// How an engine reads.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub threads: usize,
    pub limits: Limits,
    pub hashers: Hashers,
    /// Of the uncompressed bytes of all members, those that are wanted.
    pub range: Option<Range<u64>>,
    pub allow_unterminated: bool,
    pub wanted: Wanted,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: 1,
            limits: Limits::default(),
            hashers: Hashers::default(),
            range: None,
            allow_unterminated: false,
            wanted: Wanted::Content,
        }
    }
}

/// Something odd that does not keep the data from being right.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Bytes behind the last chunk, as the reference's append leaves them.
    Trailing(Trailing),
    /// The writer's last word is missing, which was allowed.
    Unended(ParseError),
    /// The chunks hold records that are packed in a way that is not known here: they were checked
    /// as chunks, and the records in them were not.
    UnknownPacking(ParseError),
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trailing(trailing) => {
                write!(
                    f,
                    "{}: {} bytes that belong to nothing were passed over",
                    trailing.position, trailing.len
                )
            }
            Self::Unended(error) => error.fmt(f),
            Self::UnknownPacking(error) => {
                write!(f, "{error}; the chunks were checked, but not the records")
            }
        }
    }
}
