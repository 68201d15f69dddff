//! [`ZarrError`]: what can be wrong with a Zarr array or group, or with how it is used.

use blosc1::{ChunkError, Fault};
use bloscpack_error::Detail;
use bloscpack_wire::Limit;
use thiserror::Error;

/// An error in a Zarr array or group: what was found, and what was expected. The [`Error`](bloscpack_error::Error) around it
/// names the file.
///
/// ```
/// use bloscpack_storage::{Key, Memory};
/// use bloscpack_zarr::{OpenOptions, ZarrError};
/// let empty = Memory::new();
/// let error = OpenOptions::new().open(empty, &Key::root()).unwrap_err();
/// assert_eq!(error.detail(), Some(&ZarrError::NotFound));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ZarrError {
    /// There is neither `zarr.json` nor `.zarray` nor `.zgroup`.
    #[error("no Zarr array or group: there is neither zarr.json nor .zarray nor .zgroup")]
    NotFound,
    /// A link, a folder or a device has the name of a file, or a link or a file that of a folder.
    #[error("not a regular file in regular folders (links are not followed)")]
    NotAFile,
    /// A file of metadata is not JSON.
    #[error("not JSON: {reason}")]
    Json {
        /// The reason of the parser.
        reason: String,
    },
    /// A field of the metadata is missing, or has a value that it cannot have.
    #[error("{field}: found {found}, expected {expected}")]
    Field {
        /// The field.
        field: String,
        /// Its value.
        found: String,
        /// The possible values.
        expected: String,
    },
    /// The metadata names something that this library does not support.
    #[error("{field} {found} is not supported{}", hint_of(expected))]
    Unsupported {
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// The supported values, where they can be listed.
        expected: &'static str,
    },
    /// Bytes are missing.
    #[error("{what}: cut short after {found} of {expected} bytes")]
    CutShort {
        /// The part.
        what: &'static str,
        /// Bytes that there are.
        found: u64,
        /// Bytes that there should be.
        expected: u64,
    },
    /// The bytes of a chunk contradict the metadata, or themselves.
    #[error("{what}: found {found}, expected {expected}")]
    Damaged {
        /// The part.
        what: &'static str,
        /// The value that was found.
        found: String,
        /// The value that was expected.
        expected: String,
    },
    /// A Blosc chunk is damaged.
    #[error(transparent)]
    Blosc(#[from] ChunkError),
    /// A part exceeds one of the [`Limits`](bloscpack_wire::Limits).
    #[error("{limit} of {found} bytes exceeds the limit of {allowed}")]
    OverLimit {
        /// The limit.
        limit: Limit,
        /// Bytes found.
        found: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// Memory could not be had.
    #[error("not enough memory for {bytes} bytes; read less at a time")]
    NoMemory {
        /// Bytes wanted.
        bytes: u64,
    },
    /// The format has no place for a value.
    #[error("{what} cannot be stored in {format}: {reason}")]
    CannotStore {
        /// The value.
        what: String,
        /// The format.
        format: &'static str,
        /// Why not.
        reason: &'static str,
    },
}

fn hint_of(expected: &str) -> String {
    match expected {
        "" => String::new(),
        expected => format!(" (expected {expected})"),
    }
}

impl ZarrError {
    pub(crate) fn field(
        field: impl Into<String>,
        found: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self::Field {
            field: field.into(),
            found: excerpt(found.to_string()),
            expected: expected.into(),
        }
    }

    pub(crate) fn unsupported(
        field: &'static str,
        found: impl ToString,
        expected: &'static str,
    ) -> Self {
        Self::Unsupported {
            field,
            found: excerpt(found.to_string()),
            expected,
        }
    }

    pub(crate) fn damaged(
        what: &'static str,
        found: impl ToString,
        expected: impl ToString,
    ) -> Self {
        Self::Damaged {
            what,
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    pub(crate) fn check_limit(limit: Limit, found: u64, allowed: u64) -> Result<(), Self> {
        if found > allowed {
            Err(Self::OverLimit {
                limit,
                found,
                allowed,
            })
        } else {
            Ok(())
        }
    }
}

/// Characters of a value that an error shows.
const SHOWN: usize = 200;

/// The beginning of a text that may have any length.
fn excerpt(text: String) -> String {
    if text.chars().count() > SHOWN {
        text.chars().take(SHOWN).chain("...".chars()).collect()
    } else {
        text
    }
}

impl Detail for ZarrError {
    fn fault(&self) -> Fault {
        match self {
            Self::NotFound | Self::Unsupported { .. } => Fault::Unsupported,
            Self::NotAFile | Self::Json { .. } | Self::Field { .. } | Self::Damaged { .. } => {
                Fault::Damaged
            }
            Self::CutShort { .. } => Fault::CutShort,
            Self::Blosc(error) => error.fault(),
            Self::OverLimit { .. } => Fault::OverLimit,
            Self::NoMemory { .. } | Self::CannotStore { .. } => Fault::Usage,
        }
    }

    fn limit(&self) -> Option<Limit> {
        match self {
            Self::OverLimit { limit, .. } => Some(*limit),
            Self::Blosc(ChunkError::BlockOverLimit { .. }) => Some(Limit::Block),
            Self::Blosc(ChunkError::RatioOverLimit { .. }) => Some(Limit::Ratio),
            _ => None,
        }
    }
}

/// The result of functions that do no I/O.
pub(crate) type Checked<T> = Result<T, ZarrError>;
