//! [`Folder`]: the files of one folder, by name.

use crate::{Lock, WriteAt};
use std::ffi::{OsStr, OsString};
use std::io;

/// Whether a file or a store is opened for reading only, or for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing. There is one writer at a time.
    Write,
}

/// The regular files of one folder, by name: [`Disk`](crate::Disk), [`Memory`](crate::Memory), or your own, for
/// example one that fails or records in a test.
///
/// Names have no separators: subfolders cannot be reached. Links are not followed. Until [`sync`](Self::sync)
/// has returned, a crash may undo any creation, replacement or removal.
/// [`Snapshot::open_in`](crate::Snapshot::open_in) and [`JournaledFile::open`](crate::JournaledFile::open) take
/// a folder.
///
/// ```
/// use bloscpack_storage::{Folder, Memory, WriteAt};
///
/// let folder = Memory::from([("data", b"old".to_vec())]);
/// let new = folder.create("data.tmp".as_ref(), None)?;
/// new.write_all_at(0, b"new")?;
/// new.sync()?;
/// folder.replace("data.tmp".as_ref(), "data".as_ref())?;
/// folder.sync()?;
/// assert!(folder.leads_to("data".as_ref(), &new)?);
/// assert_eq!(folder.list()?, ["data"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Folder: Send + Sync {
    /// An open file of this folder.
    type File: WriteAt + Lock;

    /// Opens an existing file.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) for
    /// anything but a regular file; and any error of the folder.
    fn open(&self, name: &OsStr, access: Access) -> io::Result<Self::File>;

    /// Creates an empty file, open for reading and writing. It gets owner, group and mode of the file `like`,
    /// which it will replace or belong to; without `like`, only its owner may access it.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists) if any kind of entry has the name, and any error
    /// of the folder.
    fn create(&self, name: &OsStr, like: Option<&Self::File>) -> io::Result<Self::File>;

    /// Renames the file `from` to `to`, replacing a file of that name. At every moment, `to` refers to the old
    /// or to the new file.
    ///
    /// # Errors
    /// Returns any error of the folder. It does not tell whether the file was renamed;
    /// [`leads_to`](Self::leads_to) does.
    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound), and any error of the folder.
    fn remove(&self, name: &OsStr) -> io::Result<()>;

    /// The names of all entries, sorted, including those of subfolders and links.
    ///
    /// # Errors
    /// Returns any error of the folder.
    fn list(&self) -> io::Result<Vec<OsString>>;

    /// Blocks until all names would survive a power cut.
    ///
    /// # Errors
    /// Returns any error of the folder.
    fn sync(&self) -> io::Result<()>;

    /// Whether the name still refers to this open file; false if the name does not exist.
    ///
    /// # Errors
    /// Returns any error of the folder.
    fn leads_to(&self, name: &OsStr, file: &Self::File) -> io::Result<bool>;
}
