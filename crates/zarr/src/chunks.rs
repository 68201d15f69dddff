//! [`ZarrChunks`]: the chunks of an array, for [`Chunked`](bloscpack_array::Chunked).
//!
//! ```text
//!  array ─> files: chunks, or shards ─> in a shard: the entry of the index ─> (a shard within it ..) ─> the smallest chunk
//! ```

use crate::codec::{Codecs, Serializer, Shard, Unpacker};
use crate::int::byte_len;
use crate::meta::ArrayMeta;
use crate::read::{Chunk, Reader, ShardIndex, open_file};
use blosc1::read_header;
use bloscpack_array::{Buffer, ChunkStore, Geometry, Grid, Loaded, Resources, Want};
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Code, Error, IoSide as _, Result};
use bloscpack_storage::{Key, ReadAt, Store};
use bloscpack_wire::Limit;
use bytes::Bytes;
use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The smallest chunks of an array that are encoded on their own: those in shards if there are shards.
#[derive(Debug)]
pub(crate) struct ZarrChunks {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) folder: Key,
    pub(crate) meta: ArrayMeta,
    pub(crate) unpacker: Unpacker,
    /// The array in smallest chunks.
    inner: Grid,
    /// The array in files, each a chunk or a shard.
    pub(crate) files: Grid,
    /// The shards that were used last, by number, with their indexes.
    shards: Mutex<VecDeque<(u64, Arc<OpenShard>)>>,
}

/// The number of shards that are kept open.
const MAX_SHARDS: usize = 16;

/// An open shard: its file, its length in bytes, and its index.
struct OpenShard {
    file: Box<dyn ReadAt>,
    len: u64,
    index: ShardIndex,
}

