//! A file that appears under its name only when it is complete.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bloscpack::storage::internal::copy_owners;
use tempfile::TempPath;

use super::{SyncingFile, parent, sync_folder, temporary, without_path};
use crate::interrupt;

/// A temporary file that becomes `target`.
#[derive(Debug)]
pub struct AtomicFile {
    /// Open for writing, reading and seeking.
    pub file: SyncingFile,
    temporary: TempPath,
    target: PathBuf,
    /// The file that has the name now.
    pub replaced: Option<Metadata>,
    /// When its content was changed, if that is not now.
    pub modified: Option<SystemTime>,
}

impl AtomicFile {
    /// Begins a new file with the given permissions, less the umask, as `cp` does: a file made from a private file is
    /// private from its first byte.
    pub fn begin(target: PathBuf, permissions: Option<Permissions>) -> io::Result<Self> {
        Self::make(target, None, permissions.or_else(usual_permissions))
    }

    /// Begins a file that replaces another. It is private, and gets the permissions of the old one when it is complete.
    pub fn replace(target: PathBuf, old: Metadata) -> io::Result<Self> {
        // Elsewhere the permissions of a file do not keep it from being replaced.
        if cfg!(windows) && old.permissions().readonly() {
            let what = "the file is read-only";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        Self::make(target, Some(old), None)
    }

    /// Creates the temporary file, in the folder of `target`.
    fn make(
        target: PathBuf,
        replaced: Option<Metadata>,
        permissions: Option<Permissions>,
    ) -> io::Result<Self> {
        // Only in this form do all calls of Windows take a long path.
        let target = match real_path(&target) {
            Some(real) if cfg!(windows) => real,
            _ => target,
        };
        let mut builder = temporary();
        if let Some(permissions) = permissions {
            builder.permissions(permissions);
        }
        let mut pending = interrupt::pending();
        let made = builder.tempfile_in(parent(&target));
        let (file, temporary) = made.map_err(|error| without_path(&error))?.into_parts();
        pending.push(temporary.to_path_buf());
        // Without locks, what a killed run leaves is not recognized later.
        let _ = file.try_lock();
        Ok(Self {
            file: SyncingFile::new(file),
            temporary,
            target,
            replaced,
            modified: None,
        })
    }

    /// The folder of the target.
    pub fn folder(&self) -> &Path {
        parent(&self.target)
    }

    /// One path of the target for all spellings of it.
    pub fn real_path(&self) -> Option<PathBuf> {
        real_path(&self.target)
    }

    /// Takes over another file of the same folder or one below, with the permissions that it would have had.
    pub fn adopt(&mut self, made: &Path) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(made)?;
        file.set_permissions(self.file.get_ref().metadata()?.permissions())?;
        // Closes the old one, which Windows would not replace.
        self.file = SyncingFile::new(file);
        let _pending = interrupt::pending();
        fs::rename(made, &self.temporary)
    }

    /// Gives it its name, and returns its length.
    pub fn commit(mut self) -> io::Result<u64> {
        let length = self.file.get_ref().metadata()?.len();
        if let Some(old) = &self.replaced {
            copy_owners(self.file.get_ref(), old)?;
        }
        if let Some(time) = self.modified {
            // Not every file system takes it, and the content is what counts.
            let _ = self.file.get_ref().set_modified(time);
        }
        // Otherwise a power cut may leave the name without the content.
        self.file.sync()?;
        self.appear()?;
        Ok(length)
    }

    /// Gives it its name, which from then on survives a power cut.
    fn appear(self) -> io::Result<()> {
        let (target, is_new) = (self.target.clone(), self.replaced.is_none());
        self.rename()?;
        sync_folder(&target).inspect_err(|_| {
            if is_new {
                let _ = fs::remove_file(&target);
            }
        })
    }

    fn rename(self) -> io::Result<()> {
        let mut pending = interrupt::completing();
        let here = self.temporary.to_path_buf();
        let done = match self.replaced {
            Some(_) => self.temporary.persist(&self.target),
            None => self.temporary.persist_noclobber(&self.target),
        };
        match done {
            Ok(()) => {}
            // Some file systems can only rename. The file did not exist a moment ago.
            Err(error) if cannot_link(&error.error) && !self.target.exists() => {
                error.path.persist(&self.target)?;
            }
            Err(error) => return Err(error.error),
        }
        pending.retain(|path| *path != here);
        Ok(())
    }
}

fn real_path(target: &Path) -> Option<PathBuf> {
    let folder = parent(target).canonicalize().ok()?;
    Some(folder.join(target.file_name()?))
}

fn cannot_link(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
    )
}

#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}
