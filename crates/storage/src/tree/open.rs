//! Opening a [`JournaledStore`], and completing the change of an earlier writer.

use super::apply::{Sources, apply, sync_all, unless_gone};
use super::following::Following;
use super::journal::Journal;
use super::journaled::Role;
use super::keeper::StoreKeeper;
use super::pending::PendingChanges;
use super::staging::{self, Staging};
use super::verify::{Depth, verify};
use super::{EntryKind, JournaledStore, Key, Store, StoreLock};
use crate::error::busy;
use crate::history::{Reading, Site as _, Start, as_only_writer};
use crate::journal::Salt;
use crate::write_at::retry;
use crate::{Access, JournalFault, LockMode, LockTimeout, ReadAt, Result};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, RwLock};

/// How often locking starts again after another writer has closed the store.
const MAX_ATTEMPTS: u32 = 100;
const WRITING: &str = "another process is writing to this store";

impl JournaledStore {
    /// Opens a store for reading, which changes nothing in it, or for writing. There is one writer at a time:
    /// others queue in the order of their arrival, for up to 10 seconds.
    ///
    /// If an earlier writer was interrupted in a commit, a reader reads the changed store through the journal,
    /// and a writer completes the commit. A reader waits up to a minute for a commit that is being made.
    ///
    /// # Errors
    /// Returns [`ResourceBusy`](io::ErrorKind::ResourceBusy), with the process id, if another writer has the
    /// store open, or if a commit must be completed and readers of an earlier version do not release the store;
    /// [`Interrupted`](crate::Error::Interrupted) if the journal is damaged or belongs to another store; and
    /// any error of the store.
    pub fn open(store: Arc<dyn Store>, access: Access) -> Result<Self> {
        Self::open_with(store, access, LockTimeout::default())
    }

    /// As [`open`](Self::open), with another timeout for waiting writers, and for commits that wait for readers
    /// of earlier versions.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_with(store: Arc<dyn Store>, access: Access, timeout: LockTimeout) -> Result<Self> {
        match access {
            Access::Read => Self::open_to_read(store, timeout),
            Access::Write => Self::open_to_write(store, timeout),
        }
    }

    /// Moves a reader on to the store's current content, and returns whether it may have changed. Files that
    /// were opened before keep the older content.
    ///
    /// ```
    /// use bloscpack_storage::{Access, JournaledStore, Key, Memory};
    /// use std::sync::Arc;
    ///
    /// let (store, key) = (Arc::new(Memory::from([("count", b"1".to_vec())])), Key::parse("count")?);
    /// let mut reader = JournaledStore::open(store.clone(), Access::Read)?;
    /// let writer = JournaledStore::open(store, Access::Write)?;
    /// writer.put(&key, b"2")?;
    /// writer.commit()?;
    /// assert_eq!(reader.get(&key, 100)?, b"1");
    /// assert!(reader.refresh()?);
    /// assert_eq!(reader.get(&key, 100)?, b"2");
    /// # Ok::<(), bloscpack_storage::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), and [`InvalidInput`](io::ErrorKind::InvalidInput) for a
    /// writer, which always has the current content. The store then keeps its content.
    pub fn refresh(&mut self) -> Result<bool> {
        if self.is_writer() {
            let what = "a writer has the content of now, and nothing to go on to";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what).into());
        }
        let timeout = self.lock_timeout();
        let mut new = Self::open_to_read(Arc::clone(&self.store), timeout)?;
        let is_same = match (&self.role, &mut new.role) {
            (Role::Reader(old), Role::Reader(new)) => old.reading.is_same(&new.reading),
            _ => false,
        };
        let has_changed = !is_same || self.was_interrupted() != new.was_interrupted();
        *self = new;
        Ok(has_changed)
    }

    fn open_to_read(store: Arc<dyn Store>, timeout: LockTimeout) -> Result<Self> {
        let mut staging = Staging::new(Salt::random())?;
        let (role, is_still) = begin_to_read(&store, &staging)?;
        let mut state = PendingChanges::default();
        // If the store can change, there is a writer, which has completed what was interrupted.
        let journal = if is_still {
            read_journal(&*store, &staging)?
        } else {
            None
        };
        if let Some(journal) = &journal {
            staging.salt = journal.salt;
            let bytes = patch_bytes(&*store, &staging, journal)?;
            let sources = sources(&*store, &staging, &*bytes)?;
            verify(&sources, journal, Depth::Fingerprints)?;
            state = PendingChanges::of_journal(journal)?;
        }
        if let Role::Reader(following) = &role
            && is_still
            && following.reading.follower.is_some()
        {
            following.root.unlock()?;
        }
        let state = (state, journal.is_some());
        Ok(Self::new(store, staging, state, (role, timeout)))
    }

    fn open_to_write(store: Arc<dyn Store>, timeout: LockTimeout) -> Result<Self> {
        let staging = Staging::new(Salt::random())?;
        let handle = store.handle(&Key::root(), Access::Read)?;
        let attempt = || begin_to_write(&*store, &staging);
        let begun = as_only_writer((handle.as_ref(), "store"), &timeout, attempt)?;
        let Beginning {
            mut keeper,
            guard,
            is_new,
        } = begun;
        // Between the look and the lock, another writer may have opened the store and crashed.
        let was_interrupted = if is_new && store.list(&staging.folder)?.is_empty() {
            false
        } else {
            settle(&*store, &staging, &timeout)?
        };
        if let Some(keeper) = &mut keeper {
            keeper.with(&*store, &staging, |keeper, site| {
                keeper.announce_settled(site)
            })?;
        }
        let state = (PendingChanges::default(), was_interrupted);
        let role = Role::Writer {
            keeper: Mutex::new(keeper),
            guard,
        };
        Ok(Self::new(store, staging, state, (role, timeout)))
    }
}

