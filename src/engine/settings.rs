//! How an engine reads, and its warnings.

use crate::Options;
use bloscpack_storage::parallel::Crew;
use bloscpack_wire::{Form, FormatError, ParseError, Trailing};
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
    pub options: Options,
    /// The threads that do the work instead of the engine's own.
    pub crew: Option<Arc<Crew>>,
    pub wanted: Wanted,
}

impl Settings {
    /// An engine with threads of its own.
    pub(crate) fn new(wanted: Wanted, mut options: Options) -> Self {
        if wanted != Wanted::Content {
            options.range = None;
        }
        if wanted == Wanted::Chunks {
            (options.members, options.allow_unterminated) = (None, false);
        }
        Self {
            options,
            crew: None,
            wanted,
        }
    }

    /// An engine whose work is done by the crew of this process.
    #[cfg(feature = "aio")]
    pub(crate) fn on_crew(wanted: Wanted, options: Options) -> Self {
        Self {
            crew: Some(bloscpack_storage::parallel::crew()),
            ..Self::new(wanted, options)
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
