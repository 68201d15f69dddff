//! [`walk`]: datasets below a directory.

use super::layout::{self, DatasetLayout};
use bloscpack_error::Result;
use bloscpack_storage::{Access, DiskStore, EntryKind, JournaledStore, Key};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A dataset that [`walk`] has come upon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Below the directory that was walked; empty if that is the dataset.
    pub path: PathBuf,
    /// How it lies there.
    pub layout: DatasetLayout,
    /// Whether it is a table, else it is an array.
    pub is_table: bool,
}

/// Folders within folders, beyond which nobody looks.
const MAX_DEPTH: usize = 64;

/// The datasets below a directory, by name; within datasets none are looked for. Links are not followed.
///
/// What is in the way of looking (a directory that may not be read, a dataset whose description is damaged) is passed to `failed`.
///
/// ```
/// let mut damaged = Vec::new();
/// let found = bloscpack_datasets::walk("../../testdata/datasets/bcolz", |path, _| damaged.push(path.to_owned()))?;
/// assert!(found.iter().any(|found| found.path.ends_with("py2_int64") && !found.is_table));
/// // The writer of this one died.
/// assert_eq!(damaged, [std::path::Path::new("complex128")]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Those of opening the directory.
pub fn walk(
    path: impl AsRef<Path>,
    mut failed: impl FnMut(&Path, bloscpack_error::Error),
) -> Result<Vec<Found>> {
    let root = JournaledStore::open(Arc::new(DiskStore::open(path)?), Access::Read)?;
    let (mut found, mut open) = (Vec::new(), vec![Key::root()]);
    while let Some(at) = open.pop() {
        let path = PathBuf::from(at.as_str());
        match layout::detect(&root, &at) {
            Ok(Some(sign)) => {
                found.push(Found {
                    path,
                    layout: sign.layout,
                    is_table: sign.is_table,
                });
                continue;
            }
            Ok(None) => {}
            Err(error) => {
                failed(&path, error);
                continue;
            }
        }
        match folders(&root, &at) {
            Ok(folders) => open.extend(folders.into_iter().rev()),
            Err(error) => failed(&path, error),
        }
    }
    Ok(found)
}

/// The folders in a folder whose names are text.
fn folders(root: &JournaledStore, at: &Key) -> Result<Vec<Key>> {
    if at.names().count() >= MAX_DEPTH {
        return Ok(Vec::new());
    }
    let entries = root
        .list(at)?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Folder);
    // A name that cannot be a key is no dataset's.
    Ok(entries
        .filter_map(|entry| at.join(entry.name.to_str()?).ok())
        .collect())
}
