//! Changes of a [`Root`]: files put and removed, folders made and removed.

use super::op::Print;
use super::own::invalid;
use super::root::{len_of, not_found, overlaid};
use super::state::{BOTH, Fate, OTHER, Staged};
use super::{EntryKind, Key, Root};
use crate::Result;
use std::io;

impl Root {
    /// Puts a file, in the place of the one that is there if one is. It is staged at once.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) if the folder is not there;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if something else than a file is; those of the store.
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
        let staged = self.own.staged(number)?;
        if let Err(error) = self.store.create_like(&staged, key, bytes) {
            self.discard(number);
            return Err(error);
        }
        let fate = Fate::Put(Staged {
            number,
            len: len_of(bytes),
            sum: Some((crc32fast::hash(bytes), Print::of(&bytes)?)),
        });
        let mut state = self.state();
        // Another thread may have changed what is around it.
        let fits = state.check_folder(key, around);
        match fits.and_then(|()| state.check_put(key, base)) {
            Ok(()) => {
                let old = state.set(key, fate);
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
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no file; those of
    /// the store.
    pub fn remove(&self, key: &Key) -> io::Result<()> {
        let _gate = self.begin(key)?;
        let base = self.store.kind(key)?;
        let mut state = self.state();
        let kind = state.fate(key).map_or(base, Fate::kind);
        match kind {
            Some(EntryKind::File) => {}
            Some(EntryKind::Folder) => return Err(invalid(key, "a folder, not a file")),
            Some(EntryKind::Other) => return Err(invalid(key, OTHER)),
            None => return Err(not_found(key)),
        }
        let old = match base {
            Some(_) => state.set(key, Fate::Remove),
            None => state.forget(key),
        };
        drop(state);
        self.supersede(old);
        Ok(())
    }

    /// Makes a folder, if it is not there.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) if the one that it is to lie in is not there;
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if there is something else; those of the store.
    pub fn make_folder(&self, key: &Key) -> io::Result<()> {
        if *key == Key::root() {
            return self.check();
        }
        let _gate = self.begin(key)?;
        let around = self.kind_of_folder(key)?;
        let base = self.store.kind(key)?;
        let mut state = self.state();
        state.check_folder(key, around)?;
        match (state.fate(key), base) {
            (Some(Fate::MakeFolder), _) | (None, Some(EntryKind::Folder)) => {}
            // It is there, and so it stays.
            (Some(Fate::RemoveFolder), _) => drop(state.forget(key)),
            (None, None) => drop(state.set(key, Fate::MakeFolder)),
            (Some(Fate::Remove), _) => return Err(invalid(key, BOTH)),
            (Some(Fate::Put(_) | Fate::Patch(_)), _)
            | (None, Some(EntryKind::File | EntryKind::Other)) => {
                let what = format!("{key}: something is there that is no folder");
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
        }
        Ok(())
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound), [`DirectoryNotEmpty`](io::ErrorKind::DirectoryNotEmpty);
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no folder; those of the store.
    pub fn remove_folder(&self, key: &Key) -> io::Result<()> {
        let _gate = self.begin(key)?;
        let base = self.store.kind(key)?;
        let inside = match base {
            Some(EntryKind::Folder) => self.store.list(key)?,
            _ => Vec::new(),
        };
        let mut state = self.state();
        match state.fate(key).map_or(base, Fate::kind) {
            Some(EntryKind::Folder) => {}
            Some(_) => return Err(invalid(key, "not a folder")),
            None => return Err(not_found(key)),
        }
        if !overlaid(inside, state.changed_in(key)).is_empty() {
            let what = format!("{key}: there is something in this folder");
            return Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, what));
        }
        match base {
            Some(_) => drop(state.set(key, Fate::RemoveFolder)),
            None => drop(state.forget(key)),
        }
        Ok(())
    }

    /// Forgets what was changed since the last commit.
    ///
    /// # Errors
    /// An earlier error that leaves the state of the store unknown.
    pub fn rollback(&self) -> Result<()> {
        let _gate = self.begin_alone()?;
        let mut numbers: Vec<u64> = Vec::new();
        let mut state = self.state();
        numbers.extend(state.spill.as_ref().map(|spill| spill.number));
        for (_, fate) in state.in_order()? {
            if let Fate::Put(staged) = fate {
                numbers.push(staged.number);
            }
        }
        state.clear();
        drop(state);
        numbers.into_iter().for_each(|number| self.discard(number));
        Ok(())
    }

    /// What the store has where the folder of a key should be.
    fn kind_of_folder(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        match key.split() {
            Some((folder, _)) => self.store.kind(&folder),
            None => Ok(None),
        }
    }

    /// A fate has given way to another one.
    fn supersede(&self, old: Option<Fate>) {
        if let Some(Fate::Put(staged)) = old {
            let mut state = self.state();
            state.epoch = state.epoch.wrapping_add(1);
            drop(state);
            self.discard(staged.number);
        }
    }
}
