//! New arrays like others.

use super::{NdArray, NdArrayBuilder};
use crate::coder::settings;
use bloscpack_error::Result;

impl NdArray {
    /// How a new array like this one is to be: of the same shape and type, compressed in the same way, with the same metadata.
    /// With [`copy_to`](Self::copy_to) it becomes a copy, in chunks of other shapes, in another place or of the other kind.
    ///
    /// # Errors
    /// Whatever is wrong with the metadata behind the chunks; [`Unsupported`](bloscpack_error::Category::Unsupported) if new chunks would
    /// need a compressor or a filter that this library does not have.
    pub fn like(&self) -> Result<NdArrayBuilder> {
        let settings = settings(self.frame.header())?;
        let builder = self.like_plain()?;
        Ok(builder
            .compressor(settings.compressor)
            .level(settings.level)
            .filters(settings.filters))
    }

    /// The same, but compressed as new arrays are by default, whatever this one needs.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::of_type::<i16>(&[20, 20]).chunk_shape(&[7, 9]).in_memory()?;
    /// assert_eq!(array.like_plain()?.in_memory()?.chunk_shape(), [7, 9]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Whatever is wrong with the metadata behind the chunks.
    pub fn like_plain(&self) -> Result<NdArrayBuilder> {
        let mut builder = NdArrayBuilder::new(self.shape(), self.itemsize())
            .kind(self.kind())
            .said(self.meta.dtype.clone());
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
            builder = builder.vlmetalayer(name, self.frame.vlmetalayer(name)?.unwrap_or_default());
        }
        Ok(builder)
    }
}
