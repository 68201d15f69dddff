//! A store that is replaced by a changed copy, locked against other changes by this command.

#[cfg(not(windows))]
use std::fs::TryLockError;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use bloscpack::storage::DiskStore;
use bloscpack_open::stores::{EMBED_FILE, unpack_store};
#[cfg(not(windows))]
use same_file::Handle;

use super::new::NewStore;
use crate::failure::Failure;
use crate::interrupt;
use crate::layout::StoreForm;
use crate::session::{LOCK_TIMEOUT, Session};
use crate::status::Status;
use crate::text::quoted;

/// How long it waits before it tries again.
const PAUSE: Duration = Duration::from_millis(50);

/// The store at a path.
pub struct HeldStore<'a> {
    path: &'a Path,
    form: StoreForm,
    /// The archive, or the file at the root of the directory. It is locked until this is dropped.
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
            let file = Self::locked(&root(path, form)).map_err(|error| failed(path, &error))?;
            if let Some(file) = file {
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

    /// The file, as one that others may only read: a lock would keep away this process, too. `None` if another process
    /// has it.
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

    /// The file, locked; `None` if another process has it, or has replaced it.
    #[cfg(not(windows))]
    fn locked(path: &Path) -> io::Result<Option<File>> {
        let file = File::open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Where there are no locks, others are not known either.
            Err(TryLockError::Error(_)) => return Ok(Some(file)),
        }
        let is_same = Handle::from_file(file.try_clone()?)? == Handle::from_path(path)?;
        Ok(is_same.then_some(file))
    }

    /// Copies it into a new store, which is to replace it.
    pub fn copy(&self) -> Result<NewStore<'a>, Failure> {
        let new = NewStore::replace(self.path, self.form)?;
        let opened = || -> bloscpack::Result<()> {
            let folder = new.folder();
            match self.form {
                StoreForm::Folder => unpack_store(&DiskStore::open(self.path)?, &folder),
                StoreForm::Archive => unpack_archive(self.file.try_clone()?, &folder),
            }
        };
        opened().map_err(|error| new.failed_from(&quoted(self.path), &error))?;
        Ok(new)
    }

    /// Puts the new store in its place, unless another program has changed the old one meanwhile.
    pub fn replace(self, new: NewStore<'_>, session: &Session) -> Result<(), Failure> {
        let path = root(self.path, self.form);
        let state = |metadata: Metadata| Ok((metadata.len(), metadata.modified()?));
        let before = self.file.metadata().and_then(state);
        let now = path.metadata().and_then(state);
        match (before, now) {
            (Ok(before), Ok(now)) if before == now => {
                // Windows does not replace what is open.
                let _locked = Some(self.file).filter(|_| cfg!(not(windows)));
                new.commit(session)
            }
            (_, Err(error)) | (Err(error), _) => Err(new.unfinished(failed(self.path, &error))),
            _ => {
                let title = format!("{} was changed by another program", quoted(self.path));
                Err(new.unfinished(Failure::new(Status::Failed, title)))
            }
        }
    }
}

fn unpack_archive(file: File, folder: &Path) -> bloscpack::Result<()> {
    unpack_store(&bloscpack::storage::ZipStore::open(file)?, folder)
}

/// The file that is locked for a store.
fn root(path: &Path, form: StoreForm) -> PathBuf {
    match form {
        StoreForm::Archive => path.to_owned(),
        StoreForm::Folder => path.join(EMBED_FILE),
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::io(quoted(path), error)
}
