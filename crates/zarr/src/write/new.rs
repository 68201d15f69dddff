//! [`NewArray`]: the description of a new array.

use crate::int::byte_len;
use crate::meta::Format;
use blosc1::{ChunkSettings, MAX_NBYTES};
use bloscpack_array::Grid;
use bloscpack_dtype::DType;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Code, Error, Result};

/// The description of a new array. [`ArrayWriter::create`](crate::ArrayWriter::create) checks it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewArray {
    /// The version of Zarr.
    pub format: Format,
    /// The type of the elements, and the byte order in which they are written.
    pub dtype: DType,
    /// Elements along each axis. An array without axes has one element.
    pub shape: Vec<u64>,
    /// Elements of a chunk along each axis, each at least 1. A chunk is at most 2,147,483,631 bytes. In a sharded array, this
    /// is a chunk within a shard.
    pub chunk_shape: Vec<u64>,
    /// Chunks in a shard along the first axis (default 1); with fewer than 2, the array has no shards. Shards need version 3, C
    /// order and at least one axis.
    pub chunks_per_shard: u64,
    /// Whether the elements of a chunk are stored in Fortran order, with the first axis varying fastest (default false).
    pub fortran: bool,
    /// The fill value: the bytes of one element, in the byte order of the dtype. Chunks that are not written have it. `None`
    /// (default) is zeros.
    pub fill: Option<Vec<u8>>,
    /// Whether the metadata states no fill value, for arrays whose chunks are all there (default false). Readers such as xarray
    /// take elements with the fill value of version 2 for missing ones. Only in version 2.
    pub without_fill: bool,
    /// How chunks are compressed (default: [`ChunkSettings::default`], with the element size as typesize). Do not use Snappy,
    /// which numcodecs cannot read.
    pub settings: ChunkSettings,
    /// The attributes: the text of a JSON object (default `{}`).
    pub attributes: String,
    /// The names of the axes, one for each (default `None`). In version 2 they are written as the attribute
    /// `_ARRAY_DIMENSIONS`, unless that exists.
    pub dimension_names: Option<Vec<String>>,
}

impl NewArray {
    /// An array with these shapes, in C order, with default compression, fill value and attributes.
    #[must_use]
    pub fn new(format: Format, dtype: DType, shape: &[u64], chunk_shape: &[u64]) -> Self {
        let typesize = u8::try_from(dtype.itemsize()).unwrap_or(1).max(1);
        Self {
            format,
            dtype,
            shape: shape.to_vec(),
            chunk_shape: chunk_shape.to_vec(),
            chunks_per_shard: 1,
            fortran: false,
            fill: None,
            without_fill: false,
            settings: ChunkSettings::default().typesize(typesize),
            attributes: "{}".to_owned(),
            dimension_names: None,
        }
    }

    /// Refuses shapes, shards and fill values that do not fit.
    pub(super) fn check(&self) -> Result<()> {
        let fits = self.shape.len() == self.chunk_shape.len()
            && self.chunk_shape.iter().all(|len| *len > 0);
        if !fits {
            let (shape, chunk) = (&self.shape, &self.chunk_shape);
            return Err(Error::usage(format!(
                "chunks of {chunk:?} for an array of {shape:?}"
            )));
        }
        let bytes = byte_len(&self.chunk_shape, self.dtype.itemsize());
        if bytes.is_none_or(|bytes| bytes > MAX_NBYTES.into()) {
            let chunk = &self.chunk_shape;
            return Err(Error::usage(format!(
                "chunks of {chunk:?} have more than 2 GiB"
            )));
        }
        if self.is_sharded() && (self.format == Format::V2 || self.shape.is_empty() || self.fortran)
        {
            return Err(Error::usage(
                "only arrays of version 3 in C order, with axes, have shards",
            ));
        }
        self.fill_bytes().map(drop)
    }

    /// Whether chunks are stored in shards.
    #[must_use]
    pub fn is_sharded(&self) -> bool {
        self.chunks_per_shard > 1
    }

    /// The bytes of the fill value, or [`Code::Usage`] if it is not one element long.
    pub(crate) fn fill_bytes(&self) -> Result<Vec<u8>> {
        let len = in_memory(self.dtype.itemsize())?;
        match &self.fill {
            None => Ok(vec![0; len]),
            Some(fill) if fill.len() == len => Ok(fill.clone()),
            Some(fill) => {
                let found = fill.len();
                Err(Error::usage(format!(
                    "a fill value of {found} bytes, expected {len}"
                )))
            }
        }
    }

    /// Elements of a file along each axis: of a chunk, or of a shard.
    pub(crate) fn outer_shape(&self) -> Result<Vec<u64>> {
        let mut outer = self.chunk_shape.clone();
        if let Some(first) = outer.first_mut().filter(|_| self.is_sharded()) {
            let shards = self.chunks_per_shard;
            let too_large = || Error::unexpected(Code::Shape, "shards", shards, "fewer chunks");
            *first = first.checked_mul(shards).ok_or_else(too_large)?;
        }
        Ok(outer)
    }

    /// The array in chunks, not in shards.
    pub(super) fn grid(&self) -> Grid {
        Grid::new(self.shape.clone(), self.chunk_shape.clone())
    }
}
