//! [`Below`]: one folder of a store, as a store.

use super::{Entry, EntryKind, Key, Store, StoreHandle, StoreLock};
use crate::{Access, LockMode, ReadAt};
use std::io;
use std::sync::Arc;

/// One folder of a store, as a read-only store of its own: its keys are relative to the folder.
///
/// ```
/// use bloscpack_storage::{Below, Key, Memory, Store};
/// use std::sync::Arc;
/// let store = Arc::new(Memory::from([("data/eeg/meta/sizes", b"{}".to_vec())]));
/// let below = Below::new(store, Key::parse("data/eeg")?);
/// assert_eq!(below.list(&Key::root())?.len(), 1);
/// assert_eq!(below.open(&Key::parse("meta/sizes")?)?.size()?, 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Below {
    store: Arc<dyn Store>,
    folder: Key,
}

impl Below {
    /// The files below `folder`. It is not accessed yet, so a missing folder is an error of the first
    /// operation.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, folder: Key) -> Self {
        Self { store, folder }
    }

    fn key(&self, key: &Key) -> io::Result<Key> {
        key.names()
            .try_fold(self.folder.clone(), |all, name| all.join(name))
    }
}

impl Store for Below {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        self.store.open(&self.key(key)?)
    }

    fn will_read(&self, keys: &[Key]) {
        let keys: Vec<Key> = keys.iter().filter_map(|key| self.key(key).ok()).collect();
        self.store.will_read(&keys);
    }

    fn handle(&self, key: &Key, access: Access) -> io::Result<Option<Arc<dyn StoreHandle>>> {
        self.store.handle(&self.key(key)?, access)
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        self.store.list(&self.key(folder)?)
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        self.store.kind(&self.key(key)?)
    }

    fn verify(&self, below: &Key) -> Vec<io::Error> {
        match self.key(below) {
            Ok(below) => self.store.verify(&below),
            Err(error) => vec![error],
        }
    }

    fn has_own_files(&self) -> bool {
        self.store.has_own_files()
    }

    fn read_only(&self, key: &Key) -> io::Error {
        self.store.read_only(&self.key(key).unwrap_or_default())
    }

    fn try_lock(&self, folder: &Key, mode: LockMode) -> io::Result<Option<Box<dyn StoreLock>>> {
        match mode {
            LockMode::Shared => self.store.try_lock(&self.key(folder)?, mode),
            LockMode::Exclusive => Err(self.read_only(folder)),
        }
    }
}
