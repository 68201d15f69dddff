//! Removes the files of datasets and columns.

use crate::array_storage::ArrayStorage;
use crate::carray::CArray;
use crate::dataset::Dataset;
use crate::files::{Files, below};
use crate::handle::Handle;
use crate::layout;
use crate::open::open_beneath;
use bloscpack::Options;
use bloscpack_error::Result;
use bloscpack_storage::{Access, Key};
use std::sync::Arc;

/// Removes the files of the dataset at the root of a store, and its folders if they are empty then. All other files stay.
pub(crate) fn remove_dataset(files: &Arc<Files>, options: &Options) -> Result<()> {
    let at = Key::root();
    let dataset = open_beneath(files, &at, options, Access::Write)?;
    // The file with the number of rows is removed first.
    for key in layout::meta_keys(dataset.layout(), &at)? {
        remove_file(files, &key)?;
    }
    match dataset {
        Dataset::Array(array) => array.storage().clear()?,
        Dataset::Table(table) => {
            for name in table.names() {
                remove_column(table.column(name)?)?;
            }
        }
    }
    remove_folders(files, &at)
}

/// Removes the files of a column.
pub(crate) fn remove_column(column: &CArray) -> Result<()> {
    let (handle, storage) = (column.handle(), column.storage());
    if handle.layout.columns_are_datasets() {
        return remove_array(handle, storage);
    }
    storage.clear()?;
    // The folders around a nested column are removed with the last column in them.
    let mut folder = storage.spec().folder.clone();
    while folder.names().count() > 1 {
        handle.files.remove_folder_if_empty(&folder)?;
        let Some((parent, _)) = folder.split() else {
            break;
        };
        folder = parent;
    }
    Ok(())
}

fn remove_array(handle: &Handle, storage: &ArrayStorage) -> Result<()> {
    for key in layout::meta_keys(handle.layout, &handle.at)? {
        remove_file(&handle.files, &key)?;
    }
    storage.clear()?;
    remove_folders(&handle.files, &handle.at)?;
    handle.files.remove_folder_if_empty(&handle.at)
}

/// Removes a regular file. Anything else with this name stays.
fn remove_file(files: &Files, key: &Key) -> Result<()> {
    if files.is_file(key)? {
        files.remove(key)
    } else {
        Ok(())
    }
}

fn remove_folders(files: &Files, at: &Key) -> Result<()> {
    for name in ["data", "meta"] {
        files.remove_folder_if_empty(&below(at, &[name])?)?;
    }
    Ok(())
}
