//! [`ArrayMeta`]: what the metadata of an array says, of either version.

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
    /// Version 2: `.zarray`, `.zgroup` and `.zattrs`.
    V2,
    /// Version 3: `zarr.json`.
    V3,
}

impl Format {
    /// The name as a layout.
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

/// The metadata of an array, parsed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ArrayMeta {
    /// The version.
    pub format: Format,
    /// Elements along each axis.
    pub shape: Vec<u64>,
    /// Elements of a chunk along each axis, each at least 1. All chunks have as many, also those at the end of an axis.
    pub chunk_shape: Vec<u64>,
    /// The type of the elements, in the byte order that they are stored in.
    pub dtype: DType,
    /// The names of the chunks.
    pub keys: ChunkKeys,
    /// The bytes of an element of which no chunk is stored; `None` if the metadata leaves that open, and zeros are read.
    pub fill: Option<Vec<u8>>,
    /// How chunks are encoded.
    pub codecs: Codecs,
    /// The attributes: the text of a JSON object, in which Python's `NaN` may occur.
    pub attributes: String,
    /// The names of the axes.
    pub dimension_names: Option<Vec<Option<String>>>,
}

/// The most axes that an array of NumPy has.
const MAX_AXES: usize = 64;

impl ArrayMeta {
    /// The metadata of version 2: the text of `.zarray`, and that of `.zattrs` if there is one.
    ///
    /// # Errors
    /// Returns errors for damage, for anything that is not supported, and for what exceeds a limit.
    pub fn parse_v2(array: &[u8], attributes: Option<&[u8]>, limits: &Limits) -> Result<Self> {
        let attributes = match attributes {
            Some(text) => object_text(text)?.to_owned(),
            None => "{}".to_owned(),
        };
        v2::parse(&Document::parse(array)?, attributes)?.checked(limits)
    }

    /// The metadata of version 3: the text of `zarr.json`.
    ///
    /// # Errors
    /// Returns errors for damage, for anything that is not supported, and for what exceeds a limit.
    pub fn parse_v3(array: &[u8], limits: &Limits) -> Result<Self> {
        v3::parse(&Document::parse(array)?)?.checked(limits)
    }

    /// Refuses what no array can be, or what exceeds a limit.
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

    /// Elements along each axis of the smallest part that can be read: a chunk, or where chunks are sharded, one in a shard.
    #[must_use]
    pub fn inner_chunk_shape(&self) -> &[u64] {
        self.codecs.inner_shape(&self.chunk_shape)
    }

    /// Bytes of all elements.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        // Checked, when this was made.
        byte_len(&self.shape, self.dtype.itemsize()).unwrap_or(u64::MAX)
    }
}

/// Refuses elements that have no bytes of their own.
fn check_dtype(dtype: &DType) -> Result<()> {
    if dtype.itemsize() == 0 || dtype.has_object() {
        let expected = "elements of a fixed number of bytes";
        Err(unsupported("dtype", dtype, expected))
    } else {
        Ok(())
    }
}

/// Refuses chunks without elements, or of another number of axes.
fn check_chunks(field: &str, chunk: &[u64], axes: usize) -> Result<()> {
    if chunk.len() == axes && chunk.iter().all(|len| *len > 0) {
        Ok(())
    } else {
        let expected = format!("{axes} lengths of at least 1");
        Err(wrong_field(field, format!("{chunk:?}"), expected))
    }
}

/// Checks a chunk of this shape, and all that it consists of.
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
    // A shard of 2^63 bytes has fewer chunks.
    let count = product(counts.iter().copied()).unwrap_or(u64::MAX);
    Error::check_limit(Limit::Offsets, count.saturating_mul(16), limits.offsets)?;
    check_codecs(&shard.codecs, inner, itemsize, limits)
}

#[cfg(test)]
mod tests;
