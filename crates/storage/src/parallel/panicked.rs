//! [`Panicked`]: the panic of a job, as an error.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A job panicked. The panic hook has printed the message; other jobs are not affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a worker panicked")]
pub struct Panicked;

/// Runs a job, and returns its panic as an error.
pub(super) fn catch<T, E: From<Panicked>>(act: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    // The caller gets an error and never uses the partial work of the job.
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| Err(Panicked.into()))
}

impl From<Panicked> for io::Error {
    fn from(panicked: Panicked) -> Self {
        Self::other(panicked)
    }
}
