//! [`JournaledStore`]: a store at its last committed change, and the next change.

use super::errors::{A_FILE, NOT_A_FILE, invalid, not_found};
use super::following::{Following, StoreView, kind_in, list_in, open_in};
use super::keeper::StoreKeeper;
use super::patched::Patched;
use super::pending::{Pending, PendingChanges, with_changes};
use super::staging::{self, Staging};
use super::{Entry, EntryKind, Key, Store, StoreLock};
use crate::convert::to_usize;
use crate::mutex::locked;
use crate::{LockTimeout, ReadAt};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes of patches kept in memory. More are spilled into a staged file.
const PATCH_MEMORY: u64 = 4 << 20;

/// A store that is open for reading, or for atomic changes of many files.
///
/// ```text
///   put, patch, ... ─► staged files ─► sync ─► journal ─► sync ─► to their places ─► sync ─► journal removed ─► sync
///                                                         └─ from here on the change is committed; if needed,
///                                                            the next writer completes it
/// ```
///
/// [`put`](Self::put), [`patch`](Self::patch), [`remove`](Self::remove), [`make_folder`](Self::make_folder) and
/// [`remove_folder`](Self::remove_folder) are visible through this writer at once, and to others after
/// [`commit`](Self::commit). Without a commit they have no effect; dropping the writer discards them. A commit
/// with a single step, other than a patch, is atomic in itself and writes no journal. `docs/crash-safety.md` in
/// the repository describes the steps and their guarantees.
///
/// Threads can read and change at the same time. Changes of one key by two threads are made in some order; a
/// commit waits for changes in progress, and later changes wait for it. A file opened for reading shows the
/// content at opening, but a writer's later commits may patch it in place.
///
/// The files in `.blpk` are invisible, and keys in it are refused.
///
/// A forked child cannot change the store through its copy.
///
/// ```
/// use bloscpack_storage::{Access, JournaledStore, Key, Memory};
/// use std::sync::Arc;
///
/// let store = Memory::from([("log", b"one".to_vec())]);
/// let writer = JournaledStore::open(Arc::new(store.clone()), Access::Write)?;
/// writer.patch(&Key::parse("log")?, 3, b" two")?;
/// writer.make_folder(&Key::parse("data")?)?;
/// writer.put(&Key::parse("data/0")?, b"zero")?;
/// assert_eq!(store.bytes("log").as_deref(), Some(&b"one"[..]));
/// writer.commit()?;
/// assert_eq!(store.bytes("log").as_deref(), Some(&b"one two"[..]));
/// assert_eq!(store.bytes("data/0").as_deref(), Some(&b"zero"[..]));
/// # Ok::<(), bloscpack_storage::Error>(())
/// ```
#[derive(Debug)]
pub struct JournaledStore {
    pub(super) store: Arc<dyn Store>,
    pub(super) staging: Staging,
    pub(super) timeout: Mutex<LockTimeout>,
    /// Changes share it; a commit holds it alone.
    gate: RwLock<()>,
    /// Serialises patches.
    pub(super) patching: Mutex<()>,
    state: Mutex<PendingChanges>,
    /// Maximum length of patches in memory, in bytes.
    pub(super) patch_memory: Mutex<u64>,
    was_interrupted: bool,
    pub(super) role: Role,
}

/// The locks and announcements of a reader or a writer.
pub(super) enum Role {
    /// Keeps the content that the store had at opening, across commits.
    Reader(Arc<Following>),
    /// Keeps the root locked, where readers and writers cannot see one another.
    LockedReader(
        #[expect(dead_code, reason = "the lock ends when this is dropped")] Box<dyn StoreLock>,
    ),
    Writer {
        keeper: Mutex<Option<StoreKeeper>>,
        /// The lock of the staging folder.
        guard: Box<dyn StoreLock>,
    },
}

impl fmt::Debug for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reader(_) | Self::LockedReader(_) => "Reader",
            Self::Writer { .. } => "Writer",
        })
    }
}

