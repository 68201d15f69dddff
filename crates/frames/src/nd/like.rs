//! Builders for arrays like an existing one.

use super::{NdArray, NdArrayBuilder};
use crate::coder::settings;
use bloscpack_error::{Error, Result};

impl NdArray {
    /// A builder for an array like this one: of the same kind, shape and type, with chunks and blocks of the same shapes, the
    /// same compression and the same metadata. [`copy_to`](Self::copy_to) then copies the elements.
    ///
    /// # Errors
    /// Returns any damage to a metalayer in the trailer, and [`Unsupported`](bloscpack_error::Category::Unsupported) for a
    /// compressor or filter that this library does not have.
    pub fn like(&self) -> Result<NdArrayBuilder> {
        let settings = settings(self.frame.header())?;
        let builder = self.like_plain()?;
        Ok(builder
            .compressor(settings.compressor)
            .level(settings.level)
            .filters(settings.filters))
    }

    /// The same as [`like`](Self::like), but with the default compression.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::of_type::<i16>(&[20, 20]).chunk_shape(&[7, 9]).in_memory()?;
    /// assert_eq!(array.like_plain()?.in_memory()?.chunk_shape(), [7, 9]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any damage to a metalayer in the trailer.
    pub fn like_plain(&self) -> Result<NdArrayBuilder> {
        let mut builder = NdArrayBuilder::new(self.shape(), self.itemsize())
            .kind(self.kind())
            .array_dtype(self.meta.dtype.clone());
        if !self.chunk_shape().contains(&0) && !self.block_shape().contains(&0) {
            builder = builder
                .chunk_shape(self.chunk_shape())
                .block_shape(self.block_shape());
        }
        for (name, bytes) in self.frame.metalayers().iter() {
            if name != self.kind().name() {
                builder = builder.metalayer(name, bytes);
            }
        }
        for name in self.frame.vlmetalayers() {
            let bytes = self.frame.vlmetalayer(name)?;
            let bytes =
                bytes.ok_or_else(|| Error::bug(format!("metalayer {name:?} has disappeared")))?;
            builder = builder.vlmetalayer(name, bytes);
        }
        Ok(builder)
    }
}
