//! [`ErrorKind`]: the cause of an error.

use crate::Detail;
use bloscpack_wire::FormatError;
use std::error::Error as _;
use std::io;
use thiserror::Error;

/// The cause of an error, grouped by the party at fault: the environment, the input, the caller, or this library.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The environment: reading or writing failed. [`Error::side`](crate::Error::side) says which.
    #[error(transparent)]
    Io(io::Error),
    /// The environment: a change is committed and safe, but completing it failed. The next writer completes it, and readers see it
    /// already.
    #[error("the change is committed, but not completed: {0}")]
    Committed(io::Error),
    /// The input: its bytes break the format, or exceed a limit.
    #[error(transparent)]
    Format(FormatError),
    /// The caller: options that contradict each other, or a call that cannot be carried out.
    #[error("{0}")]
    Usage(String),
    /// The caller announced another number of bytes than it gave.
    #[error("{}", broken_promise("bytes", *promised, *given))]
    WrongSize {
        /// Bytes announced.
        promised: u64,
        /// Bytes given, or one more than announced where there were too many.
        given: u64,
    },
    /// The caller announced another number of records than it gave.
    #[error("{}", broken_promise("records", *promised, *given))]
    WrongCount {
        /// Records announced.
        promised: u64,
        /// Records given, or one more than announced where there were too many.
        given: u64,
    },
    /// A record does not hold a value of the type asked for, or a value cannot be a record.
    #[error("record {record}: {error}")]
    Value {
        /// The number of the record.
        record: u64,
        /// The reason.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An error of a crate above: of a dataset, a frame, or an exchange format.
    #[error("{0}")]
    Detail(Box<dyn Detail>),
    /// A worker panicked: a bug, in this library or in a plugged hasher.
    #[error("a worker panicked")]
    Panicked,
    /// A broken invariant: a bug in this library. The work stops rather than going on with a made-up value.
    #[error("internal error: {0}")]
    Bug(String),
}

impl ErrorKind {
    /// The cause of the error that this kind holds: the message contains that error already.
    pub(crate) fn cause(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) | Self::Committed(error) => error.source(),
            Self::Format(error) => error.source(),
            Self::Value { error, .. } => error.source(),
            Self::Detail(detail) => detail.source(),
            _ => None,
        }
    }
}

fn broken_promise(unit: &str, promised: u64, given: u64) -> String {
    if given > promised {
        format!("expected {promised} {unit}, but there are more")
    } else {
        format!("expected {promised} {unit}, got only {given}")
    }
}
