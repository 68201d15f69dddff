//! A directory on Unix, accessed by folder handles.

use super::folders::{FOLDER, Folders, folder_in};
use super::{HOLE, NOT_A_FILE, NOT_A_FOLDER, at, invalid, or_none, require, split};
use crate::owners::copy_owners;
use crate::process::Process;
use crate::tree::{Entry, EntryKind, Key, Store, StoreHandle, StoreLock};
use crate::write_at::{cannot_sync, reserve_in_file, retry, sync_file};
use crate::{Access, Lock, LockMode, ReadAt, WriteAt};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

/// A directory of the file system, as a [`Store`].
///
/// The path may contain links; it is resolved once. Below it, no link is followed in any part of a key, not
/// even one that another program creates in the meantime, and only regular files are opened. Errors name the
/// key.
///
/// A file with several names (hard links) is read, replaced and removed like any other, but not patched. A new
/// file has the mode that the umask leaves, and is readable for every user who can read its folder. A file that
/// replaces another keeps its owner and mode, as far as the process may set them.
///
/// Up to eight folders are kept open for reading. If another program moves a folder while the store is open,
/// reads may still find the moved one.
///
/// ```
/// use bloscpack_storage::{DiskStore, EntryKind, Key, ReadAt, Store};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("dataset");
/// let store = DiskStore::create(&path)?;
/// let key = Key::parse("meta/sizes")?;
/// store.make_folder(&Key::parse("meta")?)?;
/// store.create(&key, b"{}")?;
/// assert_eq!(store.kind(&key)?, Some(EntryKind::File));
/// assert_eq!(store.open(&key)?.size()?, 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct DiskStore {
    folders: Folders,
}

impl DiskStore {
    /// Opens the directory at this path.
    ///
    /// # Errors
    /// Returns [`NotADirectory`](io::ErrorKind::NotADirectory), and any error of the file system.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut options = fs::OpenOptions::new();
        let flags = libc::O_DIRECTORY | libc::O_NONBLOCK;
        let root = retry(|| options.read(true).custom_flags(flags).open(path.as_ref()))?;
        Ok(Self {
            folders: Folders::new(root),
        })
    }

    /// Creates and opens a directory in an existing one, and syncs the latter.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists) if anything has the path, and any error of the
    /// file system.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        fs::create_dir(path)?;
        let store = Self::open(path)?;
        // A path may end in `..`, or be a single relative name. Opening `..` from the new root is always right.
        let root = store.root()?;
        let parent = retry(|| Ok(openat(&root, "..", FOLDER, Mode::empty())?))?;
        sync(&File::from(parent))?;
        Ok(store)
    }

    fn root(&self) -> io::Result<Arc<File>> {
        self.folders.walk(&Key::root())
    }

    /// A handle of the root that nobody else shares, because locks belong to handles.
    fn own_root(&self) -> io::Result<File> {
        let root = self.root()?;
        Ok(retry(|| Ok(openat(&root, ".", FOLDER, Mode::empty())?))?.into())
    }

    /// Changes something in the folder that has the key now.
    fn change<T>(
        &self,
        key: &Key,
        act: impl FnOnce(&File, &str) -> io::Result<T>,
    ) -> io::Result<T> {
        let done = split(key).and_then(|(folder, name)| act(&*self.folders.walk(&folder)?, name));
        at(key, done)
    }
}

