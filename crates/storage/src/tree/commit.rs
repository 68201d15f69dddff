//! Commits the changes of a [`JournaledStore`].

use super::apply::{Sources, apply, sync_all};
use super::errors::{NOT_A_FOLDER, changed, invalid, not_found};
use super::journal::Journal;
use super::open::lock_root;
use super::patched::{Patch, Piece};
use super::pending::{Pending, Staged, with_changes};
use super::step::{Action, Fingerprint, Step};
use super::{EntryKind, JournaledStore, Key, StoreLock};
use crate::convert::to_u64;
use crate::error::{committed, unknown};
use crate::journal::{Binding, Piece as Placed, Pieces, crc_of};
use crate::{ReadAt, Result};
use crc32fast::Hasher;
use std::collections::BTreeSet;
use std::io;

impl JournaledStore {
    /// Makes all changes since the last commit, atomically. Returns when they would survive a power cut.
    /// Without changes it does nothing. Waits for changes that other threads are making, and up to the timeout
    /// for readers that lock the store.
    ///
    /// # Errors
    /// - [`ResourceBusy`](io::ErrorKind::ResourceBusy) if readers do not release the store in time: the changes
    ///   stay pending; commit again.
    /// - [`Committed`](crate::Error::Committed) if the changes are committed but not applied completely: do not
    ///   repeat them, the next writer completes them.
    /// - Any error of the store. If it leaves the state of the store unknown, all further operations are
    ///   refused, and opening the store again finds the old or the new content. Otherwise the changes stay
    ///   pending.
    pub fn commit(&self) -> Result<()> {
        self.commit_counts(&[], false)
    }

    /// As [`commit`](Self::commit), with the steps for the files `counts` before all other steps if `first` is
    /// true, and after them if not.
    ///
    /// Programs without this protocol may read the store after a crash between the steps. A file that counts
    /// other files should come first if there will be fewer of them, and last if there will be more, so that it
    /// never counts missing files.
    ///
    /// ```
    /// use bloscpack_storage::{Access, JournaledStore, Key, Memory};
    /// use std::sync::Arc;
    ///
    /// let store = Memory::from([("count", b"1".to_vec()), ("file0", Vec::new())]);
    /// let writer = JournaledStore::open(Arc::new(store.clone()), Access::Write)?;
    /// let count = Key::parse("count")?;
    /// writer.put(&count, b"2")?;
    /// writer.put(&Key::parse("file1")?, b"")?;
    /// // The number grows: `file1` is in its place before the count changes.
    /// writer.commit_counts(&[count], false)?;
    /// assert_eq!(store.bytes("count").as_deref(), Some(&b"2"[..]));
    /// # Ok::<(), bloscpack_storage::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`commit`](Self::commit).
    pub fn commit_counts(&self, counts: &[Key], first: bool) -> Result<()> {
        let _gate = self.begin_alone()?;
        let mut plan = self.plan()?;
        order(&mut plan.steps, counts, first);
        if plan.steps.is_empty() {
            self.state().clear();
            return Ok(());
        }
        self.sync_staged(&plan)?;
        match plan.steps.as_slice() {
            // A single step is atomic in the store itself.
            [step] if !matches!(step.action, Action::Patch { .. }) => {
                self.prepare_history()?;
                let _guard = self.lock_root()?;
                self.keep(&plan)?;
                self.at_risk(|store| {
                    let applied = store.apply(&plan);
                    applied.map_err(|error| store.kept(unknown, error))?;
                    let done = store.keep_no_more();
                    done.map_err(|error| store.kept(committed, error))
                })?;
            }
            _ => self.commit_by_journal(&plan)?,
        }
        self.state().clear();
        if let Some(spilled) = plan.spilled {
            self.discard(spilled.number);
        }
        Ok(())
    }

    fn commit_by_journal(&self, journal: &Journal) -> Result<()> {
        let number = self.state().next_number();
        let draft = self.staging.key(number)?;
        let created = self.store.create(&draft, &journal.encode()?);
        if let Err(error) = created {
            self.discard(number);
            return Err(error.into());
        }
        self.at_risk(|this| this.store.sync(&draft))?;
        self.sync_names()?;
        let begun = self.prepare_history().and_then(|()| {
            let guard = self.lock_root()?;
            self.keep(journal)?;
            Ok(guard)
        });
        let Ok(_guard) = begun else {
            self.discard(number);
            return begun.map(drop);
        };
        self.at_risk(|this| {
            let renamed = this.store.rename(&draft, &this.staging.journal);
            renamed.map_err(unknown)?;
            this.store.sync(&this.staging.folder).map_err(unknown)?;
            // From here the change is committed.
            let done = this.complete(journal);
            done.map_err(|error| this.kept(committed, error))
        })?;
        Ok(())
    }

    /// Applies the change of the journal, and removes the journal.
    fn complete(&self, journal: &Journal) -> io::Result<()> {
        self.apply(journal)?;
        self.store.remove(&self.staging.journal)?;
        self.store.sync(&self.staging.folder)?;
        self.keep_no_more()
    }

    /// Wraps an error in the state of the change, unless the store loses the change with this process.
    fn kept(&self, says: fn(io::Error) -> io::Error, error: io::Error) -> io::Error {
        if self.store.keeps_journals() {
            says(error)
        } else {
            error
        }
    }

    /// Runs an operation whose failure leaves the state of the store unknown.
    fn at_risk<T>(&self, act: impl FnOnce(&Self) -> io::Result<T>) -> io::Result<T> {
        let done = act(self);
        if done.is_err() {
            self.state().is_poisoned = true;
        }
        done
    }

