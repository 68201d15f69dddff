//! [`Store`]: files in folders below one root.

use super::Key;
use crate::{Access, Lock, LockMode, ReadAt, WriteAt};
use std::ffi::OsString;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;

/// A file or folder of a [`Store`], open for reading, writing and locking. Implemented for every thread-safe
/// type with [`WriteAt`] and [`Lock`].
pub trait StoreHandle: WriteAt + Lock + Send + Sync {}

impl<T: WriteAt + Lock + Send + Sync> StoreHandle for T {}

/// The lock of a folder. Dropping it releases the lock.
pub trait StoreLock: Send + Sync + Debug {
    /// Refuses to use the lock in a process that does not hold it, because it was forked after locking. The
    /// default accepts every process: a lock in memory is copied with the memory.
    ///
    /// # Errors
    /// Returns an error in such a process.
    fn check_process(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The lock of a store that nobody changes.
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
    /// A link, a pipe or a device. It is never opened or followed.
    Other,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name without the folder. It may be invalid UTF-8.
    pub name: OsString,
    /// The kind of the entry.
    pub kind: EntryKind,
}

/// Files in folders below one root: [`DiskStore`](crate::DiskStore), [`Memory`](crate::Memory), or one of your
/// own.
///
/// A store never reaches outside its root: it follows no link in any part of a key, and opens only regular
/// files. Until [`sync`](Self::sync) of a folder has returned, a crash may undo, in any order, what was
/// created, renamed or removed in it. The same applies to writes to a file until `sync` of the file.
///
/// [`JournaledStore`](crate::JournaledStore) builds atomic changes of several files from these operations. A
/// read-only store implements [`open`](Self::open) and [`list`](Self::list); the defaults of all changing
/// methods return the error of [`read_only`](Self::read_only).
///
/// ```
/// use bloscpack_storage::{Access, Entry, EntryKind, JournaledStore, Key, ReadAt, Store};
/// use std::io;
/// use std::sync::Arc;
///
/// /// A store of one file.
/// #[derive(Debug)]
/// struct OneFile;
///
/// impl Store for OneFile {
///     fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
///         match key.as_str() {
///             "answer" => Ok(Box::new(b"42".to_vec())),
///             _ => Err(io::ErrorKind::NotFound.into()),
///         }
///     }
///
///     fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
///         match folder.as_str() {
///             "" => Ok(vec![Entry { name: "answer".into(), kind: EntryKind::File }]),
///             _ => Err(io::ErrorKind::NotFound.into()),
///         }
///     }
/// }
///
/// let store = JournaledStore::open(Arc::new(OneFile), Access::Read)?;
/// assert_eq!(store.get(&Key::parse("answer")?, 100)?, b"42");
/// # Ok::<(), bloscpack_storage::Error>(())
/// ```
pub trait Store: Debug + Send + Sync {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) for
    /// anything other than a regular file; and any error of the store.
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>>;

    /// Announces that these files will be read whole, in about this order. A store that must wait for each file
    /// may begin to fetch them; the default ignores the call. Keys without a file are ignored.
    fn will_read(&self, keys: &[Key]) {
        let _ = keys;
    }