/// Begins to read a store. The flag says that no commit can be made until the root is unlocked or the role
/// ends.
fn begin_to_read(store: &Arc<dyn Store>, staging: &Staging) -> Result<(Role, bool)> {
    let changing = || busy(WRITING);
    let root = store.handle(&Key::root(), Access::Read)?;
    let follower = match &root {
        Some(root) => Following::follower(store, staging, root)?,
        None => None,
    };
    let (Some(root), Some(follower)) = (root, follower) else {
        let lock = || store.try_lock(&Key::root(), LockMode::Shared);
        let guard = LockTimeout::OF_READERS.wait(lock)?;
        return Ok((Role::LockedReader(guard.ok_or_else(changing)?), true));
    };
    let start = LockTimeout::OF_READERS.wait(|| follower.start(&root))?;
    let (view, follower, is_still) = match start.ok_or_else(changing)? {
        Start::Following(view) => (view, Some(follower), false),
        Start::Locked(view) => (view, Some(follower), true),
        Start::Alone(view) => (view, None, true),
    };
    let view = RwLock::new(view);
    let reading = Reading { follower, view };
    let following = Arc::new(Following { reading, root });
    Ok((Role::Reader(following), is_still))
}

/// The locks of a writer that has not yet completed an earlier writer's commit.
struct Beginning {
    keeper: Option<StoreKeeper>,
    guard: Box<dyn StoreLock>,
    /// Whether the staging folder is new.
    is_new: bool,
}

/// Locks a store for a writer and announces it to readers; `None` if there is another writer.
fn begin_to_write(store: &dyn Store, staging: &Staging) -> Result<Option<Beginning>> {
    let Some(mut keeper) = StoreKeeper::new(store)? else {
        let locked = lock_staging_folder(store, staging)?;
        return Ok(locked.map(|(guard, is_new)| Beginning {
            keeper: None,
            guard,
            is_new,
        }));
    };
    // Excludes a writer of an earlier version until the staging folder is locked.
    let root = retry(|| store.try_lock(&Key::root(), LockMode::Shared))?;
    if root.is_none() || !is_free(store, staging)? {
        return Ok(None);
    }
    let stamp = keeper.with(store, staging, |keeper, site| {
        keeper.announce(site)?;
        Ok(site.status()?.stamp) // from before the staging folder is made
    })?;
    let Some((guard, is_new)) = lock_staging_folder(store, staging)? else {
        return Ok(None);
    };
    keeper.with(store, staging, |keeper, site| keeper.begin(site, stamp))?;
    Ok(Some(Beginning {
        keeper: Some(keeper),
        guard,
        is_new,
    }))
}

/// Whether no other writer has locked the staging folder. A waiting writer is not announced.
fn is_free(store: &dyn Store, staging: &Staging) -> io::Result<bool> {
    match retry(|| store.try_lock(&staging.folder, LockMode::Exclusive)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        locked => Ok(locked?.is_some()),
    }
}

