//! [`Folder`]: files by name.

use super::{Lock, WriteAt};
use std::ffi::{OsStr, OsString};
use std::io;

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing.
    Write,
}

/// Files under names, as a directory holds them: [`Disk`](super::Disk), [`Memory`](super::Memory),
/// or a double of your own that fails or records.
///
/// Names are those of regular files in this one folder; links are not followed. Creating,
/// replacing and removing may be undone by a crash until [`sync`](Self::sync) has returned.
pub trait Folder {
    /// Its files.
    type File: WriteAt + Lock;

    /// Opens a file that is there.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if
    /// there is something else than a regular file; those of the folder.
    fn open(&self, name: &OsStr, access: Access) -> io::Result<Self::File>;

    /// Creates an empty file, which only its owner may read, or as many as another one `like`
    /// which it is to be.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if there is anything under this name; those
    /// of the folder.
    fn create(&self, name: &OsStr, like: Option<&Self::File>) -> io::Result<Self::File>;

    /// Gives a file another name, in place of what is there, if anything is. At every moment the
    /// new name leads to the old file or to the new one.
    ///
    /// # Errors
    /// Those of the folder.
    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound), and those of the folder.
    fn remove(&self, name: &OsStr) -> io::Result<()>;

    /// The names of all that is there, sorted.
    ///
    /// # Errors
    /// Those of the folder.
    fn list(&self) -> io::Result<Vec<OsString>>;

    /// Returns when all names would outlive a power cut.
    ///
    /// # Errors
    /// Those of the folder.
    fn sync(&self) -> io::Result<()>;

    /// Whether this name still leads to this file.
    ///
    /// # Errors
    /// Those of the folder.
    fn leads_to(&self, name: &OsStr, file: &Self::File) -> io::Result<bool>;
}
