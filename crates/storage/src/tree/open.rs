//! Opening a [`Root`], and completing what an earlier writer has left.

use super::apply::{Parts, apply, sync_all, unless_gone};
use super::journal::Journal;
use super::op::Spilled;
use super::own::{self, Own};
use super::state::State;
use super::verify::{Depth, verify};
use super::{EntryKind, Guard, Key, Object, Root, Store};
use crate::Result;
use crate::held::{busy, interrupted};
use crate::journal::Salt;
use crate::lock::wait_until;
use crate::{Access, LockMode, LockTimeout};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long commits wait for readers, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a reader waits for a change that is being made, which takes moments.
const READERS_PATIENCE: Duration = Duration::from_secs(60);
/// How often an opening starts again because a writer has ended meanwhile.
const TRIES: u32 = 100;
const WRITING: &str = "another process is writing to this dataset";
pub(super) const READING: &str = "others are reading this dataset all the time";

impl Root {
    /// Opens a store for reading, which changes nothing, or for writing, which only one can at a time.
    ///
    /// If an earlier writer was interrupted in a change, a reader reads it through the journal, and a writer completes it.
    ///
    /// # Errors
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy) if another one writes, or if readers do not let go where a change is
    /// to be completed; [`Interrupted`](crate::Error::Interrupted) if the journal is damaged or not
    /// that of this store; those of the store.
    pub fn open(store: Arc<dyn Store>, access: Access) -> Result<Self> {
        Self::open_with(store, access, LockTimeout::of(PATIENCE))
    }

    /// As [`open`](Self::open), and commits wait so long for those who are reading.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(store: Arc<dyn Store>, access: Access, patience: LockTimeout) -> Result<Self> {
        match access {
            Access::Read => Self::open_to_read(store, patience),
            Access::Write => Self::open_to_write(store, patience),
        }
    }

    fn open_to_read(store: Arc<dyn Store>, patience: LockTimeout) -> Result<Self> {
        let hold = wait_until(
            || store.try_lock(&Key::root(), LockMode::Shared),
            |waited| waited < READERS_PATIENCE,
        )?;
        let hold = hold.ok_or_else(|| busy(WRITING))?;
        let mut own = Own::new(Salt::random())?;
        let mut state = State::default();
        let journal = read_journal(&*store, &own)?;
        if let Some(journal) = &journal {
            own.salt = journal.salt;
            check(&*store, &own, journal, Depth::Ends)?;
            state = State::of_journal(journal);
        }
        let state = (state, journal.is_some());
        Ok(Self::new(
            store,
            (own, Access::Read),
            state,
            (hold, patience),
        ))
    }

    fn open_to_write(store: Arc<dyn Store>, patience: LockTimeout) -> Result<Self> {
        let own = Own::new(Salt::random())?;
        let (hold, is_new) = hold_own_folder(&*store, &own)?;
        // Between looking and holding it, another writer may have come and crashed.
        let was_interrupted = match is_new && store.list(&own.folder)?.is_empty() {
            true => false,
            false => settle(&*store, &own, &patience)?,
        };
        let state = (State::default(), was_interrupted);
        Ok(Self::new(
            store,
            (own, Access::Write),
            state,
            (hold, patience),
        ))
    }
}

