//! [`ZarrArray`]: an array that is read.

use crate::chunks::ZarrChunks;
use crate::codec::Unpacker;
use crate::int::byte_len;
use crate::meta::{ArrayMeta, Format};
use crate::read::{Chunk, open_file};
use bloscpack::Options;
use bloscpack_array::{Array, Attributes, Chunked, DIMENSIONS, Description, Grid, Resources};
use bloscpack_dtype::DType;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::{Key, Store};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// An array: its metadata, and the store that contains its chunks.
///
/// ```
/// use bloscpack::Options;
/// use bloscpack_storage::{Key, Memory};
/// use bloscpack_zarr::ZarrArray;
/// use std::sync::Arc;
/// let meta = br#"{"zarr_format": 2, "shape": [4], "chunks": [3], "dtype": "|u1", "compressor": null, "filters": null,
///     "fill_value": 7, "order": "C"}"#;
/// let store = Memory::from([(".zarray", meta.to_vec()), ("0", vec![1, 2, 3])]);
/// let array = ZarrArray::open(Arc::new(store), &Key::root(), &Options::new())?;
/// assert_eq!(array.read_slice(&[1..4])?, [2, 3, 7]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// Chunks of which a small part was read are kept: an array that others change shows them as they were.
#[derive(Debug, Clone)]
pub struct ZarrArray {
    pub(crate) chunks: Arc<Chunked<ZarrChunks>>,
}

impl ZarrArray {
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        folder: &Key,
        meta: ArrayMeta,
        options: &Options,
    ) -> Result<Self> {
        let resources = Resources::new(options);
        let chunks = ZarrChunks::new(store, folder, meta, &resources);
        let geometry = chunks.geometry()?;
        Ok(Self {
            chunks: Arc::new(Chunked::new(chunks, geometry, &resources)),
        })
    }

    /// All that the metadata says.
    #[must_use]
    pub fn meta(&self) -> &ArrayMeta {
        &self.chunks.store().meta
    }

    /// The version of Zarr.
    #[must_use]
    pub fn format(&self) -> Format {
        self.meta().format
    }

    /// Elements along each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.meta().shape
    }

    /// Elements along each axis of a chunk, which is a file. It may consist of [smaller ones](ArrayMeta::inner_chunk_shape).
    #[must_use]
    pub fn chunk_shape(&self) -> &[u64] {
        &self.meta().chunk_shape
    }

    /// The type of the elements, in the byte order in which they are read.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.meta().dtype
    }

    /// The attributes: the text of a JSON object, in which Python's `NaN` may occur.
    #[must_use]
    pub fn attributes(&self) -> &str {
        &self.meta().attributes
    }

    /// Bytes of all elements.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.meta().nbytes()
    }

    /// The folder in the store.
    #[must_use]
    pub fn folder(&self) -> &Key {
        &self.chunks.store().folder
    }

    /// The bytes of a slice in C order, and in the byte order of the dtype. A slice is a range of elements along each axis.
    ///
    /// # Errors
    /// Returns wrong usage for a slice that is not within the array, any I/O error, and any damage to the
    /// chunks that it touches.
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.chunks.read(slice)
    }

    /// The file of a chunk as it is; `None` if it is not stored.
    ///
    /// # Errors
    /// Returns any I/O error, and an error for a file that is longer than any chunk.
    pub fn stored_chunk(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        let store = self.chunks.store();
        let key = store.key(at)?;
        let read = || {
            let Some(file) = open_file(&*store.store, &key)? else {
                return Ok(None);
            };
            let chunk = Chunk::of(&*file).reading()?;
            let bytes = byte_len(self.chunk_shape(), self.dtype().itemsize());
            Unpacker::check_stored(chunk.len(), bytes.unwrap_or(u64::MAX))?;
            chunk.read().map(Some)
        };
        read().map_err(|error: Error| error.in_file(Path::new(key.as_str())))
    }
}

impl Array for ZarrArray {
    fn grid(&self) -> &Grid {
        &self.chunks.geometry().chunks
    }

    fn dtype(&self) -> &DType {
        self.dtype()
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.chunks.read_into(slice, out)
    }

    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.read_slice(slice)
    }

    fn description(&self) -> Result<Description> {
        let meta = self.meta();
        // Those that are too long for attributes are left out.
        let attributes = Attributes::parse(meta.attributes.as_bytes()).unwrap_or_default();
        // In version 2, xarray keeps the names of the axes among them.
        let names = || attributes.get(DIMENSIONS);
        let names = || serde_json::from_value::<Vec<Option<String>>>(names()?).ok();
        let named = names().filter(|names| names.len() == self.shape().len());
        Ok(Description {
            axes: meta.dimension_names.clone().or(named),
            attributes,
            fill: meta.fill.clone(),
            ..Description::default()
        })
    }

    /// Chunks that are compressed by Blosc alone.
    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        if !self.meta().codecs.is_blosc() {
            return Ok(None);
        }
        let mut stored = self.stored_chunk(at)?;
        if let Some(chunk) = &mut stored {
            // As numcodecs, which passes over what is after a chunk.
            if let Ok(header) = blosc1::read_header(chunk) {
                chunk.truncate(in_memory(header.ctbytes.into())?);
            }
        }
        Ok(stored)
    }
}