impl JournaledStore {
    pub(super) fn new(
        store: Arc<dyn Store>,
        staging: Staging,
        (state, was_interrupted): (PendingChanges, bool),
        (role, timeout): (Role, LockTimeout),
    ) -> Self {
        Self {
            store,
            staging,
            timeout: Mutex::new(timeout),
            gate: RwLock::new(()),
            patching: Mutex::new(()),
            state: Mutex::new(state),
            patch_memory: Mutex::new(PATCH_MEMORY),
            was_interrupted,
            role,
        }
    }

    /// Compares the file with this key, or all files below it, with checksums that the store keeps; see
    /// [`Store::verify`].
    #[must_use]
    pub fn verify(&self, below: &Key) -> Vec<io::Error> {
        self.store.verify(below)
    }

    /// Whether the last writer was interrupted in a commit. A writer has completed that commit on opening; a
    /// reader reads through its journal.
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// Sets how long later commits wait for readers.
    pub fn set_lock_timeout(&self, timeout: LockTimeout) {
        *locked(&self.timeout) = timeout;
    }

    pub(super) fn lock_timeout(&self) -> LockTimeout {
        locked(&self.timeout).clone()
    }

    /// Sets how many bytes of patches stay in memory: 4 MiB by default. For tests.
    #[doc(hidden)]
    pub fn set_patch_memory(&self, bytes: u64) {
        *locked(&self.patch_memory) = bytes;
    }

    /// Opens a file, including the pending changes of this writer.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) for a
    /// folder and for keys in `.blpk`; and any error of the store.
    pub fn read(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        check_visible(key)?;
        self.look(
            |state| {
                let spill = state.spill.as_ref().map(|spill| spill.number);
                (state.get(key).cloned(), spill)
            },
            |(pending, spill), view| {
                let opened = self.read_as(key, pending.as_ref(), *spill);
                match (&self.role, view) {
                    (Role::Reader(following), Some(view)) => {
                        open_in(view, (following, key), opened)
                    }
                    _ => opened,
                }
            },
        )
    }

    /// Announces that these files will be read whole, in about this order: see [`Store::will_read`].
    pub fn will_read(&self, keys: &[Key]) {
        self.store.will_read(keys);
    }

