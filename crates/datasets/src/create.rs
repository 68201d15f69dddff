//! Places for new datasets.

use super::layout;
use super::options::DatasetOptions;
use super::remove::remove_dataset;
use bloscpack_error::{Category, Error, Result};
use bloscpack_storage::{Access, DiskStore, JournaledStore, Key, Store};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Where a dataset is to be.
pub(crate) struct Target {
    store: Arc<dyn Store>,
}

impl Target {
    /// A directory, which is made if it is not there.
    pub(crate) fn of_path(path: &Path) -> Result<Self> {
        // Its table has another writer, and another number of rows.
        if super::options::table_of(path).is_some() {
            return Err(Error::usage(
                "this is a column of a table: add or replace it through the table",
            ));
        }
        let store = match DiskStore::create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => DiskStore::open(path)?,
            created => created?,
        };
        Ok(Self {
            store: Arc::new(store),
        })
    }

    pub(crate) fn of_store(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

/// A root with nothing in it, or with what is to be replaced taken away in the same change.
pub(crate) fn begin(
    target: Target,
    replace: bool,
    options: &DatasetOptions,
) -> Result<Arc<JournaledStore>> {
    let root = Arc::new(JournaledStore::open_with(
        target.store,
        Access::Write,
        options.patience.clone(),
    )?);
    if root.list(&Key::root())?.is_empty() {
        return Ok(root);
    }
    if layout::detect(&root, &Key::root()).ok().flatten().is_none() {
        let what = "the directory is there, and what is in it is no dataset";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what).into());
    }
    if !replace {
        let what = "a dataset is there";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what).into());
    }
    remove_dataset(&root, &Key::root(), options).map_err(|error| match error.category() {
        // Whatever its files say of one another, they go; what could not be read may be another time.
        Category::Failed => error,
        _ if error.path().is_none() => error,
        _ => Error::usage(format!(
            "the dataset that is there cannot be replaced ({error}): remove it first"
        )),
    })?;
    Ok(root)
}
