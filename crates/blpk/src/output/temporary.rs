//! Temporary files and folders. Those to be renamed are in the folder of the output.

use std::fs::{self, DirEntry, File, Permissions};
use std::io;
use std::path::Path;
use std::time::Duration;

use bloscpack::storage::{Disk, Folder as _};
use tempfile::{Builder, TempDir};

use crate::interrupt;
use crate::session::Session;
use crate::text::quoted;

/// Differs from the prefix of the library's own replacement files, which belong to a journal.
const PREFIX: &str = ".blpk-out-";
const SUFFIX: &str = ".tmp";

/// The most entries of a folder to list: a loop over the files of a large folder must not list all of it each time.
const LOOK: usize = 1000;
/// A younger file may not be locked yet.
const AGE: Duration = Duration::from_secs(60);

/// The folder that contains `path`.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Builds temporary files and directories with our names.
pub fn temporary() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    builder
}

/// Makes a private folder in `within`, or else in the temporary folder of the system. The signal handler removes it.
pub fn make_folder(within: Option<&Path>, permissions: Option<Permissions>) -> io::Result<TempDir> {
    let mut builder = temporary();
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    let mut pending = interrupt::pending();
    let made = match within {
        Some(folder) => builder.tempdir_in(folder),
        None => builder.tempdir(),
    };
    let made = made.map_err(|error| without_path(&error))?;
    pending.push(made.path().to_owned());
    Ok(made)
}

/// The error without the name of the temporary file, which means nothing to the user.
pub fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let text = text
        .split_once(" at path ")
        .map_or(text.as_str(), |(text, _)| text);
    io::Error::new(error.kind(), text)
}

/// Syncs the folder of `path`: a new name in it survives a power cut.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    match Disk::new(parent(path)).sync() {
        // A folder that may be written but not read cannot be synced.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Removes temporary files that killed runs have left in a folder. A running writer holds a lock on its file.
pub fn remove_left_over(folder: &Path, session: &Session) {
    let entries = fs::read_dir(folder).into_iter().flatten().take(LOOK);
    for entry in entries.flatten().filter(is_left_over) {
        let path = entry.path();
        if fs::remove_file(&path).is_ok() {
            let name = quoted(&path);
            session.note(format_args!(
                "removed {name}, which an interrupted run had left"
            ));
        }
    }
}

fn is_left_over(entry: &DirEntry) -> bool {
    let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
    let name = entry.file_name();
    let name = name.to_string_lossy();
    if !is_file || !name.starts_with(PREFIX) || !name.ends_with(SUFFIX) {
        return false;
    }
    let modified = entry.metadata().and_then(|metadata| metadata.modified());
    let age = modified.ok().and_then(|time| time.elapsed().ok());
    let file = File::options().write(true).open(entry.path());
    age.is_some_and(|age| age > AGE) && file.is_ok_and(|file| file.try_lock().is_ok())
}