/// Makes our folder and holds it; whether it is new.
fn hold_own_folder(store: &dyn Store, own: &Own) -> io::Result<(Box<dyn Guard>, bool)> {
    for _ in 0..TRIES {
        let is_new = store.kind(&own.folder)?.is_none();
        store.make_folder(&own.folder)?;
        match store.try_lock(&own.folder, LockMode::Exclusive) {
            Ok(Some(hold)) => return Ok((hold, is_new)),
            Ok(None) => return Err(busy(WRITING)),
            // Who held it has removed it just now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Err(busy(WRITING))
}

/// Completes an interrupted change, and removes what was staged for one that was never made; whether there was one.
fn settle(store: &dyn Store, own: &Own, patience: &LockTimeout) -> Result<bool> {
    // What is seen may not be safe yet: that a journal is there, that it is not, or a step that needed none.
    sync_folders(store)?;
    let journal = read_journal(store, own)?;
    if let Some(journal) = &journal {
        let own = Own {
            salt: journal.salt,
            ..own.clone()
        };
        let hold = wait_until(
            || store.try_lock(&Key::root(), LockMode::Exclusive),
            |waited| patience.lasts(waited),
        )?;
        let _hold = hold.ok_or_else(|| busy(READING))?;
        complete(store, &own, journal)?;
    }
    remove_litter(store, own, &BTreeSet::new())?;
    Ok(journal.is_some())
}

/// Folders within folders, deeper than those of any dataset: each is opened from the root on.
const MAX_DEPTH: usize = 64;

/// Makes all names safe that are there, as deep as a step of ours can lie.
fn sync_folders(store: &dyn Store) -> io::Result<()> {
    let (mut open, mut all) = (vec![Key::root()], Vec::new());
    while let Some(folder) = open.pop() {
        let entries = match store.list(&folder) {
            // Not of a dataset, or somebody has just removed it.
            Err(error) if is_foreign(&error) && folder != Key::root() => continue,
            entries => entries?,
        };
        for entry in entries {
            // Others are not of a dataset.
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

/// Whether a folder may be passed over that no step of ours can lie in.
fn is_foreign(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
    )
}

/// Removes what some writer has staged, but for the files of these numbers.
fn remove_litter(store: &dyn Store, own: &Own, needed: &BTreeSet<u64>) -> io::Result<()> {
    for entry in store.list(&own.folder)? {
        let number = own.number_of(&entry.name);
        let is_needed = number.is_some_and(|number| needed.contains(&number));
        if entry.kind == EntryKind::File && own::is_staged(&entry.name) && !is_needed {
            let name = entry.name.to_string_lossy();
            unless_gone(store.remove(&own.folder.join(&name)?))?;
        }
    }
    Ok(())
}

fn complete(store: &dyn Store, own: &Own, journal: &Journal) -> Result<()> {
    check(store, own, journal, Depth::All)?;
    let bytes = bytes_of(store, own, journal)?;
    let parts = parts(store, own, &*bytes)?;
    let needed = journal.needed();
    // An earlier rename may have left both names, and a file of two names cannot be patched.
    remove_litter(store, own, &needed)?;
    let there = parts.there.iter().flatten();
    let there = there.filter(|number| needed.contains(number));
    let safe = there.map(|number| own.staged(*number));
    let mut safe = safe.collect::<io::Result<Vec<_>>>()?;
    safe.push(own.journal.clone());
    sync_all(store, &safe)?;
    apply(&parts, &journal.ops)?;
    store.remove(&own.journal)?;
    store.sync(&own.folder)?;
    Ok(())
}

/// The journal, if there is one. It has its name only since it is whole: one that is not was damaged.
fn read_journal(store: &dyn Store, own: &Own) -> Result<Option<Journal>> {
    match store.open(&own.journal) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => Ok(Some(Journal::decode(&opened?)?.map_err(interrupted)?)),
    }
}

fn check(store: &dyn Store, own: &Own, journal: &Journal, depth: Depth) -> Result<()> {
    let bytes = bytes_of(store, own, journal)?;
    let parts = parts(store, own, &*bytes)?;
    verify(&parts, journal, depth)?.map_err(interrupted)
}

/// Where the bytes of the patches of an interrupted change lie.
fn bytes_of(store: &dyn Store, own: &Own, journal: &Journal) -> Result<Box<dyn Object>> {
    let Some(Spilled { number, .. }) = journal.spilled else {
        return Ok(Box::new(journal.bytes.clone()));
    };
    match store.open(&own.staged(number)?) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(interrupted("what its journal tells is not there"))
        }
        opened => Ok(opened?),
    }
}

fn parts<'a>(store: &'a dyn Store, own: &'a Own, bytes: &'a dyn Object) -> io::Result<Parts<'a>> {
    let there = store.list(&own.folder)?;
    let there = there.iter().filter_map(|entry| own.number_of(&entry.name));
    let there: BTreeSet<u64> = there.collect();
    Ok(Parts {
        store,
        own,
        bytes,
        there: Some(there),
    })
}
