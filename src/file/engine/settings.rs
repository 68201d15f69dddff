//! How an engine reads, and what it may have to say.

use crate::limits::Limits;
use crate::wire::{Hashers, ParseError, Trailing};
use std::ops::Range;

/// How an engine reads.
#[derive(Debug, Clone)]
pub(in crate::file) struct Settings {
    pub threads: usize,
    pub limits: Limits,
    pub hashers: Hashers,
    /// Of the uncompressed bytes of all members, those that are wanted.
    pub range: Option<Range<u64>>,
    pub allow_unterminated: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: 1,
            limits: Limits::default(),
            hashers: Hashers::default(),
            range: None,
            allow_unterminated: false,
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
        }
    }
}
