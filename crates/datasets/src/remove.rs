//! What belongs to a dataset, taken away.

use super::layout::{self, DatasetLayout};
use super::options::DatasetOptions;
use super::{CArray, Dataset};
use bloscpack_error::Result;
use bloscpack_storage::{Access, EntryKind, JournaledStore, Key};
use std::io;
use std::sync::Arc;

/// Removes the files of a dataset, and its folders where nothing else is in them. What is no part of it stays.
pub(crate) fn remove_dataset(
    root: &Arc<JournaledStore>,
    at: &Key,
    options: &DatasetOptions,
) -> Result<()> {
    let dataset = Dataset::open_beneath(root, at, options, Access::Write)?;
    let layout = dataset.layout();
    // What says how many rows there are goes first.
    for key in layout::meta_keys(layout, at)? {
        remove_if_there(root, &key)?;
    }
    match dataset {
        Dataset::Array(array) => array.leaf().clear()?,
        Dataset::Table(table) => {
            for name in table.names().to_vec() {
                let column = table.column(name)?;
                remove_column(root, layout, column)?;
            }
        }
    }
    for name in ["data", "meta"] {
        remove_folder_if_empty(root, &at.join(name)?)?;
    }
    Ok(())
}

/// Removes the files of a column.
pub(crate) fn remove_column(
    root: &JournaledStore,
    layout: DatasetLayout,
    column: &CArray,
) -> Result<()> {
    let at = column.home().at.clone();
    if layout.columns_are_datasets() {
        for key in layout::meta_keys(layout, &at)? {
            remove_if_there(root, &key)?;
        }
    }
    column.leaf().clear()?;
    let mut folder = column.leaf().spec().folder.clone();
    if layout.columns_are_datasets() {
        for name in ["data", "meta"] {
            remove_folder_if_empty(root, &at.join(name)?)?;
        }
        return remove_folder_if_empty(root, &at);
    }
    // Columns within columns leave the folders of those around them.
    while folder.names().count() > 1 {
        remove_folder_if_empty(root, &folder)?;
        let Some((parent, _)) = folder.split() else {
            break;
        };
        folder = parent;
    }
    Ok(())
}

fn remove_if_there(root: &JournaledStore, key: &Key) -> Result<()> {
    match root.kind(key)? {
        Some(EntryKind::File) => Ok(root.remove(key)?),
        _ => Ok(()),
    }
}

fn remove_folder_if_empty(root: &JournaledStore, key: &Key) -> Result<()> {
    match root.list(key) {
        Ok(entries) if entries.is_empty() => Ok(root.remove_folder(key)?),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
