//! [`Error`]: why a file or a store cannot be opened, read or changed.

use std::{fmt, io};

/// The result of an operation on a file or a store.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file or a store cannot be opened, read or changed.
///
/// Functions that may find an interrupted change return this error; all others return
/// [`io::Error`], which converts into it with `?`.
///
/// ```
/// use bloscpack_storage::{Error, JournalFault, Memory, Snapshot, Subject};
/// // A file whose first byte is the mark of a change, and no journal beside it.
/// let folder = Memory::from([("data", b"!lpk".to_vec())]);
/// let error = Snapshot::open_in(&folder, "data".as_ref()).unwrap_err();
/// assert!(matches!(
///     error,
///     Error::Interrupted { subject: Subject::File, fault: JournalFault::Missing }
/// ));
/// assert_eq!(error.to_string(), "a change to this file was interrupted, and its journal is missing");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading, writing or locking failed; the kind of the [`io::Error`] says how.
    #[error(transparent)]
    Io(io::Error),
    /// A change was interrupted, and what is beside the file or in the store cannot complete it.
    #[error("a change to this {subject} was interrupted, and {fault}")]
    Interrupted {
        /// The thing that was being changed.
        subject: Subject,
        /// The reason the change cannot be completed.
        fault: JournalFault,
    },
    /// A change is committed and safe, but could not be completed. The next writer completes it, and readers see it already:
    /// the change must not be repeated.
    #[error("the change is committed, but not completed: {0}")]
    Committed(io::Error),
    /// A ZIP archive is damaged, or has something that is not supported.
    #[error(transparent)]
    Archive(ArchiveError),
    /// An invariant of this crate does not hold, or an implementation of one of its traits breaks
    /// the contract. The operation stopped before it used the value in question.
    #[error("broken invariant, please report this bug: {found}")]
    Bug {
        /// The violation.
        found: String,
    },
}

/// Why a ZIP archive, or a file in it, cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ZIP archive, byte {at}: {what}")]
#[non_exhaustive]
pub struct ArchiveError {
    /// The position in the archive.
    pub at: u64,
    /// The reason.
    pub what: String,
    /// Whether its bytes break the format. Otherwise it has something that is not supported.
    pub is_damaged: bool,
}

/// The thing that an interrupted change was made to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A single file, whose journal is beside it.
    File,
    /// A store of many files, whose journal is in its folder `.blpk`.
    Store,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "file",
            Self::Store => "store",
        })
    }
}

/// Why a journal cannot complete the change that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JournalFault {
    /// There is no journal.
    Missing,
    /// The journal has no valid end, or no valid index.
    Incomplete,
    /// A checksum of the journal does not match, or a field has a value that none may have.
    Damaged,
    /// The journal describes a file with bytes that neither it nor the file contains.
    Holes,
    /// The journal was made for another file or store, or this one was changed since.
    Foreign,
    /// A file that the journal of a store refers to is missing or damaged.
    MissingFiles,
}

impl JournalFault {
    /// The fault in words: a clause whose "it" is the file or the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "its journal is missing",
            Self::Incomplete => "its journal is incomplete or damaged",
            Self::Damaged => "its journal is damaged",
            Self::Holes => "its journal would leave holes in it",
            Self::Foreign => "its journal belongs to another one",
            Self::MissingFiles => "files that its journal refers to are missing or damaged",
        }
    }

    /// The fault in a file that was being changed.
    pub(crate) fn of_file(self) -> Error {
        let subject = Subject::File;
        Error::Interrupted {
            subject,
            fault: self,
        }
    }

    /// The fault in a store that was being changed.
    pub(crate) fn of_store(self) -> Error {
        let subject = Subject::Store;
        Error::Interrupted {
            subject,
            fault: self,
        }
    }
}

impl fmt::Display for JournalFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<io::Error> for Error {
    /// An error of this crate that passed through an [`io::Error`] is itself again.
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::Io)
    }
}

/// A broken invariant, for functions that return an [`io::Error`].
pub(crate) fn bug(found: impl Into<String>) -> io::Error {
    let found = found.into();
    io::Error::other(Error::Bug { found })
}

/// The error of a change that is committed, for functions that return an [`io::Error`].
pub(crate) fn committed(error: io::Error) -> io::Error {
    io::Error::other(Error::Committed(error))
}

/// The error of the step that commits a change, which may have been made. Unlike the kind of any other error, its own says
/// nothing about the state of the file or store.
pub(crate) fn unknown(error: io::Error) -> io::Error {
    io::Error::other(error)
}

/// Something is in use by another process or thread.
pub(crate) fn busy(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, what)
}

/// Whether this is the error of a file system without locks. Some network file systems have none: NFS without its lock daemon reports
/// `ENOLCK`, macOS `ENOTSUP`, which is another error there than "unsupported", and others what their drivers return.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    /// `ENOTSUPP`, an error within Linux that file systems of some drivers let through.
    #[cfg(unix)]
    const WITHIN_LINUX: i32 = 524;
    #[cfg(unix)]
    if let Some(libc::ENOLCK | libc::ENOTSUP | libc::EINVAL | WITHIN_LINUX) = error.raw_os_error() {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_passes_through_io_and_other_errors_keep_their_kind() {
        let error = Error::from(bug("1 is 2"));
        assert!(matches!(&error, Error::Bug { found } if found == "1 is 2"));
        let error = Error::from(busy("in use"));
        assert!(matches!(&error, Error::Io(io) if io.kind() == io::ErrorKind::ResourceBusy));
        let error = Error::from(io::Error::from_raw_os_error(28));
        assert!(matches!(&error, Error::Io(io) if io.raw_os_error() == Some(28)));
    }

    #[cfg(unix)]
    #[test]
    fn file_systems_without_locks_say_so_in_several_ways() {
        // 524 is what `flock` returns on file systems whose drivers let ENOTSUPP through.
        for code in [libc::ENOSYS, libc::EINVAL, libc::ENOLCK, libc::ENOTSUP, 524] {
            assert!(has_no_locks(&io::Error::from_raw_os_error(code)), "{code}");
        }
        for code in [libc::EWOULDBLOCK, libc::EACCES, libc::EINTR, libc::EIO] {
            assert!(!has_no_locks(&io::Error::from_raw_os_error(code)), "{code}");
        }
    }
}
