//! A file that appears under its name only when it is complete, and which files it may replace.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bloscpack::storage::internal::{check_windows_name, copy_owners};
use tempfile::TempPath;

use super::SyncingFile;
use super::temporary::{parent, sync_folder, temporary, without_path};
use crate::failure::Failure;
use crate::input::{Look, has_known_ending, look};
use crate::interrupt;
use crate::session::Session;
use crate::status::Status;

/// A temporary file that becomes `target`.
#[derive(Debug)]
pub struct NewFile {
    /// Open for writing, reading and seeking.
    pub file: SyncingFile,
    temporary: TempPath,
    target: PathBuf,
    /// The file that has the name now.
    pub replaced: Option<Metadata>,
    /// When its content was changed, if that is not now.
    pub modified: Option<SystemTime>,
}

impl NewFile {
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

/// Symbolic links that are followed at most, as in Linux.
const MAX_LINKS: usize = 40;

/// The file that an output path leads to, symbolic links followed.
pub enum Destination {
    /// Nothing yet.
    New(PathBuf),
    /// A regular file.
    Regular(PathBuf, Metadata),
    /// A device, a FIFO, a directory: not replaced.
    Special(Metadata),
}

impl Destination {
    /// Finds out what is at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        check_name(path)?;
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(Self::Regular(follow(path)?, metadata)),
            Ok(metadata) => Ok(Self::Special(metadata)),
            // This may be a symbolic link to a missing file, which will be created.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::New(follow(path)?)),
            Err(error) => Err(error),
        }
    }
}

/// Refuses a name that means something else on this system, before bytes go to a device or to another file.
pub fn check_name(path: &Path) -> io::Result<()> {
    let name = path.file_name().and_then(OsStr::to_str);
    match name.filter(|_| cfg!(windows)) {
        Some(name) => check_windows_name(name),
        None => Ok(()),
    }
}

/// The path that the symbolic links at the end of `path` lead to.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&place) {
            Ok(link) => place = parent(&place).join(link),
            // Not a link, or nothing there.
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Whether it is a disk or the like, whose content would be lost.
#[cfg(unix)]
pub fn is_block_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_block_device()
}

/// Whether it is a disk or the like, whose content would be lost.
#[cfg(not(unix))]
pub fn is_block_device(_: &Metadata) -> bool {
    false
}

/// Which existing files an output may replace. It is known by what will be written: `compress -f *.csv` must not write
/// compressed data over a file of another kind, nor `decompress -f *.blp` plain data over a compressed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Compressed data replaces compressed files.
    Compressed,
    /// Plain data replaces all other files.
    Plain,
    /// The name of the output follows from that of the input, so it was not typed by mistake.
    Any,
}

impl Replaces {
    /// The refusal to replace the file at `path`. An empty file has nothing to lose; one that may not be read is known by its
    /// name.
    pub fn refusal(
        self,
        path: &Path,
        name: &str,
        session: &Session,
    ) -> io::Result<Option<Failure>> {
        let found = match look(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Look {
                is_empty: false,
                is_ours: has_known_ending(path),
            },
            found => found?,
        };
        Ok(self.refusal_of(&found, name, session))
    }

    /// The same for what looks like this. With `-f`, that does not help, and the command was probably not meant.
    pub fn refusal_of(self, found: &Look, name: &str, session: &Session) -> Option<Failure> {
        let what = match self {
            _ if found.is_empty => return None,
            Self::Compressed if !found.is_ours => "is not a compressed file",
            Self::Plain if found.is_ours => "is a compressed file",
            _ => return None,
        };
        let status = if session.force {
            Status::Usage
        } else {
            Status::Failed
        };
        let title = format!("output file {name} already exists and {what}");
        let failure = Failure::taken(status, title);
        Some(failure.hint("-f does not replace it either; choose another name"))
    }
}
