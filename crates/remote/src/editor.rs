//! [`RemoteEditor`]: the objects below a prefix, as files that can be changed.

use crate::append;
use crate::error::Failure;
use crate::publish::{Content, Put, Versions, put_in_steps, steps_of_new};
use crate::source::Place;
use crate::store::RemoteStore;
use bloscpack::storage::{DiskStore, Entry, EntryKind, Guard, Key, LockMode, Object, Store};
use object_store::{ObjectStoreExt as _, UpdateVersion};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// The objects below a prefix, as files that can be changed; [`Remote::edit`](crate::Remote::edit) opens one.
///
/// Changes are gathered in a temporary folder. What [`flush`](bloscpack::dataset::CArray::flush) makes visible is sent then,
/// so that readers see the old dataset or the new one, whatever request is the last. A bucket changes one object at a time;
/// of all changes, these can be made so:
///
/// * a new dataset, array or table, where nothing is;
/// * rows that are appended to an array of the layouts of bcolz and BLZ;
/// * anything that changes a single object, such as attributes, or elements of one chunk.
///
/// Everything else is refused by `flush`, and nothing of it was sent. Each request has a condition: if another writer has
/// changed the dataset meanwhile, `flush` returns [`ChangedByAnotherWriter`](crate::ChangedByAnotherWriter). After an error,
/// the dataset has to be opened again by another editor.
///
/// ```
/// use bloscpack::dataset::CArray;
/// use bloscpack_remote::{Remote, RemoteOptions};
/// let remote = Remote::new(RemoteOptions::new())?;
/// let mut array = CArray::of::<i32>().create_in(remote.edit("memory://bucket/array")?)?;
/// array.append_values(&[1, 2, 3])?;
/// array.flush()?;
/// drop(array);
///
/// let mut array = CArray::edit_in(remote.edit("memory://bucket/array")?)?;
/// array.append_values(&[4])?;
/// array.flush()?;
/// let array = CArray::open_in(remote.store("memory://bucket/array")?)?;
/// assert_eq!(array.to_vec::<i32>(0..4)?, [1, 2, 3, 4]);
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RemoteEditor(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub place: Place,
    /// What was there when this was opened.
    pub base: RemoteStore,
    /// What was changed since.
    local: DiskStore,
    /// The files that the last change has sent, and this one replaces.
    old: DiskStore,
    folder: TempDir,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Files that were there, and are removed.
    removed: BTreeSet<String>,
    /// Files that were put since the last change was sent.
    put: BTreeSet<String>,
    /// The versions of what was sent.
    versions: Versions,
    is_journaled: bool,
    /// Whether a change could not be sent: what is here is nowhere else.
    has_failed: bool,
}

/// The folder of the journal, which stays on this machine.
pub(crate) const JOURNALS: &str = ".blpk";
const JOURNAL: &str = ".blpk/journal";
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

impl RemoteEditor {
    pub(crate) fn new(place: Place) -> Result<Self, Failure> {
        let base = RemoteStore::listed(place.clone())?;
        if base.meta(JOURNAL).is_some() {
            let name = &place.name;
            let what = format!(
                "{name}: the directory was uploaded in the middle of a change (complete it there, and upload it again)"
            );
            return Err(Failure::new(ErrorKind::ResourceBusy, what));
        }
        let folder = tempfile::Builder::new().prefix(".blpk-out-").tempdir()?;
        Ok(Self(Arc::new(Inner {
            place,
            base,
            local: DiskStore::create(folder.path().join(NOW))?,
            old: DiskStore::create(folder.path().join(OLD))?,
            folder,
            state: Mutex::default(),
        })))
    }

    /// Its URL, without secrets.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.place.name
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> io::Result<()> {
        match self.state().has_failed {
            true => Err(io::Error::other(format!(
                "{}: an earlier change was not sent (open it again)",
                self.place.name
            ))),
            false => Ok(()),
        }
    }

    /// Whether a file is one of those that were there, and not removed.
    fn is_in_base(&self, key: &Key) -> bool {
        !is_own(key) && !self.state().removed.contains(key.as_str())
    }

    pub fn open(&self, key: &Key) -> io::Result<Box<dyn Object>> {
        match self.local.open(key) {
            Err(error) if error.kind() == ErrorKind::NotFound && self.is_in_base(key) => {
                self.base.open(key)
            }
            opened => opened,
        }
    }

