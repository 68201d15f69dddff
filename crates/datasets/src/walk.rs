//! [`walk`]: finds the datasets below a directory.

use crate::dataset_layout::DatasetLayout;
use crate::files::Files;
use crate::layout;
use bloscpack_error::{IoSide as _, Result};
use bloscpack_storage::{Access, DiskStore, EntryKind, Key, LockTimeout, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A dataset that [`walk`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetEntry {
    /// The path, relative to the directory that was walked; empty if that directory is the dataset.
    pub path: PathBuf,
    /// The layout of the directory.
    pub layout: DatasetLayout,
    /// Whether it is a table. Otherwise it is an array.
    pub is_table: bool,
}

/// Folders deeper than this are not searched.
const MAX_DEPTH: usize = 64;

/// Finds the datasets in a directory and its folders, up to 64 levels deep, in the order of their names. Datasets are not
/// searched for further datasets, so that the columns of a table are not listed. Links are not followed.
///
/// `failed` is called for everything that cannot be examined, such as a folder without permission or a damaged dataset, with
/// the path relative to the directory. The search continues.
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

/// Finds the datasets in a store, as [`walk`] does in a directory.
///
/// ```
/// use bloscpack_datasets::{CArray, walk_in};
/// use bloscpack_storage::Memory;
///
/// let store = Memory::new();
/// CArray::of::<u8>().create_in(store.clone())?.flush()?;
/// let found = walk_in(store, |path, error| eprintln!("{}: {error}", path.display()))?;
/// assert_eq!(found.len(), 1);
/// assert!(found[0].path.as_os_str().is_empty() && !found[0].is_table);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
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
