//! [`ArrayWriter::fill_from`]: copies an array of another format, with its encoded chunks where that is possible.

use super::{ArrayWriter, padded};
use crate::codec::joined;
use crate::int::byte_len;
use blosc1::{ChunkHeader, CompressorFormat, validate};
use bloscpack_array::{Array, Grid};
use bloscpack_dtype::ByteOrder;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, IoSide as _, Result};
use bloscpack_storage::parallel;
use std::ops::AddAssign;
use std::sync::PoisonError;

/// How many chunks were copied, and how many were compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkCounts {
    /// Chunks whose encoded bytes were copied.
    pub taken: u64,
    /// Chunks that were compressed.
    pub compressed: u64,
}

impl AddAssign for ChunkCounts {
    fn add_assign(&mut self, other: Self) {
        self.taken += other.taken;
        self.compressed += other.compressed;
    }
}

/// Files that are planned at once.
const PLANNED: usize = 1 << 10;
/// The format version of chunks that C-Blosc 1 writes, the only one that it reads.
const BLOSC1: u8 = 2;
/// A flag that C-Blosc 1 refuses.
const RESERVED: u8 = 0x08;

/// Whether every reader of Zarr can decode a chunk: one of Blosc 1 whose compressor is in numcodecs, which has no Snappy.
fn is_common(header: &ChunkHeader) -> bool {
    header.version == BLOSC1
        && header.flags & RESERVED == 0
        && !header.is_extended()
        && header.blocksize <= header.nbytes
        && (header.is_pure_copy()
            || header
                .compressor_format()
                .is_some_and(|format| format != CompressorFormat::Snappy))
}

