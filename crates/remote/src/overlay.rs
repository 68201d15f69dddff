//! [`Overlay`]: the objects of a bucket with unsent changes.
//!
//! ```text
//!  base    RemoteStore     the listing at opening: content, and versions as conditions of the requests
//!  local   TEMP/now/...    files put since then; .blpk with the journal
//!  old     TEMP/old/...    sent files that the current change replaces, to compare rows
//!
//!  reading: local, or else base unless removed
//! ```

use crate::error::Failure;
use crate::publish::Versions;
use crate::source::Place;
use crate::store::RemoteStore;
use bloscpack::storage::{DiskStore, Entry, EntryKind, Key, ReadAt, Store as _};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// A bucket, and its changes on this machine.
#[derive(Debug)]
pub(crate) struct Overlay {
    pub place: Place,
    /// The objects that existed when this was opened.
    pub base: RemoteStore,
    /// The files that were changed since then.
    pub local: DiskStore,
    /// The files of the last sent change that the current one replaces.
    old: DiskStore,
    folder: TempDir,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Removed files that existed in the bucket.
    pub removed: BTreeSet<String>,
    /// Files that were put since the last sent change.
    pub put: BTreeSet<String>,
    /// The versions of the sent objects.
    pub versions: Versions,
    pub is_journaled: bool,
    /// Whether a change could not be sent, so that it exists only here.
    pub has_failed: bool,
}

/// The folder of the journal, which stays on this machine.
pub(crate) const JOURNALS: &str = ".blpk";
pub(crate) const JOURNAL: &str = ".blpk/journal";
/// The folders of an array.
const META: &str = "meta";
const DATA: &str = "data";
/// The folders on this machine.
const NOW: &str = "now";
const OLD: &str = "old";

pub(crate) fn is_own(key: &Key) -> bool {
    key.names()
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case(JOURNALS))
}

impl Overlay {
    pub fn new(place: Place) -> Result<Self, Failure> {
        let base = RemoteStore::listed(place.clone())?;
        if base.meta(JOURNAL).is_some() {
            let name = &place.name;
            let what = format!(
                "{name}: the directory was uploaded in the middle of a change (complete it there, and upload it again)"
            );
            return Err(Failure::new(ErrorKind::ResourceBusy, what));
        }
        let folder = tempfile::Builder::new().prefix(".blpk-out-").tempdir()?;
        Ok(Self {
            place,
            base,
            local: DiskStore::create(folder.path().join(NOW))?,
            old: DiskStore::create(folder.path().join(OLD))?,
            folder,
            state: Mutex::default(),
        })
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn check(&self) -> io::Result<()> {
        if self.state().has_failed {
            Err(io::Error::other(format!(
                "{}: an earlier change was not sent (open it again)",
                self.place.name
            )))
        } else {
            Ok(())
        }
    }

    /// Whether a file that existed in the bucket was not removed.
    fn is_in_base(&self, key: &Key) -> bool {
        !is_own(key) && !self.state().removed.contains(key.as_str())
    }

    pub fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        match self.local.open(key) {
            Err(error) if error.kind() == ErrorKind::NotFound && self.is_in_base(key) => {
                self.base.open(key)
            }
            opened => opened,
        }
    }

    /// The file as it is in the bucket.
    pub fn open_old(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        let is_new = self.state().put.contains(key.as_str());
        match self.old.open(key) {
            Err(error) if error.kind() == ErrorKind::NotFound && is_new => self.base.open(key),
            Err(error) if error.kind() == ErrorKind::NotFound => self.open(key),
            opened => opened,
        }
    }

    /// Keeps a sent file that is about to be replaced.
    pub fn keep_old(&self, key: &Key) -> io::Result<()> {
        let is_sent = {
            let state = self.state();
            state.versions.contains_key(key.as_str()) && !state.put.contains(key.as_str())
        };
        if !is_sent || self.local.kind(key)?.is_none() {
            return Ok(());
        }
        let [from, to] =
            [NOW, OLD].map(|folder| self.folder.path().join(folder).join(key.as_str()));
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::rename(from, to)
    }

    /// The path of this file on this machine.
    pub fn file(&self, path: &str) -> PathBuf {
        self.folder.path().join(NOW).join(path)
    }

    /// Removes the replaced files after the change was sent.
    pub fn forget_old(&self) -> io::Result<()> {
        for entry in self.old.list(&Key::root())? {
            let path = self.folder.path().join(OLD).join(entry.name);
            match entry.kind {
                EntryKind::Folder => std::fs::remove_dir_all(path)?,
                _ => std::fs::remove_file(path)?,
            }
        }
        Ok(())
    }

    pub fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let none = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => Ok(None),
            _ => Err(error),
        };
        let local = self.local.list(folder).map(Some).or_else(none)?;
        let base = if is_own(folder) {
            None
        } else {
            self.base.list(folder).map(Some).or_else(none)?
        };
        let is_missing = local.is_none() && base.is_none() && !self.is_empty_folder(folder)?;
        let mut entries: BTreeMap<_, EntryKind> = BTreeMap::new();
        for entry in base.into_iter().flatten() {
            let name = entry.name.to_str().map(|name| folder.join(name));
            if let Some(Ok(key)) = name
                && !is_own(&key)
                && self.base_kind(&key)?.is_some()
            {
                entries.insert(entry.name, entry.kind);
            }
        }
        entries.extend(
            local
                .into_iter()
                .flatten()
                .map(|entry| (entry.name, entry.kind)),
        );
        if is_missing {
            Err(ErrorKind::NotFound.into())
        } else {
            Ok(entries
                .into_iter()
                .map(|(name, kind)| Entry { name, kind })
                .collect())
        }
    }

    /// The kind of an entry in the bucket that was not removed.
    pub fn base_kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        match self.base.kind(key)? {
            Some(EntryKind::File) if !self.is_in_base(key) => Ok(None),
            Some(EntryKind::Folder) if *key != Key::root() => {
                let state = self.state();
                if state.removed.is_empty() {
                    return Ok(Some(EntryKind::Folder));
                }
                let prefix = format!("{key}/");
                let mut below = self.base.paths().filter(|path| path.starts_with(&prefix));
                let is_there = below.any(|path| !state.removed.contains(path));
                Ok(is_there.then_some(EntryKind::Folder))
            }
            kind => Ok(kind),
        }
    }

    pub fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        let kind = match self.local.kind(key)? {
            None if !is_own(key) => self.base_kind(key)?,
            kind => kind,
        };
        match kind {
            None if self.is_empty_folder(key)? => Ok(Some(EntryKind::Folder)),
            kind => Ok(kind),
        }
    }

    /// Whether this is the `data` folder of an array without chunks. A bucket has no empty folders.
    fn is_empty_folder(&self, key: &Key) -> io::Result<bool> {
        match key.split() {
            Some((around, DATA)) => Ok(self.base_kind(&around.join(META)?)?.is_some()),
            _ => Ok(false),
        }
    }

    /// Makes the folder of a key on this machine.
    pub fn make_folder_of(&self, key: &Key) -> io::Result<()> {
        let Some((folder, _)) = key.split() else {
            return Ok(());
        };
        let mut around = Key::root();
        for name in folder.names() {
            around = around.join(name)?;
            self.local.make_folder(&around)?;
        }
        Ok(())
    }
}
