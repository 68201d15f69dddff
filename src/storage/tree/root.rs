//! [`Root`]: a store as its last complete change left it, and its next change.

use super::op::Print;
use super::own::{self, Own, invalid};
use super::pieces::{Patch, Patched, Piece};
use super::state::{BOTH, Fate, OTHER, Staged, State};
use super::{Entry, EntryKind, Guard, Key, Object, Store};
use crate::error::Result;
use crate::storage::{Access, Patience};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes of patches kept in memory; what comes then is spilled into a file, which tests are to reach.
const MOST_LAID: u64 = if cfg!(test) { 1 << 10 } else { 4 << 20 };

/// A store whose files are changed many at a time, as a whole or not at all.
///
/// ```text
///   put, patch, ... ─► staged files ─► sync ─► journal ─► sync ─► to their places ─► sync ─► journal removed ─► sync
///                                                         └─ from here on the change is made, by whoever comes next
/// ```
///
/// What is changed is seen through this root at once, and by nobody else until [`commit`](Self::commit). Without that it
/// was never there. `docs/crash-safety.md` tells the steps, and what they promise.
///
/// Several threads may read and change at the same time. Two that change the same key do so in some order; where they are
/// not to, their caller keeps them apart. An object that was read shows the file as it was then, except that a later
/// commit patches it in place.
#[derive(Debug)]
pub(crate) struct Root {
    pub(super) store: Arc<dyn Store>,
    pub(super) own: Own,
    access: Access,
    pub(super) patience: Mutex<Patience>,
    /// Changes hold it together, a commit alone.
    gate: RwLock<()>,
    /// Patches come one after another.
    patching: Mutex<()>,
    state: Mutex<State>,
    was_interrupted: bool,
    /// The hold of the root by a reader, or of our folder by a writer.
    _hold: Box<dyn Guard>,
}

impl Root {
    pub(super) fn new(
        store: Arc<dyn Store>,
        (own, access): (Own, Access),
        (state, was_interrupted): (State, bool),
        (hold, patience): (Box<dyn Guard>, Patience),
    ) -> Self {
        Self {
            store,
            own,
            access,
            patience: Mutex::new(patience),
            gate: RwLock::new(()),
            patching: Mutex::new(()),
            state: Mutex::new(state),
            was_interrupted,
            _hold: hold,
        }
    }

    /// Whether the last writer was interrupted in a change, which was completed now, or is read through its journal.
    pub(crate) fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// How long commits wait for those who are reading, from now on.
    pub(crate) fn set_patience(&self, patience: Patience) {
        *locked(&self.patience) = patience;
    }

    /// A file as this root has changed it.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound), and those of the store.
    pub(crate) fn read(&self, key: &Key) -> io::Result<Box<dyn Object>> {
        self.check_name(key)?;
        self.look(
            |state| {
                (
                    state.fate(key).cloned(),
                    state.spill.as_ref().map(|spill| spill.number),
                )
            },
            |(fate, spill)| self.read_as(key, fate.as_ref(), *spill),
        )
    }

