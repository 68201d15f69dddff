//! [`Files`]: the files of a store. Its errors name the file and the side.

use crate::error::{invalid_name, not_a_file};
use bloscpack::Options;
use bloscpack_array::json::too_long;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, IoSide as _, Result, Side};
use bloscpack_storage::{
    Access, Entry, EntryKind, JournaledStore, Key, LockTimeout, ReadAt, Store,
};
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// Bytes of the longest file that describes a dataset. Real ones are shorter.
pub(crate) const MAX_META: u64 = 64 << 20;

/// The files of a store with one or several datasets.
///
/// A writer sees its changes at once, others after the commit. Every error names the file, relative to the root of the store,
/// and for I/O the side.
#[derive(Debug)]
pub(crate) struct Files {
    root: JournaledStore,
    /// The side of read errors: the target if the store was opened for changes, otherwise the source.
    side: Side,
    /// The store and options with which a reader opens it again; `None` for a writer.
    origin: Option<(Arc<dyn Store>, Options)>,
}

impl Files {
    pub(crate) fn open(
        store: Arc<dyn Store>,
        access: Access,
        lock_timeout: LockTimeout,
    ) -> Result<Self> {
        let side = match access {
            Access::Read => Side::Source,
            Access::Write => Side::Target,
        };
        let root = JournaledStore::open_with(store, access, lock_timeout);
        let root = root.map_err(|error| Error::from(error).on(side))?;
        Ok(Self {
            root,
            side,
            origin: None,
        })
    }

    /// Sets how a reader opens the store again.
    pub(crate) fn opened_by(mut self, store: Arc<dyn Store>, options: Options) -> Self {
        self.origin = Some((store, options));
        self
    }

    pub(crate) fn origin(&self) -> Option<&(Arc<dyn Store>, Options)> {
        self.origin.as_ref()
    }

    /// Whether the last writer was interrupted in a commit.
    pub(crate) fn was_interrupted(&self) -> bool {
        self.root.was_interrupted()
    }

    /// Refuses a store whose files other programs do not find, or find as they were before a change.
    pub(crate) fn check_own(&self) -> Result<()> {
        let message = match &self.origin {
            Some((store, _)) if !store.has_own_files() => "its files are in an archive",
            Some(_) if self.was_interrupted() => {
                "its last change was interrupted, and its files are not complete before the next one"
            }
            Some(_) => return Ok(()),
            None => "it is being changed",
        };
        Err(Error::new(Code::CannotStore, message))
    }

    /// Adds the file, and for I/O the side, to an error that lacks them.
    pub(crate) fn locate(&self, key: &Key, error: impl Into<Error>) -> Error {
        let error = error.into().on(self.side);
        if *key == Key::root() {
            error
        } else {
            error.in_file(key)
        }
    }

    /// Compares the files of a folder with the digests that the store has of them, such as the CRC-32 of a ZIP archive.
    pub(crate) fn verify(&self, folder: &Key) -> Vec<Error> {
        let found = self.root.verify(folder).into_iter();
        found
            .map(|error| Error::from(error).on(self.side))
            .collect()
    }

    /// Whether this is a file, a folder or something else; `None` if it does not exist.
    pub(crate) fn kind(&self, key: &Key) -> Result<Option<EntryKind>> {
        self.root.kind(key).map_err(|error| self.locate(key, error))
    }

    pub(crate) fn is_file(&self, key: &Key) -> Result<bool> {
        Ok(self.kind(key)? == Some(EntryKind::File))
    }

    /// The entries of a folder, sorted by name; none if the folder is missing.
    pub(crate) fn list(&self, folder: &Key) -> Result<Vec<Entry>> {
        match self.root.list(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            entries => entries.map_err(|error| self.locate(folder, error)),
        }
    }

