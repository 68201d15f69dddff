//! [`RemoteEditor`]: the objects below a prefix, as files that can be changed.

use crate::error::Failure;
use crate::overlay::{JOURNAL, Overlay, is_own};
use crate::source::Place;
use bloscpack::storage::{Entry, EntryKind, Key, LockMode, ReadAt, Store, StoreLock};
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// The objects below a prefix, as a [`Store`] that can be changed; [`Remote::edit`](crate::Remote::edit) opens
/// one.
///
/// Changes are gathered in a temporary folder, so they need disk space there.
/// [`flush`](bloscpack_open::datasets::CArray::flush) sends them in an order in which readers see the old
/// dataset or the new one, whichever request is the last. Since a bucket changes one object at a time, `flush`
/// can make these changes:
///
/// * a new dataset (array or table) where there are no objects;
/// * rows appended to an array in the layouts (on-disk variants) of bcolz and BLZ;
/// * any change of a single object, such as attributes, or elements of one chunk.
///
/// It refuses all other changes before sending anything. Each request is conditional: if another writer has
/// changed the dataset, `flush` returns [`ChangedByAnotherWriter`](crate::ChangedByAnotherWriter). After an
/// error of sending, every operation fails: open the dataset again with another editor.
///
/// Clones share the changes. [`sync`](Store::sync) does nothing, and locks exclude only users of the same
/// editor.
///
/// ```
/// use bloscpack_open::datasets::CArray;
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
pub struct RemoteEditor(Arc<Overlay>);

impl RemoteEditor {
    pub(crate) fn new(place: Place) -> Result<Self, Failure> {
        Ok(Self(Arc::new(Overlay::new(place)?)))
    }

    /// The URL, without secrets.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.place.name
    }

    /// Sends a change of one file. The changes of a journal are sent together at its end.
    fn send_unless_journaled(&self) -> io::Result<()> {
        let is_journaled = self.0.state().is_journaled;
        if is_journaled { Ok(()) } else { self.0.send() }
    }
}

impl Store for RemoteEditor {
    fn keeps_journals(&self) -> bool {
        false
    }

    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
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

    /// Changes only files in the temporary folder in place.
    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.check()?;
        if is_own(key) {
            self.0.local.patch(key, at, bytes)
        } else {
            Err(ErrorKind::Unsupported.into())
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
        drop(state);
        self.send_unless_journaled()
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        self.0.check()?;
        if key.as_str() == JOURNAL {
            // All steps of the change are applied in the temporary folder.
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
            return if was_here {
                Ok(())
            } else {
                Err(ErrorKind::NotFound.into())
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
        drop(state);
        self.send_unless_journaled()
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

    /// Does nothing: the temporary files are lost with the process in any case, and the bucket keeps what it
    /// has received.
    fn sync(&self, _: &Key) -> io::Result<()> {
        self.0.check()
    }

    /// Excludes other users of this editor. Users of other editors are detected when a change is sent.
    fn try_lock(&self, folder: &Key, mode: LockMode) -> io::Result<Option<Box<dyn StoreLock>>> {
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
