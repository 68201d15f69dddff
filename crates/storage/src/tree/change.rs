//! Changes of a [`JournaledStore`]: putting and removing files, making and removing folders.

use super::errors::{NOT_A_FILE, NOT_A_FOLDER, invalid, not_found};
use super::pending::{FILE_AND_FOLDER, OTHER, Pending, Staged, with_changes};
use super::step::Fingerprint;
use super::{EntryKind, JournaledStore, Key};
use crate::Result;
use crate::convert::to_u64;
use std::io;

impl JournaledStore {
    /// Puts a file, replacing a file with this key. The bytes are written to a staged file in `.blpk` at once;
    /// the file gets its key in the commit. The folder must exist, in the store or as a pending change.
    ///
    /// ```
    /// use bloscpack_storage::{Access, JournaledStore, Key, Memory};
    /// use std::sync::Arc;
    ///
    /// let store = Memory::new();
    /// let writer = JournaledStore::open(Arc::new(store.clone()), Access::Write)?;
    /// let key = Key::parse("data/0")?;
    /// assert!(writer.put(&key, b"zero").is_err(), "there is no folder `data`");
    /// writer.make_folder(&Key::parse("data")?)?;
    /// writer.put(&key, b"zero")?;
    /// assert_eq!(writer.get(&key, 100)?, b"zero");
    /// assert_eq!(store.bytes("data/0"), None);
    /// writer.commit()?;
    /// assert_eq!(store.bytes("data/0").as_deref(), Some(&b"zero"[..]));
    /// # Ok::<(), bloscpack_storage::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound) if the folder does not exist;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if anything other than a file has the key, including a
    /// folder that this commit removes, and for keys in `.blpk`;
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) for a reader; and any error of the store. Other
    /// pending changes are kept.
    pub fn put(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let _gate = self.begin(key)?;
        let around = self.kind_of_folder(key)?;
        let base = self.store.kind(key)?;
        let number = {
            let mut state = self.state();
            state.check_folder(key, around)?;
            state.check_put(key, base)?;
            state.next_number()
        };
        let staged = self.staging.key(number)?;
        if let Err(error) = self.store.create_like(&staged, key, bytes) {
            self.discard(number);
            return Err(error);
        }
        let pending = Pending::Put(Staged {
            number,
            len: to_u64(bytes.len()),
            sum: Some((crc32fast::hash(bytes), Fingerprint::of(&bytes)?)),
        });
        let mut state = self.state();
        // Another thread may have changed the folder in the meantime.
        let fits = state.check_folder(key, around);
        match fits.and_then(|()| state.check_put(key, base)) {
            Ok(()) => {
                let old = state.set(key, pending);
                drop(state);
                self.supersede(old);
                Ok(())
            }
            Err(error) => {
                drop(state);
                self.discard(number);
                Err(error)
            }
        }
    }

    /// Removes a file.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if this is
    /// not a file; and any error of the store.
    pub fn remove(&self, key: &Key) -> io::Result<()> {
        let _gate = self.begin(key)?;
        let base = self.store.kind(key)?;
        let mut state = self.state();
        let kind = state.get(key).map_or(base, Pending::kind);
        match kind {
            Some(EntryKind::File) => {}
            Some(EntryKind::Folder) => return Err(invalid(key, NOT_A_FILE)),
            Some(EntryKind::Other) => return Err(invalid(key, OTHER)),
            None => return Err(not_found(key)),
        }
        let old = match base {
            Some(_) => state.set(key, Pending::Remove),
            None => state.forget(key),
        };
        drop(state);
        self.supersede(old);
        Ok(())
    }

    /// Makes a folder. An existing folder is not an error.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound) if the folder above does not exist;
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if anything other than a folder has the key;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if this commit removes a file with the key; and any error
    /// of the store.
    pub fn make_folder(&self, key: &Key) -> io::Result<()> {
        if *key == Key::root() {
            return self.check();
        }
        let _gate = self.begin(key)?;
        let around = self.kind_of_folder(key)?;
        let base = self.store.kind(key)?;
        let mut state = self.state();
        state.check_folder(key, around)?;
        match (state.get(key), base) {
            (Some(Pending::MakeFolder), _) | (None, Some(EntryKind::Folder)) => {}
            // It exists: cancel its removal.
            (Some(Pending::RemoveFolder), _) => drop(state.forget(key)),
            (None, None) => drop(state.set(key, Pending::MakeFolder)),
            (Some(Pending::Remove), _) => return Err(invalid(key, FILE_AND_FOLDER)),
            (Some(Pending::Put(_) | Pending::Patch(_)), _)
            | (None, Some(EntryKind::File | EntryKind::Other)) => {
                let what = format!("{key}: exists and is not a folder");
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
        }
        Ok(())
    }

    /// Removes a folder that is empty after the pending changes.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`DirectoryNotEmpty`](io::ErrorKind::DirectoryNotEmpty);
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if this is not a folder; and any error of the store.
    pub fn remove_folder(&self, key: &Key) -> io::Result<()> {
        let _gate = self.begin(key)?;
        let base = self.store.kind(key)?;
        let inside = match base {
            Some(EntryKind::Folder) => self.store.list(key)?,
            _ => Vec::new(),
        };
        let mut state = self.state();
        match state.get(key).map_or(base, Pending::kind) {
            Some(EntryKind::Folder) => {}
            Some(_) => return Err(invalid(key, NOT_A_FOLDER)),
            None => return Err(not_found(key)),
        }
        if !with_changes(inside, state.changed_in(key)).is_empty() {
            let what = format!("{key}: the folder is not empty");
            return Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, what));
        }
        match base {
            Some(_) => drop(state.set(key, Pending::RemoveFolder)),
            None => drop(state.forget(key)),
        }
        Ok(())
    }

    /// Discards all changes since the last commit, and removes their staged files.
    ///
    /// ```
    /// use bloscpack_storage::{Access, JournaledStore, Key, Memory};
    /// use std::sync::Arc;
    ///
    /// let store = Memory::from([("log", b"one".to_vec())]);
    /// let writer = JournaledStore::open(Arc::new(store), Access::Write)?;
    /// let key = Key::parse("log")?;
    /// writer.remove(&key)?;
    /// assert_eq!(writer.kind(&key)?, None);
    /// writer.rollback()?;
    /// assert_eq!(writer.get(&key, 100)?, b"one");
    /// # Ok::<(), bloscpack_storage::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if an earlier error has left the state of the store unknown, and for a reader.
    pub fn rollback(&self) -> Result<()> {
        let _gate = self.begin_alone()?;
        let mut numbers: Vec<u64> = Vec::new();
        let mut state = self.state();
        numbers.extend(state.spill.as_ref().map(|spill| spill.number));
        for (_, pending) in state.in_order()? {
            if let Pending::Put(staged) = pending {
                numbers.push(staged.number);
            }
        }
        state.clear();
        drop(state);
        numbers.into_iter().for_each(|number| self.discard(number));
        Ok(())
    }

    /// The kind of the entry at the key of this key's folder.
    fn kind_of_folder(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        match key.split() {
            Some((folder, _)) => self.store.kind(&folder),
            None => Ok(None),
        }
    }

    /// Removes the staged file of a replaced pending change.
    fn supersede(&self, old: Option<Pending>) {
        if let Some(Pending::Put(staged)) = old {
            let mut state = self.state();
            state.epoch = state.epoch.wrapping_add(1);
            drop(state);
            self.discard(staged.number);
        }
    }
}
