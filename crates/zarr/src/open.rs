//! Opens arrays and groups.

use crate::array::ZarrArray;
use crate::group::{self, ZarrNode};
use bloscpack::Options;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{Key, Store};
use std::sync::Arc;

impl ZarrNode {
    /// Opens the array or group in a folder of a store. Reads only metadata: `zarr.json`, else `.zarray` and `.zattrs`, else
    /// `.zgroup`, `.zattrs` and `.zmetadata`.
    ///
    /// The options set the limits, the number of threads, and the size of the cache.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_storage::{Key, Memory};
    /// use bloscpack_zarr::ZarrNode;
    /// use std::sync::Arc;
    /// let store = Memory::from([("a/.zgroup", b"{\"zarr_format\": 2}".to_vec())]);
    /// let node = ZarrNode::open(Arc::new(store), &Key::parse("a")?, &Options::new().threads(2))?;
    /// assert!(matches!(node, ZarrNode::Group(_)));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::UnknownFormat`] if the folder has none of these files, any I/O error, [`Code::Metadata`] for damage,
    /// [`Code::Unsupported`] for features that this crate does not have, and [`Code::OverLimit`] for metadata or an array over
    /// the limits.
    pub fn open(store: Arc<dyn Store>, folder: &Key, options: &Options) -> Result<Self> {
        group::open(&store, folder, options)?.ok_or_else(|| {
            Error::new(
                Code::UnknownFormat,
                "no Zarr array or group: there is neither zarr.json nor .zarray nor .zgroup",
            )
        })
    }
}

impl ZarrArray {
    /// Opens the array in a folder of a store. Reads only metadata.
    ///
    /// # Errors
    /// Returns the errors of [`ZarrNode::open`], and [`Code::Usage`] for a group.
    pub fn open(store: Arc<dyn Store>, folder: &Key, options: &Options) -> Result<Self> {
        match ZarrNode::open(store, folder, options)? {
            ZarrNode::Array(array) => Ok(*array),
            ZarrNode::Group(_) => Err(Error::usage("this is a group, not an array")),
        }
    }
}
