//! Dropped files as sources and as a store.

use crate::host;
use bloscpack::storage::{Entry, EntryKind, Key, ReadAt, Store};
use std::collections::BTreeMap;
use std::io;

/// A file of the worker, identified by its number.
#[derive(Debug, Clone, Copy)]
pub struct HostFile {
    /// The number.
    pub number: u32,
    /// Its length in bytes.
    pub size: u64,
}

impl ReadAt for HostFile {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() || at >= self.size {
            Ok(0)
        } else {
            host::read(self.number, at, buf)
        }
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }
}

/// The files of a folder. The worker does not see empty folders.
#[derive(Debug, Clone, Default)]
pub struct Files {
    files: BTreeMap<Key, HostFile>,
    folders: BTreeMap<Key, Vec<Entry>>,
}

impl Files {
    /// Adds a file, and the folders that contain it.
    pub fn add(&mut self, path: &str, file: HostFile) -> io::Result<()> {
        let key = Key::parse(path)?;
        let mut below = (key.clone(), EntryKind::File);
        while let Some((folder, name)) = below.0.split() {
            let name = name.into();
            let kind = below.1;
            let entries = self.folders.entry(folder.clone()).or_default();
            if !entries.iter().any(|entry| entry.name == name) {
                entries.push(Entry { name, kind });
                entries.sort_by(|a, b| a.name.cmp(&b.name));
            }
            below = (folder, EntryKind::Folder);
        }
        self.files.insert(key, file);
        Ok(())
    }
}

impl Store for Files {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        match self.files.get(key) {
            Some(file) => Ok(Box::new(*file)),
            None if self.folders.contains_key(key) => Err(io::ErrorKind::InvalidInput.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        match self.folders.get(folder) {
            Some(entries) => Ok(entries.clone()),
            None if self.files.contains_key(folder) => Err(io::ErrorKind::InvalidInput.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
