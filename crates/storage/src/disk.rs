//! [`Disk`]: a folder of the file system.

use super::folder::{Access, Folder};
use super::write_at::retry;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A directory of the file system.
///
/// A file of several names (hard links) is not opened for writing: locks and journals go by name.
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
    /// The directory at this path, which should exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder and the name of an existing file, symbolic links followed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of(path: impl AsRef<Path>) -> io::Result<(Self, OsString)> {
        let path = fs::canonicalize(path)?;
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => Ok((Self::new(folder), name.to_owned())),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a path that does not end in the name of a file",
            )),
        }
    }

    /// The path of one of its files.
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
        let wrong = if !metadata.is_file() {
            "not a regular file"
        } else if access == Access::Write && has_other_names(&metadata) {
            "the file has several names (hard links), under which others could change it at the same time: copy it first"
        } else {
            return Ok(file);
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, wrong))
    }

    fn create(&self, name: &OsStr, like: Option<&File>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let file = retry(|| private(&mut options).open(self.path_of(name)))?;
        if let Some(like) = like {
            keep_owners(&file, &like.metadata()?)?;
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
        match retry(|| folder.sync_all()) {
            // Some file systems cannot sync a directory, and have nothing to sync there.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            done => done,
        }
    }

    /// Windows has no such call; its file systems keep a journal of names.
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

    /// An open file keeps its name there.
    #[cfg(not(unix))]
    fn leads_to(&self, name: &OsStr, _: &File) -> io::Result<bool> {
        self.path_of(name).try_exists()
    }
}

/// Follows no link, and waits for no FIFO, that somebody has put in the file's place.
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
fn has_other_names(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

/// Windows does not tell.
#[cfg(not(unix))]
fn has_other_names(_: &fs::Metadata) -> bool {
    false
}

/// Nobody else may read it.
#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Gives `file` the owner, the group and the mode of another, as far as the user may.
#[cfg(unix)]
pub(super) fn keep_owners(file: &File, like: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let mut mode = like.mode() & 0o7777;
    if new.uid() != like.uid() && fchown(file, Some(like.uid()), None).is_err() {
        // The new owner has not earned what the file did in the name of the old one.
        mode &= 0o1777;
    }
    if new.gid() != like.gid() && fchown(file, None, Some(like.gid())).is_err() {
        // What the old group was allowed is not the business of the new one, beyond what all are.
        mode &= 0o5707 | (mode & 0o007) << 3;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub(super) fn keep_owners(file: &File, like: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}
