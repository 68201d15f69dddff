//! [`walk`]: finds the datasets below a directory.

use crate::dataset_layout::DatasetLayout;
use crate::files::Files;
use crate::layout;
use bloscpack_error::{IoSide as _, Result};
use bloscpack_storage::{Access, DiskStore, EntryKind, Key, LockTimeout, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A dataset that [`walk`] has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetEntry {
    /// Its path, relative to the directory that was walked; empty if that is the dataset.
    pub path: PathBuf,
    /// The layout of its directory.
    pub layout: DatasetLayout,
    /// Whether it is a table; else it is an array.
    pub is_table: bool,
}

/// The depth of folders below which nothing is looked for.
const MAX_DEPTH: usize = 64;

/// Finds the datasets below a directory, sorted by name. Nothing is looked for inside of a dataset, and links are not followed.
///
/// `failed` is called for everything that cannot be looked at, such as a directory without permission or a dataset that is
/// damaged, with its path relative to the directory.
///
/// ```
/// # testkit::enter_testdata();
/// let mut damaged = Vec::new();
/// let found = bloscpack_datasets::walk("testdata/datasets/bcolz", |path, _| damaged.push(path.to_owned()))?;
/// assert!(found.iter().any(|entry| entry.path.ends_with("py2_int64") && !entry.is_table));
/// // The writer of this one was killed.
/// assert_eq!(damaged, [std::path::Path::new("complex128")]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns any error of opening the directory.
pub fn walk(
    path: impl AsRef<Path>,
    failed: impl FnMut(&Path, bloscpack_error::Error),
) -> Result<Vec<DatasetEntry>> {
    walk_in(DiskStore::open(path).reading()?, failed)
}

/// Finds the datasets in a store: see [`walk`].
///
/// # Errors
/// Returns any error of opening the store.
pub fn walk_in(
    store: impl Store + 'static,
    mut failed: impl FnMut(&Path, bloscpack_error::Error),
) -> Result<Vec<DatasetEntry>> {
    let files = Files::open(Arc::new(store), Access::Read, LockTimeout::default())?;
    let (mut found, mut open) = (Vec::new(), vec![Key::root()]);
    while let Some(at) = open.pop() {
        let path = PathBuf::from(at.as_str());
        match layout::detect(&files, &at) {
            Ok(Some(kind)) => {
                found.push(DatasetEntry {
                    path,
                    layout: kind.layout,
                    is_table: kind.is_table,
                });
                continue;
            }
            Ok(None) => {}
            Err(error) => {
                failed(&path, error);
                continue;
            }
        }
        match folders(&files, &at) {
            Ok(folders) => open.extend(folders.into_iter().rev()),
            Err(error) => failed(&path, error),
        }
    }
    Ok(found)
}

/// The folders in a folder.
fn folders(files: &Files, at: &Key) -> Result<Vec<Key>> {
    if at.names().count() >= MAX_DEPTH {
        return Ok(Vec::new());
    }
    let entries = files
        .list(at)?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Folder);
    // A folder whose name is not a valid key cannot be a dataset.
    Ok(entries
        .filter_map(|entry| at.join(entry.name.to_str()?).ok())
        .collect())
}
