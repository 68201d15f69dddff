//! How an engine reads, and its warnings.

use bloscpack_storage::parallel::Crew;
use bloscpack_wire::{Form, FormatError, Hashers, Limits, ParseError, Trailing};
use std::ops::Range;
use std::sync::Arc;

/// The form that the chunks must have.
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
    /// Refuses chunks of another form, or of an unknown one.
    pub(crate) fn check(self, form: &Result<Form, FormatError>) -> Result<(), FormatError> {
        match (self, form) {
            (Self::Content, Ok(form)) => form.check_content(),
            (Self::Records, Ok(form)) => form.check_records(),
            // Chunks can be sound even if their form is unknown.
            (Self::Chunks, Ok(_) | Err(FormatError::Unsupported { .. })) => Ok(()),
            (_, Err(error)) => Err(error.clone()),
        }
    }
}

/// How an engine reads.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub threads: usize,
    /// The threads that do the work instead of the engine's own.
    pub crew: Option<Arc<Crew>>,
    pub limits: Limits,
    pub hashers: Hashers,
    /// The part of the uncompressed bytes of all members that is wanted.
    pub range: Option<Range<u64>>,
    pub allow_unterminated: bool,
    /// The number of members after which nothing more is read.
    pub members: Option<u64>,
    pub wanted: Wanted,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: 1,
            crew: None,
            limits: Limits::default(),
            hashers: Hashers::default(),
            range: None,
            allow_unterminated: false,
            members: None,
            wanted: Wanted::Content,
        }
    }
}

/// Something unusual in an input that does not make the data wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Bytes after the last chunk, as an append by the reference implementation leaves them.
    Trailing(Trailing),
    /// The writer did not finish the stream or file, which was allowed.
    Unended(ParseError),
    /// The chunks hold records that are packed in an unknown way: the chunks were checked, but not the records in them.
    UnknownPacking(ParseError),
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trailing(Trailing { position, len }) => {
                let bytes = if *len == 1 { "byte" } else { "bytes" };
                write!(f, "{position}: ignored {len} trailing {bytes}")
            }
            Self::Unended(error) => error.fmt(f),
            Self::UnknownPacking(error) => {
                write!(f, "{error}; the chunks were checked, but not the records")
            }
        }
    }
}
