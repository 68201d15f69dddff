//! How an engine reads, and its warnings.

use crate::Options;
use bloscpack_storage::parallel::Crew;
use bloscpack_wire::{Form, FormatError, ParseError, Trailing};
use std::sync::Arc;

/// The form that the chunks must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Parts of one content.
    Content,
    /// Records, packed or not.
    Records,
    /// Any form, for verification.
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
    /// The crew that works instead of the engine's own threads.
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

/// Something unusual in an input that does not make the data wrong. [`Display`](std::fmt::Display) shows it with its position.
///
/// ```
/// use bloscpack::{Decoder, Encoder};
/// use std::io::{Cursor, Write, sink};
/// let mut encoder = Encoder::builder().write_to_file(Cursor::new(Vec::new()))?;
/// encoder.write_all(b"content")?;
/// let mut file = encoder.finish()?.into_inner();
/// file.extend([9; 5]);
///
/// let mut decoder = Decoder::new(file.as_slice());
/// assert_eq!(decoder.copy_to(&mut sink())?, 7);
/// assert!(decoder.warnings()[0].to_string().ends_with("ignored 5 trailing bytes"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Meaningless bytes after the last chunk, as an append by Bloscpack for Python leaves them. They were ignored.
    Trailing(Trailing),
    /// The writer did not finish the stream or file, and the caller accepts that
    /// ([`Options::allow_unterminated`]), or only surveys it.
    Unended(ParseError),
    /// The chunks contain records that are packed in an unknown way. `verify` checked the chunks, but not the records.
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