impl Store for DiskStore {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        let open = |folder: &Key, name| {
            let act = |folder: &File| open_file(folder, name, OFlags::RDONLY);
            self.folders.look(folder, act)
        };
        let file = split(key).and_then(|(folder, name)| open(&folder, name));
        Ok(Box::new(at(key, file)?.0))
    }

    fn handle(&self, key: &Key, access: Access) -> io::Result<Option<Arc<dyn StoreHandle>>> {
        let open = |folder: &File, name| match kind_of(folder, name)? {
            EntryKind::Folder => folder_in(folder, name),
            _ => Ok(open_file(folder, name, flags_of(access))?.0),
        };
        let opened = match key.split() {
            None => self.own_root(),
            Some((folder, name)) => self.folders.look(&folder, |folder| open(folder, name)),
        };
        let file = at(key, opened)?;
        Ok(match file.presence() {
            Some(_) => Some(Arc::new(file)),
            None => None,
        })
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        at(
            folder,
            self.folders.walk(folder).and_then(|folder| list(&folder)),
        )
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        let Some((folder, name)) = key.split() else {
            return Ok(Some(EntryKind::Folder));
        };
        let kind = self.folders.look(&folder, |folder| kind_of(folder, name));
        at(key, or_none(kind))
    }

    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        self.change(key, |folder, name| {
            create(folder, name, bytes, |file| widen(file, folder))
        })
    }

    fn create_like(&self, key: &Key, like: &Key, bytes: &[u8]) -> io::Result<()> {
        let old = match self.change(like, stat_of) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            old => Some(old?),
        };
        let home = split(like).and_then(|(home, _)| self.folders.walk(&home));
        self.change(key, |folder, name| match (old, home) {
            (Some(old), _) => create_private(folder, name, bytes, &old),
            (None, Ok(home)) => create(folder, name, bytes, |file| widen(file, &home)),
            // The same commit makes its folder.
            (None, Err(_)) => create(folder, name, bytes, |file| widen(file, folder)),
        })
    }

    fn patch(&self, key: &Key, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(key, |folder, name| {
            let (file, metadata) = open_file(folder, name, OFlags::WRONLY)?;
            if metadata.nlink() > 1 {
                let what =
                    "a file with several names (hard links) is not changed in place; copy it first";
                return Err(invalid(what));
            }
            if place > metadata.len() {
                return Err(invalid(HOLE));
            }
            file.write_all_at(place, bytes)
        })
    }

    fn reserve(&self, key: &Key, place: u64, len: u64) -> io::Result<()> {
        self.change(key, |folder, name| {
            let (file, _) = open_file(folder, name, OFlags::WRONLY)?;
            reserve_in_file(&file, place, len)
        })
    }

    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        self.change(from, |old_folder, old| {
            require(kind_of(old_folder, old)?, EntryKind::File, NOT_A_FILE)?;
            self.change(to, |folder, name| {
                retry(|| Ok(rustix::fs::renameat(old_folder, old, folder, name)?))
            })
        })
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        self.change(key, |folder, name| {
            require(kind_of(folder, name)?, EntryKind::File, NOT_A_FILE)?;
            retry(|| Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?))
        })
    }

    fn make_folder(&self, key: &Key) -> io::Result<()> {
        if *key == Key::root() {
            return Ok(());
        }
        self.change(key, make_folder)
    }

    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        self.folders.forget();
        self.change(key, |folder, name| {
            require(kind_of(folder, name)?, EntryKind::Folder, NOT_A_FOLDER)?;
            retry(|| Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?))
        })
    }

    fn sync(&self, key: &Key) -> io::Result<()> {
        if *key == Key::root() {
            return at(key, sync(&*self.root()?));
        }
        self.change(key, |folder, name| match kind_of(folder, name)? {
            EntryKind::Folder => sync(&folder_in(folder, name)?),
            _ => sync(&open_file(folder, name, OFlags::RDONLY)?.0),
        })
    }

    fn try_lock(&self, key: &Key, mode: LockMode) -> io::Result<Option<Box<dyn StoreLock>>> {
        let lock = |folder: File| Ok(Lock::try_lock(&folder, mode)?.then_some(folder));
        let held: io::Result<Option<File>> = match key.split() {
            None => self.own_root().and_then(lock),
            Some(_) => self.change(key, |folder, name| {
                let held = lock(folder_in(folder, name)?)?;
                if let Some(held) = &held {
                    // The previous writer may have removed the folder before this lock.
                    let there = folder_in(folder, name)?.metadata()?;
                    let held = held.metadata()?;
                    if (there.dev(), there.ino()) != (held.dev(), held.ino()) {
                        return Err(io::ErrorKind::NotFound.into());
                    }
                }
                Ok(held)
            }),
        };
        Ok(at(key, held)?.map(|folder| {
            let process = Process::current();
            Box::new(FolderLock { folder, process }) as Box<dyn StoreLock>
        }))
    }
}

