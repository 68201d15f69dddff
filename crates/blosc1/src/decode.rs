//! Chunk in, data out.

#[cfg(feature = "blosc2-rs")]
use super::c_blosc2;
use super::compressor::StreamDecoder;
use super::encode::room_for;
use super::pipeline::delta;
use super::reference::Reference;
use super::source::{Source, Stream};
use super::{ChunkError, ChunkHeader, Engine};

/// Decodes chunks of Blosc 1 and 2 one after the other, keeping its memory and the decompressors'
/// states.
///
/// It never panics, whatever the bytes, and sets aside no more memory than two blocks; for chunks of
/// Blosc 2 with several filters, than four and what one block takes in its chunk.
///
/// ```
/// use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings};
///
/// let data: Vec<u8> = (0..50_000_u64).flat_map(|i| (i * i).to_le_bytes()).collect();
/// let mut chunk = Vec::new();
/// ChunkEncoder::new(ChunkSettings::default())?.encode(&data, &mut chunk)?;
///
/// let mut value = [0; 8];
/// ChunkDecoder::new().decode_range(&chunk, 8 * 49_999, &mut value)?;
/// assert_eq!(u64::from_le_bytes(value), 49_999 * 49_999);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub struct ChunkDecoder {
    max_block: u32,
    max_ratio: u32,
    streams: StreamDecoder,
    /// A block before its filter is undone.
    filtered: Vec<u8>,
    /// The same between two filters.
    between: Vec<u8>,
    /// A block of which only a part is wanted.
    block: Vec<u8>,
    /// The first block of a chunk whose others are told by their difference from it.
    reference: Reference,
    shuffle_meta: ShuffleMeta,
    engine: Engine,
}

