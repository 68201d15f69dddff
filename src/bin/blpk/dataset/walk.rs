//! The datasets below a directory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::message::{Failure, quoted};

/// Files of which at least one is in the directory of every dataset.
const SIGNS: [&str; 4] = ["__rootdirs__", "meta/shape", "meta/sizes", "meta/storage"];
/// Directories in one another that are gone into.
const MAX_DEPTH: usize = 64;

/// Whether a dataset seems to lie here.
pub fn is_dataset(path: &Path) -> bool {
    let is_file = |sign: &&str| {
        let file = fs::symlink_metadata(path.join(sign));
        file.is_ok_and(|metadata| metadata.is_file())
    };
    SIGNS.iter().any(|sign| is_file(&sign))
}

/// Gives each directory at or below `path` that seems to be a dataset, in the order of their names. Datasets are not looked
/// into, symbolic links not followed, and what begins with `._` is litter of another system.
pub fn walk(
    path: &Path,
    take: &mut impl FnMut(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    descend(path, 0, take)
}

fn descend(
    path: &Path,
    depth: usize,
    take: &mut impl FnMut(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if is_dataset(path) {
        return take(path);
    }
    if depth >= MAX_DEPTH {
        return Ok(());
    }
    for folder in folders(path)? {
        descend(&folder, depth + 1, take)?;
    }
    Ok(())
}

fn folders(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::io(quoted(path), &error);
    let mut folders = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_litter = entry.file_name().to_string_lossy().starts_with("._");
        // The kind of the entry itself: a link is none.
        if !is_litter && entry.file_type().map_err(failed)?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}
