//! How a writer of a store saves old content for readers, and closes the store.

use super::journal::Journal;
use super::journaled::Role;
use super::open::lock_root;
use super::site::StoreSite;
use super::step::{Action, Step};
use super::{EntryKind, JournaledStore, StoreHandle};
use crate::history::{Entry, Former, Keeper};
use crate::journal::Pieces;
use crate::mutex::locked;
use crate::{LockTimeout, ReadAt, Result};
use std::io;
use std::iter;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// How long a closing writer waits for readers that are opening the store.
const LEAVING: Duration = Duration::from_millis(100);

impl JournaledStore {
    /// Creates the history before readers have to wait for a commit.
    pub(super) fn prepare_history(&self) -> Result<()> {
        Ok(self.for_readers(|keeper, site| keeper.prepare(site))?)
    }

    /// Saves what a commit overwrites, if there are readers. The root is locked.
    pub(super) fn keep(&self, plan: &Journal) -> Result<()> {
        Ok(self.for_readers(|keeper, site| {
            if !keeper.has_readers(site)? {
                return Ok(());
            }
            let files = plan.steps.iter().map(|step| self.former(step));
            let files = files.collect::<io::Result<Vec<_>>>()?;
            let entries = plan.steps.iter().zip(&files).map(|(step, (was, file))| {
                let ranges = match (*was, &step.action) {
                    (Former::File(len), Action::Patch { pieces, .. }) => overwritten(pieces, len),
                    (Former::File(len), _) => iter::once(0..len).collect(),
                    _ => Vec::new(),
                };
                let key = step.key.clone();
                let was = *was;
                Entry {
                    key,
                    was,
                    ranges,
                    file,
                }
            });
            keeper.keep(site, &entries.collect::<Vec<_>>())
        })?)
    }

    /// What the key of a step is before the step, and its content.
    fn former(&self, step: &Step) -> io::Result<(Former, Box<dyn ReadAt>)> {
        let nothing = || Box::new(Vec::new()) as Box<dyn ReadAt>;
        match step.action {
            Action::Put { old: None, .. } => Ok((Former::Nothing, nothing())),
            Action::RemoveFolder => Ok((Former::Folder, nothing())),
            Action::MakeFolder => match self.store.kind(&step.key)? {
                Some(EntryKind::Folder) => Ok((Former::Folder, nothing())),
                _ => Ok((Former::Nothing, nothing())),
            },
            Action::Put { .. } | Action::Patch { .. } | Action::Remove { .. } => {
                let file = self.store.open(&step.key)?;
                Ok((Former::File(file.size()?), file))
            }
        }
    }

    /// Records the end of a commit, if anything was saved.
    pub(super) fn keep_no_more(&self) -> io::Result<()> {
        self.for_readers(|keeper, site| keeper.keep_no_more(site))
    }

    /// Whether readers see this writer.
    fn is_seen(&self) -> bool {
        match &self.role {
            Role::Writer { keeper, .. } => locked(keeper).is_some(),
            _ => false,
        }
    }

    fn for_readers(
        &self,
        act: impl FnOnce(&mut Keeper<Arc<dyn StoreHandle>>, &StoreSite<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Role::Writer { keeper, .. } = &self.role else {
            return Ok(());
        };
        match &mut *locked(keeper) {
            Some(keeper) => keeper.with(&*self.store, &self.staging, act),
            None => Ok(()),
        }
    }

    /// Removes what this writer has staged, and leaves what readers need.
    fn leave(&self) -> io::Result<()> {
        // Readers that open while there is no history would rely on this writer. If the lock fails, a reader of
        // an earlier version holds one.
        let is_seen = self.is_seen();
        let lock = || lock_root(&*self.store, &LockTimeout::new(LEAVING));
        let _root = is_seen.then(lock);
        for entry in self.store.list(&self.staging.folder)? {
            if let Some(number) = self.staging.number_of(&entry.name) {
                self.discard(number);
            }
        }
        self.for_readers(|keeper, site| keeper.take_leave(site))?;
        // The folder stays if readers need the history, or another program has put something into it.
        self.store.remove_folder(&self.staging.folder)
    }
}

/// The ranges of a file of length `len` that the pieces of a patch overwrite.
fn overwritten(pieces: &Pieces, len: u64) -> Vec<Range<u64>> {
    let ranges = pieces.iter();
    let ranges = ranges.map(|(at, piece)| *at..piece.end(*at).min(len));
    ranges.filter(|range| range.start < range.end).collect()
}

impl Drop for JournaledStore {
    fn drop(&mut self) {
        // Files that may be needed stay for the next writer. So do those that cannot be listed or removed; they
        // have no effect.
        if self.check_writer().is_ok() && self.check().is_ok() {
            let _ = self.leave();
        }
    }
}