    /// The file as the bucket has it.
    pub fn open_old(&self, key: &Key) -> io::Result<Box<dyn Object>> {
        let is_new = self.state().put.contains(key.as_str());
        match self.old.open(key) {
            Err(error) if error.kind() == ErrorKind::NotFound && is_new => self.base.open(key),
            Err(error) if error.kind() == ErrorKind::NotFound => self.open(key),
            opened => opened,
        }
    }

    /// Keeps a file that was sent, and is about to be replaced.
    fn keep_old(&self, key: &Key) -> io::Result<()> {
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

    pub fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let none = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => Ok(None),
            _ => Err(error),
        };
        let local = self.local.list(folder).map(Some).or_else(none)?;
        let base = match is_own(folder) {
            true => None,
            false => self.base.list(folder).map(Some).or_else(none)?,
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
        match is_missing {
            true => Err(ErrorKind::NotFound.into()),
            false => Ok(entries
                .into_iter()
                .map(|(name, kind)| Entry { name, kind })
                .collect()),
        }
    }

    /// The kind of what was there, and is not removed.
    fn base_kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        match self.base.kind(key)? {
            Some(EntryKind::File) if !self.is_in_base(key) => Ok(None),
            Some(EntryKind::Folder) if *key != Key::root() => {
                let prefix = format!("{key}/");
                let state = self.state();
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

    /// Whether this is the folder of the chunks of an array without any: a bucket has no folders of their own.
    fn is_empty_folder(&self, key: &Key) -> io::Result<bool> {
        match key.split() {
            Some((around, DATA)) => Ok(self.base_kind(&around.join(META)?)?.is_some()),
            _ => Ok(false),
        }
    }

    /// Makes the folder of a key on this machine.
    fn make_folder_of(&self, key: &Key) -> io::Result<()> {
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

    /// Sends what was changed, all of it or nothing.
    fn send(self: &Arc<Self>) -> io::Result<()> {
        let (put, removed) = {
            let state = self.state();
            let removed: Vec<String> = state.removed.iter().cloned().collect();
            (state.put.iter().cloned().collect::<Vec<_>>(), removed)
        };
        let sent = self.send_all(put, &removed);
        let mut state = self.state();
        match sent {
            Ok(versions) => {
                state.put.clear();
                for folder in self.old.list(&Key::root())? {
                    let path = self.folder.path().join(OLD).join(folder.name);
                    match folder.kind {
                        EntryKind::Folder => std::fs::remove_dir_all(path)?,
                        _ => std::fs::remove_file(path)?,
                    }
                }
                state.versions.extend(versions);
                Ok(())
            }
            Err(failure) => {
                state.has_failed = true;
                Err(failure.into())
            }
        }
    }

    fn send_all(
        self: &Arc<Self>,
        put: Vec<String>,
        removed: &[String],
    ) -> Result<Versions, Failure> {
        if put.is_empty() && removed.is_empty() {
            return Ok(Versions::new());
        }
        let is_new = self.base.is_empty() && self.state().versions.is_empty();
        let puts = put.into_iter().map(|path| self.put_of(path));
        let puts: Vec<Put> = puts.collect::<Result<_, _>>()?;
        let steps = match (is_new, removed.is_empty(), puts.len()) {
            (true, ..) => steps_of_new(puts),
            (false, true, 1) => vec![puts],
            (false, true, _) => append::steps(self, puts)?,
            (false, false, _) => {
                let what = "files cannot be removed from a dataset in a bucket together with other changes";
                return Err(append::refused(&self.place.name, what));
            }
        };
        put_in_steps(&self.place, steps)
    }

    /// The object for a file that was put.
    fn put_of(&self, path: String) -> Result<Put, Failure> {
        Ok(Put {
            place: self.base.place_of(&path),
            content: Content::File(self.folder.path().join(NOW).join(&path)),
            replaces: self.version(&path)?,
            path,
        })
    }

    /// The version of an object that this editor knows; `None` if there was none.
    fn version(&self, path: &str) -> Result<Option<UpdateVersion>, Failure> {
        if let Some(version) = self.state().versions.get(path) {
            return Ok(Some(version.clone()));
        }
        let Some(meta) = self.base.meta(path) else {
            return Ok(None);
        };
        if meta.e_tag.is_some() || meta.version.is_some() {
            let (e_tag, version) = (meta.e_tag.clone(), meta.version.clone());
            return Ok(Some(UpdateVersion { e_tag, version }));
        }
        // Some listings have no tags.
        let place = self.base.place_of(path);
        let at = place.clone();
        let head = async move { at.store.head(&at.path).await };
        let found = self.place.shared.bridge.wait(head)?;
        let found = found.map_err(|error| place.not_written(&error))?;
        match found.size == meta.size
            && found.last_modified.timestamp() == meta.last_modified.timestamp()
        {
            true => Ok(Some(UpdateVersion {
                e_tag: found.e_tag,
                version: found.version,
            })),
            false => Err(Failure::conflict(&place.name)),
        }
    }
}

impl Store for RemoteEditor {
    fn open(&self, key: &Key) -> io::Result<Box<dyn Object>> {
        self.0.check()?;
        self.0.open(key)
    }

    fn will_read(&self, keys: &[Key]) {
        self.0.base.will_read(keys);
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        self.0.check()?;
        self.0.list(folder)
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        self.0.check()?;
        self.0.kind(key)
    }

    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        self.0.check()?;
        if self.0.kind(key)?.is_some() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.0.make_folder_of(key)?;
        self.0.local.create(key, bytes)?;
        if !is_own(key) {
            self.0.state().put.insert(key.as_str().to_owned());
            return self.0.send();
        }
        Ok(())
    }

    /// Only files that are still on this machine are changed in place.
    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.check()?;
        match is_own(key) {
            true => self.0.local.patch(key, at, bytes),
            false => Err(ErrorKind::Unsupported.into()),
        }
    }

    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        self.0.check()?;
        self.0.make_folder_of(to)?;
        self.0.keep_old(to)?;
        self.0.local.rename(from, to)?;
        let mut state = self.0.state();
        if to.as_str() == JOURNAL {
            state.is_journaled = true;
        }
        if is_own(to) {
            return Ok(());
        }
        state.put.insert(to.as_str().to_owned());
        state.removed.remove(to.as_str());
        let is_journaled = state.is_journaled;
        drop(state);
        match is_journaled {
            true => Ok(()),
            false => self.0.send(),
        }
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        self.0.check()?;
        if key.as_str() == JOURNAL {
            // All steps of the change are done here.
            self.0.send()?;
            self.0.local.remove(key)?;
            self.0.state().is_journaled = false;
            return Ok(());
        }
        let was_here = match self.0.local.remove(key) {
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            done => done.map(|()| true)?,
        };
        if is_own(key) {
            return match was_here {
                true => Ok(()),
                false => Err(ErrorKind::NotFound.into()),
            };
        }
        let was_sent = self.0.state().versions.contains_key(key.as_str());
        if !was_here && self.0.base_kind(key)?.is_none() {
            return Err(ErrorKind::NotFound.into());
        }
        let mut state = self.0.state();
        state.put.remove(key.as_str());
        if was_sent || self.0.base.meta(key.as_str()).is_some() {
            state.removed.insert(key.as_str().to_owned());
        }
        let is_journaled = state.is_journaled;
        drop(state);
        match is_journaled {
            true => Ok(()),
            false => self.0.send(),
        }
    }

    fn make_folder(&self, key: &Key) -> io::Result<()> {
        self.0.check()?;
        if self.0.kind(key)? == Some(EntryKind::File) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.0.make_folder_of(key)?;
        self.0.local.make_folder(key)
    }

    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        self.0.check()?;
        if !self.0.list(key)?.is_empty() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        match self.0.local.remove_folder(key) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    /// Does nothing: the files here are lost with the process in any case, and the bucket keeps what it was sent.
    fn sync(&self, _: &Key) -> io::Result<()> {
        self.0.check()
    }

    /// Excludes other users of this editor. Those of others are noticed when a change is sent.
    fn try_lock(&self, folder: &Key, mode: LockMode) -> io::Result<Option<Box<dyn Guard>>> {
        self.0.check()?;
        if self.0.kind(folder)? != Some(EntryKind::Folder) {
            return Err(ErrorKind::NotFound.into());
        }
        self.0.make_folder_of(folder)?;
        if *folder != Key::root() {
            self.0.local.make_folder(folder)?;
        }
        self.0.local.try_lock(folder, mode)
    }
}
