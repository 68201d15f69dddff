//! Arrays in frames that go on to what their frame contains now.

use super::NdArray;
use bloscpack_error::Result;
use bloscpack_storage::Refreshed;

impl NdArray {
    /// Goes on to the elements that the array has now, and returns which positions along the first axis are new. Elements
    /// that were there may have other values. Only the metadata is read.
    ///
    /// [`Refreshed::Replaced`] is an array of another dtype, of chunks of another shape, or one whose other axes have another
    /// length, or whose first axis is shorter.
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
    /// Returns the errors of [`Frame::refresh`](crate::Frame::refresh) and of [`of`](Self::of). The array is then as it was.
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
