//! Making the changes of a [`Root`], all or none.

use super::apply::{Parts, apply, sync_all};
use super::journal::Journal;
use super::op::{Act, Op, Print, Spilled};
use super::open::READING;
use super::own::invalid;
use super::pieces::{Patch, Piece};
use super::root::{len_of, locked, not_found, overlaid};
use super::state::{Fate, Staged};
use super::{EntryKind, Guard, Key, Object, Root};
use crate::Result;
use crate::held::busy;
use crate::journal::{Binding, Piece as Placed, Pieces, crc_of};
use crate::lock::wait_until;
use crate::{LockMode, ReadAt};
use crc32fast::Hasher;
use std::collections::BTreeSet;
use std::io;

/// What is to be done, and where its bytes lie.
struct Plan {
    ops: Vec<Op>,
    bytes: Vec<u8>,
    spilled: Option<Spilled>,
}

impl Root {
    /// Makes all that was changed since the last commit, or nothing of it.
    ///
    /// # Errors
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy) if readers do not let go: what was changed stays as it is, and the
    /// commit can be tried again. Those of the store; if they leave its state unknown, everything later is refused: it is
    /// the old or the new one when it is opened again.
    pub fn commit(&self) -> Result<()> {
        self.commit_counts(&[], false)
    }

    /// As [`commit`](Self::commit), with the steps for these files before or behind all others: what counts other files comes
    /// first where there will be fewer of them, and last where there will be more, so that it never counts what is not there.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn commit_counts(&self, counts: &[Key], first: bool) -> Result<()> {
        let _gate = self.begin_alone()?;
        let mut plan = self.plan()?;
        let made = |op: &Op| matches!(op.act, Act::MakeFolder).then(|| op.key.clone());
        let made: BTreeSet<Key> = plan.ops.iter().filter_map(made).collect();
        let is_new = |key: &Key| {
            key.split()
                .is_some_and(|(folder, _)| made.contains(&folder))
        };
        let counts: BTreeSet<&Key> = counts.iter().collect();
        plan.ops.sort_by_cached_key(|op| {
            let counts = counts.contains(&op.key);
            // In a folder of this change nobody counts anything yet.
            if first {
                !counts || is_new(&op.key)
            } else {
                counts
            }
        });
        if plan.ops.is_empty() {
            self.state().clear();
            return Ok(());
        }
        self.sync_staged(&plan)?;
        match plan.ops.as_slice() {
            // A single step is made as a whole by the store itself.
            [op] if !matches!(op.act, Act::Patch { .. }) => {
                let _hold = self.hold_root()?;
                self.at_risk(|root| root.apply(&plan))?;
            }
            _ => self.commit_by_journal(&plan)?,
        }
        self.state().clear();
        if let Some(spilled) = plan.spilled {
            self.discard(spilled.number);
        }
        Ok(())
    }

    fn commit_by_journal(&self, plan: &Plan) -> Result<()> {
        let journal = Journal {
            salt: self.own.salt,
            ops: plan.ops.clone(),
            bytes: plan.bytes.clone(),
            spilled: plan.spilled,
        };
        let number = self.state().next_number();
        let draft = self.own.staged(number)?;
        let created = self.store.create(&draft, &journal.encode()?);
        if let Err(error) = created {
            self.discard(number);
            return Err(error.into());
        }
        self.at_risk(|root| root.store.sync(&draft))?;
        self.sync_names()?;
        let hold = self.hold_root();
        let Ok(_hold) = hold else {
            self.discard(number);
            return hold.map(drop);
        };
        self.at_risk(|root| {
            root.store.rename(&draft, &root.own.journal)?;
            // From here on the change is made.
            root.store.sync(&root.own.folder)?;
            root.apply(plan)?;
            root.store.remove(&root.own.journal)?;
            root.store.sync(&root.own.folder)
        })?;
        Ok(())
    }

    /// Does something after whose failure nobody knows what is in the store.
    fn at_risk<T>(&self, act: impl FnOnce(&Self) -> io::Result<T>) -> io::Result<T> {
        let done = act(self);
        if done.is_err() {
            self.state().poisoned = true;
        }
        done
    }

    /// The staged files are safe, whatever their names.
    fn sync_staged(&self, plan: &Plan) -> io::Result<()> {
        let mut keys = Vec::new();
        for op in &plan.ops {
            if let Act::Put { number, .. } = op.act {
                keys.push(self.own.staged(number)?);
            }
        }
        if let Some(spilled) = plan.spilled {
            keys.push(self.own.staged(spilled.number)?);
        }
        self.at_risk(|root| sync_all(&*root.store, &keys))
    }

    /// The names of all that is staged are safe.
    fn sync_names(&self) -> io::Result<()> {
        self.at_risk(|root| {
            root.store.sync(&root.own.folder)?;
            if !root.state().rooted {
                root.store.sync(&Key::root())?;
                root.state().rooted = true;
            }
            Ok(())
        })
    }

    /// Nobody reads meanwhile.
    fn hold_root(&self) -> Result<Box<dyn Guard>> {
        let patience = locked(&self.patience).clone();
        let hold = wait_until(
            || self.store.try_lock(&Key::root(), LockMode::Exclusive),
            |waited| patience.lasts(waited),
        )?;
        Ok(hold.ok_or_else(|| busy(READING))?)
    }

    fn apply(&self, plan: &Plan) -> io::Result<()> {
        let bytes: Box<dyn Object> = match plan.spilled {
            Some(spilled) => self.store.open(&self.own.staged(spilled.number)?)?,
            None => Box::new(plan.bytes.clone()),
        };
        let parts = Parts {
            store: &*self.store,
            own: &self.own,
            bytes: &*bytes,
            there: None,
        };
        apply(&parts, &plan.ops)
    }

    /// The steps, each with what it finds, and checked as far as that can be done beforehand.
    fn plan(&self) -> Result<Plan> {
        if self.state().spill.is_some() {
            self.spill()?;
        }
        let (fates, spill) = {
            let state = self.state();
            (state.in_order()?, state.spill.clone())
        };
        let mut plan = Plan {
            ops: Vec::new(),
            bytes: Vec::new(),
            spilled: spill.map(|spill| spill.summed()),
        };
        for (key, fate) in fates {
            let act = match fate {
                Fate::Put(staged) => self.plan_put(&key, staged)?,
                Fate::Patch(patch) => self.plan_patch(&key, &patch, &mut plan.bytes)?,
                Fate::Remove => Act::Remove {
                    old: self.print(&key)?.ok_or_else(|| changed(&key))?,
                },
                Fate::MakeFolder => match self.store.kind(&key)? {
                    None | Some(EntryKind::Folder) => Act::MakeFolder,
                    Some(_) => return Err(changed(&key).into()),
                },
                Fate::RemoveFolder => self.plan_remove_folder(&key)?,
            };
            plan.ops.push(Op { key, act });
        }
        Ok(plan)
    }

    fn plan_put(&self, key: &Key, staged: Staged) -> io::Result<Act> {
        let number = staged.number;
        let (crc, new) = match staged.sum {
            Some(sum) => sum,
            None => {
                let file = self.store.open(&self.own.staged(number)?)?;
                (crc_of(&file, 0, staged.len)?, Print::of(&file)?)
            }
        };
        let old = self.print(key)?;
        Ok(Act::Put {
            number,
            crc,
            new,
            old,
        })
    }

    /// The print of the file that is there, if one is.
    fn print(&self, key: &Key) -> io::Result<Option<Print>> {
        match self.store.open(key) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => Print::of(&opened?).map(Some),
        }
    }

    fn plan_patch(&self, key: &Key, patch: &Patch, bytes: &mut Vec<u8>) -> io::Result<Act> {
        let mut pieces = Pieces::new();
        for (at, piece) in &patch.pieces {
            let (from, len) = match piece {
                Piece::Spilled { from, len } => (*from, *len),
                Piece::Memory(here) => (len_of(bytes), len_of(here)),
            };
            if let Piece::Memory(here) = piece {
                bytes.extend_from_slice(here);
            }
            let hasher = Hasher::new();
            pieces.insert(*at, Placed { len, from, hasher });
        }
        let file = self.store.open(key)?;
        if file.size()? != patch.old_len {
            return Err(changed(key));
        }
        self.store.patch(key, 0, &[])?;
        let old_len = patch.old_len;
        Ok(Act::Patch {
            old_len,
            new_len: patch.new_len(),
            binding: Binding::of(&file, &pieces, old_len)?,
            pieces,
        })
    }

    fn plan_remove_folder(&self, key: &Key) -> io::Result<Act> {
        let inside = match self.store.kind(key)? {
            Some(EntryKind::Folder) => self.store.list(key)?,
            Some(_) => return Err(invalid(key, "not a folder")),
            None => return Err(not_found(key)),
        };
        match overlaid(inside, self.state().changed_in(key)).is_empty() {
            true => Ok(Act::RemoveFolder),
            false => Err(io::ErrorKind::DirectoryNotEmpty.into()),
        }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // What may still be needed stays, and the next writer deals with it.
        if !self.is_writer() || self.check().is_err() {
            return;
        }
        for entry in self.store.list(&self.own.folder).unwrap_or_default() {
            if let Some(number) = self.own.number_of(&entry.name) {
                self.discard(number);
            }
        }
        // It stays where somebody else has put something into it.
        let _ = self.store.remove_folder(&self.own.folder);
    }
}

fn changed(key: &Key) -> io::Error {
    let what = format!("{key}: another program has changed this meanwhile");
    io::Error::other(what)
}
