//! [`ChangedByAnotherWriter`]: the error of the writer that came second.

use std::error::Error;
use std::io;
use std::sync::Arc;

/// The error when another writer has changed the same objects first. For a writer, nothing of its change is
/// visible, unless the answer to its last request was lost. For a reader, an object differs from the version
/// that it began to read.
///
/// ```
/// use bloscpack_open::datasets::CArray;
/// use bloscpack_remote::{ChangedByAnotherWriter, Remote, RemoteOptions};
///
/// let remote = Remote::new(RemoteOptions::new())?;
/// let url = "memory://bucket/array";
/// let mut array = CArray::of::<i32>().create_in(remote.edit(url)?)?;
/// array.append_values(&[1, 2, 3])?;
/// array.flush()?;
///
/// let mut first = CArray::edit_in(remote.edit(url)?)?;
/// let mut second = CArray::edit_in(remote.edit(url)?)?;
/// first.append_values(&[4])?;
/// second.append_values(&[5])?;
/// first.flush()?;
/// let error = second.flush().unwrap_err();
/// assert!(ChangedByAnotherWriter::is_cause(&error));
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChangedByAnotherWriter(pub(crate) Arc<str>);

impl ChangedByAnotherWriter {
    /// Whether this is the cause of an error. If so, open the data again and repeat the change.
    #[must_use]
    pub fn is_cause_of(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }

    /// As [`is_cause_of`](Self::is_cause_of), for an error of the library.
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
