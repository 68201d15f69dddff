//! Stores within a path: what only a path, and no source, can open.

use super::probe::is_about_name;
use std::fs;
use std::io;
use std::path::Path;

/// Whether a path leads to a directory, or to something within a store, so that only the path opens it; false for a name that
/// leads nowhere, which opening it reports.
pub fn is_directory(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) if is_about_name(&error) => Ok(is_store(path)),
        Err(error) => Err(error),
    }
}

/// Whether a path leads to a store with members: a tree of frames, something within one, or a Zarr group.
#[must_use]
pub fn has_members(path: &Path) -> bool {
    if crate::containers::zarr::is_in(path) {
        return true;
    }
    is_store(path)
}

/// The tree of frames that a path leads to, and the path in it; `None` if it leads elsewhere.
#[must_use]
pub fn locate_store(path: &Path) -> Option<(std::path::PathBuf, String)> {
    crate::containers::store::locate(path)
}

/// Whether a path leads to a tree of frames, or to something within one.
#[must_use]
pub fn is_store(path: &Path) -> bool {
    crate::containers::store::locate(path).is_some()
}
