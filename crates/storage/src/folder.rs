//! [`Folder`]: files by name.

use crate::{Lock, WriteAt};
use std::ffi::{OsStr, OsString};
use std::io;

/// The kind of access with which a file or a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing.
    Write,
}

/// The regular files of one folder, by name: [`Disk`](crate::Disk), [`Memory`](crate::Memory), or
/// your own, for example one that fails or records in a test.
///
/// Subfolders are not reached through it, and links are not followed. Until
/// [`sync`](Self::sync) has returned, a crash may undo what was created, replaced or removed.
pub trait Folder {
    /// An open file of this folder.
    type File: WriteAt + Lock;

    /// Opens an existing file.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound);
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for anything but a regular file; and any error
    /// of the folder.
    fn open(&self, name: &OsStr, access: Access) -> io::Result<Self::File>;

    /// Creates an empty file, open for reading and writing. Only its owner may access it, unless
    /// there is a file `like` which it is to be: then it gets that file's owner, group and mode.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the name is taken by any kind of entry; and any
    /// error of the folder.
    fn create(&self, name: &OsStr, like: Option<&Self::File>) -> io::Result<Self::File>;

    /// Renames a file, replacing the file that has the new name, if there is one. At every moment
    /// the new name leads to the old file or to the new one.
    ///
    /// # Errors
    /// Returns any error of the folder.
    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound), and any error of the folder.
    fn remove(&self, name: &OsStr) -> io::Result<()>;

    /// The names of everything in the folder, sorted.
    ///
    /// # Errors
    /// Returns any error of the folder.
    fn list(&self) -> io::Result<Vec<OsString>>;

    /// Returns when all names would survive a power cut.
    ///
    /// # Errors
    /// Returns any error of the folder.
    fn sync(&self) -> io::Result<()>;

    /// Whether this name still leads to this file.
    ///
    /// # Errors
    /// Returns any error of the folder.
    fn leads_to(&self, name: &OsStr, file: &Self::File) -> io::Result<bool>;
}
