//! [`ArrayMeta`]: the metadata of an array, of either version.

mod codecs2;
mod codecs3;
mod dtype3;
mod encode;
mod fields;
mod fill;
mod v2;
mod v3;

use crate::codec::{Codecs, Serializer};
use crate::error::{unsupported, wrong_field};
use crate::int::byte_len;
use crate::keys::ChunkKeys;
use bloscpack_array::product;
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use bloscpack_wire::{Limit, Limits};
use std::fmt;

pub(crate) use encode::{Encoded, array as encode_array, group as encode_group, plain_group};
pub(crate) use fields::{Document, Fields, object_text};

/// A version of Zarr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Version 2: `.zarray`, `.zgroup`, `.zattrs` and `.zmetadata`.
    V2,
    /// Version 3: `zarr.json`.
    V3,
}

impl Format {
    /// The name in commands and reports: `zarr2` or `zarr3`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2 => "zarr2",
            Self::V3 => "zarr3",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The parsed metadata of an array, of either version.
///
/// ```
/// use bloscpack_wire::Limits;
/// use bloscpack_zarr::ArrayMeta;
/// let text = br#"{"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<f8", "compressor": {"id": "zstd"},
///     "filters": null, "fill_value": "NaN", "order": "F"}"#;
/// let meta = ArrayMeta::parse_v2(text, None, &Limits::new())?;
/// assert_eq!((meta.nbytes(), meta.chunk_shape.as_slice()), (192, [2, 3].as_slice()));
/// assert_eq!(meta.codecs.names(), ["transpose", "bytes", "zstd"]);
/// assert_eq!(meta.fill.map(|element| element.len()), Some(8));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ArrayMeta {
    /// The version of Zarr.
    pub format: Format,
    /// Elements along each axis, at most 64 axes. An array without axes has one element.
    pub shape: Vec<u64>,
    /// Elements of a chunk file along each axis, each at least 1. All chunks have this shape, including those at the end of an
    /// axis.
    pub chunk_shape: Vec<u64>,
    /// The type of the elements, in the byte order in which they are stored.
    pub dtype: DType,
    /// How chunk files are named.
    pub keys: ChunkKeys,
    /// The fill value: the bytes of one element, in the byte order of the dtype. `None` if the metadata does not give one;
    /// zeros are read then.
    pub fill: Option<Vec<u8>>,
    /// How chunks are encoded.
    pub codecs: Codecs,
    /// The attributes: the text of a JSON object, in the spelling of the file. The numbers `NaN` and `Infinity` of Python may
    /// occur in it.
    pub attributes: String,
    /// The names of the axes; an axis may have none. Always `None` in version 2, where xarray stores them as an attribute.
    pub dimension_names: Option<Vec<Option<String>>>,
}

/// The maximum number of axes. NumPy has the same.
const MAX_AXES: usize = 64;

impl ArrayMeta {
    /// Parses the metadata of version 2: the text of `.zarray`, and of `.zattrs` if that exists.
    ///
    /// # Errors
    /// Returns [`Code::Metadata`](bloscpack_error::Code::Metadata) for text that is not JSON, missing fields and impossible
    /// values; [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for filters, compressors and dtypes that this crate
    /// does not have; and [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for an array over the limit `total`, a chunk
    /// over `chunk`, or a shard index over `offsets`.
    pub fn parse_v2(array: &[u8], attributes: Option<&[u8]>, limits: &Limits) -> Result<Self> {
        let attributes = match attributes {
            Some(text) => object_text(text)?.to_owned(),
            None => "{}".to_owned(),
        };
        v2::parse(&Document::parse(array)?, attributes)?.checked(limits)
    }

    /// Parses the metadata of version 3: the text of `zarr.json`.
    ///
    /// # Errors
    /// Returns the errors of [`parse_v2`](Self::parse_v2), and [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for
    /// unknown fields that must be understood.
    pub fn parse_v3(array: &[u8], limits: &Limits) -> Result<Self> {
        v3::parse(&Document::parse(array)?)?.checked(limits)
    }

