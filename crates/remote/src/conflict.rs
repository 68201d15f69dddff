//! [`ChangedByAnotherWriter`]: the error of a writer that came second.

use std::error::Error;
use std::io;
use std::sync::Arc;

/// The error for a change that came too late: another writer has changed the same objects meanwhile. Nothing of this change
/// is visible, unless the answer to its last request was lost. Readers have this error where an object is not the one that
/// they began to read.
///
/// ```
/// # use bloscpack_remote::ChangedByAnotherWriter;
/// fn can_be_tried_again(error: &std::io::Error) -> bool {
///     ChangedByAnotherWriter::is_cause_of(error)
/// }
/// ```
#[derive(Debug, Clone)]
pub struct ChangedByAnotherWriter(pub(crate) Arc<str>);

impl ChangedByAnotherWriter {
    /// Whether this is the cause of an error: what was changed can be opened again, and the change be made again.
    #[must_use]
    pub fn is_cause_of(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }

    /// The same for an error of the library.
    #[must_use]
    pub fn is_cause(error: &bloscpack::Error) -> bool {
        error.io_error().is_some_and(Self::is_cause_of)
    }
}

impl std::fmt::Display for ChangedByAnotherWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ChangedByAnotherWriter {}