/// A locked folder.
#[derive(Debug)]
struct FolderLock {
    folder: File,
    process: Process,
}

impl StoreLock for FolderLock {
    fn check_process(&self) -> io::Result<()> {
        self.process.check()
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // A forked child has the folder open, too, so closing it here would not unlock it.
        if self.process.is_current() {
            let _ = Lock::unlock(&self.folder);
        }
    }
}

fn flags_of(access: Access) -> OFlags {
    match access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::RDWR,
    }
}

fn kind_of(folder: &File, name: impl rustix::path::Arg + Copy) -> io::Result<EntryKind> {
    let stat = retry(|| Ok(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))?;
    Ok(kind(FileType::from_raw_mode(stat.st_mode)))
}

fn kind(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        _ => EntryKind::Other,
    }
}

fn list(folder: &File) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in retry(|| Ok(Dir::read_from(folder)?))? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not report the kind. A name that no longer exists is left out.
            FileType::Unknown => match or_none(kind_of(folder, name))? {
                Some(kind) => kind,
                None => continue,
            },
            known => kind(known),
        };
        let name = OsStr::from_bytes(name.to_bytes()).to_owned();
        entries.push(Entry { name, kind });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// Opens a regular file, without following a link or waiting for a FIFO.
fn open_file(folder: &File, name: &str, access: OFlags) -> io::Result<(File, Metadata)> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = retry(|| Ok(openat(folder, name, flags, Mode::empty())?));
    let file: File = match opened {
        Ok(fd) => fd.into(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
        // Opening a link or a device can return various errors.
        Err(error) => {
            require(kind_of(folder, name)?, EntryKind::File, NOT_A_FILE)?;
            return Err(error);
        }
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(invalid(NOT_A_FILE));
    }
    Ok((file, metadata))
}

/// The metadata of a file that will be replaced, with its owner, group and mode.
fn stat_of(folder: &File, name: &str) -> io::Result<Metadata> {
    Ok(open_file(folder, name, OFlags::RDONLY)?.1)
}

fn create(
    folder: &File,
    name: &str,
    bytes: &[u8],
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    create_with(folder, name, bytes, 0o666, prepare)
}

/// Creates a file with the owner, group and mode of another. At no time can a user read it who may not read the
/// other.
fn create_private(folder: &File, name: &str, bytes: &[u8], like: &Metadata) -> io::Result<()> {
    create_with(folder, name, bytes, 0o600, |file| copy_owners(file, like))
}

fn create_with(
    folder: &File,
    name: &str,
    bytes: &[u8],
    mode: u16,
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode.into());
    let file: File = retry(|| Ok(openat(folder, name, flags, mode)?))?.into();
    let written = prepare(&file).and_then(|()| file.write_all_at(0, bytes));
    if written.is_err() {
        // Remove the incomplete file. If that fails, too, the first error matters.
        let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
    }
    written
}

/// Makes a new file or folder readable for every user who can read its folder, whatever the umask: a dataset
/// with one unreadable chunk is useless to other users. Nobody gains write access.
fn widen(new: &File, folder: &File) -> io::Result<()> {
    let (now, around) = (new.metadata()?, folder.metadata()?);
    let wanted = if now.is_dir() { 0o555 } else { 0o444 };
    let mode = now.mode() & 0o7777;
    let wider = mode | (around.mode() & wanted);
    if wider == mode {
        return Ok(());
    }
    new.set_permissions(Permissions::from_mode(wider))
}

fn make_folder(folder: &File, name: &str) -> io::Result<()> {
    let made = retry(|| Ok(rustix::fs::mkdirat(folder, name, 0o777.into())?));
    match made {
        Ok(()) => widen(&folder_in(folder, name)?, folder),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            match kind_of(folder, name)? {
                EntryKind::Folder => Ok(()),
                _ => Err(error),
            }
        }
        Err(error) => Err(error),
    }
}

fn sync(file: &File) -> io::Result<()> {
    match sync_file(file) {
        Err(error) if cannot_sync(&error) && file.metadata()?.is_dir() => Ok(()),
        done => done,
    }
}
