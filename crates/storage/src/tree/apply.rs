//! Applies the change of a journal, step by step.

use super::staging::Staging;
use super::step::{Action, Step};
use super::{Key, Store};
use crate::ReadAt;
use crate::journal::put_pieces;
use crate::parallel::for_each;
use std::collections::BTreeSet;
use std::io;

/// Files synced at the same time. A disk syncs several as fast as one.
const SYNC_THREADS: usize = 8;

/// The parts of a change.
pub(super) struct Sources<'a> {
    pub store: &'a dyn Store,
    pub staging: &'a Staging,
    /// The bytes of all patches.
    pub bytes: &'a dyn ReadAt,
    /// The numbers of the staged files that existed at the beginning; all others are already in their places.
    /// `None` if all are staged.
    pub staged: Option<BTreeSet<u64>>,
}

/// Applies a change, step by step, and syncs everything that it touches. Applying it again has no further
/// effect.
///
/// Everything in one folder is synced before the next folder is touched. Programs that do not know the journal
/// therefore find earlier folders of the change at least as new as later ones, also after a power cut.
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
        // An earlier run has removed the folder, so it has no names to lose.
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
            // Another program has put something into the folder; leave it.
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
