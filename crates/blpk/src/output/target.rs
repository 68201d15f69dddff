//! What an output path stands for.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Symbolic links followed before giving up, as in Linux.
const MAX_LINKS: usize = 40;

/// What an output path names, symbolic links followed.
pub enum Target {
    /// Nothing yet.
    New(PathBuf),
    /// A regular file.
    Regular(PathBuf, Metadata),
    /// A device, a FIFO, a directory: whatever is not replaced.
    Special(Metadata),
}

impl Target {
    /// Looks at what is there.
    pub fn find(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(Self::Regular(follow(path)?, metadata)),
            Ok(metadata) => Ok(Self::Special(metadata)),
            // Also a symbolic link to a file that is not there: that file will be made.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::New(follow(path)?)),
            Err(error) => Err(error),
        }
    }
}

/// The path that the symbolic links at the end of `path` lead to.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&place) {
            Ok(link) => place = parent(&place).join(link),
            // No link, or nothing there.
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// The folder that holds `path`.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether it is a disk or the like, which loses what is on it.
#[cfg(unix)]
pub fn is_block_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_block_device()
}

/// Whether it is a disk or the like, which loses what is on it.
#[cfg(not(unix))]
pub fn is_block_device(_: &Metadata) -> bool {
    false
}
