//! The folder of an output, and what is made in it temporarily.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use bloscpack::storage::{Disk, Folder as _};
use tempfile::Builder;

/// The folder that contains `path`.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Not that of the files by which the library replaces a file: those belong to a journal.
const PREFIX: &str = ".blpk-out-";
const SUFFIX: &str = ".tmp";

/// Names temporary files and directories.
pub fn temporary() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    builder
}

/// Whether it is such a name.
pub fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// The error without the name of the temporary file, which means nothing to the user.
pub fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let text = text
        .split_once(" at path ")
        .map_or(text.as_str(), |(text, _)| text);
    io::Error::new(error.kind(), text)
}

/// Makes a new name in the folder of `path` survive a power cut.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    match Disk::new(parent(path)).sync() {
        // Files may be added to such a folder, but its content may not be listed.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}