impl fmt::Debug for OpenShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenShard")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl ZarrChunks {
    /// The chunks of the array with this metadata.
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        folder: &Key,
        meta: ArrayMeta,
        resources: &Resources,
    ) -> Self {
        let grid = |chunk: &[u64]| Grid::new(meta.shape.clone(), chunk.to_vec());
        Self {
            store: Arc::clone(store),
            folder: folder.clone(),
            inner: grid(meta.inner_chunk_shape()),
            files: grid(&meta.chunk_shape),
            unpacker: Unpacker::new(resources.clone()),
            shards: Mutex::default(),
            meta,
        }
    }

    /// The geometry of the smallest chunks, which all have the same number of elements.
    pub(crate) fn geometry(&self) -> Result<Geometry> {
        let itemsize = in_memory(self.meta.dtype.itemsize())?;
        Geometry::padded(self.inner.shape(), self.inner.chunk_shape(), itemsize)
            .ok_or_else(|| Error::no_memory(u64::MAX))
    }

    /// A reader for whole chunks.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            unpacker: &self.unpacker,
            itemsize: self.meta.dtype.itemsize(),
            fill: self.meta.fill.as_deref(),
        }
    }

    /// The position of the file that contains a smallest chunk.
    fn file_of(&self, chunk: u64) -> Vec<u64> {
        let axes = self.inner.position(chunk).into_iter();
        let lens = self
            .inner
            .chunk_shape()
            .iter()
            .zip(self.files.chunk_shape());
        // The length of a shard is a multiple of the length of its chunks.
        axes.zip(lens)
            .map(|(at, (inner, outer))| at / (outer / inner))
            .collect()
    }

    /// The key of the file at this position.
    pub(crate) fn key(&self, file: &[u64]) -> Result<Key> {
        self.meta.keys.key(&self.folder, file).reading()
    }

    /// Adds the file at this position to an error.
    fn in_file(&self, file: &[u64], error: Error) -> Error {
        match self.key(file) {
            Ok(key) => error.in_file(Path::new(key.as_str())),
            Err(_) => error,
        }
    }

    /// Loads a smallest chunk from the file at this position.
    fn load_from(&self, file: &[u64], number: u64, buffer: &mut Buffer<'_>) -> Result<Loaded> {
        let codecs = &self.meta.codecs;
        let shape = self.files.chunk_shape();
        match &codecs.serializer {
            Serializer::Sharding(shard) if !codecs.is_whole() => {
                let Some(open) = self.shard(file, shard)? else {
                    return self.fill(buffer);
                };
                let origin = self.inner.origin(&self.inner.position(number));
                let begin = self.files.origin(file);
                let within: Vec<u64> = origin
                    .iter()
                    .zip(begin)
                    .map(|(at, begin)| at - begin)
                    .collect();
                let chunk = Chunk::with_len(&*open.file, open.len);
                self.load_inner(shard, shape, &open.index, chunk, &within, buffer)
            }
            _ => match open_file(&*self.store, &self.key(file)?)? {
                None => self.fill(buffer),
                Some(file) => {
                    let chunk = Chunk::of(&*file).reading()?;
                    self.load_chunk(codecs, shape, chunk, buffer)
                }
            },
        }
    }

    /// Loads the smallest chunk that begins at element `within` of a shard. The shard has this shape and index, and may contain
    /// further shards.
    fn load_inner(
        &self,
        shard: &Shard,
        shape: &[u64],
        index: &ShardIndex,
        bytes: Chunk<'_>,
        within: &[u64],
        buffer: &mut Buffer<'_>,
    ) -> Result<Loaded> {
        let grid = Grid::new(shape.to_vec(), shard.chunk_shape.clone());
        let axes = within.iter().zip(&shard.chunk_shape);
        let (at, rest): (Vec<u64>, Vec<u64>) = axes.map(|(at, len)| (at / len, at % len)).unzip();
        let Some(chunk) = index.chunk(grid.number(&at), bytes)? else {
            return self.fill(buffer);
        };
        match &shard.codecs.serializer {
            Serializer::Sharding(inner) if !shard.codecs.is_whole() => {
                let counts = Grid::new(shard.chunk_shape.clone(), inner.chunk_shape.clone());
                let index = ShardIndex::read(inner, counts.counts(), chunk)?;
                self.load_inner(inner, &shard.chunk_shape, &index, chunk, &rest, buffer)
            }
            _ => self.load_chunk(&shard.codecs, &shard.chunk_shape, chunk, buffer),
        }
    }

    /// Loads a chunk that is encoded as a whole. A plain Blosc chunk is only read: the caller decompresses the blocks it needs.
    fn load_chunk(
        &self,
        codecs: &Codecs,
        shape: &[u64],
        chunk: Chunk<'_>,
        buffer: &mut Buffer<'_>,
    ) -> Result<Loaded> {
        if !codecs.is_blosc() {
            let data = self.reader().whole(codecs, shape, chunk)?;
            buffer.set(Bytes::from(data));
            return Ok(Loaded::Data);
        }
        let expected = byte_len(shape, self.meta.dtype.itemsize());
        let expected = expected.ok_or_else(|| Error::no_memory(u64::MAX))?;
        Unpacker::check_stored(chunk.len(), expected)?;
        let bytes = buffer.vec();
        chunk.read_into(bytes)?;
        let header = read_header(bytes)?;
        let found = u64::from(header.nbytes);
        if found != expected {
            let what = "bytes in the header of a Blosc chunk";
            return Err(Error::unexpected(Code::Chunk, what, found, expected));
        }
        let allowed = self.unpacker.limits().chunk.into();
        Error::check_limit(Limit::Chunk, found, allowed)?;
        // As numcodecs, which passes over what is after a chunk.
        bytes.truncate(in_memory(header.ctbytes.into())?);
        Ok(Loaded::Blosc {
            header,
            is_complete: true,
        })
    }

    /// Loads the fill value, for a chunk that is not stored.
    fn fill(&self, buffer: &mut Buffer<'_>) -> Result<Loaded> {
        let element = buffer.vec();
        element.clear();
        match &self.meta.fill {
            Some(fill) => element.extend_from_slice(fill),
            None => element.resize(in_memory(self.meta.dtype.itemsize())?, 0),
        }
        Ok(Loaded::Fill)
    }

    /// Opens the shard at this position, or returns it from those that are open; `None` if there is no file.
    fn shard(&self, file: &[u64], shard: &Shard) -> Result<Option<Arc<OpenShard>>> {
        let number = self.files.number(file);
        let shards = || self.shards.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, open)) = shards().iter().find(|(kept, _)| *kept == number) {
            return Ok(Some(Arc::clone(open)));
        }
        let Some(file) = open_file(&*self.store, &self.key(file)?)? else {
            return Ok(None);
        };
        let shape = self.files.chunk_shape();
        let grid = Grid::new(shape.to_vec(), shard.chunk_shape.clone());
        let chunk = Chunk::of(&*file).reading()?;
        let (len, index) = (chunk.len(), ShardIndex::read(shard, grid.counts(), chunk)?);
        let open = Arc::new(OpenShard { file, len, index });
        let mut shards = shards();
        shards.truncate(MAX_SHARDS - 1);
        shards.push_front((number, Arc::clone(&open)));
        Ok(Some(open))
    }
}

impl ChunkStore for ZarrChunks {
    /// Loads a smallest chunk as a whole, even if only some of its blocks are needed.
    fn load(&self, number: u64, _: Want<'_>, buffer: &mut Buffer<'_>) -> Result<Loaded> {
        let file = self.file_of(number);
        let loaded = self.load_from(&file, number, buffer);
        loaded.map_err(|error| self.in_file(&file, error))
    }

    fn located(&self, number: u64, error: Error) -> Error {
        self.in_file(&self.file_of(number), error)
    }

    /// Announces chunks that are read as a whole. A single chunk is not announced: it is read at once anyway.
    fn announce(&self, chunks: &mut dyn Iterator<Item = (u64, bool)>) -> Result<()> {
        if !self.meta.codecs.is_read_whole() {
            return Ok(());
        }
        let keys = chunks.map(|(number, _)| self.key(&self.file_of(number)));
        let keys = keys.collect::<Result<Vec<Key>>>()?;
        if keys.len() > 1 {
            self.store.will_read(&keys);
        }
        Ok(())
    }
}
