//! Making a change that its journal tells.

use super::op::{Act, Op};
use super::own::Own;
use super::{Key, Object, Store};
use crate::journal::Pieces;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Bytes copied at once.
const COPY_LEN: u64 = 1 << 20;
/// Files synced at the same time: a disk does several as fast as one.
const SYNCING: usize = 8;

/// Where the parts of a change lie.
pub(super) struct Parts<'a> {
    pub store: &'a dyn Store,
    pub own: &'a Own,
    /// The bytes of all patches.
    pub bytes: &'a dyn Object,
    /// The numbers of the staged files that were there when this began; nothing if all are. Others are where they
    /// belong already.
    pub there: Option<BTreeSet<u64>>,
}

/// Makes a change, step after step, and syncs all that it has touched. To do it again does no harm.
///
/// What was done in one folder is safe before anything is done in the next: programs that know of no journal find, also
/// after a power cut, the folders that come first in the change at least as new as those that come later.
pub(super) fn apply(parts: &Parts<'_>, ops: &[Op]) -> io::Result<()> {
    let (mut folder, mut patched) = (None, Vec::new());
    for op in ops {
        let next = op.key.split().map(|(folder, _)| folder);
        if next != folder {
            leave(parts.store, folder.as_ref(), &patched)?;
            patched.clear();
            folder = next;
        }
        step(parts, op)?;
        if matches!(op.act, Act::Patch { .. }) {
            patched.push(op.key.clone());
        }
    }
    leave(parts.store, folder.as_ref(), &patched)
}

fn leave(store: &dyn Store, folder: Option<&Key>, patched: &[Key]) -> io::Result<()> {
    sync_all(store, patched)?;
    match folder.map(|folder| store.sync(folder)) {
        // Removed before, when this was first done; then it has no names that could be lost.
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn step(parts: &Parts<'_>, op: &Op) -> io::Result<()> {
    let (store, key) = (parts.store, &op.key);
    match &op.act {
        Act::Put { number, .. } => match &parts.there {
            Some(there) if !there.contains(number) => Ok(()),
            _ => store.rename(&parts.own.staged(*number)?, key),
        },
        Act::Patch { pieces, .. } => patch(parts, key, pieces),
        Act::Remove { .. } => unless_gone(store.remove(key)),
        Act::MakeFolder => store.make_folder(key),
        Act::RemoveFolder => match store.remove_folder(key) {
            // Somebody has put something there meanwhile: it is not ours to remove.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            done => unless_gone(done),
        },
    }
}

pub(super) fn unless_gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn patch(parts: &Parts<'_>, key: &Key, pieces: &Pieces) -> io::Result<()> {
    let mut buffer = Vec::new();
    for (at, piece) in pieces {
        let mut done = 0u64;
        while done < piece.len {
            let step = piece.len.saturating_sub(done).min(COPY_LEN);
            buffer.resize(usize::try_from(step).unwrap_or(0), 0);
            let from = piece.from.saturating_add(done);
            parts.bytes.read_exact_at(from, &mut buffer)?;
            parts.store.patch(key, at.saturating_add(done), &buffer)?;
            done = done.saturating_add(step);
        }
    }
    Ok(())
}

/// Syncs files, several at a time.
pub(super) fn sync_all(store: &dyn Store, keys: &[Key]) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(key) = keys.get(next.fetch_add(1, Ordering::Relaxed)) {
            store.sync(key)?;
        }
        Ok(())
    };
    if keys.len() < 2 {
        return work();
    }
    thread::scope(|scope| {
        let others: Vec<_> = (1..SYNCING.min(keys.len()))
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut done = work();
        for other in others {
            let other = other
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread that syncs panicked")));
            done = done.and(other);
        }
        done
    })
}
