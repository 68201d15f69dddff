//! [`Disk`]: a directory of the file system, as a folder.

use crate::owners::copy_owners;
use crate::write_at::retry;
#[cfg(unix)]
use crate::write_at::sync_file;
use crate::{Access, Folder};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A directory of the file system, as a [`Folder`].
///
/// A file with several names (hard links) is not opened for writing, because locks and journals belong to one
/// name. On Unix, symbolic links are not followed, and opening a FIFO or device is an error and never blocks.
///
/// ```
/// use bloscpack_storage::{Disk, Folder};
/// let (folder, name) = Disk::of("Cargo.toml")?;
/// assert_eq!(name, "Cargo.toml");
/// assert!(folder.list()?.contains(&name));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Disk {
    path: PathBuf,
}

impl Disk {
    /// The directory at this path. It is not accessed yet, so a missing directory is an error of the first
    /// operation.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The directory of an existing file, and the file's name in it. Symbolic links are resolved.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) for a path without a file name, such as `/`;
    /// [`NotFound`](io::ErrorKind::NotFound) if the file does not exist; and any error of the file system.
    pub fn of(path: impl AsRef<Path>) -> io::Result<(Self, OsString)> {
        let path = real_path(path.as_ref())?;
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => Ok((Self::new(folder), name.to_owned())),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path does not end in the name of a file",
            )),
        }
    }

    /// The path of this name, which need not exist.
    #[must_use]
    pub fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }
}

impl Folder for Disk {
    type File = File;

    fn open(&self, name: &OsStr, access: Access) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(access == Access::Write);
        let file = retry(|| without_surprises(&mut options).open(self.path_of(name)))?;
        let metadata = file.metadata()?;
        let refused = if !metadata.is_file() {
            "not a regular file"
        } else if access == Access::Write && has_other_names(&file)? {
            "the file has several names (hard links), so locks cannot protect it; copy it first"
        } else {
            return Ok(file);
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, refused))
    }

    fn create(&self, name: &OsStr, like: Option<&File>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let file = retry(|| private(&mut options).open(self.path_of(name)))?;
        if let Some(like) = like {
            copy_owners(&file, &like.metadata()?)?;
        }
        Ok(file)
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        retry(|| fs::rename(self.path_of(from), self.path_of(to)))
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        retry(|| fs::remove_file(self.path_of(name)))
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        let entries = fs::read_dir(&self.path)?;
        let mut names = entries
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    #[cfg(unix)]
    fn sync(&self) -> io::Result<()> {
        let folder = File::open(&self.path)?;
        match sync_file(&folder) {
            Err(error) if crate::write_at::cannot_sync(&error) => Ok(()),
            done => done,
        }
    }

    /// Does nothing: Windows cannot sync a directory, and its file systems journal names.
    #[cfg(not(unix))]
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    #[cfg(unix)]
    fn leads_to(&self, name: &OsStr, file: &File) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        let there = match fs::symlink_metadata(self.path_of(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            there => there?,
        };
        let file = file.metadata()?;
        Ok((there.dev(), there.ino()) == (file.dev(), file.ino()))
    }

    #[cfg(windows)]
    fn leads_to(&self, name: &OsStr, file: &File) -> io::Result<bool> {
        use winapi_util::file::information;
        // Opened without access rights, so it works while another program has the file open exclusively.
        let there = match windows_handle(&self.path_of(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            there => information(there?)?,
        };
        let file = information(file)?;
        let identity =
            |of: &winapi_util::file::Information| (of.volume_serial_number(), of.file_index());
        Ok(identity(&there) == identity(&file))
    }

    #[cfg(not(any(unix, windows)))]
    fn leads_to(&self, name: &OsStr, _: &File) -> io::Result<bool> {
        self.path_of(name).try_exists()
    }
}

/// The path with links resolved. Some Windows drives (RAM disks) and Wine (for long paths) cannot resolve a
/// path; a name that is not a link is then made absolute.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if cfg!(windows) => match fs::symlink_metadata(path) {
            Ok(found) if !found.is_symlink() => std::path::absolute(path),
            _ => Err(error),
        },
        found => found,
    }
}

/// Opens an entry, a link included, without the right to read or write it.
#[cfg(windows)]
fn windows_handle(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let mut options = OpenOptions::new();
    let flags = BACKUP_SEMANTICS | OPEN_REPARSE_POINT;
    options.access_mode(0).custom_flags(flags).open(path)
}

/// Do not follow a link, and do not wait for a FIFO, that another program may have put in the file's place.
#[cfg(unix)]
fn without_surprises(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
}

#[cfg(not(unix))]
fn without_surprises(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn has_other_names(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 1)
}

#[cfg(windows)]
fn has_other_names(file: &File) -> io::Result<bool> {
    Ok(winapi_util::file::information(file)?.number_of_links() > 1)
}

#[cfg(not(any(unix, windows)))]
fn has_other_names(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Only the owner may access the new file.
#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
