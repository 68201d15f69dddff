//! [`Error`]: why a file or a store cannot be opened, read or changed.

use std::{fmt, io};

/// The result of an operation on a file or a store.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file or a store cannot be opened, read or changed.
#[derive(Debug)]
pub enum Error {
    /// Reading or writing failed.
    Io(io::Error),
    /// A change was interrupted and cannot be completed.
    Interrupted {
        /// The reason it cannot be completed.
        why: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Interrupted { why } => {
                write!(f, "a change to this file was interrupted, and {why}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Interrupted { .. } => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
