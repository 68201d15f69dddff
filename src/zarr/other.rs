//! Zarr arrays into Zarr arrays of another version.

use super::{BytesCodec, ChunkSource, Conversion, Format, NewArray, Serializer, ZarrArray};
use bloscpack_error::Result;
use std::ops::Range;

impl<'a> Conversion<'a> {
    /// A Zarr array. Chunks in C order that are compressed by Blosc alone can be taken as they are; shards are dissolved.
    #[must_use]
    pub fn of_zarr(array: &'a ZarrArray, format: Format) -> Self {
        let meta = array.meta();
        let chunk = meta.inner_chunk_shape();
        let mut new = NewArray::new(format, array.dtype().clone(), array.shape(), chunk);
        new.fill.clone_from(&meta.fill);
        array.attributes().clone_into(&mut new.attributes);
        if let Some(names) = &meta.dimension_names {
            new.dimension_names = names.iter().cloned().collect();
        }
        let codecs = &meta.codecs;
        let is_plain = codecs.transpose.is_none()
            && codecs.serializer == Serializer::Bytes
            && codecs.bytes == [BytesCodec::Blosc];
        Self::new(new, Source { array, is_plain })
    }
}

struct Source<'a> {
    array: &'a ZarrArray,
    is_plain: bool,
}

impl ChunkSource for Source<'_> {
    fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.array.read_slice(slice)
    }

    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        match self.is_plain {
            true => self.array.stored_chunk(at),
            false => Ok(None),
        }
    }
}