/// What to make of a chunk of Blosc 2 whose shuffle has a second byte other than 0.
///
/// C-Blosc2 has given that byte three meanings, and nothing in a chunk tells which: how many times
/// more the filter was applied (2.4), none (2.15), the width of its elements in place of the
/// typesize (from 2.23.1 on).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ShuffleMeta {
    /// Such chunks are refused.
    #[default]
    Refuse,
    /// The byte is the width of an element: for chunks that are known to be of C-Blosc2 2.23.1 or
    /// later.
    Width,
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
    /// Up to two blocks are held in memory, four for chunks of Blosc 2 with several filters. Pure
    /// copies and special values have no blocks in that sense and are always accepted.
    ///
    /// ```
    /// use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings, Fault};
    ///
    /// let mut chunk = Vec::new();
    /// ChunkEncoder::new(ChunkSettings::default())?.encode(&[0; 5000], &mut chunk)?;
    /// let error = ChunkDecoder::with_max_block(4096)
    ///     .decode(&chunk, &mut [0; 5000])
    ///     .unwrap_err();
    /// assert_eq!(error.fault(), Fault::OverLimit);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub fn with_max_block(bytes: u32) -> Self {
        Self {
            max_block: bytes,
            max_ratio: u32::MAX,
            streams: StreamDecoder::default(),
            filtered: Vec::new(),
            between: Vec::new(),
            block: Vec::new(),
            reference: Reference::default(),
            shuffle_meta: ShuffleMeta::default(),
            engine: Engine::default(),
        }
    }

    /// The same decoder, which refuses chunks with more than so many uncompressed bytes for each that is stored.
    ///
    /// Honest data can have any ratio: a chunk of nothing but zeros takes 32 bytes.
    ///
    /// ```
    /// use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings, Fault};
    ///
    /// let mut chunk = Vec::new();
    /// ChunkEncoder::new(ChunkSettings::default())?.encode(&[0; 5000], &mut chunk)?;
    /// let mut decoder = ChunkDecoder::new().max_ratio(10);
    /// let error = decoder.decode(&chunk, &mut [0; 5000]).unwrap_err();
    /// assert_eq!(error.fault(), Fault::OverLimit);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub fn max_ratio(mut self, ratio: u32) -> Self {
        self.max_ratio = ratio;
        self
    }

    /// The same decoder with another opinion of a shuffle's second byte.
    ///
    /// ```
    /// use blosc1::{ChunkDecoder, ShuffleMeta};
    ///
    /// let decoder = ChunkDecoder::new().shuffle_meta(ShuffleMeta::Width);
    /// # let mut decoder = decoder;
    /// # assert!(decoder.decode(&[], &mut []).is_err());
    /// ```
    #[must_use]
    pub fn shuffle_meta(mut self, meaning: ShuffleMeta) -> Self {
        self.shuffle_meta = meaning;
        self
    }

    /// The same decoder, which has whole chunks decoded by `engine` from now on.
    ///
    /// Ranges and single blocks are always decoded natively.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
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
        match self.engine {
            Engine::Native => self.all_into(&source, out)?,
            #[cfg(feature = "blosc2-rs")]
            Engine::CBlosc2 => c_blosc2::decode(&source, chunk, out)?,
        }
        Ok(source.header)
    }

    /// Decodes a whole chunk.
    fn all_into(&mut self, source: &Source<'_>, out: &mut [u8]) -> Result<(), ChunkError> {
        if let Some(data) = source.plain() {
            data.read(0, out);
            return Ok(());
        }
        let first = source.layout.block(0).len();
        let (first, later) = out.split_at_mut(first);
        if first.is_empty() {
            return Ok(());
        }
        self.block_into(source, 0, first, &[])?;
        for index in 1..source.layout.nblocks() {
            let range = source.layout.block(index);
            let range = range.start - first.len()..range.end - first.len();
            self.block_into(source, index, &mut later[range], first)?;
        }
        Ok(())
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
        let len = out.len();
        if from
            .checked_add(len)
            .is_none_or(|end| end > nbytes as usize)
        {
            return Err(ChunkError::Range { start, len, nbytes });
        }
        if let Some(data) = source.plain() {
            data.read(from, out);
            return Ok(source.header);
        }
        let mut at = from;
        let mut rest = out;
        while !rest.is_empty() {
            let index = source.layout.index_of(at);
            let block = source.layout.block(index);
            let (part, later) = rest.split_at_mut(rest.len().min(block.end - at));
            if part.len() == block.len() {
                self.whole_into(&source, index, part)?;
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
    /// A pure copy and special values are cut into blocks in the same way. Where all blocks depend on
    /// the first (the filter delta of Blosc 2), that is decoded as well, once for all blocks of a
    /// chunk that are asked for one after the other.
    ///
    /// # Errors
    ///
    /// Any [`Fault`](super::Fault), of which [`Usage`](super::Fault::Usage) for a
    /// block that is not there or has another length; `out` then holds anything.
    ///
    /// ```
    /// use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings};
    ///
    /// let settings = ChunkSettings { blocksize: Some(4096), ..ChunkSettings::default() };
    /// let mut chunk = Vec::new();
    /// let header = ChunkEncoder::new(settings)?.encode(&[5; 10_000], &mut chunk)?;
    /// assert_eq!((header.nblocks(), header.blocksize), (3, 4096));
    ///
    /// let mut last = [0; 10_000 - 2 * 4096];
    /// ChunkDecoder::new().decode_block(&chunk, 2, &mut last)?;
    /// assert_eq!(last, [5; 10_000 - 2 * 4096]);
    /// # Ok::<(), blosc1::ChunkError>(())
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
        if let Some(data) = source.plain() {
            data.read(block.start, out);
            return Ok(());
        }
        self.whole_into(&source, index, out)
    }

    /// Checks all that concerns the chunk as a whole.
    fn open<'a>(&self, chunk: &'a [u8]) -> Result<Source<'a>, ChunkError> {
        let source = Source::open(chunk)?;
        check_ratio(&source.header, self.max_ratio)?;
        if !source.has_streams() {
            return Ok(source);
        }
        source.format()?;
        let meta = source.undo.shuffle_meta;
        if meta != 0 && self.shuffle_meta == ShuffleMeta::Refuse {
            return Err(ChunkError::ShuffleMeta { meta });
        }
        let (found, limit) = (source.layout.blocksize, self.max_block);
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
        let result = self.whole_into(source, index, whole);
        part.copy_from_slice(&whole[skip..skip + part.len()]);
        self.block = block;
        result
    }

    /// Decodes a whole block, and the first of the chunk before it if need be.
    fn whole_into(
        &mut self,
        source: &Source<'_>,
        index: u32,
        out: &mut [u8],
    ) -> Result<(), ChunkError> {
        if !source.undo.delta || index == 0 {
            return self.block_into(source, index, out, &[]);
        }
        let stored = source.stored(0)?;
        let mut reference = std::mem::take(&mut self.reference);
        if !reference.is_of(stored) {
            let first = reference.room(source.layout.block(0).len());
            self.block_into(source, 0, first, &[])?;
            reference.keep(stored);
        }
        let result = self.block_into(source, index, out, reference.block());
        self.reference = reference;
        result
    }

    /// Decodes a whole block; `first` is the chunk's first block, for those after it.
    fn block_into(
        &mut self,
        source: &Source<'_>,
        index: u32,
        out: &mut [u8],
        first: &[u8],
    ) -> Result<(), ChunkError> {
        self.moved_into(source, index, out)?;
        if source.undo.delta {
            let typesize = usize::from(source.layout.typesize);
            match index {
                0 => delta::undo_first(typesize, out),
                _ => delta::by_first(typesize, first, out),
            }
        }
        Ok(())
    }

    /// Decodes a block up to, and without, delta.
    fn moved_into(
        &mut self,
        source: &Source<'_>,
        index: u32,
        out: &mut [u8],
    ) -> Result<(), ChunkError> {
        let typesize = usize::from(source.layout.typesize);
        let mut moves = source.undo.moves();
        // Those of a block without a whole element would only copy it.
        let Some(last) = moves.next_back().filter(|_| out.len() >= typesize) else {
            return self.streams_into(source, index, out);
        };
        let single = moves.clone().next().is_none();
        if single
            && source.layout.streams(out.len()) == 1
            && let Stream::Raw(bytes) = source.streams(index)?.next(out.len())?
        {
            last.undo(typesize, bytes, out);
            return Ok(());
        }
        let mut filtered = std::mem::take(&mut self.filtered);
        let block = room_for(&mut filtered, out.len());
        let result = self.streams_into(source, index, block);
        if result.is_ok() {
            for step in moves {
                let between = room_for(&mut self.between, block.len());
                step.undo(typesize, block, between);
                block.copy_from_slice(between);
            }
            last.undo(typesize, block, out);
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
                Stream::Run(byte) => part.fill(byte),
                Stream::Compressed(bytes) => {
                    let dictionary = source.dictionary;
                    let done = match dictionary.is_empty() {
                        true => self.streams.decompress(format, bytes, part),
                        false => self
                            .streams
                            .decompress_with(format, dictionary, bytes, part),
                    };
                    if !done {
                        let block = index;
                        return Err(ChunkError::Stream { block, format });
                    }
                }
            }
        }
        Ok(())
    }
}

fn check_ratio(header: &ChunkHeader, limit: u32) -> Result<(), ChunkError> {
    let found = header.nbytes.div_ceil(header.ctbytes.max(1));
    match found <= limit {
        true => Ok(()),
        false => Err(ChunkError::RatioOverLimit { found, limit }),
    }
}