    /// Reads a whole file of up to `max` bytes. Memory is allocated for the file's length, once that was
    /// checked.
    ///
    /// # Errors
    /// Returns [`FileTooLarge`](io::ErrorKind::FileTooLarge) if the file is longer than `max`;
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory); and the errors of [`read`](Self::read).
    pub fn get(&self, key: &Key, max: u64) -> io::Result<Vec<u8>> {
        let object = self.read(key)?;
        let size = object.size()?;
        if size > max {
            let what = format!("file of {size} bytes, over the limit of {max}");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        let size = to_usize(size)?;
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(size);
        reserved.map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.resize(size, 0);
        object.read_exact_at(0, &mut bytes)?;
        Ok(bytes)
    }

    /// The kind of the entry with this key, including pending changes; `None` if there is none, and for keys in
    /// `.blpk`.
    ///
    /// # Errors
    /// Returns any error of the store.
    pub fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        if check_visible(key).is_err() {
            return Ok(None);
        }
        self.look(
            |state| state.get(key).map(Pending::kind),
            |pending, view| match (view.and_then(|view| kind_in(view, key)), pending) {
                (Some(kind), _) => Ok(kind),
                (None, Some(kind)) => Ok(*kind),
                (None, None) => self.store.kind(key),
            },
        )
    }

    /// The entries of a folder, including pending changes and without `.blpk`, sorted by name.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if this is
    /// not a folder; and any error of the store.
    pub fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        check_visible(folder)?;
        self.look(
            |state| (state.get(folder).cloned(), state.changed_in(folder)),
            |(pending, changed), view| {
                let listed = self.list_as(folder, pending.as_ref(), changed);
                match view {
                    Some(view) => list_in(view, folder, listed),
                    None => listed,
                }
            },
        )
    }

    pub(super) fn state(&self) -> MutexGuard<'_, PendingChanges> {
        locked(&self.state)
    }

    pub(super) fn is_writer(&self) -> bool {
        matches!(self.role, Role::Writer { .. })
    }

    /// Refuses to continue after an error that has left the state unknown.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.state().is_poisoned {
            Err(io::Error::other(
                "an earlier error has left this store in an unknown state; open it again",
            ))
        } else {
            Ok(())
        }
    }

    /// Removes a staged file that is no longer needed. If this fails, dropping the store or the next writer
    /// removes it.
    pub(super) fn discard(&self, number: u64) {
        if let Ok(staged) = self.staging.key(number) {
            let _ = self.store.remove(&staged);
        }
    }

    /// Looks something up in the pending changes, then in the store. Repeats this if a staged file may have
    /// been removed in between.
    fn look<T, L>(
        &self,
        look: impl Fn(&PendingChanges) -> L,
        find: impl Fn(&L, Option<&StoreView>) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            self.check()?;
            let (seen, epoch) = {
                let state = self.state();
                (look(&state), state.epoch)
            };
            let found = match &self.role {
                Role::Reader(following) => following.look(|view| find(&seen, Some(view))),
                _ => find(&seen, None),
            };
            if self.state().epoch == epoch {
                return found;
            }
        }
    }

    fn read_as(
        &self,
        key: &Key,
        pending: Option<&Pending>,
        spill: Option<u64>,
    ) -> io::Result<Box<dyn ReadAt>> {
        match pending {
            None => self.store.open(key),
            Some(Pending::Put(staged)) => {
                match self.store.open(&self.staging.key(staged.number)?) {
                    // An interrupted or running commit has moved the file to its place.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => self.store.open(key),
                    opened => opened,
                }
            }
            Some(Pending::Patch(patch)) => {
                let spilled = match spill.filter(|_| !patch.is_in_memory()) {
                    Some(number) => match self.store.open(&self.staging.key(number)?) {
                        // A writer has completed the interrupted commit.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {
                            return self.store.open(key);
                        }
                        opened => Some(opened?),
                    },
                    None => None,
                };
                Ok(Box::new(Patched {
                    base: self.store.open(key)?,
                    patch: Arc::clone(patch),
                    spilled,
                }))
            }
            Some(Pending::Remove | Pending::RemoveFolder) => Err(not_found(key)),
            Some(Pending::MakeFolder) => Err(invalid(key, NOT_A_FILE)),
        }
    }

    fn list_as(
        &self,
        folder: &Key,
        pending: Option<&Pending>,
        changed: &[(OsString, Option<EntryKind>)],
    ) -> io::Result<Vec<Entry>> {
        let mut base = match (pending, self.store.list(folder)) {
            (Some(Pending::Remove | Pending::RemoveFolder), _) => return Err(not_found(folder)),
            (Some(Pending::Put(_) | Pending::Patch(_)), _) => {
                return Err(invalid(folder, A_FILE));
            }
            (Some(Pending::MakeFolder), Err(error)) if error.kind() == io::ErrorKind::NotFound => {
                Vec::new()
            }
            (_, listed) => listed?,
        };
        if *folder == Key::root() {
            base.retain(|entry| !staging::is_staging_folder(&entry.name));
        }
        Ok(with_changes(base, changed.to_vec()))
    }

    /// Begins a change of this key.
    pub(super) fn begin(&self, key: &Key) -> io::Result<RwLockReadGuard<'_, ()>> {
        self.check_writer()?;
        staging::check_changeable(key)?;
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        Ok(gate)
    }

    /// Begins a commit or a rollback.
    pub(super) fn begin_alone(&self) -> io::Result<RwLockWriteGuard<'_, ()>> {
        self.check_writer()?;
        let gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        Ok(gate)
    }

    /// Refuses changes by a reader, and by a forked copy of a writer.
    pub(super) fn check_writer(&self) -> io::Result<()> {
        match &self.role {
            Role::Writer { guard, .. } => guard.check_process(),
            _ => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the store is open for reading only",
            )),
        }
    }
}

/// Refuses the keys of the staging folder.
fn check_visible(key: &Key) -> io::Result<()> {
    if *key == Key::root() {
        Ok(())
    } else {
        staging::check_changeable(key)
    }
}
