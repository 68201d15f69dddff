//! The file that an output path leads to.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::parent;

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
    /// Looks at what is there.
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
        Some(name) => bloscpack::storage::internal::check_windows_name(name),
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
