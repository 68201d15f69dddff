//! A directory, accessed by paths, on systems without folder handles.

use super::{HOLE, NOT_A_FILE, NOT_A_FOLDER, at, invalid, or_none, require, split};
use crate::disk::real_path;
use crate::tree::{Entry, EntryKind, Key, Store, StoreLock};
use crate::{LockMode, ReadAt, WriteAt};
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file beside a writer's folder that represents its lock.
const LOCK: &str = ".blpk-lock";

/// A directory of the file system, as a [`Store`].
///
/// Links below the root are not followed, and only regular files are opened. This system cannot check and open
/// in one step, so a link that another program creates in between is followed.
///
/// Folders can be neither synced nor locked for readers: do not read the store while another process writes it.
/// One writer at a time is admitted, by the file `.blpk-lock` beside the folder that it locks. The file is not
/// listed, and disappears with the process.
#[derive(Debug)]
pub struct DiskStore {
    root: PathBuf,
}

impl DiskStore {
    /// Opens the directory at this path.
    ///
    /// # Errors
    /// Returns [`NotADirectory`](io::ErrorKind::NotADirectory), and any error of the file system.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let root = real_path(path.as_ref())?;
        if root.is_dir() {
            Ok(Self { root })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Creates and opens a directory in an existing one.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](io::ErrorKind::AlreadyExists) if anything has the path, and any error of the
    /// file system.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        fs::create_dir(path.as_ref())?;
        Self::open(path)
    }

    /// The path of a folder, after checking that all parts are folders.
    fn folder(&self, folder: &Key) -> io::Result<PathBuf> {
        let mut path = self.root.clone();
        for name in folder.names() {
            path.push(name);
            require(kind_of(&path)?, EntryKind::Folder, NOT_A_FOLDER)?;
        }
        Ok(path)
    }

    fn inside<T>(&self, key: &Key, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        let path = split(key).and_then(|(folder, name)| Ok(self.folder(&folder)?.join(name)));
        at(key, path.and_then(|path| act(&path)))
    }
}

impl Store for DiskStore {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        self.inside(key, |path| {
            require(kind_of(path)?, EntryKind::File, NOT_A_FILE)?;
            Ok(Box::new(File::open(path)?) as Box<dyn ReadAt>)
        })
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let read = |path: PathBuf| {
            let mut entries = Vec::new();
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                let (name, kind) = (entry.file_name(), kind(entry.file_type()?));
                if name != LOCK {
                    entries.push(Entry { name, kind });
                }
            }
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(entries)
        };
        at(folder, self.folder(folder).and_then(read))
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        if *key == Key::root() {
            return Ok(Some(EntryKind::Folder));
        }
        or_none(self.inside(key, kind_of))
    }

    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        self.inside(key, |path| {
            let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
            let written = file.write_all(bytes);
            if written.is_err() {
                let _ = fs::remove_file(path);
            }
            written
        })
    }

    fn patch(&self, key: &Key, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.inside(key, |path| {
            require(kind_of(path)?, EntryKind::File, NOT_A_FILE)?;
            let file = OpenOptions::new().write(true).open(path)?;
            if place > file.metadata()?.len() {
                return Err(invalid(HOLE));
            }
            file.write_all_at(place, bytes)
        })
    }

    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        self.inside(from, |old| {
            require(kind_of(old)?, EntryKind::File, NOT_A_FILE)?;
            self.inside(to, |new| fs::rename(old, new))
        })
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        self.inside(key, |path| {
            require(kind_of(path)?, EntryKind::File, NOT_A_FILE)?;
            fs::remove_file(path)
        })
    }

    fn make_folder(&self, key: &Key) -> io::Result<()> {
        if *key == Key::root() {
            return Ok(());
        }
        self.inside(key, |path| match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match kind_of(path)? {
                EntryKind::Folder => Ok(()),
                _ => Err(error),
            },
            made => made,
        })
    }

    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        self.inside(key, |path| {
            require(kind_of(path)?, EntryKind::Folder, NOT_A_FOLDER)?;
            fs::remove_dir(path)
        })
    }

    /// Folders cannot be synced here; their file systems journal names.
    fn sync(&self, key: &Key) -> io::Result<()> {
        if *key == Key::root() {
            return Ok(());
        }
        self.inside(key, |path| match kind_of(path)? {
            EntryKind::File => OpenOptions::new().write(true).open(path)?.sync_all(),
            _ => Ok(()),
        })
    }

    fn try_lock(&self, folder: &Key, mode: LockMode) -> io::Result<Option<Box<dyn StoreLock>>> {
        at(folder, self.folder(folder))?;
        match (folder.split(), mode) {
            (Some(_), LockMode::Exclusive) => self.inside(folder, lock),
            _ => Ok(Some(Box::new(Unlocked))),
        }
    }
}

/// The guard of a folder that cannot be locked here.
#[derive(Debug)]
struct Unlocked;

impl StoreLock for Unlocked {}

/// The file that represents the lock of a folder.
#[cfg(windows)]
#[derive(Debug)]
struct FileBeside(#[allow(dead_code, reason = "the file goes when it is closed")] File);

#[cfg(windows)]
impl StoreLock for FileBeside {}

/// Locks a folder by a file beside it that no other process can open. The system removes it when it is closed.
#[cfg(windows)]
fn lock(folder: &Path) -> io::Result<Option<Box<dyn StoreLock>>> {
    use std::os::windows::fs::OpenOptionsExt;
    const DELETE_AND_WRITE: u32 = 0x0001_0000 | 0x4000_0000;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    const SHARING_VIOLATION: i32 = 32;
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create(true)
        .access_mode(DELETE_AND_WRITE);
    options.share_mode(0).custom_flags(DELETE_ON_CLOSE);
    match options.open(folder.with_file_name(LOCK)) {
        Ok(file) => Ok(Some(Box::new(FileBeside(file)))),
        Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(not(windows))]
fn lock(_: &Path) -> io::Result<Option<Box<dyn StoreLock>>> {
    Ok(Some(Box::new(Unlocked)))
}

fn kind_of(path: &Path) -> io::Result<EntryKind> {
    Ok(kind(fs::symlink_metadata(path)?.file_type()))
}

fn kind(kind: FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Folder
    } else {
        EntryKind::Other
    }
}
