//! Opens arrays and groups.

use crate::array::ZarrArray;
use crate::group::{self, ZarrGroup, ZarrNode};
use crate::options::OpenOptions;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{Key, Store};
use std::sync::Arc;

impl OpenOptions {
    /// Opens what is in this folder of a store.
    ///
    /// # Errors
    /// Returns [`Code::UnknownFormat`] if that is not Zarr, any I/O error, and any damage of the metadata.
    pub fn open(&self, store: impl Store + 'static, folder: &Key) -> Result<ZarrNode> {
        self.open_shared(Arc::new(store), folder)
    }

    /// The same in a store that is shared.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_shared(&self, store: Arc<dyn Store>, folder: &Key) -> Result<ZarrNode> {
        group::open(&store, folder, self)?.ok_or_else(|| {
            Error::new(
                Code::UnknownFormat,
                "no Zarr array or group: there is neither zarr.json nor .zarray nor .zgroup",
            )
        })
    }

    /// Opens an array.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), and wrong usage for a group.
    pub fn open_array(&self, store: Arc<dyn Store>, folder: &Key) -> Result<ZarrArray> {
        match self.open_shared(store, folder)? {
            ZarrNode::Array(array) => Ok(*array),
            ZarrNode::Group(_) => Err(Error::usage("this is a group, not an array")),
        }
    }

    /// Opens a group.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), and wrong usage for an array.
    pub fn open_group(&self, store: Arc<dyn Store>, folder: &Key) -> Result<ZarrGroup> {
        match self.open_shared(store, folder)? {
            ZarrNode::Group(group) => Ok(group),
            ZarrNode::Array(_) => Err(Error::usage("this is an array, not a group")),
        }
    }
}