impl ArrayWriter {
    /// Writes all chunks, with the elements of `source`, on `threads` threads.
    ///
    /// `source` has the shape and the dtype of the new array, including the byte order; elements are not converted. If `takes`
    /// is true, chunks that the source stores as Blosc 1 chunks of the same number of bytes are copied in encoded form, and all
    /// others are compressed. Set it only if the source also has the same chunk shape.
    ///
    /// The header, the block offsets and the lengths of a copied chunk are checked, but it is not decompressed. Chunks at the
    /// end of an axis are padded with the fill value and compressed. `progress` is called with the uncompressed bytes of each
    /// file; an error from it ends the work.
    ///
    /// # Errors
    /// Returns the errors of the source, of writing and of `progress`, and [`Code::Chunk`](bloscpack_error::Code::Chunk) for a
    /// chunk to be copied that is damaged. The array is then incomplete.
    pub fn fill_from(
        &self,
        source: &dyn Array,
        takes: bool,
        threads: usize,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<ChunkCounts> {
        let mut counts = ChunkCounts::default();
        let chunk_bytes = byte_len(&self.new.chunk_shape, self.new.dtype.itemsize()).unwrap_or(0);
        let files = Grid::new(self.new.shape.clone(), self.new.outer_shape()?);
        let mut all = files.positions(&files.whole());
        let write = |at: Vec<u64>| self.write_file(&at, (source, takes));
        loop {
            let some: Vec<Vec<u64>> = all.by_ref().take(PLANNED).collect();
            if some.is_empty() {
                return Ok(counts);
            }
            parallel::map_in_order(threads, some.into_iter(), write, |written: ChunkCounts| {
                counts += written;
                progress((written.taken + written.compressed).saturating_mul(chunk_bytes))
            })?;
        }
    }

    /// Writes the file at this position: a chunk or a shard.
    pub(super) fn write_file(
        &self,
        at: &[u64],
        (source, takes): (&dyn Array, bool),
    ) -> Result<ChunkCounts> {
        if self.new.is_sharded() {
            return self.write_shard(at, (source, takes));
        }
        if takes && let Some(place) = self.place(at, source)? {
            return Ok(place);
        }
        let (stored, counts) = self.chunk(at, (source, takes))?;
        self.put(at, &stored)?;
        Ok(counts)
    }

    /// Notes where a chunk lies, if chunks stay where they are. `None` if it must be written: it is shorter than others.
    fn place(&self, at: &[u64], source: &dyn Array) -> Result<Option<ChunkCounts>> {
        let Some(places) = &self.places else {
            return Ok(None);
        };
        let refused = |why: String| {
            let error = Error::new(Code::CannotStore, why);
            error.with_hint("convert it to Zarr, which copies its chunks")
        };
        let Some(place) = source.place(at)? else {
            let why = "its chunks are not Blosc 1 chunks of whole rows";
            return Err(refused(why.to_owned()));
        };
        if self.fits(&place.header) {
            let key = self.keys.key(&self.folder, at).writing()?;
            let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
            places.insert(key.as_str().to_owned(), place);
            return Ok(Some(ChunkCounts {
                taken: 1,
                compressed: 0,
            }));
        }
        if self.new.grid().extent(at).shape() != self.new.chunk_shape {
            return Ok(None);
        }
        let ChunkHeader { nbytes, .. } = place.header;
        let codec = place.header.compressor_format();
        let codec = codec.map_or("an unknown compressor", CompressorFormat::name);
        Err(refused(format!(
            "chunk {at:?} has {nbytes} bytes by {codec}, which readers of Zarr do not decode"
        )))
    }

    /// The encoded bytes of a chunk: copied if possible, else compressed.
    fn chunk(
        &self,
        at: &[u64],
        (source, takes): (&dyn Array, bool),
    ) -> Result<(Vec<u8>, ChunkCounts)> {
        let slice = self.new.grid().extent(at);
        if takes
            && slice.shape() == self.new.chunk_shape
            && let Some(stored) = self.taken(at, source)?
        {
            let mut counts = ChunkCounts::default();
            counts.taken += 1;
            return Ok((stored, counts));
        }
        let data = source.read_slice(&slice)?;
        let expected = slice.bytes(self.new.dtype.itemsize());
        if expected != to_u64(data.len()) {
            let found = data.len();
            return Err(Error::bug(format!(
                "{found} bytes of {slice:?}, expected {expected}"
            )));
        }
        let data = padded(
            data,
            &slice.shape(),
            &self.new.chunk_shape,
            &self.new.fill_bytes()?,
        )?;
        let mut counts = ChunkCounts::default();
        counts.compressed += 1;
        Ok((self.encode(&data)?, counts))
    }

    /// The encoded chunk of the source; `None` if it has none that every reader of Zarr can decode.
    fn taken(&self, at: &[u64], source: &dyn Array) -> Result<Option<Vec<u8>>> {
        let Some(stored) = source.stored(at)? else {
            return Ok(None);
        };
        let header = validate(&stored)?;
        Ok(self.fits(&header).then_some(stored))
    }

    /// Whether an encoded chunk has the bytes of a chunk of this array, and every reader of Zarr can decode it.
    fn fits(&self, header: &ChunkHeader) -> bool {
        let expected = byte_len(&self.new.chunk_shape, self.new.dtype.itemsize());
        expected == Some(header.nbytes.into()) && is_common(header)
    }

    /// Writes a shard: its chunks, and the index after them.
    fn write_shard(&self, at: &[u64], (source, takes): (&dyn Array, bool)) -> Result<ChunkCounts> {
        let Some((first, rest)) = at.split_first() else {
            return Err(Error::bug("a shard without axes"));
        };
        let (mut counts, mut chunks) = (ChunkCounts::default(), Vec::new());
        let there = self.new.grid().counts().first().copied().unwrap_or(0);
        for number in 0..self.new.chunks_per_shard {
            let position = first
                .saturating_mul(self.new.chunks_per_shard)
                .saturating_add(number);
            if position >= there {
                chunks.push(None);
                continue;
            }
            let at: Vec<u64> = std::iter::once(position)
                .chain(rest.iter().copied())
                .collect();
            let (stored, written) = self.chunk(&at, (source, takes))?;
            chunks.push(Some(stored));
            counts += written;
        }
        self.put(at, &joined(&chunks, (ByteOrder::Little, true, false)))?;
        Ok(counts)
    }
}
