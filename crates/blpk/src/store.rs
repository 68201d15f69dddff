//! Stores of python-blosc2: tables and trees of arrays in a directory or a ZIP archive.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use bloscpack::storage::{DiskStore, ZipStore};
use bloscpack_convert::StoreForm;
use bloscpack_open::stores::{EMBED_FILE, unpack_store};

use crate::failure::{About as _, Failure};
use crate::interrupt;
use crate::output::Target;
use crate::session::{LOCK_TIMEOUT, Session};
use crate::status::Status;
use crate::text::quoted;

/// The pause between two attempts to lock a store.
const PAUSE: Duration = Duration::from_millis(50);

/// Makes an empty folder at the path of a target. It will be packed into an archive.
pub fn with_folder(target: Target) -> Result<Target, Failure> {
    fs::create_dir(target.path()).about(target.name())?;
    Ok(target)
}

/// A store to replace with a changed copy, locked against changes by other runs of `blpk`.
pub struct HeldStore<'a> {
    path: &'a Path,
    form: StoreForm,
    /// The archive, or the file at the root of the directory. It stays locked while it is open.
    file: File,
}

impl<'a> HeldStore<'a> {
    /// Waits until no one else changes the store.
    pub fn begin(path: &'a Path) -> Result<Self, Failure> {
        let form = if path.is_dir() {
            StoreForm::Folder
        } else {
            StoreForm::Archive
        };
        let begun = Instant::now();
        loop {
            if let Some(file) = locked(&root(path, form)).about(path)? {
                return Ok(Self { path, form, file });
            }
            if interrupt::is_requested() {
                return Err(Failure::interrupted());
            }
            if begun.elapsed() > LOCK_TIMEOUT {
                let title = format!("{} is being changed by another process", quoted(path));
                return Err(Failure::new(Status::Failed, title));
            }
            sleep(PAUSE);
        }
    }

    /// Copies it into a new store, which will replace it.
    pub fn copy(&self) -> Result<Target, Failure> {
        let target = Target::replacing(self.path)?;
        let target = match self.form {
            StoreForm::Folder => target,
            StoreForm::Archive => with_folder(target)?,
        };
        let copy = || -> bloscpack::Result<()> {
            match self.form {
                StoreForm::Folder => unpack_store(&DiskStore::open(self.path)?, target.path()),
                StoreForm::Archive => {
                    unpack_store(&ZipStore::open(self.file.try_clone()?)?, target.path())
                }
            }
        };
        copy().about(&target.made_from(&self.path))?;
        Ok(target)
    }

    /// Replaces it with the new store, unless another program has changed it meanwhile.
    pub fn replace(self, new: Target, session: &Session) -> Result<(), Failure> {
        let state = |metadata: Metadata| Ok((metadata.len(), metadata.modified()?));
        let before = self.file.metadata().and_then(state).about(self.path);
        let now = root(self.path, self.form).metadata().and_then(state);
        if before.about(&new)? != now.about(self.path).about(&new)? {
            let title = format!("{} was changed by another program", quoted(self.path));
            return Err(Failure::new(Status::Failed, title)).about(&new);
        }
        // Windows does not replace an open file.
        let _locked = Some(self.file).filter(|_| cfg!(not(windows)));
        new.commit(session).map(|_| ())
    }
}

/// The file that is locked for a store.
fn root(path: &Path, form: StoreForm) -> PathBuf {
    match form {
        StoreForm::Archive => path.to_owned(),
        StoreForm::Folder => path.join(EMBED_FILE),
    }
}

/// The file, opened for reading only by other processes: a lock would also exclude this process. `None` if another process has
/// it open for writing.
#[cfg(windows)]
fn locked(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARE_READ: u32 = 1;
    const SHARING_VIOLATION: i32 = 32;
    let mut options = File::options();
    options.read(true).write(true).share_mode(SHARE_READ);
    match options.open(path) {
        Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
        opened => opened.map(Some),
    }
}

/// The file, locked; `None` if another process has locked or replaced it.
#[cfg(not(windows))]
fn locked(path: &Path) -> io::Result<Option<File>> {
    use same_file::Handle;
    use std::fs::TryLockError;
    let file = File::open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        // Without locks on this file system, other writers cannot be detected.
        Err(TryLockError::Error(_)) => return Ok(Some(file)),
    }
    let is_same = Handle::from_file(file.try_clone()?)? == Handle::from_path(path)?;
    Ok(is_same.then_some(file))
}