    /// Refuses impossible shapes, codecs that do not fit them, and what exceeds a limit.
    fn checked(self, limits: &Limits) -> Result<Self> {
        let axes = self.shape.len();
        if axes > MAX_AXES {
            return Err(unsupported("axes:", axes, "at most 64"));
        }
        self.check_names()?;
        let itemsize = self.dtype.itemsize();
        check_chunks("chunks", &self.chunk_shape, axes)?;
        let too_large = || wrong_field("shape", format!("{:?}", self.shape), "at most 2^63 bytes");
        let padded: Option<Vec<u64>> = self
            .shape
            .iter()
            .zip(&self.chunk_shape)
            .map(|(len, chunk)| len.checked_next_multiple_of(*chunk))
            .collect();
        let padded = padded.and_then(|padded| byte_len(&padded, itemsize));
        padded.ok_or_else(too_large)?;
        let bytes = byte_len(&self.shape, itemsize).ok_or_else(too_large)?;
        Error::check_limit(Limit::Total, bytes, limits.total)?;
        check_codecs(&self.codecs, &self.chunk_shape, itemsize, limits)?;
        Ok(self)
    }

    /// Refuses another number of names than axes.
    fn check_names(&self) -> Result<()> {
        let axes = self.shape.len();
        match &self.dimension_names {
            Some(names) if names.len() != axes => {
                let found = format!("{} names", names.len());
                Err(wrong_field("dimension_names", found, axes.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// Elements along each axis of the smallest part that is decoded on its own: a chunk, or in a sharded array a chunk within
    /// a shard.
    #[must_use]
    pub fn inner_chunk_shape(&self) -> &[u64] {
        self.codecs.inner_shape(&self.chunk_shape)
    }

    /// Uncompressed bytes of all elements, without padding.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        // Parsing has checked that the product does not overflow.
        byte_len(&self.shape, self.dtype.itemsize()).unwrap_or(u64::MAX)
    }
}

/// Refuses Python objects, and elements of 0 bytes.
fn check_dtype(dtype: &DType) -> Result<()> {
    if dtype.itemsize() == 0 || dtype.has_object() {
        let expected = "elements of a fixed number of bytes";
        Err(unsupported("dtype", dtype, expected))
    } else {
        Ok(())
    }
}

/// Refuses chunks with another number of axes, or without elements.
fn check_chunks(field: &str, chunk: &[u64], axes: usize) -> Result<()> {
    if chunk.len() == axes && chunk.iter().all(|len| *len > 0) {
        Ok(())
    } else {
        let expected = format!("{axes} lengths of at least 1");
        Err(wrong_field(field, format!("{chunk:?}"), expected))
    }
}

/// Checks the codecs of a chunk of this shape, and of the smaller chunks in it.
fn check_codecs(codecs: &Codecs, chunk: &[u64], itemsize: u64, limits: &Limits) -> Result<()> {
    if let Some(order) = &codecs.transpose {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..chunk.len()) {
            let found = format!("{order:?}");
            let expected = format!("the numbers of {} axes", chunk.len());
            return Err(wrong_field("transpose: order", found, expected));
        }
    }
    let bytes = byte_len(chunk, itemsize);
    let bytes =
        bytes.ok_or_else(|| wrong_field("chunks", format!("{chunk:?}"), "at most 2^63 bytes"))?;
    let Serializer::Sharding(shard) = &codecs.serializer else {
        return Error::check_limit(Limit::Chunk, bytes, limits.chunk.into());
    };
    if codecs.is_whole() {
        Error::check_limit(Limit::Chunk, bytes, limits.chunk.into())?;
    }
    let stored = codecs.stored_shape(chunk);
    let inner = &shard.chunk_shape;
    check_chunks("sharding_indexed: chunk_shape", inner, stored.len())?;
    let counts = stored.iter().zip(inner).map(|(len, inner)| {
        let is_whole = len.is_multiple_of(*inner);
        let wrong = || {
            let expected = format!("a divisor of {len}");
            wrong_field("sharding_indexed: chunk_shape", inner, expected)
        };
        is_whole.then(|| len / inner).ok_or_else(wrong)
    });
    let counts = counts.collect::<Result<Vec<u64>>>()?;
    // A shard of less than 2^63 bytes has fewer chunks.
    let count = product(counts.iter().copied()).unwrap_or(u64::MAX);
    Error::check_limit(Limit::Offsets, count.saturating_mul(16), limits.offsets)?;
    check_codecs(&shard.codecs, inner, itemsize, limits)
}

#[cfg(test)]
mod tests;
