//! A directory by paths, where there are no handles of folders.

use super::{HOLE, NO_FILE, NO_FOLDER, at, invalid, or_none, split};
use crate::tree::{Entry, EntryKind, Guard, Key, Object, Store};
use crate::{LockMode, WriteAt};
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A directory of the file system.
///
/// Links below it are not followed, and nothing but regular files is opened. This system has no way to look and open in one
/// step, so that somebody who puts a link there in between is not kept out; nor can folders be synced or locked: only one
/// process at a time may write, while nobody reads.
#[derive(Debug)]
pub struct DiskStore {
    root: PathBuf,
}

impl DiskStore {
    /// The directory at this path, which is there.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let root = fs::canonicalize(path)?;
        match root.is_dir() {
            true => Ok(Self { root }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Creates a directory at this path, in one that is there.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), and those of the file system.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        fs::create_dir(path.as_ref())?;
        Self::open(path)
    }

    /// The path of a folder, whose parts are all folders.
    fn folder(&self, folder: &Key) -> io::Result<PathBuf> {
        let mut path = self.root.clone();
        for name in folder.names() {
            path.push(name);
            require(kind_of(&path)?, EntryKind::Folder, NO_FOLDER)?;
        }
        Ok(path)
    }

    fn inside<T>(&self, key: &Key, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        let path = split(key).and_then(|(folder, name)| Ok(self.folder(&folder)?.join(name)));
        at(key, path.and_then(|path| act(&path)))
    }
}

impl Store for DiskStore {
    fn open(&self, key: &Key) -> io::Result<Box<dyn Object>> {
        self.inside(key, |path| {
            require(kind_of(path)?, EntryKind::File, NO_FILE)?;
            Ok(Box::new(File::open(path)?) as Box<dyn Object>)
        })
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let read = |path: PathBuf| {
            let mut entries = Vec::new();
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                let (name, kind) = (entry.file_name(), kind(entry.file_type()?));
                entries.push(Entry { name, kind });
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
            require(kind_of(path)?, EntryKind::File, NO_FILE)?;
            let file = OpenOptions::new().write(true).open(path)?;
            if place > file.metadata()?.len() {
                return Err(invalid(HOLE));
            }
            file.write_all_at(place, bytes)
        })
    }

    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        self.inside(from, |old| {
            require(kind_of(old)?, EntryKind::File, NO_FILE)?;
            self.inside(to, |new| fs::rename(old, new))
        })
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        self.inside(key, |path| {
            require(kind_of(path)?, EntryKind::File, NO_FILE)?;
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
            require(kind_of(path)?, EntryKind::Folder, NO_FOLDER)?;
            fs::remove_dir(path)
        })
    }

    /// Folders cannot be synced here; their file systems keep a journal of names.
    fn sync(&self, key: &Key) -> io::Result<()> {
        if *key == Key::root() {
            return Ok(());
        }
        self.inside(key, |path| match kind_of(path)? {
            EntryKind::File => OpenOptions::new().write(true).open(path)?.sync_all(),
            _ => Ok(()),
        })
    }

    fn try_lock(&self, folder: &Key, _: LockMode) -> io::Result<Option<Box<dyn Guard>>> {
        at(folder, self.folder(folder))?;
        Ok(Some(Box::new(Unlocked)))
    }
}

/// There are no locks of folders here.
#[derive(Debug)]
struct Unlocked;

impl Guard for Unlocked {}

fn require(found: EntryKind, wanted: EntryKind, what: &str) -> io::Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(invalid(what))
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
