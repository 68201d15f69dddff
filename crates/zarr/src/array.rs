//! [`ZarrArray`]: an array that is read.

use crate::codec::Unpacker;
use crate::error::{Checked, ZarrError};
use crate::int::{byte_len, in_memory, to_u64};
use crate::meta::{ArrayMeta, Format};
use crate::options::OpenOptions;
use crate::read::{Chunk, Reader, open_file};
use bloscpack_array::boxes::{Positions, Window, common, relative, runs, units};
use bloscpack_dtype::DType;
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
/// use bloscpack_storage::{Key, Memory};
/// use bloscpack_zarr::OpenOptions;
/// use std::sync::Arc;
/// let meta = br#"{"zarr_format": 2, "shape": [4], "chunks": [3], "dtype": "|u1", "compressor": null, "filters": null,
///     "fill_value": 7, "order": "C"}"#;
/// let store = Memory::from([(".zarray", meta.to_vec()), ("0", vec![1, 2, 3])]);
/// let array = OpenOptions::new().open_array(Arc::new(store), &Key::root())?;
/// assert_eq!(array.read_slice(&[1..4])?, [2, 3, 7]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ZarrArray {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) folder: Key,
    pub(crate) meta: Arc<ArrayMeta>,
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
        options: &OpenOptions,
    ) -> Self {
        Self {
            store: Arc::clone(store),
            folder: folder.clone(),
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
    /// Returns [`ZarrError::OutOfBounds`] for a slice that is not within the array, any I/O error, and any damage to the
    /// chunks that it touches.
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.check(slice)?;
        let lens: Vec<u64> = slice.iter().map(|range| range.end - range.start).collect();
        let bytes = byte_len(&lens, self.dtype().itemsize()).unwrap_or(u64::MAX);
        let len = in_memory(bytes)?;
        let mut out = Vec::new();
        let room = out.try_reserve_exact(len);
        room.map_err(|_| ZarrError::NoMemory { bytes })?;
        out.resize(len, 0);
        self.read_into(slice, &lens, &mut out)?;
        Ok(out)
    }

    fn check(&self, slice: &[Range<u64>]) -> Checked<()> {
        let mut axes = slice.iter().zip(self.shape());
        let fits = slice.len() == self.shape().len()
            && axes.all(|(range, len)| range.start <= range.end && range.end <= *len);
        if fits {
            Ok(())
        } else {
            Err(ZarrError::OutOfBounds {
                slice: format!("{slice:?}"),
                shape: self.shape().to_vec(),
            })
        }
    }

    fn read_into(&self, slice: &[Range<u64>], lens: &[u64], out: &mut [u8]) -> Result<()> {
        let origin: Vec<u64> = slice.iter().map(|range| range.start).collect();
        let (out, itemsize) = (Mutex::new(out), self.dtype().itemsize());
        let read = |at: Vec<u64>| {
            let extent = self.extent(&at);
            let part = common(slice, &extent);
            let first: Vec<u64> = extent.iter().map(|range| range.start).collect();
            let dense = self.read_part(&at, &relative(&part, &first))?;
            let (from, to) = (
                window(&part),
                Window {
                    shape: lens,
                    origin: &origin,
                },
            );
            let from = Window {
                shape: &from.0,
                origin: &from.1,
            };
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            runs(&part, (from, to), itemsize, |run| {
                let from = dense.get(run.from..run.from + run.len);
                let to = out.get_mut(run.to..run.to + run.len);
                let (Some(from), Some(to)) = (from, to) else {
                    return Err(Error::bug(format!("no {run:?} in a chunk or a slice")));
                };
                to.copy_from_slice(from);
                Ok(())
            })
        };
        let mut positions = Positions::new(units(slice, self.chunk_shape()));
        loop {
            let some: Vec<Vec<u64>> = positions.by_ref().take(ANNOUNCED).collect();
            if some.is_empty() {
                return Ok(());
            }
            self.announce(&some)?;
            parallel::for_each(self.threads, some.into_iter(), read)?;
        }
    }

    /// Announces chunks that are going to be read whole.
    fn announce(&self, positions: &[Vec<u64>]) -> Result<()> {
        if positions.len() < 2 || !self.meta.codecs.is_read_whole() {
            return Ok(());
        }
        let keys = positions
            .iter()
            .map(|at| self.meta.keys.key(&self.folder, at));
        let keys = keys.collect::<std::io::Result<Vec<Key>>>().reading()?;
        self.store.will_read(&keys);
        Ok(())
    }

    /// The elements of the array that a chunk may have, also past the end of the array.
    pub(crate) fn extent(&self, at: &[u64]) -> Vec<Range<u64>> {
        let axes = at.iter().zip(self.chunk_shape());
        // An array that is padded to whole chunks has at most 2^63 bytes.
        axes.map(|(at, len)| {
            let begin = at.saturating_mul(*len);
            begin..begin.saturating_add(*len)
        })
        .collect()
    }

    /// The elements of a part of a chunk, which is relative to it.
    pub(crate) fn read_part(&self, at: &[u64], part: &[Range<u64>]) -> Result<Vec<u8>> {
        if let Some(whole) = self.kept(at) {
            let reader = self.reader();
            return Ok(reader.cut(&whole, self.chunk_shape(), part)?);
        }
        let key = self.meta.keys.key(&self.folder, at).reading()?;
        let read = self.read_stored(at, &key, part);
        read.map_err(|error| error.in_file(Path::new(key.as_str())))
    }

    fn read_stored(&self, at: &[u64], key: &Key, part: &[Range<u64>]) -> Result<Vec<u8>> {
        let reader = self.reader();
        let Some(file) = open_file(&*self.store, key)? else {
            return Ok(reader.filled(part)?);
        };
        let chunk = Chunk::of(&*file).reading()?;
        if !self.meta.codecs.is_read_whole() {
            return reader.part(&self.meta.codecs, self.chunk_shape(), chunk, part);
        }
        let whole = reader.whole(&self.meta.codecs, self.chunk_shape(), chunk)?;
        let lens = part.iter().map(|range| range.end - range.start);
        if lens.eq(self.chunk_shape().iter().copied()) {
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

/// Lengths and first elements of ranges.
fn window(part: &[Range<u64>]) -> (Vec<u64>, Vec<u64>) {
    part.iter()
        .map(|range| (range.end - range.start, range.start))
        .unzip()
}
