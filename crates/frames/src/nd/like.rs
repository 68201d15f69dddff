//! Builders for arrays like an existing one.

use super::{NdArray, NdArrayBuilder};
use crate::coder::settings;
use crate::frame::own_layers;
use bloscpack_error::Result;

impl NdArray {
    /// A builder for an array of the same kind, shape and dtype, with the same chunk and block shapes, compression and
    /// metadata. The metalayers that make a frame [virtual](crate::Frame::virtual_data) are left out. To copy the elements,
    /// call [`copy_to`](Self::copy_to) afterwards.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::of_type::<i16>(&[20]).level(9).vlmetalayer("unit", b"\xa1m").in_memory()?;
    /// let copy = array.like()?.in_memory()?;
    /// assert_eq!(copy.frame().header().level, 9);
    /// assert_eq!(copy.frame().vlmetalayer("unit")?.as_deref(), Some(b"\xa1m".as_slice()));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any damage to a metalayer in the trailer, and [`Unsupported`](bloscpack_error::Category::Unsupported) for a
    /// compressor or filter that this crate does not have.
    pub fn like(&self) -> Result<NdArrayBuilder> {
        let settings = settings(self.frame().header())?;
        let builder = self.like_plain()?;
        Ok(builder
            .compressor(settings.compressor)
            .level(settings.level)
            .filters(settings.filters))
    }

    /// Like [`like`](Self::like), with the default compression.
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
        let (fixed, varying) = own_layers(self.frame())?;
        for (name, bytes) in fixed {
            if name != self.kind().name() {
                builder = builder.metalayer(name, bytes);
            }
        }
        for (name, bytes) in varying {
            builder = builder.vlmetalayer(&name, bytes);
        }
        Ok(builder)
    }
}
