//! Chunk in, data out.

use super::compressor::StreamDecoder;
use super::encode::room_for;
use super::source::{Source, Stream};
use super::{ChunkError, ChunkHeader, Filter, filter};

/// Decodes chunks one after the other, keeping its memory and the decompressors' states.
///
/// It never panics, whatever the bytes, and sets aside no more memory than two blocks.
///
/// ```
/// use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, ChunkSettings};
///
/// let data: Vec<u8> = (0..50_000_u64).flat_map(|i| (i * i).to_le_bytes()).collect();
/// let mut chunk = Vec::new();
/// ChunkEncoder::new(ChunkSettings::default())?.encode(&data, &mut chunk)?;
///
/// let mut value = [0; 8];
/// ChunkDecoder::new().decode_range(&chunk, 8 * 49_999, &mut value)?;
/// assert_eq!(u64::from_le_bytes(value), 49_999 * 49_999);
/// # Ok::<(), bloscpack::blosc::ChunkError>(())
/// ```
pub struct ChunkDecoder {
    max_block: u32,
    streams: StreamDecoder,
    /// A block before its filter is undone.
    filtered: Vec<u8>,
    /// A block of which only a part is wanted.
    block: Vec<u8>,
}

impl Default for ChunkDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl ChunkDecoder {
    /// A decoder that accepts blocks of up to 256 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::with_max_block(256 << 20)
    }

    /// A decoder that accepts blocks of up to `bytes`.
    ///
    /// Up to two blocks are held in memory. Pure copies have no blocks in that sense and are
    /// always accepted.
    ///
    /// ```
    /// use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, Fault, ChunkSettings};
    ///
    /// let mut chunk = Vec::new();
    /// ChunkEncoder::new(ChunkSettings::default())?.encode(&[0; 5000], &mut chunk)?;
    /// let error = ChunkDecoder::with_max_block(4096)
    ///     .decode(&chunk, &mut [0; 5000])
    ///     .unwrap_err();
    /// assert_eq!(error.fault(), Fault::OverLimit);
    /// # Ok::<(), bloscpack::blosc::ChunkError>(())
    /// ```
    #[must_use]
    pub fn with_max_block(bytes: u32) -> Self {
        Self {
            max_block: bytes,
            streams: StreamDecoder::default(),
            filtered: Vec::new(),
            block: Vec::new(),
        }
    }

    /// Decodes a whole chunk into `out`, whose length has to be the header's `nbytes`.
    ///
    /// # Errors
    ///
    /// Any [`Fault`](super::Fault); `out` then holds anything.
    pub fn decode(&mut self, chunk: &[u8], out: &mut [u8]) -> Result<ChunkHeader, ChunkError> {
        let source = self.open(chunk)?;
        let expected = source.header.nbytes as usize;
        if out.len() != expected {
            let found = out.len();
            return Err(ChunkError::OutputLength { found, expected });
        }
        if let Some(data) = source.pure_copy() {
            out.copy_from_slice(data);
            return Ok(source.header);
        }
        for index in 0..source.layout.nblocks() {
            let range = source.layout.block(index);
            self.block_into(&source, index, &mut out[range])?;
        }
        Ok(source.header)
    }

    /// Decodes the bytes from `start` on that fill `out`, and of the chunk only the blocks that
    /// hold them.
    ///
    /// # Errors
    ///
    /// Any [`Fault`](super::Fault), of which [`Usage`](super::Fault::Usage) for a
    /// range beyond the chunk's data; `out` then holds anything.
    pub fn decode_range(
        &mut self,
        chunk: &[u8],
        start: u32,
        out: &mut [u8],
    ) -> Result<ChunkHeader, ChunkError> {
        let source = self.open(chunk)?;
        let nbytes = source.header.nbytes;
        let from = start as usize;
        let end = from
            .checked_add(out.len())
            .filter(|&end| end <= nbytes as usize)
            .ok_or(ChunkError::Range {
                start,
                len: out.len(),
                nbytes,
            })?;
        if let Some(data) = source.pure_copy() {
            out.copy_from_slice(&data[from..end]);
            return Ok(source.header);
        }
        let mut at = from;
        let mut rest = out;
        while !rest.is_empty() {
            let index = source.layout.index_of(at);
            let block = source.layout.block(index);
            let (part, later) = rest.split_at_mut(rest.len().min(block.end - at));
            if part.len() == block.len() {
                self.block_into(&source, index, part)?;
            } else {
                self.part_into(&source, index, at - block.start, part)?;
            }
            at += part.len();
            rest = later;
        }
        Ok(source.header)
    }

    /// Decodes one block into `out`, which has to have the block's length: the header's
    /// `blocksize`, or for the last block what remains of `nbytes`.
    ///
    /// A pure copy is cut into blocks in the same way.
    ///
    /// # Errors
    ///
    /// Any [`Fault`](super::Fault), of which [`Usage`](super::Fault::Usage) for a
    /// block that is not there or has another length; `out` then holds anything.
    ///
    /// ```
    /// use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, ChunkSettings};
    ///
    /// let settings = ChunkSettings { blocksize: Some(4096), ..ChunkSettings::default() };
    /// let mut chunk = Vec::new();
    /// let header = ChunkEncoder::new(settings)?.encode(&[5; 10_000], &mut chunk)?;
    /// assert_eq!((header.nblocks(), header.blocksize), (3, 4096));
    ///
    /// let mut last = [0; 10_000 - 2 * 4096];
    /// ChunkDecoder::new().decode_block(&chunk, 2, &mut last)?;
    /// assert_eq!(last, [5; 10_000 - 2 * 4096]);
    /// # Ok::<(), bloscpack::blosc::ChunkError>(())
    /// ```
    pub fn decode_block(
        &mut self,
        chunk: &[u8],
        index: u32,
        out: &mut [u8],
    ) -> Result<(), ChunkError> {
        let source = self.open(chunk)?;
        let nblocks = source.layout.nblocks();
        if index >= nblocks {
            let found = index;
            return Err(ChunkError::BlockIndex { found, nblocks });
        }
        let block = source.layout.block(index);
        if out.len() != block.len() {
            let (found, expected) = (out.len(), block.len());
            return Err(ChunkError::OutputLength { found, expected });
        }
        if let Some(data) = source.pure_copy() {
            out.copy_from_slice(&data[block]);
            return Ok(());
        }
        self.block_into(&source, index, out)
    }

    /// Checks all that concerns the chunk as a whole.
    fn open<'a>(&self, chunk: &'a [u8]) -> Result<Source<'a>, ChunkError> {
        let source = Source::open(chunk)?;
        if source.header.is_pure_copy() || source.header.nbytes == 0 {
            return Ok(source);
        }
        source.format()?;
        let (found, limit) = (source.header.blocksize, self.max_block);
        if found > limit {
            return Err(ChunkError::BlockOverLimit { found, limit });
        }
        Ok(source)
    }

    /// Decodes a block of which `part` is wanted, from byte `skip` on.
    fn part_into(
        &mut self,
        source: &Source<'_>,
        index: u32,
        skip: usize,
        part: &mut [u8],
    ) -> Result<(), ChunkError> {
        let mut block = std::mem::take(&mut self.block);
        let whole = room_for(&mut block, source.layout.block(index).len());
        let result = self.block_into(source, index, whole);
        part.copy_from_slice(&whole[skip..skip + part.len()]);
        self.block = block;
        result
    }

    /// Decodes a whole block.
    fn block_into(
        &mut self,
        source: &Source<'_>,
        index: u32,
        out: &mut [u8],
    ) -> Result<(), ChunkError> {
        let typesize = usize::from(source.layout.typesize);
        let undo = match source.header.filter() {
            Filter::Byte if typesize > 1 => filter::unshuffle,
            Filter::Bit if out.len() >= typesize => filter::bitunshuffle,
            _ => return self.streams_into(source, index, out),
        };
        if source.layout.streams(out.len()) == 1
            && let Stream::Raw(bytes) = source.streams(index)?.next(out.len())?
        {
            undo(typesize, bytes, out);
            return Ok(());
        }
        let mut filtered = std::mem::take(&mut self.filtered);
        let block = room_for(&mut filtered, out.len());
        let result = self.streams_into(source, index, block);
        if result.is_ok() {
            undo(typesize, block, out);
        }
        self.filtered = filtered;
        result
    }

    /// Decompresses all streams of a block.
    fn streams_into(
        &mut self,
        source: &Source<'_>,
        index: u32,
        out: &mut [u8],
    ) -> Result<(), ChunkError> {
        let mut streams = source.streams(index)?;
        let format = source.format()?;
        let stream_len = out.len() / source.layout.streams(out.len());
        for part in out.chunks_exact_mut(stream_len) {
            match streams.next(part.len())? {
                Stream::Raw(bytes) => part.copy_from_slice(bytes),
                Stream::Compressed(bytes) => {
                    if !self.streams.decompress(format, bytes, part) {
                        let block = index;
                        return Err(ChunkError::Stream { block, format });
                    }
                }
            }
        }
        Ok(())
    }
}