    /// Syncs the bytes of the staged files.
    fn sync_staged(&self, plan: &Journal) -> io::Result<()> {
        let mut keys = Vec::new();
        for step in &plan.steps {
            if let Action::Put { number, .. } = step.action {
                keys.push(self.staging.key(number)?);
            }
        }
        if let Some(spilled) = plan.spilled {
            keys.push(self.staging.key(spilled.number)?);
        }
        self.at_risk(|this| sync_all(&*this.store, &keys))
    }

    /// Syncs the names of everything that is staged.
    fn sync_names(&self) -> io::Result<()> {
        self.at_risk(|this| {
            this.store.sync(&this.staging.folder)?;
            if !this.state().is_folder_synced {
                this.store.sync(&Key::root())?;
                this.state().is_folder_synced = true;
            }
            Ok(())
        })
    }

    /// Locks the store for writing: waits until all readers that lock it have finished.
    fn lock_root(&self) -> Result<Box<dyn StoreLock>> {
        Ok(lock_root(&*self.store, &self.lock_timeout())?)
    }

    fn apply(&self, journal: &Journal) -> io::Result<()> {
        let sources = Sources {
            store: &*self.store,
            staging: &self.staging,
            bytes: &*journal.patch_bytes(&*self.store, &self.staging)?,
            staged: None,
        };
        apply(&sources, &journal.steps)
    }

    /// The steps, checked as far as possible before anything is changed.
    fn plan(&self) -> Result<Journal> {
        if self.state().spill.is_some() {
            self.spill()?;
        }
        let (changes, spill) = {
            let state = self.state();
            (state.in_order()?, state.spill.clone())
        };
        let mut plan = Journal {
            salt: self.staging.salt,
            steps: Vec::new(),
            bytes: Vec::new(),
            spilled: spill.map(|spill| spill.summed()),
        };
        for (key, pending) in changes {
            let action = match pending {
                Pending::Put(staged) => self.plan_put(&key, staged)?,
                Pending::Patch(patch) => self.plan_patch(&key, &patch, &mut plan.bytes)?,
                Pending::Remove => Action::Remove {
                    old: self.fingerprint(&key)?.ok_or_else(|| changed(&key))?,
                },
                Pending::MakeFolder => match self.store.kind(&key)? {
                    None | Some(EntryKind::Folder) => Action::MakeFolder,
                    Some(_) => return Err(changed(&key).into()),
                },
                Pending::RemoveFolder => self.plan_remove_folder(&key)?,
            };
            plan.steps.push(Step { key, action });
        }
        Ok(plan)
    }

    fn plan_put(&self, key: &Key, staged: Staged) -> io::Result<Action> {
        let number = staged.number;
        let (crc, new) = match staged.sum {
            Some(sum) => sum,
            None => {
                let file = self.store.open(&self.staging.key(number)?)?;
                (crc_of(&file, 0, staged.len)?, Fingerprint::of(&file)?)
            }
        };
        let old = self.fingerprint(key)?;
        Ok(Action::Put {
            number,
            crc,
            new,
            old,
        })
    }

    /// The fingerprint of the file with this key; `None` if there is none.
    fn fingerprint(&self, key: &Key) -> io::Result<Option<Fingerprint>> {
        match self.store.open(key) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => Fingerprint::of(&opened?).map(Some),
        }
    }

    fn plan_patch(&self, key: &Key, patch: &Patch, bytes: &mut Vec<u8>) -> io::Result<Action> {
        let mut pieces = Pieces::new();
        for (at, piece) in &patch.pieces {
            let (from, len) = match piece {
                Piece::Spilled { from, len } => (*from, *len),
                Piece::Memory(here) => (to_u64(bytes.len()), to_u64(here.len())),
            };
            if let Piece::Memory(here) = piece {
                bytes.extend_from_slice(here);
            }
            // A store's journal has one checksum, not one for each piece.
            let hasher = Hasher::new();
            pieces.insert(*at, Placed { len, from, hasher });
        }
        let file = self.store.open(key)?;
        if file.size()? != patch.old_len {
            return Err(changed(key));
        }
        self.store.patch(key, 0, &[])?;
        for (at, piece) in &pieces {
            self.store.reserve(key, *at, piece.len)?;
        }
        let old_len = patch.old_len;
        Ok(Action::Patch {
            old_len,
            new_len: patch.new_len(),
            binding: Binding::of(&file, &pieces, old_len)?,
            pieces,
        })
    }

    fn plan_remove_folder(&self, key: &Key) -> io::Result<Action> {
        let inside = match self.store.kind(key)? {
            Some(EntryKind::Folder) => self.store.list(key)?,
            Some(_) => return Err(invalid(key, NOT_A_FOLDER)),
            None => return Err(not_found(key)),
        };
        if with_changes(inside, self.state().changed_in(key)).is_empty() {
            Ok(Action::RemoveFolder)
        } else {
            Err(io::ErrorKind::DirectoryNotEmpty.into())
        }
    }
}

/// Moves the steps for the files `counts` before or after all others.
fn order(steps: &mut [Step], counts: &[Key], first: bool) {
    let made = |step: &Step| matches!(step.action, Action::MakeFolder).then(|| step.key.clone());
    let made: BTreeSet<Key> = steps.iter().filter_map(made).collect();
    let is_new = |key: &Key| {
        key.split()
            .is_some_and(|(folder, _)| made.contains(&folder))
    };
    let counts: BTreeSet<&Key> = counts.iter().collect();
    steps.sort_by_cached_key(|step| {
        let counts = counts.contains(&step.key);
        // A file in a folder that this commit makes is not read by other programs before the rest of the folder
        // exists.
        if first {
            !counts || is_new(&step.key)
        } else {
            counts
        }
    });
}