    /// A whole file, refused if it is longer than `max` bytes.
    ///
    /// # Errors
    /// [`InvalidData`](io::ErrorKind::InvalidData) if it is longer; as [`read`](Self::read).
    pub(crate) fn get(&self, key: &Key, max: u64) -> io::Result<Vec<u8>> {
        let object = self.read(key)?;
        let size = object.size()?;
        if size > max {
            let what = format!("{key}: {size} bytes, where at most {max} should be");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let mut bytes = vec![0; usize::try_from(size).map_err(|_| io::ErrorKind::OutOfMemory)?];
        object.read_exact_at(0, &mut bytes)?;
        Ok(bytes)
    }

    /// What lies there as this root has changed it, if anything does.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        if own::check(key).is_err() && *key != Key::root() {
            return Ok(None);
        }
        self.look(
            |state| state.fate(key).map(Fate::kind),
            |fate| match fate {
                Some(kind) => Ok(*kind),
                None => self.store.kind(key),
            },
        )
    }

    /// What lies in a folder as this root has changed it, sorted by name.
    ///
    /// # Errors
    /// As those of a store.
    pub(crate) fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        self.check_name(folder)?;
        self.look(
            |state| (state.fate(folder).cloned(), state.changed_in(folder)),
            |(fate, changed)| self.list_as(folder, fate.as_ref(), changed),
        )
    }

    /// Puts a file, in the place of the one that is there if one is. It is staged at once.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) if the folder is not there;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if something else than a file is; those of the store.
    pub(crate) fn put(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
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

    /// Overwrites bytes of a file, or appends to it.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if it would leave a hole, and
    /// for a file of several names; those of the store.
    pub(crate) fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _gate = self.begin(key)?;
        let _one = locked(&self.patching);
        let fate = self.state().fate(key).cloned();
        match fate {
            Some(Fate::Put(staged)) => self.patch_staged(key, staged, (at, bytes)),
            Some(Fate::Remove | Fate::RemoveFolder) => Err(not_found(key)),
            Some(Fate::MakeFolder) => Err(invalid(key, "a folder, not a file")),
            Some(Fate::Patch(_)) => self.lay(key, None, (at, bytes)),
            None => {
                let base = self.store.open(key)?.size()?;
                // Whatever keeps it from being patched should do so now.
                self.store.patch(key, 0, &[])?;
                self.lay(key, Some(base), (at, bytes))
            }
        }
    }

    /// Removes a file.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no file; those of
    /// the store.
    pub(crate) fn remove(&self, key: &Key) -> io::Result<()> {
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
    pub(crate) fn make_folder(&self, key: &Key) -> io::Result<()> {
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
    pub(crate) fn remove_folder(&self, key: &Key) -> io::Result<()> {
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
    pub(crate) fn rollback(&self) -> Result<()> {
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

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    pub(super) fn is_writer(&self) -> bool {
        self.access == Access::Write
    }

    /// Refuses to go on after an error that leaves the state unknown.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.state().poisoned {
            true => Err(io::Error::other(
                "an earlier error left the state of this dataset unknown: open it again",
            )),
            false => Ok(()),
        }
    }

    /// Removes a staged file that nobody needs. If it cannot be removed, it goes in the end.
    pub(super) fn discard(&self, number: u64) {
        if let Ok(staged) = self.own.staged(number) {
            let _ = self.store.remove(&staged);
        }
    }

    /// Looks something up, and then in the store. If what was looked up may have gone meanwhile, again.
    fn look<T, L>(
        &self,
        look: impl Fn(&State) -> L,
        find: impl Fn(&L) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            self.check()?;
            let (seen, epoch) = {
                let state = self.state();
                (look(&state), state.epoch)
            };
            let found = find(&seen);
            if self.state().epoch == epoch {
                return found;
            }
        }
    }

    fn read_as(
        &self,
        key: &Key,
        fate: Option<&Fate>,
        spill: Option<u64>,
    ) -> io::Result<Box<dyn Object>> {
        match fate {
            None => self.store.open(key),
            Some(Fate::Put(staged)) => match self.store.open(&self.own.staged(staged.number)?) {
                // A commit under way, or one that was interrupted, has put it in its place.
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.store.open(key),
                opened => opened,
            },
            Some(Fate::Patch(patch)) => {
                let spilled = match spill.filter(|_| !patch.is_here()) {
                    Some(number) => Some(self.store.open(&self.own.staged(number)?)?),
                    None => None,
                };
                Ok(Box::new(Patched {
                    base: self.store.open(key)?,
                    patch: patch.clone(),
                    spilled,
                }))
            }
            Some(Fate::Remove | Fate::RemoveFolder) => Err(not_found(key)),
            Some(Fate::MakeFolder) => Err(invalid(key, "a folder, not a file")),
        }
    }

    fn list_as(
        &self,
        folder: &Key,
        fate: Option<&Fate>,
        changed: &[(std::ffi::OsString, Option<EntryKind>)],
    ) -> io::Result<Vec<Entry>> {
        let mut base = match (fate, self.store.list(folder)) {
            (Some(Fate::Remove | Fate::RemoveFolder), _) => return Err(not_found(folder)),
            (Some(Fate::Put(_) | Fate::Patch(_)), _) => {
                return Err(invalid(folder, "a file, not a folder"));
            }
            (Some(Fate::MakeFolder), Err(error)) if error.kind() == io::ErrorKind::NotFound => {
                Vec::new()
            }
            (_, listed) => listed?,
        };
        if *folder == Key::root() {
            base.retain(|entry| !own::is_own_folder(&entry.name));
        }
        Ok(overlaid(base, changed.to_vec()))
    }

    /// Our folder and what is in it are nobody else's to see.
    fn check_name(&self, key: &Key) -> io::Result<()> {
        match *key == Key::root() {
            true => Ok(()),
            false => own::check(key),
        }
    }

    /// What every change begins with.
    fn begin(&self, key: &Key) -> io::Result<RwLockReadGuard<'_, ()>> {
        self.check_writer()?;
        own::check(key)?;
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        Ok(gate)
    }

    /// What ends all changes begins with.
    pub(super) fn begin_alone(&self) -> io::Result<RwLockWriteGuard<'_, ()>> {
        self.check_writer()?;
        let gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        Ok(gate)
    }

    fn check_writer(&self) -> io::Result<()> {
        match self.is_writer() {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "opened for reading only",
            )),
        }
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

    fn patch_staged(&self, key: &Key, staged: Staged, (at, bytes): (u64, &[u8])) -> io::Result<()> {
        if at > staged.len {
            return Err(invalid(key, HOLE));
        }
        let patched = self
            .store
            .patch(&self.own.staged(staged.number)?, at, bytes);
        let mut state = self.state();
        let now = state.fate(key).cloned();
        match now {
            Some(Fate::Put(now)) if now.number == staged.number => {
                let len = now.len.max(at.saturating_add(len_of(bytes)));
                // Of what failed, a part may be there.
                let sum = None;
                match patched.is_ok() {
                    true => drop(state.set(key, Fate::Put(Staged { len, sum, ..now }))),
                    false => state.poisoned = true,
                }
                patched
            }
            // Another thread has put or removed it meanwhile: as if that had come after this.
            _ => Ok(()),
        }
    }

    /// Lays bytes over a file, of this length if it is its first patch.
    fn lay(&self, key: &Key, base: Option<u64>, (at, bytes): (u64, &[u8])) -> io::Result<()> {
        let mut state = self.state();
        let mut patch = match (state.fate(key), base) {
            (Some(Fate::Patch(patch)), _) => patch.clone(),
            (None, Some(len)) => Patch::new(len),
            // Another thread has put or removed it meanwhile: as if that had come after this.
            _ => return Ok(()),
        };
        if at > patch.new_len() || at.checked_add(len_of(bytes)).is_none() {
            return Err(invalid(key, HOLE));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        patch.lay(at, Piece::Memory(Bytes::copy_from_slice(bytes)));
        state.set(key, Fate::Patch(patch));
        state.laid = state.laid.saturating_add(len_of(bytes));
        let full = state.laid > MOST_LAID;
        drop(state);
        match full {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// Moves the bytes of all patches from memory into a staged file.
    pub(super) fn spill(&self) -> io::Result<()> {
        let (mut places, mut bytes) = (BTreeMap::new(), Vec::new());
        let mut state = self.state();
        let spill = state.spill.clone();
        let number = spill.as_ref().map(|spill| spill.number);
        let number = number.unwrap_or_else(|| state.next_number());
        let begin = spill.as_ref().map_or(0, |spill| spill.len);
        for (folder, name, patch) in state.patches_mut() {
            for (at, piece) in &patch.pieces {
                if let Piece::Memory(here) = piece {
                    let from = begin.saturating_add(len_of(&bytes));
                    places.insert((folder.join(name)?, *at), from);
                    bytes.extend_from_slice(here);
                }
            }
        }
        drop(state);
        let place = self.own.staged(number)?;
        let written = match begin {
            0 if spill.is_none() => self.store.create(&place, &bytes),
            _ => self.store.patch(&place, begin, &bytes),
        };
        let mut state = self.state();
        if let Err(error) = written {
            // Something may lie there now, which another try would not expect.
            state.poisoned = true;
            return Err(error);
        }
        let mut hasher = spill.map(|spill| spill.hasher).unwrap_or_default();
        hasher.update(&bytes);
        let len = begin.saturating_add(len_of(&bytes));
        state.spill = Some(super::state::Spill {
            number,
            len,
            hasher,
        });
        state.laid = 0;
        for (folder, name, patch) in state.patches_mut() {
            let key = folder.join(name)?;
            for (at, piece) in &mut patch.pieces {
                if let Some(from) = places.get(&(key.clone(), *at)) {
                    let (from, len) = (*from, piece.len());
                    *piece = Piece::Spilled { from, len };
                }
            }
        }
        Ok(())
    }
}

const HOLE: &str = "a patch behind the end would leave a hole";

/// A folder with what a change makes of it.
pub(super) fn overlaid(
    base: Vec<Entry>,
    changed: Vec<(std::ffi::OsString, Option<EntryKind>)>,
) -> Vec<Entry> {
    let base = base.into_iter().map(|entry| (entry.name, entry.kind));
    let mut all: BTreeMap<_, _> = base.collect();
    for (name, kind) in changed {
        match kind {
            Some(kind) => drop(all.insert(name, kind)),
            None => drop(all.remove(&name)),
        }
    }
    let all = all.into_iter();
    all.map(|(name, kind)| Entry { name, kind }).collect()
}

pub(super) fn not_found(key: &Key) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{key}: not there"))
}

pub(super) fn len_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// A panic elsewhere leaves nothing half done that would matter here.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
