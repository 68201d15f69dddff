//! [`DiskStore`]: a directory of the file system.
use super::{Entry, EntryKind, Guard, Key, Object, Store};
use crate::storage::Hold;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A directory of the file system.
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
        Ok(Self {
            root: path.as_ref().to_owned(),
        })
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }
}

impl Store for DiskStore {
    fn open(&self, key: &Key) -> io::Result<Box<dyn Object>> {
        Ok(Box::new(File::open(self.path(key))?))
    }
    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(self.path(folder))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let kind = if kind.is_file() {
                EntryKind::File
            } else if kind.is_dir() {
                EntryKind::Folder
            } else {
                EntryKind::Other
            };
            all.push(Entry {
                name: entry.file_name(),
                kind,
            });
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }
    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        fs::write(self.path(key), bytes)
    }
    fn patch(&self, _: &Key, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }
    fn remove(&self, key: &Key) -> io::Result<()> {
        fs::remove_file(self.path(key))
    }
    fn make_folder(&self, key: &Key) -> io::Result<()> {
        fs::create_dir_all(self.path(key))
    }
    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        fs::remove_dir(self.path(key))
    }
    fn sync(&self, _: &Key) -> io::Result<()> {
        Ok(())
    }
    fn try_lock(&self, _: &Key, _: Hold) -> io::Result<Option<Box<dyn Guard>>> {
        #[derive(Debug)]
        struct None;
        impl Guard for None {}
        Ok(Some(Box::new(None)))
    }
}
