//! Files that appear under their names when they are complete, and the rules for replacing existing files.

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
    /// The existing file that it replaces.
    pub replaced: Option<Metadata>,
    /// The modification time to set; `None` for the present.
    pub modified: Option<SystemTime>,
}

impl NewFile {
    /// Begins a new file with the given permissions, less the umask, as `cp` does: a file made from a private file is
    /// private from its first byte.
    pub fn begin(target: PathBuf, permissions: Option<Permissions>) -> io::Result<Self> {
        Self::make(target, None, permissions.or_else(usual_permissions))
    }

    /// Begins a file that replaces another. It is private until it is complete, and then gets the permissions of the old file.
    pub fn replace(target: PathBuf, old: Metadata) -> io::Result<Self> {
        // On other systems, a read-only file can be replaced.
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
        // All Windows calls accept a long path only in its canonical form.
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
        // The lock shows later runs that the file is in use. On file systems without locks, files of killed runs stay.
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

    /// The same path for all spellings of the target.
    pub fn real_path(&self) -> Option<PathBuf> {
        real_path(&self.target)
    }

    /// Takes over another file in the same folder or below it, and gives it the permissions of this one.
    pub fn adopt(&mut self, made: &Path) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(made)?;
        file.set_permissions(self.file.get_ref().metadata()?.permissions())?;
        // Closes the old file, which Windows would not replace otherwise.
        self.file = SyncingFile::new(file);
        let _pending = interrupt::pending();
        fs::rename(made, &self.temporary)
    }

    /// Gives the file its name, and returns its length.
    pub fn commit(mut self) -> io::Result<u64> {
        let length = self.file.get_ref().metadata()?.len();
        if let Some(old) = &self.replaced {
            copy_owners(self.file.get_ref(), old)?;
        }
        if let Some(time) = self.modified {
            // Not every file system stores it, and only the content matters.
            let _ = self.file.get_ref().set_modified(time);
        }
        // Without this, a power cut could leave the name without the content.
        self.file.sync()?;
        self.appear()?;
        Ok(length)
    }

    /// Gives the file its name, and syncs the folder: the name survives a power cut.
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
            // Some file systems have no hard links, and can only rename.
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

/// The most symbolic links to follow, as in Linux.
const MAX_LINKS: usize = 40;

/// The file that an output path leads to, after its symbolic links.
pub enum Destination {
    /// No file yet.
    New(PathBuf),
    /// A regular file.
    Regular(PathBuf, Metadata),
    /// A device, a FIFO or a directory, which is never replaced.
    Special(Metadata),
}

impl Destination {
    /// Looks up `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        check_name(path)?;
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(Self::Regular(follow(path)?, metadata)),
            Ok(metadata) => Ok(Self::Special(metadata)),
            // A symbolic link to a missing file: that file will be created.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::New(follow(path)?)),
            Err(error) => Err(error),
        }
    }
}

/// Refuses a name that this system would map to a device or to another file.
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
            // Not a link, or it does not exist.
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Whether it is a block device, such as a disk, whose content would be lost.
#[cfg(unix)]
pub fn is_block_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_block_device()
}

/// Whether it is a block device, such as a disk, whose content would be lost.
#[cfg(not(unix))]
pub fn is_block_device(_: &Metadata) -> bool {
    false
}

/// The existing files that an output may replace. They are of the same kind as the output: `compress -f *.csv` must not write
/// compressed data over plain files, and `decompress -f *.blp` must not write plain data over compressed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Compressed data replaces compressed files.
    Compressed,
    /// Plain data replaces all other files.
    Plain,
    /// Any file: the name of the output is derived from the input, and was not mistyped.
    Any,
}

impl Replaces {
    /// The refusal to replace the file at `path`, if any. An empty file may always be replaced; an unreadable file is
    /// recognized by its ending.
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

    /// The same for a file that was already looked at. With `-f`, the refusal is wrong usage: the command was probably a mistake.
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
