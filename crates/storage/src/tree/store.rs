//! [`Store`]: files in folders below one root.

use super::Key;
use crate::{LockMode, ReadAt};
use std::ffi::OsString;
use std::fmt::Debug;
use std::io;

/// A file of a store, open for reading.
pub trait Object: ReadAt + Send + Sync {}

impl<T: ReadAt + Send + Sync> Object for T {}

/// A hold of a folder, which ends when this is dropped.
pub trait Guard: Send + Sync + Debug {}

/// What lies under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe, a device: never opened, never followed.
    Other,
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, which need not be text.
    pub name: OsString,
    /// What lies there.
    pub kind: EntryKind,
}

/// Files in folders below one root: [`DiskStore`](super::DiskStore), [`MemoryStore`](super::MemoryStore), or one of your own.
///
/// Nothing outside of the root is reached through it: no link is followed in any part of a key, and nothing but regular
/// files is opened. What was created, renamed or removed may be undone by a crash, in any order, until
/// [`sync`](Self::sync) of the folder has returned; the bytes of a file, until that of the file.
pub trait Store: Debug + Send + Sync {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) for anything that is no regular
    /// file; those of the store.
    fn open(&self, key: &Key) -> io::Result<Box<dyn Object>>;

    /// What lies in a folder, sorted by name.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no folder; those of
    /// the store.
    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>>;

    /// What lies there; nothing if nothing does, or if a folder on the way is not there.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if something on the way is no folder; those of the store.
    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        let Some((folder, name)) = key.split() else {
            return Ok(Some(EntryKind::Folder));
        };
        match self.list(&folder) {
            Ok(entries) => Ok(entries.iter().find(|e| e.name == name).map(|e| e.kind)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates a file with these bytes, in a folder that is there.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), and those of the store.
    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()>;

    /// As [`create`](Self::create), for a file that is to be renamed to `like`: where files have owners and modes it has
    /// from the beginning those of the file that is there, or those that a new one there would have.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    fn create_like(&self, key: &Key, like: &Key, bytes: &[u8]) -> io::Result<()> {
        let _ = like;
        self.create(key, bytes)
    }

    /// Overwrites bytes of a file, or appends to it. With no bytes it only tells whether it could. A store without that
    /// (of objects that are only put whole) says so with [`Unsupported`](io::ErrorKind::Unsupported).
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if it would leave a hole, for
    /// anything that is no regular file, and for a file of several names; those of the store.
    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Gives a file another name, in place of the file that is there, if any is. At every moment, also after a crash, the
    /// new name leads to the old file or to the new one, and the file has at least one of its names.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no regular file;
    /// those of the store, if a folder is in the place.
    fn rename(&self, from: &Key, to: &Key) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no regular file; those
    /// of the store.
    fn remove(&self, key: &Key) -> io::Result<()>;

    /// Creates a folder, if it is not there; the one that it lies in is.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if there is something else, and those of the store.
    fn make_folder(&self, key: &Key) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    /// [`DirectoryNotEmpty`](io::ErrorKind::DirectoryNotEmpty), [`NotFound`](io::ErrorKind::NotFound), and those of the store.
    fn remove_folder(&self, key: &Key) -> io::Result<()>;

    /// Returns when the bytes of this file, or the names in this folder, would outlive a power cut.
    ///
    /// # Errors
    /// Those of the store.
    fn sync(&self, key: &Key) -> io::Result<()>;

    /// Takes a hold of the folder that the key leads to then; nothing if others hold it in a way that excludes that. Where there are no locks it is granted.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound), and those of the store.
    fn try_lock(&self, folder: &Key, hold: LockMode) -> io::Result<Option<Box<dyn Guard>>>;
}
