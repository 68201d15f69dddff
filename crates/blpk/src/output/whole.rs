//! A file that appears under its name only when it is whole.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use bloscpack::storage::{Disk, Folder as _, internal::copy_owners};
use tempfile::{Builder, TempPath};

use super::growing::Growing;
use super::target::parent;
use crate::interrupt;

/// A temporary file on its way to becoming `target`.
#[derive(Debug)]
pub struct Whole {
    /// Open for writing, reading and seeking.
    pub file: Growing,
    temporary: TempPath,
    target: PathBuf,
    /// What stands under the name now.
    pub replaced: Option<Metadata>,
}

impl Whole {
    /// Begins a new file with what the umask leaves of the permissions `like`, as `cp` does: what
    /// is made of a private file is private from its first byte.
    pub fn begin(target: PathBuf, like: Option<Permissions>) -> io::Result<Self> {
        Self::make(target, None, like.or_else(usual_permissions))
    }

    /// Begins a file that takes the place of another. It is private, and gets the permissions of
    /// the old one when it is whole.
    pub fn replace(target: PathBuf, old: Metadata) -> io::Result<Self> {
        Self::make(target, Some(old), None)
    }

    /// Creates the temporary file, in the folder of `target`.
    fn make(
        target: PathBuf,
        replaced: Option<Metadata>,
        permissions: Option<Permissions>,
    ) -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix(".blpk-").suffix(".tmp");
        if let Some(permissions) = permissions {
            builder.permissions(permissions);
        }
        let mut pending = interrupt::pending();
        let made = builder.tempfile_in(parent(&target));
        let (file, temporary) = made.map_err(|error| without_path(&error))?.into_parts();
        pending.push(temporary.to_path_buf());
        Ok(Self {
            file: Growing::new(file),
            temporary,
            target,
            replaced,
        })
    }

    /// The folder that it will be in.
    pub fn folder(&self) -> &Path {
        parent(&self.target)
    }

    /// Where it is meanwhile.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The one path of the target that any two ways to spell it share.
    pub fn place(&self) -> Option<PathBuf> {
        let folder = parent(&self.target).canonicalize().ok()?;
        Some(folder.join(self.target.file_name()?))
    }

    /// Gives it its name, and tells its length.
    pub fn commit(mut self) -> io::Result<u64> {
        let length = self.file.get_ref().metadata()?.len();
        if let Some(old) = &self.replaced {
            copy_owners(self.file.get_ref(), old)?;
        }
        // Otherwise a power cut may leave the name and not the content.
        self.file.sync()?;
        self.appear()?;
        Ok(length)
    }

    /// Gives it its name, also after a power cut from now on.
    fn appear(self) -> io::Result<()> {
        let (target, is_new) = (self.target.clone(), self.replaced.is_none());
        self.rename()?;
        match Disk::new(parent(&target)).sync() {
            // A folder to which files may be added, but which may not be looked at.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            Err(error) if is_new => {
                let _ = fs::remove_file(&target);
                Err(error)
            }
            done => done,
        }
    }

    fn rename(self) -> io::Result<()> {
        let mut pending = interrupt::pending();
        let here = self.temporary.to_path_buf();
        let done = if self.replaced.is_some() {
            self.temporary.persist(&self.target)
        } else {
            self.temporary.persist_noclobber(&self.target)
        };
        match done {
            Ok(()) => {
                pending.retain(|path| *path != here);
                Ok(())
            }
            // Some file systems can only rename. The file was not there a moment ago.
            Err(error) if cannot_link(&error.error) && !self.target.exists() => {
                error.path.persist(&self.target)?;
                pending.retain(|path| *path != here);
                Ok(())
            }
            Err(error) => Err(error.error),
        }
    }
}

/// The error without the name of the temporary file, which means nothing to the user.
fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let text = text
        .split_once(" at path ")
        .map_or(text.as_str(), |(text, _)| text);
    io::Error::new(error.kind(), text)
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
