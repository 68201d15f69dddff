//! [`ZarrArray`]: an array that is read.

use crate::codec::Unpacker;
use crate::int::byte_len;
use crate::meta::{ArrayMeta, Format};
use crate::read::{Chunk, Reader, open_file};
use bloscpack::Options;
use bloscpack_array::{Grid, Part, bytes_of, copy, lens, relative};
use bloscpack_dtype::DType;
use bloscpack_error::checked::{to_u64, zeros};
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::{Key, Store, parallel};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Chunks that are announced to the store at once.
const ANNOUNCED: usize = 1 << 10;

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
#[derive(Debug, Clone)]
pub struct ZarrArray {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) folder: Key,
    pub(crate) meta: Arc<ArrayMeta>,
    pub(crate) grid: Grid,
    pub(crate) threads: usize,
    pub(crate) unpacker: Arc<Unpacker>,
    last: Arc<Mutex<Option<LastChunk>>>,
}

/// The elements of the chunk that was decoded last, by its position.
type LastChunk = (Vec<u64>, Arc<Vec<u8>>);

impl ZarrArray {
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        folder: &Key,
        meta: ArrayMeta,
        options: &Options,
    ) -> Self {
        Self {
            store: Arc::clone(store),
            folder: folder.clone(),
            grid: Grid::new(meta.shape.clone(), meta.chunk_shape.clone()),
            meta: Arc::new(meta),
            threads: options.workers(),
            unpacker: Arc::new(Unpacker::new(options.limits)),
            last: Arc::default(),
        }
    }

    /// All that the metadata says.
    #[must_use]
    pub fn meta(&self) -> &ArrayMeta {
        &self.meta
    }

    /// The version of Zarr.
    #[must_use]
    pub fn format(&self) -> Format {
        self.meta.format
    }

    /// Elements along each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.meta.shape
    }

    /// Elements along each axis of a chunk, which is a file. It may consist of [smaller ones](ArrayMeta::inner_chunk_shape).
    #[must_use]
    pub fn chunk_shape(&self) -> &[u64] {
        &self.meta.chunk_shape
    }

    /// The type of the elements, in the byte order in which they are read.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.meta.dtype
    }

    /// The attributes: the text of a JSON object, in which Python's `NaN` may occur.
    #[must_use]
    pub fn attributes(&self) -> &str {
        &self.meta.attributes
    }

    /// Bytes of all elements.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.meta.nbytes()
    }

    /// The folder in the store.
    #[must_use]
    pub fn folder(&self) -> &Key {
        &self.folder
    }

    /// The bytes of a slice in C order, and in the byte order of the dtype. A slice is a range of elements along each axis.
    ///
    /// # Errors
    /// Returns wrong usage for a slice that is not within the array, any I/O error, and any damage to the
    /// chunks that it touches.
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.grid.check(slice)?;
        let mut out = zeros(bytes_of(slice, self.dtype().itemsize()))?;
        self.read_into(slice, &mut out)?;
        Ok(out)
    }

    fn read_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        let (out, itemsize) = (Mutex::new(out), self.dtype().itemsize());
        let read = |Part {
                        at, origin, region, ..
                    }: Part| {
            let dense = self.read_part(&at, &relative(&region, &origin))?;
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            copy(&region, (&region, &dense), (slice, &mut **out), itemsize)
        };
        let mut parts = self.grid.parts(slice);
        loop {
            let some: Vec<Part> = parts.by_ref().take(ANNOUNCED).collect();
            if some.is_empty() {
                return Ok(());
            }
            self.announce(&some)?;
            parallel::for_each(self.threads, some.into_iter(), read)?;
        }
    }

    /// Announces chunks that are going to be read whole.
    fn announce(&self, parts: &[Part]) -> Result<()> {
        if parts.len() < 2 || !self.meta.codecs.is_read_whole() {
            return Ok(());
        }
        let keys = parts
            .iter()
            .map(|part| self.meta.keys.key(&self.folder, &part.at));
        let keys = keys.collect::<std::io::Result<Vec<Key>>>().reading()?;
        self.store.will_read(&keys);
        Ok(())
    }

    /// The elements of a part of a chunk, which is relative to it.
    pub(crate) fn read_part(&self, at: &[u64], part: &[Range<u64>]) -> Result<Vec<u8>> {
        if let Some(whole) = self.kept(at) {
            let reader = self.reader();
            return reader.cut(&whole, self.chunk_shape(), part);
        }
        let key = self.meta.keys.key(&self.folder, at).reading()?;
        let read = self.read_stored(at, &key, part);
        read.map_err(|error| error.in_file(Path::new(key.as_str())))
    }

    fn read_stored(&self, at: &[u64], key: &Key, part: &[Range<u64>]) -> Result<Vec<u8>> {
        let reader = self.reader();
        let Some(file) = open_file(&*self.store, key)? else {
            return reader.filled(part);
        };
        let chunk = Chunk::of(&*file).reading()?;
        if !self.meta.codecs.is_read_whole() {
            return reader.part(&self.meta.codecs, self.chunk_shape(), chunk, part);
        }
        let whole = reader.whole(&self.meta.codecs, self.chunk_shape(), chunk)?;
        if lens(part) == self.chunk_shape() {
            return Ok(whole);
        }
        let whole = Arc::new(whole);
        let cut = reader.cut(&whole, self.chunk_shape(), part)?;
        self.keep(at, whole);
        Ok(cut)
    }

    /// The file of a chunk as it is; `None` if it is not stored.
    ///
    /// # Errors
    /// Returns any I/O error, and an error for a file that is longer than any chunk.
    pub fn stored_chunk(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        let key = self.meta.keys.key(&self.folder, at).reading()?;
        let read = || {
            let Some(file) = open_file(&*self.store, &key)? else {
                return Ok(None);
            };
            let chunk = Chunk::of(&*file).reading()?;
            let bytes = byte_len(self.chunk_shape(), self.dtype().itemsize());
            Unpacker::check_stored(chunk.len(), bytes.unwrap_or(u64::MAX))?;
            chunk.read().map(Some)
        };
        read().map_err(|error: Error| error.in_file(Path::new(key.as_str())))
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            unpacker: &self.unpacker,
            itemsize: self.dtype().itemsize(),
            fill: self.meta.fill.as_deref(),
        }
    }

    /// The chunk at this position, if it is the last that was decoded.
    fn kept(&self, at: &[u64]) -> Option<Arc<Vec<u8>>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, data) = last.as_ref().filter(|(position, _)| position == at)?;
        Some(Arc::clone(data))
    }

    fn keep(&self, at: &[u64], data: Arc<Vec<u8>>) {
        /// Longer chunks are decoded anew, to take no more memory than one needs.
        const MOST: u64 = 256 << 20;
        if to_u64(data.len()) <= MOST {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some((at.to_vec(), data));
        }
    }
}
