//! [`ZarrArray`]: an array that is open for reading.

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

/// An array that is open for reading: its metadata, and the store that contains its chunks. Clones share both, and the cache.
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
/// Chunks that were read in small part are kept in memory. If another program changes the array, they still show the old
/// elements: open the array again.
#[derive(Debug, Clone)]
pub struct ZarrArray {
    pub(crate) chunks: Arc<Chunked<ZarrChunks>>,
}

impl ZarrArray {
    /// The array with this metadata in a folder of a store. Reads nothing.
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

    /// The parsed metadata.
    #[must_use]
    pub fn meta(&self) -> &ArrayMeta {
        &self.chunks.store().meta
    }

    /// The version of Zarr.
    #[must_use]
    pub fn format(&self) -> Format {
        self.meta().format
    }

    /// Elements along each axis. An array without axes has one element.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.meta().shape
    }

    /// Elements of a chunk file along each axis. In a sharded array this is a shard, which consists of [smaller
    /// chunks](ArrayMeta::inner_chunk_shape).
    #[must_use]
    pub fn chunk_shape(&self) -> &[u64] {
        &self.meta().chunk_shape
    }

    /// The type of the elements, in the byte order in which they are stored and read.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.meta().dtype
    }

    /// The attributes: the text of a JSON object, in the spelling of the file. The numbers `NaN` and `Infinity` of Python may
    /// occur in it.
    #[must_use]
    pub fn attributes(&self) -> &str {
        &self.meta().attributes
    }

    /// Uncompressed bytes of all elements.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.meta().nbytes()
    }

    /// The folder of the array in the store.
    #[must_use]
    pub fn folder(&self) -> &Key {
        &self.chunks.store().folder
    }

    /// The bytes of a slice, in C order and in the byte order of the dtype. A slice has a range for each axis.
    ///
    /// Chunks without a file have the fill value. Large slices are read on several threads.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a slice that is not within the array,
    /// [`Code::NoMemory`](bloscpack_error::Code::NoMemory) for one that does not fit memory, any I/O error, and any damage to
    /// the chunks that it touches.
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.chunks.read(slice)
    }

    /// The bytes of a chunk file or a shard, still encoded; `None` if there is no file. `at` is the number of the chunk along
    /// each axis; it is not compared with the shape.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_storage::{Key, Memory};
    /// use bloscpack_zarr::ZarrArray;
    /// use std::sync::Arc;
    /// let meta = br#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "compressor": null, "filters": null,
    ///     "fill_value": 0, "order": "C"}"#;
    /// let store = Memory::from([(".zarray", meta.to_vec()), ("0", vec![1, 2])]);
    /// let array = ZarrArray::open(Arc::new(store), &Key::root(), &Options::new())?;
    /// assert_eq!(array.stored_chunk(&[0])?, Some(vec![1, 2]));
    /// assert_eq!(array.stored_chunk(&[1])?, None);
    /// let survey = array.survey()?;
    /// assert_eq!((survey.chunks, survey.stored_bytes, survey.foreign), (1, 2, 0));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any I/O error, [`Code::MissingFile`](bloscpack_error::Code::MissingFile) for a link or a folder in place of the
    /// file, and [`Code::Chunk`](bloscpack_error::Code::Chunk) for a file longer than any encoded chunk.
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

    /// The attributes, the fill value, and the names of the axes. In version 2, these are the attribute `_ARRAY_DIMENSIONS`.
    fn description(&self) -> Result<Description> {
        let meta = self.meta();
        // Attributes that are too long to parse are left out.
        let attributes = Attributes::parse(meta.attributes.as_bytes()).unwrap_or_default();
        // In version 2, xarray stores the names of the axes as an attribute.
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

    /// Returns only chunks that are encoded by Blosc alone, with elements in C order.
    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        if !self.meta().codecs.is_blosc() {
            return Ok(None);
        }
        let mut stored = self.stored_chunk(at)?;
        if let Some(chunk) = &mut stored {
            // Like numcodecs, ignores bytes after the Blosc chunk.
            if let Ok(header) = blosc1::read_header(chunk) {
                chunk.truncate(in_memory(header.ctbytes.into())?);
            }
        }
        Ok(stored)
    }
}
