//! [`Root`]: a store as its last complete change left it, and its next change.

use super::own::{self, Own, invalid};
use super::pieces::Patched;
use super::state::{Fate, State};
use super::{Entry, EntryKind, Guard, Key, Object, Store};
use crate::{Access, LockTimeout};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

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
pub struct Root {
    pub(super) store: Arc<dyn Store>,
    pub(super) own: Own,
    access: Access,
    pub(super) patience: Mutex<LockTimeout>,
    /// Changes hold it together, a commit alone.
    gate: RwLock<()>,
    /// Patches come one after another.
    pub(super) patching: Mutex<()>,
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
        (hold, patience): (Box<dyn Guard>, LockTimeout),
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
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// How long commits wait for those who are reading, from now on.
    pub fn set_patience(&self, patience: LockTimeout) {
        *locked(&self.patience) = patience;
    }

    /// A file as this root has changed it.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound), and those of the store.
    pub fn read(&self, key: &Key) -> io::Result<Box<dyn Object>> {
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
    /// [`FileTooLarge`](io::ErrorKind::FileTooLarge) if it is longer; as [`read`](Self::read).
    pub fn get(&self, key: &Key, max: u64) -> io::Result<Vec<u8>> {
        let object = self.read(key)?;
        let size = object.size()?;
        if size > max {
            let what = format!("{size} bytes, where at most {max} should be");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        let size = usize::try_from(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = Vec::new();
        let room = bytes.try_reserve_exact(size);
        room.map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.resize(size, 0);
        object.read_exact_at(0, &mut bytes)?;
        Ok(bytes)
    }

    /// What lies there as this root has changed it, if anything does.
    ///
    /// # Errors
    /// Those of the store.
    pub fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
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
    pub fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        self.check_name(folder)?;
        self.look(
            |state| (state.fate(folder).cloned(), state.changed_in(folder)),
            |(fate, changed)| self.list_as(folder, fate.as_ref(), changed),
        )
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
                    patch: Arc::clone(patch),
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
    pub(super) fn begin(&self, key: &Key) -> io::Result<RwLockReadGuard<'_, ()>> {
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
}

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
