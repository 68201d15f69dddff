//! How arrays are opened.

use super::NdArray;
use crate::FrameOptions;
use bloscpack_error::Result;
use std::path::Path;

impl FrameOptions {
    /// Opens the array at this path for reading.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open) and of [`NdArray::of`].
    pub fn open_array(&self, path: impl AsRef<Path>) -> Result<NdArray> {
        NdArray::of(self.open(path)?)
    }

    /// Opens the array at this path for reading and changing it.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit) and of [`NdArray::of`].
    pub fn edit_array(&self, path: impl AsRef<Path>) -> Result<NdArray> {
        NdArray::of(self.edit(path)?)
    }
}
