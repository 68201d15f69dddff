//! [`StoreError`]: what can be wrong with a store of frames.

use blosc1::Fault;
use bloscpack_error::{Detail, Error};
use std::fmt::Display;

/// An error in a store of frames, with the path in it that it is about.
///
/// ```
/// use bloscpack_stores::{StoreError, Value};
/// let error = Value::decode(b"\x93\x01").unwrap_err();
/// assert_eq!(error.to_string(), "MessagePack: cut short after 2 bytes");
/// let error = StoreError::damaged("a/x", error);
/// assert_eq!(error.to_string(), "a/x: MessagePack: cut short after 2 bytes");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A value that no program writes, or one that contradicts another.
    #[error("{path}: {what}")]
    Damaged {
        /// The path in the store.
        path: String,
        /// The damage: what was found, and what was expected.
        what: String,
    },
    /// A version or a kind of value that this library does not read.
    #[error("{path}: {what}")]
    Unsupported {
        /// The path in the store.
        path: String,
        /// The thing that was found.
        what: String,
    },
    /// The store has nothing at this path.
    #[error("the store has no {path:?}")]
    NotFound {
        /// The path asked for.
        path: String,
    },
    /// More bytes than the reader allows.
    #[error("{path}: {what}")]
    OverLimit {
        /// The path in the store.
        path: String,
        /// The thing that exceeds a limit, and the limit.
        what: String,
    },
}

impl StoreError {
    /// Damage at this path.
    #[must_use]
    pub fn damaged(path: impl Display, what: impl Display) -> Self {
        let (path, what) = (path.to_string(), what.to_string());
        Self::Damaged { path, what }
    }

    pub(crate) fn unsupported(path: impl Display, what: impl Display) -> Self {
        let (path, what) = (path.to_string(), what.to_string());
        Self::Unsupported { path, what }
    }

    pub(crate) fn over_limit(path: impl Display, what: impl Display) -> Self {
        let (path, what) = (path.to_string(), what.to_string());
        Self::OverLimit { path, what }
    }
}

impl Detail for StoreError {
    fn fault(&self) -> Fault {
        match self {
            Self::Damaged { .. } => Fault::Damaged,
            Self::Unsupported { .. } => Fault::Unsupported,
            Self::NotFound { .. } => Fault::Usage,
            Self::OverLimit { .. } => Fault::OverLimit,
        }
    }
}

/// The error of a frame, with the path of the frame in the store.
pub(super) fn at(path: &str) -> impl Fn(Error) -> Error + '_ {
    move |error| error.in_file(path)
}
