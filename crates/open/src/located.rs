//! Paths that lead into an archive or a tree of frames, which only [`open`](crate::open) can follow.

use super::Family;
use super::probe::{is_about_name, probe};
use std::fs;
use std::io;
use std::path::Path;

/// Whether only a path can open this input: a directory, or something inside an archive or a tree. False for a path that does
/// not exist, which opening it reports.
///
/// # Errors
/// Returns errors of the file system, except about the name or permissions.
pub fn is_directory(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) if is_about_name(&error) => Ok(archive_of(path).is_some() || is_in_tree(path)),
        Err(error) => Err(error),
    }
}

/// The archive that a path leads into, and the path inside it.
pub(crate) fn archive_of(path: &Path) -> Option<(&Path, String)> {
    let file = path.ancestors().skip(1).find(|above| above.exists())?;
    let inside = path.strip_prefix(file).ok()?.to_str()?;
    let is_archive = file.is_file() && probe(file).ok()?.family == Some(Family::Archive);
    is_archive.then(|| (file, inside.replace('\\', "/")))
}

/// The tree of frames that a path leads to or into, and the path inside it; `None` for any other path.
#[must_use]
pub fn locate_store(path: &Path) -> Option<(std::path::PathBuf, String)> {
    crate::containers::store::locate(path)
}

/// Whether a path leads to a tree of frames, or into one.
fn is_in_tree(path: &Path) -> bool {
    crate::containers::store::locate(path).is_some()
}
