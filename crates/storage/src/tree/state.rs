//! [`State`]: what is to become of each key, by the changes made since the last commit.

use super::op::{Act, Op, Print, Spilled};
use super::own::invalid;
use super::pieces::{Patch, Piece};
use super::root::not_found;
use super::{EntryKind, Key};
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
    /// Its crc32 and print, unless it was patched since.
    pub sum: Option<(u32, Print)>,
}

/// What is to become of one key.
#[derive(Debug, Clone)]
pub(super) enum Fate {
    Put(Staged),
    /// Of a file that is there. Those who have read it share the pieces.
    Patch(Arc<Patch>),
    /// Of a file that is there.
    Remove,
    MakeFolder,
    /// Of one that is there.
    RemoveFolder,
}

impl Fate {
    pub(super) fn kind(&self) -> Option<EntryKind> {
        match self {
            Self::Put(_) | Self::Patch(_) => Some(EntryKind::File),
            Self::MakeFolder => Some(EntryKind::Folder),
            Self::Remove | Self::RemoveFolder => None,
        }
    }
}

/// Bytes of patches that are too many to be kept in memory.
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

#[derive(Debug, Default)]
pub(super) struct State {
    /// By folder and name. The number is the turn of the last operation, by which all are ordered.
    fates: BTreeMap<Key, BTreeMap<String, (u64, Fate)>>,
    turn: u64,
    /// The number of the file staged last.
    number: u64,
    /// Changes whenever a staged file may have gone: what was looked up before may lead nowhere.
    pub epoch: u64,
    /// Bytes of patches that came into memory since the last spill.
    pub laid: u64,
    pub spill: Option<Spill>,
    /// Something failed, so that nobody knows what has arrived in the store.
    pub poisoned: bool,
    /// The name of our folder is safe.
    pub rooted: bool,
}

impl State {
    /// What an interrupted change is to make of each key, for those who read through its journal.
    pub(super) fn of_journal(journal: &super::journal::Journal) -> Self {
        let mut state = Self::default();
        let bytes = bytes::Bytes::from(journal.bytes.clone());
        for op in &journal.ops {
            state.set(&op.key, fate_of(op, &bytes, journal.spilled.is_some()));
        }
        state.spill = journal.spilled.map(|spilled| Spill {
            number: spilled.number,
            len: spilled.len,
            hasher: Hasher::new_with_initial_len(spilled.crc, spilled.len),
        });
        state
    }

    pub(super) fn fate(&self, key: &Key) -> Option<&Fate> {
        let (folder, name) = key.split()?;
        self.fates.get(&folder)?.get(name).map(|(_, fate)| fate)
    }

    /// Gives a key its fate, at the end of the order, and returns the one that it had.
    pub(super) fn set(&mut self, key: &Key, fate: Fate) -> Option<Fate> {
        let (folder, name) = key.split()?;
        self.turn = self.turn.saturating_add(1);
        let fates = self.fates.entry(folder).or_default();
        let old = fates.insert(name.to_owned(), (self.turn, fate));
        old.map(|(_, fate)| fate)
    }

    /// Leaves a key as it is in the store, and returns the fate that it had.
    pub(super) fn forget(&mut self, key: &Key) -> Option<Fate> {
        let (folder, name) = key.split()?;
        let fates = self.fates.get_mut(&folder)?;
        let old = fates.remove(name).map(|(_, fate)| fate);
        if fates.is_empty() {
            self.fates.remove(&folder);
        }
        old
    }

    /// The names in a folder that a change concerns, and what will be there.
    pub(super) fn changed_in(&self, folder: &Key) -> Vec<(OsString, Option<EntryKind>)> {
        let fates = self.fates.get(folder).into_iter().flatten();
        fates
            .map(|(name, (_, fate))| (name.into(), fate.kind()))
            .collect()
    }

    /// All fates, in order.
    pub(super) fn in_order(&self) -> io::Result<Vec<(Key, Fate)>> {
        let mut all = Vec::new();
        for (folder, fates) in &self.fates {
            for (name, (turn, fate)) in fates {
                all.push((*turn, folder.join(name)?, fate.clone()));
            }
        }
        all.sort_by_key(|(turn, ..)| *turn);
        Ok(all.into_iter().map(|(_, key, fate)| (key, fate)).collect())
    }

    /// All patches of files that are there.
    pub(super) fn patches_mut(&mut self) -> impl Iterator<Item = (&Key, &String, &mut Patch)> {
        let all = self.fates.iter_mut();
        all.flat_map(|(folder, fates)| {
            fates
                .iter_mut()
                .filter_map(move |(name, (_, fate))| match fate {
                    Fate::Patch(patch) => Some((folder, name, Arc::make_mut(patch))),
                    _ => None,
                })
        })
    }

    /// A number that no file was staged under.
    pub(super) fn next_number(&mut self) -> u64 {
        self.number = self.number.saturating_add(1);
        self.number
    }

    /// Forgets all changes: they are made, or given up.
    pub(super) fn clear(&mut self) {
        self.fates.clear();
        self.spill = None;
        self.laid = 0;
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Whether the folder of a key is there; `base` is what the store has in its place.
    pub(super) fn check_folder(&self, key: &Key, base: Option<EntryKind>) -> io::Result<()> {
        let Some((folder, _)) = key.split() else {
            return Ok(());
        };
        match self.fate(&folder).map_or(base, Fate::kind) {
            Some(EntryKind::Folder) => Ok(()),
            Some(_) => Err(invalid(&folder, "not a folder")),
            None => Err(not_found(&folder)),
        }
    }

    /// Whether a key can become a file; `base` is what the store has there.
    pub(super) fn check_put(&self, key: &Key, base: Option<EntryKind>) -> io::Result<()> {
        match (self.fate(key), base) {
            (Some(Fate::Put(_) | Fate::Patch(_) | Fate::Remove), _)
            | (None, None | Some(EntryKind::File)) => Ok(()),
            (Some(Fate::RemoveFolder), _) => Err(invalid(key, BOTH)),
            (Some(Fate::MakeFolder), _) | (None, Some(EntryKind::Folder)) => {
                Err(invalid(key, "a folder is there"))
            }
            (None, Some(EntryKind::Other)) => Err(invalid(key, OTHER)),
        }
    }
}

/// Why one change cannot make a folder of a file.
pub(super) const BOTH: &str =
    "one change cannot remove a file and make a folder of its name, nor the reverse: commit first";
pub(super) const OTHER: &str = "neither a file nor a folder: a link, a pipe or a device";

fn fate_of(op: &Op, bytes: &bytes::Bytes, is_spilled: bool) -> Fate {
    match &op.act {
        Act::Put {
            number, crc, new, ..
        } => Fate::Put(Staged {
            number: *number,
            len: new.len,
            sum: Some((*crc, *new)),
        }),
        Act::Patch {
            old_len, pieces, ..
        } => {
            let mut patch = Patch::new(*old_len);
            let all = Piece::Memory(bytes.clone());
            for (at, piece) in pieces {
                let (from, len) = (piece.from, piece.len);
                let piece = match is_spilled {
                    true => Piece::Spilled { from, len },
                    false => all.part(from, len),
                };
                patch.lay(*at, piece);
            }
            Fate::Patch(Arc::new(patch))
        }
        Act::Remove { .. } => Fate::Remove,
        Act::MakeFolder => Fate::MakeFolder,
        Act::RemoveFolder => Fate::RemoveFolder,
    }
}
