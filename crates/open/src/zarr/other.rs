//! Zarr arrays into Zarr arrays of another version.

use super::{BytesCodec, ChunkSource, Conversion, Format, NewArray, Serializer, ZarrArray};
use bloscpack_error::Result;
use bloscpack_wire::internal::json;
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
        new.dimension_names = match &meta.dimension_names {
            Some(names) => names.iter().cloned().collect(),
            None => names_in(array),
        };
        let codecs = &meta.codecs;
        let is_plain = codecs.transpose.is_none()
            && codecs.serializer == Serializer::Bytes
            && codecs.bytes == [BytesCodec::Blosc];
        Self::new(new, Source { array, is_plain })
    }
}

/// The names of the axes that xarray keeps among the attributes in version 2.
fn names_in(array: &ZarrArray) -> Option<Vec<String>> {
    let attributes = json::parse(array.attributes().as_bytes()).ok()?;
    let names = attributes.get("_ARRAY_DIMENSIONS")?.as_array()?;
    let names: Option<Vec<String>> = names
        .iter()
        .map(|name| name.as_str().map(str::to_owned))
        .collect();
    names.filter(|names| names.len() == array.shape().len())
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
        if self.is_plain {
            self.array.stored_chunk(at)
        } else {
            Ok(None)
        }
    }
}
