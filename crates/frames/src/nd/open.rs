//! How arrays are opened.

use super::NdArray;
use crate::FrameOptions;
use bloscpack_error::Result;
use std::path::Path;

impl FrameOptions {
    /// Opens the array at this path for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`Unsupported`](bloscpack_error::Category::Unsupported) if the frame holds no array.
    pub fn open_array(&self, path: impl AsRef<Path>) -> Result<NdArray> {
        NdArray::of(self.open(path)?)
    }

    /// Opens the array at this path for reading and changing it.
    ///
    /// # Errors
    /// As [`edit`](Self::edit), and [`Unsupported`](bloscpack_error::Category::Unsupported) if the frame holds no array.
    pub fn edit_array(&self, path: impl AsRef<Path>) -> Result<NdArray> {
        NdArray::of(self.edit(path)?)
    }
}
