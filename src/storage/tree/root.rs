//! [`Root`]: a store as its last complete change left it, and its next change.
#![allow(dead_code, reason = "datasets stand on it")]

use super::{Entry, EntryKind, Key, Object, Store};
use crate::error::Result;
use crate::storage::{Access, ReadAt};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store whose files are changed many at a time, as a whole or not at all.
#[derive(Debug)]
pub(crate) struct Root {
    store: Arc<dyn Store>,
    pending: Mutex<BTreeMap<Key, Option<Arc<Vec<u8>>>>>,
}

impl Root {
    pub(crate) fn open(store: Arc<dyn Store>, _access: Access) -> Result<Self> {
        Ok(Self {
            store,
            pending: Mutex::default(),
        })
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<Key, Option<Arc<Vec<u8>>>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn read(&self, key: &Key) -> io::Result<Box<dyn Object>> {
        match self.locked().get(key) {
            Some(Some(bytes)) => Ok(Box::new(Arc::clone(bytes).as_ref().clone())),
            Some(None) => Err(io::ErrorKind::NotFound.into()),
            None => self.store.open(key),
        }
    }

    /// Whole file, refused over `max` bytes.
    pub(crate) fn get(&self, key: &Key, max: u64) -> io::Result<Vec<u8>> {
        let object = self.read(key)?;
        let size = object.size()?;
        if size > max {
            let what = format!("{size} bytes, where at most {max} should be");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        object.read_exact_at(0, &mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        match self.locked().get(key) {
            Some(Some(_)) => return Ok(Some(EntryKind::File)),
            Some(None) => return Ok(None),
            None => {}
        }
        let Some((folder, name)) = key.split() else {
            return Ok(Some(EntryKind::Folder));
        };
        match self.store.list(&folder) {
            Ok(entries) => Ok(entries.iter().find(|e| e.name == name).map(|e| e.kind)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        self.store.list(folder)
    }

    pub(crate) fn put(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        self.locked()
            .insert(key.clone(), Some(Arc::new(bytes.to_vec())));
        Ok(())
    }

    pub(crate) fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut all = self.get(key, u64::MAX)?;
        let at = usize::try_from(at).unwrap_or(0);
        if all.len() < at + bytes.len() {
            all.resize(at + bytes.len(), 0);
        }
        if let Some(place) = all.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        self.put(key, &all)
    }

    pub(crate) fn remove(&self, key: &Key) -> io::Result<()> {
        self.locked().insert(key.clone(), None);
        Ok(())
    }

    pub(crate) fn make_folder(&self, key: &Key) -> io::Result<()> {
        self.store.make_folder(key)
    }

    pub(crate) fn remove_folder(&self, key: &Key) -> io::Result<()> {
        let _ = self.store.remove_folder(key);
        Ok(())
    }

    pub(crate) fn commit(&self) -> Result<()> {
        for (key, bytes) in std::mem::take(&mut *self.locked()) {
            match bytes {
                Some(bytes) => {
                    let _ = self.store.remove(&key);
                    self.store.create(&key, &bytes)?;
                }
                None => {
                    let _ = self.store.remove(&key);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn rollback(&self) -> Result<()> {
        self.locked().clear();
        Ok(())
    }
}