/// Makes and locks the staging folder, and returns whether it is new; `None` if there is another writer.
fn lock_staging_folder(
    store: &dyn Store,
    staging: &Staging,
) -> io::Result<Option<(Box<dyn StoreLock>, bool)>> {
    for _ in 0..MAX_ATTEMPTS {
        let is_new = store.kind(&staging.folder)?.is_none();
        store.make_folder(&staging.folder)?;
        match store.try_lock(&staging.folder, LockMode::Exclusive) {
            Ok(guard) => return Ok(guard.map(|guard| (guard, is_new))),
            // The previous writer has just removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Err(busy(WRITING))
}

/// Completes an interrupted commit, and removes the staged files of uncommitted changes. Returns whether there
/// was such a commit.
fn settle(store: &dyn Store, staging: &Staging, timeout: &LockTimeout) -> Result<bool> {
    // A power cut could still undo the journal, its removal, or a single step that needed no journal.
    sync_folders(store)?;
    let journal = read_journal(store, staging)?;
    if let Some(journal) = &journal {
        let staging = Staging {
            salt: journal.salt,
            ..staging.clone()
        };
        let _guard = lock_root(store, timeout)?;
        complete(store, &staging, journal)?;
    }
    remove_staged(store, staging, &BTreeSet::new())?;
    Ok(journal.is_some())
}

/// Locks the store for writing: waits until all readers that lock it have finished.
pub(super) fn lock_root(
    store: &dyn Store,
    timeout: &LockTimeout,
) -> io::Result<Box<dyn StoreLock>> {
    let guard = timeout.wait(|| store.try_lock(&Key::root(), LockMode::Exclusive))?;
    guard.ok_or_else(|| busy("other processes are still reading this store"))
}

/// Folders are synced down to this depth, which no dataset reaches. Each folder is opened from the root.
const MAX_DEPTH: usize = 64;

/// Syncs every folder that may contain a step of a commit.
fn sync_folders(store: &dyn Store) -> io::Result<()> {
    let (mut open, mut all) = (vec![Key::root()], Vec::new());
    while let Some(folder) = open.pop() {
        let entries = match store.list(&folder) {
            // Another program has just removed the folder, or it belongs to another user.
            Err(error) if is_foreign(&error) && folder != Key::root() => continue,
            entries => entries?,
        };
        for entry in entries {
            // Keys contain only UTF-8 names.
            if let (EntryKind::Folder, Some(name)) = (entry.kind, entry.name.to_str())
                && let Ok(inside) = folder.join(name)
                && inside.names().count() <= MAX_DEPTH
            {
                open.push(inside);
            }
        }
        all.push(folder);
    }
    sync_all(store, &all)
}

/// Whether a folder with this error can be skipped because it contains no step of a commit.
fn is_foreign(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
    )
}

/// Removes the staged files of all writers, except those of this writer with these numbers.
fn remove_staged(store: &dyn Store, staging: &Staging, needed: &BTreeSet<u64>) -> io::Result<()> {
    for entry in store.list(&staging.folder)? {
        let number = staging.number_of(&entry.name);
        let is_needed = number.is_some_and(|number| needed.contains(&number));
        let is_staged = entry.kind == EntryKind::File && staging::is_staged(&entry.name);
        if let Some(name) = entry.name.to_str()
            && is_staged
            && !is_needed
        {
            unless_gone(store.remove(&staging.folder.join(name)?))?;
        }
    }
    Ok(())
}

/// Completes the commit of a journal.
fn complete(store: &dyn Store, staging: &Staging, journal: &Journal) -> Result<()> {
    let bytes = patch_bytes(store, staging, journal)?;
    let sources = sources(store, staging, &*bytes)?;
    verify(&sources, journal, Depth::All)?;
    let needed = journal.needed();
    // An interrupted rename may have left both names, and a file with two names cannot be patched.
    remove_staged(store, staging, &needed)?;
    let staged = sources.staged.iter().flatten();
    let staged = staged.filter(|number| needed.contains(number));
    let to_sync = staged.map(|number| staging.key(*number));
    let mut to_sync = to_sync.collect::<io::Result<Vec<_>>>()?;
    to_sync.push(staging.journal.clone());
    sync_all(store, &to_sync)?;
    apply(&sources, &journal.steps)?;
    store.remove(&staging.journal)?;
    store.sync(&staging.folder)?;
    Ok(())
}

/// The journal, if there is one. A journal gets its name when it is complete, so one that fails its checks is
/// damaged.
fn read_journal(store: &dyn Store, staging: &Staging) -> Result<Option<Journal>> {
    match store.open(&staging.journal) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => Ok(Some(Journal::decode(&opened?)?)),
    }
}

/// The bytes of an interrupted commit's patches.
fn patch_bytes(store: &dyn Store, staging: &Staging, journal: &Journal) -> Result<Box<dyn ReadAt>> {
    match journal.patch_bytes(store, staging) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(JournalFault::MissingFiles.of_store())
        }
        opened => Ok(opened?),
    }
}

fn sources<'a>(
    store: &'a dyn Store,
    staging: &'a Staging,
    bytes: &'a dyn ReadAt,
) -> io::Result<Sources<'a>> {
    let entries = store.list(&staging.folder)?;
    let staged = entries
        .iter()
        .filter_map(|entry| staging.number_of(&entry.name));
    Ok(Sources {
        store,
        staging,
        bytes,
        staged: Some(staged.collect()),
    })
}
