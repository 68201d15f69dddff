//! [`ArrayWriter::fill_from`]: chunks of another format, taken as they are where that is possible.

use super::{ArrayWriter, padded};
use crate::codec::joined;
use crate::int::byte_len;
use blosc1::{ChunkHeader, CompressorFormat, validate};
use bloscpack_array::{Array, Grid};
use bloscpack_dtype::ByteOrder;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;
use std::ops::AddAssign;

/// How chunks came into an array.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkCounts {
    /// Chunks whose bytes were taken as they are.
    pub taken: u64,
    /// Chunks that were compressed anew.
    pub compressed: u64,
}

impl AddAssign for ChunkCounts {
    fn add_assign(&mut self, other: Self) {
        self.taken += other.taken;
        self.compressed += other.compressed;
    }
}

/// Chunks that are planned at once.
const PLANNED: usize = 1 << 10;
/// The format version of chunks that C-Blosc 1 writes, and the only one that it reads.
const BLOSC1: u8 = 2;
/// A flag that C-Blosc 1 refuses.
const RESERVED: u8 = 0x08;

/// Whether all that read Zarr can decode a chunk: it is of Blosc 1, and its compressor is in numcodecs, which has no Snappy.
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
    /// Writes all chunks. If `takes` is true, a chunk that the source has as one of Blosc 1 is taken as it is; all others are
    /// compressed.
    ///
    /// The header, table and lengths of a chunk that is taken are checked, but it is not decompressed. `progress` is called with the
    /// bytes of each chunk, and ends the work with an error.
    ///
    /// # Errors
    /// Returns the errors of the source and of writing, and that of `progress`.
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

    /// Writes the file of a chunk or of a shard.
    pub(super) fn write_file(
        &self,
        at: &[u64],
        (source, takes): (&dyn Array, bool),
    ) -> Result<ChunkCounts> {
        if self.new.is_sharded() {
            return self.write_shard(at, (source, takes));
        }
        let (stored, counts) = self.chunk(at, (source, takes))?;
        self.put(at, &stored)?;
        Ok(counts)
    }

    /// The encoded bytes of a chunk.
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

    /// The chunk of the source, if all that read Zarr can read it.
    fn taken(&self, at: &[u64], source: &dyn Array) -> Result<Option<Vec<u8>>> {
        let Some(stored) = source.stored(at)? else {
            return Ok(None);
        };
        let header = validate(&stored)?;
        let expected = byte_len(&self.new.chunk_shape, self.new.dtype.itemsize());
        let fits = expected == Some(header.nbytes.into()) && is_common(&header);
        Ok(fits.then_some(stored))
    }

    /// Writes the chunks of a shard, and their index after them.
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
