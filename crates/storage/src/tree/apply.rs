//! Making the change of a journal, step by step.

use super::staging::Staging;
use super::step::{Action, Step};
use super::{Key, Store, StoreFile};
use crate::journal::put_pieces;
use crate::parallel::for_each;
use std::collections::BTreeSet;
use std::io;

/// Files synced at the same time: a disk syncs several as fast as one.
const SYNC_THREADS: usize = 8;

/// Where the parts of a change are.
pub(super) struct Sources<'a> {
    pub store: &'a dyn Store,
    pub staging: &'a Staging,
    /// The bytes of all patches.
    pub bytes: &'a dyn StoreFile,
    /// The numbers of the staged files that existed when this began; the others are already in
    /// their places. `None` if none is.
    pub staged: Option<BTreeSet<u64>>,
}

/// Makes a change, step by step, and syncs everything that it touches. Repeating it does no harm.
///
/// Everything done in one folder is synced before anything is done in the next. So programs that do
/// not know the journal find the folders that come first in the change at least as new as those
/// that come later, also after a power cut.
pub(super) fn apply(sources: &Sources<'_>, steps: &[Step]) -> io::Result<()> {
    let (mut folder, mut patched) = (None, Vec::new());
    for step in steps {
        let next = step.key.split().map(|(folder, _)| folder);
        if next != folder {
            sync_folder(sources.store, folder.as_ref(), &patched)?;
            patched.clear();
            folder = next;
        }
        apply_step(sources, step)?;
        if matches!(step.action, Action::Patch { .. }) {
            patched.push(step.key.clone());
        }
    }
    sync_folder(sources.store, folder.as_ref(), &patched)
}

/// Syncs the files that were patched in a folder, and its names.
fn sync_folder(store: &dyn Store, folder: Option<&Key>, patched: &[Key]) -> io::Result<()> {
    sync_all(store, patched)?;
    match folder.map(|folder| store.sync(folder)) {
        // The folder was removed when this was first done; it has no names that could be lost.
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn apply_step(sources: &Sources<'_>, step: &Step) -> io::Result<()> {
    let (store, key) = (sources.store, &step.key);
    match &step.action {
        Action::Put { number, .. } => match &sources.staged {
            Some(staged) if !staged.contains(number) => Ok(()),
            _ => store.rename(&sources.staging.key(*number)?, key),
        },
        Action::Patch { pieces, .. } => put_pieces(pieces, sources.bytes, |at, bytes| {
            store.patch(key, at, bytes)
        }),
        Action::Remove { .. } => unless_gone(store.remove(key)),
        Action::MakeFolder => store.make_folder(key),
        Action::RemoveFolder => match store.remove_folder(key) {
            // Another program has put something there meanwhile, which is not ours to remove.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            done => unless_gone(done),
        },
    }
}

/// The result of removing something that may have been removed before.
pub(super) fn unless_gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Syncs files, several at a time.
pub(super) fn sync_all(store: &dyn Store, keys: &[Key]) -> io::Result<()> {
    for_each(SYNC_THREADS, keys.iter(), |key| store.sync(key))
}
