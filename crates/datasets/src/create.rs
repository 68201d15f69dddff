//! Prepares the stores of new datasets.

use crate::files::Files;
use crate::layout;
use crate::new::NewDataset;
use crate::open::table_of;
use crate::remove::remove_dataset;
use bloscpack_error::{Category, Error, IoSide as _, Result, Side};
use bloscpack_storage::{Access, DiskStore, Key, Store};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The store of a directory for a new dataset. Creates the directory if it is missing, but not its parent.
pub(crate) fn new_store(path: &Path) -> Result<Arc<dyn Store>> {
    // Only the table's own writer may change a column, and it must have as many rows as the others.
    if table_of(path).is_some() {
        return Err(Error::usage(
            "this is a column of a table: add or replace it through the table",
        ));
    }
    let store = match DiskStore::create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => DiskStore::open(path),
        created => created,
    };
    Ok(Arc::new(store.writing()?))
}

/// Opens a store for a new dataset. With `replace`, an existing dataset is removed in the same commit.
pub(crate) fn begin(store: Arc<dyn Store>, new: &NewDataset) -> Result<Arc<Files>> {
    let options = &new.options;
    let lock_timeout = options.lock_timeout.clone();
    let files = Arc::new(Files::open(store, Access::Write, lock_timeout)?);
    if files.list(&Key::root())?.is_empty() {
        return Ok(files);
    }
    let is_dataset = layout::detect(&files, &Key::root()).is_ok_and(|kind| kind.is_some());
    if !is_dataset {
        return Err(exists("the directory exists and is not a dataset"));
    }
    if !new.replace {
        return Err(exists("a dataset exists here"));
    }
    remove_dataset(&files, options).map_err(|error| match error.category() {
        // An I/O error may pass; it says nothing against replacing the dataset.
        Category::Failed => error,
        _ if error.path().is_none() => error,
        _ => Error::usage(format!(
            "the existing dataset cannot be replaced ({error}); choose another name"
        )),
    })?;
    Ok(files)
}

fn exists(message: &str) -> Error {
    let error = io::Error::new(io::ErrorKind::AlreadyExists, message);
    Error::from(error).on(Side::Target)
}
