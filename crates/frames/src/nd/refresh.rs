//! Refreshes an array from its file or directory.

use super::NdArray;
use bloscpack_error::Result;
use bloscpack_storage::Refreshed;

impl NdArray {
    /// Reads the metadata again, and continues with the current content of the file or directory. Reads no chunks.
    ///
    /// | result | meaning |
    /// |---|---|
    /// | [`Changed`](Refreshed::Changed) | these positions along the first axis are new, perhaps none; all others may have other values |
    /// | [`Replaced`](Refreshed::Replaced) | another dtype or chunk shape, another length of an axis after the first, or a shorter first axis |
    ///
    /// An array without axes counts as one position.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// use bloscpack_storage::Refreshed;
    /// # let temp = tempfile::tempdir()?;
    /// # let path = temp.path().join("array.b2nd");
    /// let mut writer = NdArray::of_type::<i32>(&[2, 3]).create(&path)?;
    /// writer.flush()?;
    /// let mut array = NdArray::open(&path)?;
    ///
    /// writer.resize(&[4, 3])?;
    /// writer.flush()?;
    /// assert_eq!(array.refresh()?, Refreshed::Changed(2..4));
    /// assert_eq!(array.shape(), [4, 3]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Frame::refresh`](crate::Frame::refresh) and of [`of`](Self::of). The array then stays as it was.
    pub fn refresh(&mut self) -> Result<Refreshed> {
        let new = Self::of(self.frame().reopened()?)?;
        let rows = |array: &Self| array.shape().first().copied().unwrap_or(1);
        let is_same = self.shape().get(1..) == new.shape().get(1..)
            && self.chunk_shape() == new.chunk_shape()
            && self.dtype_text() == new.dtype_text()
            && self.itemsize() == new.itemsize();
        let found = if is_same {
            Refreshed::Changed(0..0).counted(rows(self), rows(&new))
        } else {
            Refreshed::Replaced
        };
        *self = new;
        Ok(found)
    }
}
