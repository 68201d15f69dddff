//! [`Error`]: why a file or a store cannot be opened, read or changed.

use std::{fmt, io};

/// The result of operations that may find or leave an unfinished change.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file or a store cannot be opened, read or changed.
///
/// Functions that may find an interrupted change, or leave a committed one unfinished, return this error. All
/// others return [`io::Error`], which converts into it with `?`. An error of this type inside an [`io::Error`]
/// is unwrapped by that conversion.
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
    /// Reading, writing or locking failed; see the kind of the [`io::Error`].
    #[error(transparent)]
    Io(io::Error),
    /// A change was interrupted, and its journal cannot complete it. Nothing was changed by the attempt to open
    /// it.
    #[error("a change to this {subject} was interrupted, and {fault}")]
    Interrupted {
        /// Whether it is a file or a store.
        subject: Subject,
        /// Why the change cannot be completed.
        fault: JournalFault,
    },
    /// The change is committed and on the disk, but applying it failed. Readers already see it and the next
    /// writer completes it, so do not repeat it.
    #[error("the change is committed, but not completed: {0}")]
    Committed(io::Error),
    /// A ZIP archive is damaged, or uses an unsupported feature.
    #[error(transparent)]
    Archive(ArchiveError),
    /// An invariant of this crate is broken, or an implementation of one of its traits violates the contract.
    /// The operation stopped before using the value.
    #[error("broken invariant, please report this bug: {found}")]
    Bug {
        /// The violation, with the values.
        found: String,
    },
}

/// Why a ZIP archive, or a file in it, cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ZIP archive, byte {at}: {what}")]
#[non_exhaustive]
pub struct ArchiveError {
    /// The position in the archive, in bytes.
    pub at: u64,
    /// The reason.
    pub what: String,
    /// Whether the bytes violate the format. If false, the archive uses an unsupported feature.
    pub is_damaged: bool,
}

/// What an interrupted change was changing.
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

/// Why a journal cannot complete an interrupted change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JournalFault {
    /// There is no journal.
    Missing,
    /// The journal has no valid end, or no valid index.
    Incomplete,
    /// A checksum of the journal does not match, or a field has an invalid value.
    Damaged,
    /// The journal would leave bytes of the file without content: neither it nor the file contains them.
    Holes,
    /// The journal belongs to another file or store, or this one was changed after the interruption.
    Foreign,
    /// A staged file of the store's journal is missing or damaged.
    MissingFiles,
}

impl JournalFault {
    /// A clause for messages, in which "it" is the file or the store.
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

    /// The error for a single file.
    pub(crate) fn of_file(self) -> Error {
        let subject = Subject::File;
        Error::Interrupted {
            subject,
            fault: self,
        }
    }

    /// The error for a store.
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
    /// Unwraps an [`Error`] that passed through an [`io::Error`].
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

/// An error of the committing step, after which the change may or may not be committed. The error is wrapped so
/// that its kind does not suggest a known state.
pub(crate) fn unknown(error: io::Error) -> io::Error {
    io::Error::other(error)
}

/// The error for a file or store that another process or thread is using.
pub(crate) fn busy(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, what)
}

/// Whether this is the error of a file system without locks, such as some network file systems. NFS without its
/// lock daemon reports `ENOLCK`; macOS reports `ENOTSUP`, which the standard library does not map to
/// `Unsupported` there; other drivers return other codes.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    /// `ENOTSUPP`, an internal code of Linux that some drivers return to user space.
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