    /// Opens a file; `None` if it is missing.
    pub(crate) fn read(&self, key: &Key) -> Result<Option<Box<dyn ReadAt>>> {
        match self.root.read(key) {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unreadable(key, error)?),
        }
    }

    /// Announces that these whole files will be read, in about this order, so that a slow store can fetch them early.
    pub(crate) fn will_read(&self, keys: &[Key]) {
        self.root.will_read(keys);
    }

    /// The error for a file that cannot be read.
    fn unreadable(&self, key: &Key, error: io::Error) -> Result<Error> {
        let error: Error = match error.kind() {
            ErrorKind::InvalidInput => match self.kind(key)? {
                // A folder, link or device in the place of a file is damage, not an I/O error.
                Some(kind) if kind != EntryKind::File => not_a_file(),
                Some(_) => error.into(),
                None => invalid_name(error),
            },
            ErrorKind::FileTooLarge => {
                let object = self.root.read(key);
                let found = object.and_then(|object| object.size());
                let found = found.map_err(|error| self.locate(key, error))?;
                too_long("file", found, MAX_META)
            }
            _ => error.into(),
        };
        Ok(self.locate(key, error))
    }

    /// The content of a file of up to [`MAX_META`] bytes; `None` if it is missing.
    pub(crate) fn get(&self, key: &Key) -> Result<Option<Vec<u8>>> {
        match self.root.get(key, MAX_META) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unreadable(key, error)?),
        }
    }

    /// Parses a small file; `None` if it is missing.
    pub(crate) fn parse_if_present<T>(
        &self,
        key: &Key,
        parse: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        let text = self.get(key)?;
        let parsed = text.map(|text| parse(&text)).transpose();
        parsed.map_err(|error| self.locate(key, error))
    }

    /// Parses a small file that is required.
    pub(crate) fn parse<T>(&self, key: &Key, parse: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        self.parse_if_present(key, parse)?
            .ok_or_else(|| self.locate(key, Error::new(Code::MissingFile, "file is missing")))
    }

    /// Writes a small file, unless it already has this content.
    pub(crate) fn put_meta(&self, key: &Key, bytes: &[u8]) -> Result<()> {
        let found = to_u64(bytes.len());
        if found > MAX_META {
            return Err(self.locate(key, too_long("file", found, MAX_META)));
        }
        if self.get(key)?.is_some_and(|present| present == bytes) {
            return Ok(());
        }
        self.put(key, bytes)
    }

    /// Writes a whole file, new or not.
    pub(crate) fn put(&self, key: &Key, bytes: &[u8]) -> Result<()> {
        self.changed(key, self.root.put(key, bytes))
    }

    /// Overwrites a part of a file. Returns false if this store, or this file, can only be written as a whole.
    pub(crate) fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> Result<bool> {
        match self.root.patch(key, at, bytes) {
            // A file with several hard links must not be changed in place either.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::Unsupported | ErrorKind::InvalidInput
                ) =>
            {
                Ok(false)
            }
            done => self.changed(key, done).map(|()| true),
        }
    }

    /// Removes a file if it exists.
    pub(crate) fn remove(&self, key: &Key) -> Result<()> {
        match self.root.remove(key) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            done => self.changed(key, done),
        }
    }

    /// Creates a folder and its parents if they are missing.
    pub(crate) fn make_folders(&self, folder: &Key) -> Result<()> {
        let mut key = Key::root();
        for name in folder.names() {
            key = join(&key, name)?;
            if self.kind(&key)? != Some(EntryKind::Folder) {
                self.changed(&key, self.root.make_folder(&key))?;
            }
        }
        Ok(())
    }

    /// Removes a folder if it exists and is empty.
    pub(crate) fn remove_folder_if_empty(&self, key: &Key) -> Result<()> {
        match self.root.list(key) {
            Ok(entries) if entries.is_empty() => self.changed(key, self.root.remove_folder(key)),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.locate(key, error)),
            _ => Ok(()),
        }
    }

    /// Discards all changes since the last commit.
    pub(crate) fn rollback(&self) -> Result<()> {
        self.root.rollback().map_err(Error::from).writing()
    }

    /// Commits all changes atomically. `counts` are the files with the number of rows: they are written first if rows were
    /// removed, and last otherwise, for programs that do not know the journal.
    pub(crate) fn commit(&self, counts: &[Key], removes_rows: bool) -> Result<()> {
        let done = self.root.commit_counts(counts, removes_rows);
        done.map_err(Error::from).writing()
    }

    /// Adds the file and the side to the error of a change.
    fn changed(&self, key: &Key, done: io::Result<()>) -> Result<()> {
        done.writing().map_err(|error| error.in_file(key))
    }
}

/// The key of a name in a folder.
///
/// # Errors
/// Returns [`Code::InvalidName`] for a name that is not valid for a file.
pub(crate) fn join(folder: &Key, name: &str) -> Result<Key> {
    folder.join(name).map_err(invalid_name)
}

/// The key of a path below a folder.
pub(crate) fn below(folder: &Key, names: &[&str]) -> Result<Key> {
    names
        .iter()
        .try_fold(folder.clone(), |key, name| join(&key, name))
}
