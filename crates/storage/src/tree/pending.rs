//! [`PendingChanges`]: the changes since the last commit, by key.

use super::errors::{NOT_A_FOLDER, invalid, not_found};
use super::journal::Journal;
use super::patched::{Patch, Piece};
use super::step::{Action, Fingerprint, Spilled, Step};
use super::{Entry, EntryKind, Key};
use bytes::Bytes;
use crc32fast::Hasher;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

/// A staged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Staged {
    pub number: u64,
    pub len: u64,
    /// The file's crc32 and fingerprint; `None` after a patch.
    pub sum: Option<(u32, Fingerprint)>,
}

/// The pending change of one key.
#[derive(Debug, Clone)]
pub(super) enum Pending {
    Put(Staged),
    /// Patches an existing file. Objects opened for reading share the pieces.
    Patch(Arc<Patch>),
    /// Removes an existing file.
    Remove,
    MakeFolder,
    /// Removes an existing folder.
    RemoveFolder,
}

impl Pending {
    /// The kind of the entry after the change.
    pub(super) fn kind(&self) -> Option<EntryKind> {
        match self {
            Self::Put(_) | Self::Patch(_) => Some(EntryKind::File),
            Self::MakeFolder => Some(EntryKind::Folder),
            Self::Remove | Self::RemoveFolder => None,
        }
    }
}

/// The staged file of patches that exceed the memory limit.
#[derive(Debug, Clone)]
pub(super) struct Spill {
    pub number: u64,
    pub len: u64,
    pub hasher: Hasher,
}

impl Spill {
    pub(super) fn summed(&self) -> Spilled {
        Spilled {
            number: self.number,
            len: self.len,
            crc: self.hasher.clone().finalize(),
        }
    }
}

/// The state of a store that is open for writing, or read through the journal of an interrupted change.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    /// By folder and name. The number orders the changes by their last operation.
    by_folder: BTreeMap<Key, BTreeMap<String, (u64, Pending)>>,
    turn: u64,
    /// The number of the last staged file.
    number: u64,
    /// Incremented whenever a staged file may have been removed to which an earlier lookup may refer.
    pub epoch: u64,
    /// Bytes of patches added to memory since the last spill.
    pub in_memory: u64,
    pub spill: Option<Spill>,
    /// An error has left the state of the store unknown.
    pub is_poisoned: bool,
    /// Whether the name of the staging folder would survive a power cut.
    pub is_folder_synced: bool,
}

