//! [`Store`]: files in folders below one root.

use super::Key;
use crate::{Access, Lock, LockMode, ReadAt, WriteAt};
use std::ffi::OsString;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;

/// A file of a [`Store`] that is open for reading.
pub trait StoreFile: ReadAt + Send + Sync {}

impl<T: ReadAt + Send + Sync> StoreFile for T {}

/// A file or a folder of a [`Store`] that is open for reading, writing and locking.
pub trait StoreHandle: WriteAt + Lock + Send + Sync {}

impl<T: WriteAt + Lock + Send + Sync> StoreHandle for T {}

/// The lock of a folder, which ends when this is dropped.
pub trait StoreLock: Send + Sync + Debug {
    /// Refuses to use the lock in a process that does not have it: one that was forked since it was taken. A lock in
    /// memory belongs to each copy of the memory.
    ///
    /// # Errors
    /// Returns an error in such a process.
    fn check_process(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The lock of a store that nobody changes, so that there is nothing to exclude.
#[derive(Debug)]
struct NoLock;

impl StoreLock for NoLock {}

/// The kind of an entry in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe or a device: never opened and never followed.
    Other,
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, which need not be UTF-8.
    pub name: OsString,
    /// The kind of the entry.
    pub kind: EntryKind,
}

/// Files in folders below one root: [`DiskStore`](crate::DiskStore),
/// [`Memory`](crate::Memory), or one of your own.
///
/// Nothing outside of the root is reached through a store: no link is followed in any part of a
/// key, and only regular files are opened. Until [`sync`](Self::sync) of a folder has returned, a
/// crash may undo, in any order, what was created, renamed or removed in it; until `sync` of a file
/// has returned, what was written to it.
///
/// [`JournaledStore`](crate::JournaledStore) makes atomic changes of several files out of these
/// operations. A store that is only read implements [`open`](Self::open) and [`list`](Self::list):
/// everything that would change it is then [refused](Self::read_only).
pub trait Store: Debug + Send + Sync {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound);
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for anything but a regular file; and any error
    /// of the store.
    fn open(&self, key: &Key) -> io::Result<Box<dyn StoreFile>>;

    /// Announces that these files are going to be read whole, in about this order. A store that has to wait for each of them
    /// may begin to fetch them; others ignore it. A key without a file is ignored, too.
    fn will_read(&self, keys: &[Key]) {
        let _ = keys;
    }

    /// Opens a file or a folder, for handles that [see one another](crate::Presence); a folder is
    /// not written to. A store without such handles returns `None`: writers then wait for readers.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    fn handle(&self, key: &Key, access: Access) -> io::Result<Option<Arc<dyn StoreHandle>>> {
        let _ = (key, access);
        Ok(None)
    }

    /// The entries of a folder, sorted by name.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound);
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if this is not a folder; and any error of the
    /// store.
    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>>;

    /// The kind of the entry with this key; `None` if there is none, or if a folder on the way does not exist.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if something on the way is not a
    /// folder, and any error of the store.
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

    /// Compares the file with this key, or all files below it, with digests that the store has of them, and returns each
    /// difference. Most stores have none.
    fn verify(&self, below: &Key) -> Vec<io::Error> {
        let _ = below;
        Vec::new()
    }

    /// The error for a change of a store that is only read.
    fn read_only(&self, key: &Key) -> io::Error {
        let _ = key;
        io::ErrorKind::ReadOnlyFilesystem.into()
    }

    /// Creates a file with these bytes, in a folder that exists.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists), and any error of the store.
    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let _ = bytes;
        Err(self.read_only(key))
    }

    /// Creates a file that is to be renamed to `like`. Where files have owners and modes, it gets
    /// those of the file `like` if that exists, and those that a new file there would get otherwise.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    fn create_like(&self, key: &Key, like: &Key, bytes: &[u8]) -> io::Result<()> {
        let _ = like;
        self.create(key, bytes)
    }

    /// Overwrites bytes of a file, or appends to it. Without bytes it only checks whether it could.
    /// A store whose objects are only written whole returns
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound);
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the bytes begin after the end of the file,
    /// for anything but a regular file, and for a file with several names; and any error of the
    /// store.
    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _ = (at, bytes);
        Err(self.read_only(key))
    }

    /// Reserves space for a [patch](Self::patch) of this length, so that it cannot fail for lack of it. Nothing that can be read
    /// changes. Where there is no such call, nothing is reserved.
    ///
    /// # Errors
    /// Returns [`StorageFull`](io::ErrorKind::StorageFull) and the like, and the errors of [`patch`](Self::patch).
    fn reserve(&self, key: &Key, at: u64, len: u64) -> io::Result<()> {
        let _ = (key, at, len);
        Ok(())
    }

    /// Renames a file, replacing the file that has the new key, if there is one. At every moment,
    /// also after a crash, the new key leads to the old file or to the new one, and the file has at
    /// least one of its two keys.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound);
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if this is not a regular file; and any error of
    /// the store, for example if a folder has the new key.
    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        let _ = to;
        Err(self.read_only(from))
    }

    /// Removes a file.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound);
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if this is not a regular file; and any error of
    /// the store.
    fn remove(&self, key: &Key) -> io::Result<()> {
        Err(self.read_only(key))
    }

    /// Creates a folder, unless it exists, in one that exists.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists) if something else has this key, and
    /// any error of the store.
    fn make_folder(&self, key: &Key) -> io::Result<()> {
        Err(self.read_only(key))
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// Returns [`DirectoryNotEmpty`](io::ErrorKind::DirectoryNotEmpty),
    /// [`NotFound`](io::ErrorKind::NotFound), and any error of the store.
    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        Err(self.read_only(key))
    }

    /// Whether a journal in this store outlives the process, so that the next writer completes the change. Where it does not, as in
    /// a store that sends all changes elsewhere in the last step, an error of any step means that the change was not made.
    fn keeps_journals(&self) -> bool {
        true
    }

    /// Returns when the bytes of this file, or the names in this folder, would survive a power cut.
    ///
    /// # Errors
    /// Returns any error of the store.
    fn sync(&self, key: &Key) -> io::Result<()> {
        let _ = key;
        Ok(())
    }

    /// Locks the folder that has this key now; `None` if other locks exclude this one. Where there
    /// are no locks, this always succeeds; a store that is only read refuses an exclusive one.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound), and any error of the store.
    fn try_lock(&self, folder: &Key, mode: LockMode) -> io::Result<Option<Box<dyn StoreLock>>> {
        match mode {
            LockMode::Shared => Ok(Some(Box::new(NoLock))),
            LockMode::Exclusive => Err(self.read_only(folder)),
        }
    }
}