    /// Opens a file or a folder as a handle that [sees others](crate::Presence), for announcements, locks and
    /// the history. A folder is never written to. `None` if the store has no such handles: readers and writers
    /// then lock each other out.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    fn handle(&self, key: &Key, access: Access) -> io::Result<Option<Arc<dyn StoreHandle>>> {
        let _ = (key, access);
        Ok(None)
    }

    /// The entries of a folder, sorted by name. A folder without entries is an empty list.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if the key
    /// is not a folder; and any error of the store.
    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>>;

    /// The kind of the entry with this key; `None` if it or a folder above it does not exist. The default lists
    /// the folder.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if a part of the key before the last is not a
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

    /// Compares the file with this key, or all files below it, with checksums that the store itself keeps, and
    /// returns each difference. The default has no checksums and returns nothing.
    fn verify(&self, below: &Key) -> Vec<io::Error> {
        let _ = below;
        Vec::new()
    }

    /// Whether other programs find each file where this store has it: below its folder or URL, under the same name. False for
    /// the files of an archive; the default is true.
    fn has_own_files(&self) -> bool {
        true
    }

    /// The error that all changes of a read-only store return: by default
    /// [`ReadOnlyFilesystem`](io::ErrorKind::ReadOnlyFilesystem).
    fn read_only(&self, key: &Key) -> io::Error {
        let _ = key;
        io::ErrorKind::ReadOnlyFilesystem.into()
    }

    /// Creates a file with these bytes, in an existing folder. If it fails, no file with a part of the bytes
    /// may remain.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists) if anything has the key, and any error of the
    /// store.
    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let _ = bytes;
        Err(self.read_only(key))
    }

    /// Creates a file that will be renamed to `like`. Where files have owners and modes, it gets those of the
    /// file `like`, or those of a new file there. The default calls [`create`](Self::create).
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    fn create_like(&self, key: &Key, like: &Key, bytes: &[u8]) -> io::Result<()> {
        let _ = like;
        self.create(key, bytes)
    }

    /// Overwrites bytes of an existing file from position `at`, or appends at its end. Without bytes, it only
    /// checks whether it could.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if `at` is
    /// after the end of the file, for anything other than a regular file, and for a file with several names;
    /// [`Unsupported`](io::ErrorKind::Unsupported) if the store can only write files whole; and any error of
    /// the store. Some of the bytes may then have been written.
    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _ = (at, bytes);
        Err(self.read_only(key))
    }

    /// Reserves space for a [patch](Self::patch) of `len` bytes from position `at`, so that it cannot fail for
    /// lack of space. Content and length do not change. The default reserves nothing.
    ///
    /// # Errors
    /// Returns [`StorageFull`](io::ErrorKind::StorageFull) or a similar error, and the errors of
    /// [`patch`](Self::patch).
    fn reserve(&self, key: &Key, at: u64, len: u64) -> io::Result<()> {
        let _ = (key, at, len);
        Ok(())
    }

    /// Renames a file, replacing a file that has the new key. At every moment, and after a crash, the new key
    /// refers to the old or to the new file, and the renamed file has at least one of its two keys.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if `from`
    /// is not a regular file; and any error of the store, for example if a folder has the new key.
    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        let _ = to;
        Err(self.read_only(from))
    }

    /// Removes a file.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if this is
    /// not a regular file; and any error of the store.
    fn remove(&self, key: &Key) -> io::Result<()> {
        Err(self.read_only(key))
    }

    /// Creates a folder in an existing folder. An existing folder is not an error.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists) if anything other than a folder has this key,
    /// and any error of the store.
    fn make_folder(&self, key: &Key) -> io::Result<()> {
        Err(self.read_only(key))
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// Returns [`DirectoryNotEmpty`](io::ErrorKind::DirectoryNotEmpty), [`NotFound`](io::ErrorKind::NotFound),
    /// and any error of the store.
    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        Err(self.read_only(key))
    }

    /// Whether a journal in this store outlives the process, so that the next writer can complete the change.
    /// Return false for a store that sends all changes elsewhere in the last step of a commit: an error of any
    /// step then means that the change was not made.
    fn keeps_journals(&self) -> bool {
        true
    }

    /// Blocks until the bytes of this file, or the names in this folder, would survive a power cut. The default
    /// does nothing.
    ///
    /// # Errors
    /// Returns any error of the store.
    fn sync(&self, key: &Key) -> io::Result<()> {
        let _ = key;
        Ok(())
    }

    /// Tries to lock the folder that has this key now, without waiting; `None` if another lock excludes this
    /// one. A store without locks always succeeds. By default, shared locks succeed and exclusive ones are
    /// refused as [`read_only`](Self::read_only).
    ///
    /// ```
    /// use bloscpack_storage::{Key, LockMode, Memory, Store};
    ///
    /// let store = Memory::new();
    /// let reader = store.try_lock(&Key::root(), LockMode::Shared)?;
    /// assert!(store.try_lock(&Key::root(), LockMode::Exclusive)?.is_none());
    /// drop(reader);
    /// assert!(store.try_lock(&Key::root(), LockMode::Exclusive)?.is_some());
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