impl PendingChanges {
    /// The changes of an interrupted commit, for reading through its journal.
    pub(super) fn of_journal(journal: &Journal) -> io::Result<Self> {
        let mut state = Self::default();
        let bytes = Bytes::from(journal.bytes.clone());
        for step in &journal.steps {
            let pending = pending_of(step, &bytes, journal.spilled.is_some())?;
            state.set(&step.key, pending);
        }
        state.spill = journal.spilled.map(|spilled| Spill {
            number: spilled.number,
            len: spilled.len,
            hasher: Hasher::new_with_initial_len(spilled.crc, spilled.len),
        });
        Ok(state)
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Pending> {
        let (folder, name) = key.split()?;
        let (_, pending) = self.by_folder.get(&folder)?.get(name)?;
        Some(pending)
    }

    /// Sets the change of a key, as the last in the order, and returns its previous change.
    pub(super) fn set(&mut self, key: &Key, pending: Pending) -> Option<Pending> {
        let (folder, name) = key.split()?;
        self.turn += 1;
        let in_folder = self.by_folder.entry(folder).or_default();
        let old = in_folder.insert(name.to_owned(), (self.turn, pending));
        old.map(|(_, pending)| pending)
    }

    /// Removes and returns the change of a key.
    pub(super) fn forget(&mut self, key: &Key) -> Option<Pending> {
        let (folder, name) = key.split()?;
        let in_folder = self.by_folder.get_mut(&folder)?;
        let old = in_folder.remove(name).map(|(_, pending)| pending);
        if in_folder.is_empty() {
            self.by_folder.remove(&folder);
        }
        old
    }

    /// The changed names in a folder, and their kind after the changes.
    pub(super) fn changed_in(&self, folder: &Key) -> Vec<(OsString, Option<EntryKind>)> {
        let in_folder = self.by_folder.get(folder).into_iter().flatten();
        in_folder
            .map(|(name, (_, pending))| (name.into(), pending.kind()))
            .collect()
    }

    /// All changes, in order.
    pub(super) fn in_order(&self) -> io::Result<Vec<(Key, Pending)>> {
        let mut all = Vec::new();
        for (folder, in_folder) in &self.by_folder {
            for (name, (turn, pending)) in in_folder {
                all.push((*turn, folder.join(name)?, pending.clone()));
            }
        }
        all.sort_by_key(|(turn, ..)| *turn);
        Ok(all
            .into_iter()
            .map(|(_, key, pending)| (key, pending))
            .collect())
    }

    /// All patches of existing files.
    pub(super) fn patches_mut(&mut self) -> impl Iterator<Item = (&Key, &String, &mut Patch)> {
        let all = self.by_folder.iter_mut();
        all.flat_map(|(folder, in_folder)| {
            in_folder
                .iter_mut()
                .filter_map(move |(name, (_, pending))| match pending {
                    Pending::Patch(patch) => Some((folder, name, Arc::make_mut(patch))),
                    _ => None,
                })
        })
    }

    /// A new number for a staged file.
    pub(super) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Forgets all changes, after a commit or a rollback.
    pub(super) fn clear(&mut self) {
        self.by_folder.clear();
        self.spill = None;
        self.in_memory = 0;
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Checks that a key's folder exists. `base` is the kind of the folder in the store.
    pub(super) fn check_folder(&self, key: &Key, base: Option<EntryKind>) -> io::Result<()> {
        let Some((folder, _)) = key.split() else {
            return Ok(());
        };
        match self.get(&folder).map_or(base, Pending::kind) {
            Some(EntryKind::Folder) => Ok(()),
            Some(_) => Err(invalid(&folder, NOT_A_FOLDER)),
            None => Err(not_found(&folder)),
        }
    }

    /// Checks that a key can become a file. `base` is the kind of the key in the store.
    pub(super) fn check_put(&self, key: &Key, base: Option<EntryKind>) -> io::Result<()> {
        match (self.get(key), base) {
            (Some(Pending::Put(_) | Pending::Patch(_) | Pending::Remove), _)
            | (None, None | Some(EntryKind::File)) => Ok(()),
            (Some(Pending::RemoveFolder), _) => Err(invalid(key, FILE_AND_FOLDER)),
            (Some(Pending::MakeFolder), _) | (None, Some(EntryKind::Folder)) => {
                Err(invalid(key, "a folder has this name"))
            }
            (None, Some(EntryKind::Other)) => Err(invalid(key, OTHER)),
        }
    }
}

/// The message for a commit that would replace a file by a folder.
pub(super) const FILE_AND_FOLDER: &str =
    "a file cannot be replaced by a folder in one commit, nor the reverse; commit in between";
pub(super) const OTHER: &str = "a link, a pipe or a device, not a file or a folder";

/// The change of a step in the journal of an interrupted commit.
fn pending_of(step: &Step, bytes: &Bytes, is_spilled: bool) -> io::Result<Pending> {
    Ok(match &step.action {
        Action::Put {
            number, crc, new, ..
        } => Pending::Put(Staged {
            number: *number,
            len: new.len,
            sum: Some((*crc, *new)),
        }),
        Action::Patch {
            old_len, pieces, ..
        } => {
            let mut patch = Patch::new(*old_len);
            let all = Piece::Memory(bytes.clone());
            for (at, piece) in pieces {
                let (from, len) = (piece.from, piece.len);
                let piece = if is_spilled {
                    Piece::Spilled { from, len }
                } else {
                    all.part(from, len)?
                };
                patch.lay(*at, piece)?;
            }
            Pending::Patch(Arc::new(patch))
        }
        Action::Remove { .. } => Pending::Remove,
        Action::MakeFolder => Pending::MakeFolder,
        Action::RemoveFolder => Pending::RemoveFolder,
    })
}

/// The entries of a folder after the pending changes in it.
pub(super) fn with_changes(
    base: Vec<Entry>,
    changed: Vec<(OsString, Option<EntryKind>)>,
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
