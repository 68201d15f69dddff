//! Decodes Blosc 1 and Blosc 2 chunks.
//!
//! ```text
//! block    streams ─► decompress ─► undo the other filters, last first ─► undo delta ─► out
//! ```
//!
//! A block with a single filter goes from the streams through one buffer to the output; with
//! several, through two. With delta, each block needs the first block of its chunk, which is kept
//! for later calls.

#[cfg(feature = "blosc2-rs")]
use super::c_blosc2;
use super::compressor::{Parameters, StreamDecoder};
use super::parallel::{self, Queue};
use super::pipeline::delta;
use super::reference::ReferenceBlock;
use super::scratch::{copy, room_for, zeros};
use super::view::{ChunkView, Stream};
use super::{BlockShape, ChunkError, ChunkHeader, Engine};

/// Decodes Blosc 1 and Blosc 2 chunks, and reuses its buffers and the decompressors' states for the
/// next chunk.
///
/// For a single chunk, [`decompress`](super::decompress) and
/// [`decompress_range`](super::decompress_range) are shorter.
///
/// A decoder is safe for untrusted input: it never panics, whatever the bytes. Apart from the
/// output, it allocates
///
/// - at most two blocks;
/// - for Blosc 2 chunks with several filters, at most four blocks and the compressed form of one;
/// - the states of the decompressors.
///
/// It allocates this once for each [thread](Self::threads) and keeps it until it is dropped.
/// [`with_max_block`](Self::with_max_block) bounds the size of a block,
/// [`max_ratio`](Self::max_ratio) the expansion of a chunk.
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
    /// A block before its last filter is undone.
    filtered: Vec<u8>,
    /// A block between two filters.
    between: Vec<u8>,
    /// A whole block, if only a part of it is requested.
    block: Vec<u8>,
    /// The first block of a chunk with delta, whose other blocks are stored as differences from it.
    reference: ReferenceBlock,
    context: ChunkContext,
    engine: Engine,
    /// The decoders of the other threads. Their limits are not used: `self` has checked the chunk.
    helpers: Vec<Self>,
}

/// How to treat a Blosc 2 chunk whose shuffle has a meta byte other than 0.
///
/// Versions of C-Blosc2 have given that byte three meanings, and a chunk does not say which one
/// applies:
///
/// | C-Blosc2 | meaning of the byte |
/// |---|---|
/// | 2.4 | the number of additional applications of the filter |
/// | 2.15 | none |
/// | 2.23.1 and later | the width of the elements, in place of the typesize |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ShuffleMeta {
    /// Such chunks are refused with [`ChunkError::ShuffleMeta`], which is
    /// [`Unsupported`](super::Fault::Unsupported).
    #[default]
    Refuse,
    /// The byte is the width of an element. Use this for chunks that C-Blosc2 2.23.1 or later
    /// wrote.
    Width,
}

/// The facts about a chunk that a decoder needs and only the frame records.
///
/// ```
/// use blosc1::{BlockShape, ChunkContext, ChunkDecoder, ShuffleMeta};
///
/// let context = ChunkContext {
///     shuffle_meta: ShuffleMeta::Width,
///     block_shape: BlockShape::new(&[25, 25, 24]),
/// };
/// let mut decoder = ChunkDecoder::new();
/// decoder.set_context(context);
/// # assert!(decoder.decode(&[], &mut []).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChunkContext {
    /// How a shuffle with a meta byte is treated.
    pub shuffle_meta: ShuffleMeta,
    /// The shape of the blocks, which some plug-ins of C-Blosc2 need: the filters NDCELL and NDMEAN, and the compressor ZFP.
    pub block_shape: Option<BlockShape>,
}

impl Default for ChunkDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl ChunkDecoder {
    /// A decoder that accepts blocks of up to 256 MiB and any ratio, and decodes on the calling
    /// thread.
    #[must_use]
    pub fn new() -> Self {
        Self::with_max_block(256 << 20)
    }

    /// A decoder that accepts blocks of up to `bytes` uncompressed bytes.
    ///
    /// Larger blocks are refused with [`ChunkError::BlockOverLimit`] before anything is allocated.
    /// Pure copies and special values need no buffer for a block and are always accepted.
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
            reference: ReferenceBlock::default(),
            context: ChunkContext::default(),
            engine: Engine::default(),
            helpers: Vec::new(),
        }
    }

    /// Decodes whole chunks with `count` threads, including the calling one. 0 and 1, the default,
    /// use the calling thread alone; more than 256 count as 256.
    ///
    /// The first block is decoded on the calling thread, then the threads share the others. They
    /// are started for each chunk of more than two blocks and end with the call; if one cannot be
    /// started, the others do its part. Each has its own buffers. Ranges and single blocks are
    /// always decoded on the calling thread.
    ///
    /// ```
    /// use blosc1::ChunkDecoder;
    ///
    /// let data = vec![7; 3_000_000];
    /// let chunk = blosc1::compress(&data, Default::default())?;
    /// assert_eq!(ChunkDecoder::new().threads(2).decode_to_vec(&chunk)?, data);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub fn threads(mut self, count: usize) -> Self {
        self.set_threads(count);
        self
    }

    /// Sets the number of [threads](Self::threads) for later calls. A smaller number frees the
    /// buffers of the others.
    pub fn set_threads(&mut self, count: usize) {
        let helpers = parallel::helpers(count);
        self.helpers.resize_with(helpers, Self::new);
    }

    /// Refuses chunks that expand to more than `ratio` times their length; any ratio by default.
    ///
    /// The error is [`ChunkError::RatioOverLimit`]; it is returned before anything is allocated. A
    /// high ratio is not necessarily hostile: a Blosc 2 chunk of zeros is 32 bytes long, for data
    /// of any length.
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

    /// Sets the meaning of a shuffle's meta byte; [`ShuffleMeta::Refuse`] by default.
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
        self.context.shuffle_meta = meaning;
        self
    }

    /// Sets the facts about later chunks that only their frame records. By default, they are chunks of no array.
    pub fn set_context(&mut self, context: ChunkContext) {
        self.context = context;
    }

    /// Uses `engine` for later calls of [`decode`](Self::decode) and
    /// [`decode_to_vec`](Self::decode_to_vec); [`Engine::Native`] by default.
    ///
    /// Ranges and single blocks are always decoded by the native engine.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Decodes a whole chunk into a new vector of the header's `nbytes` bytes, which are less than
    /// 2 GiB.
    ///
    /// The length and the limits of the chunk are checked before the vector is allocated. Its
    /// length comes from the chunk: for special values, 32 bytes suffice for 2 GiB. A failed
    /// allocation is an error.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`decompress`](super::decompress), with the limits of this decoder.
    ///
    /// ```
    /// use blosc1::{ChunkDecoder, Fault, SpecialValue, special_chunk};
    ///
    /// // 32 bytes that decode to 1 GiB.
    /// let bomb = special_chunk(SpecialValue::Zeros, 1 << 30, 8, 1 << 20)?;
    /// let error = ChunkDecoder::new().max_ratio(10_000).decode_to_vec(&bomb).unwrap_err();
    /// assert_eq!(error.fault(), Fault::OverLimit);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    pub fn decode_to_vec(&mut self, chunk: &[u8]) -> Result<Vec<u8>, ChunkError> {
        let view = self.open(chunk)?;
        let mut out = zeros(view.header.nbytes as usize)?;
        self.whole_chunk_into(&view, &mut out)?;
        Ok(out)
    }

    /// Decodes a whole chunk into `out`, whose length must be the header's `nbytes`. Returns the
    /// header.
    ///
    /// `chunk` must be exactly one chunk. The [end mark](ChunkHeader::END_MARK) and empty chunks
    /// decode into an empty `out`.
    ///
    /// # Errors
    ///
    /// - [`CutShort`](super::Fault::CutShort) if `chunk` is incomplete;
    /// - [`Damaged`](super::Fault::Damaged) if it is longer than its header says, is not a chunk,
    ///   or does not decompress;
    /// - [`Unsupported`](super::Fault::Unsupported) if it uses a feature that this crate or this
    ///   build lacks;
    /// - [`OverLimit`](super::Fault::OverLimit) if it exceeds a limit of this decoder, or memory is
    ///   exhausted;
    /// - [`Usage`](super::Fault::Usage) if `out` has another length.
    ///
    /// After an error, the content of `out` is unspecified and the decoder can be used again.
    ///
    /// ```
    /// use blosc1::ChunkDecoder;
    ///
    /// let mut decoder = ChunkDecoder::new();
    /// let mut out = [0; 5000];
    /// for byte in 1..4 {
    ///     let chunk = blosc1::compress(&[byte; 5000], Default::default())?;
    ///     let header = decoder.decode(&chunk, &mut out)?;
    ///     assert_eq!((header.nbytes, out), (5000, [byte; 5000]));
    /// }
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    pub fn decode(&mut self, chunk: &[u8], out: &mut [u8]) -> Result<ChunkHeader, ChunkError> {
        let opened = self.open(chunk);
        let view = opened.as_ref().map_err(ChunkError::clone)?;
        let expected = view.header.nbytes as usize;
        if out.len() != expected {
            let found = out.len();
            return Err(ChunkError::OutputLength { found, expected });
        }
        self.whole_chunk_into(view, out)?;
        Ok(view.header)
    }

    /// Decodes a whole chunk with the selected engine.
    fn whole_chunk_into(&mut self, view: &ChunkView<'_>, out: &mut [u8]) -> Result<(), ChunkError> {
        match self.engine {
            Engine::Native => self.all_into(view, out),
            #[cfg(feature = "blosc2-rs")]
            Engine::CBlosc2 => c_blosc2::decode(view, out),
        }
    }

    /// Decodes a whole chunk with the native engine.
    fn all_into(&mut self, view: &ChunkView<'_>, out: &mut [u8]) -> Result<(), ChunkError> {
        if let Some(data) = view.plain() {
            return data.read(0, out);
        }
        let first = view.layout.block(0).len();
        let (first, later) = out.split_at_mut(first);
        if first.is_empty() {
            return Ok(());
        }
        self.block_into(view, 0, first, &[])?;
        let blocks = later.chunks_mut(first.len()).zip(1..);
        if !self.helpers.is_empty() && view.layout.nblocks() > 2 {
            return self.share(view, first, blocks);
        }
        for (block, index) in blocks {
            self.block_into(view, index, block, first)?;
        }
        Ok(())
    }

    /// Decodes the later blocks with several threads; `first` is the decoded first block, which
    /// delta needs.
    ///
    /// After an error in one thread, the others finish the blocks that are left.
    fn share<'a>(
        &mut self,
        view: &ChunkView<'_>,
        first: &[u8],
        blocks: impl Iterator<Item = (&'a mut [u8], u32)> + Send,
    ) -> Result<(), ChunkError> {
        let mut helpers = std::mem::take(&mut self.helpers);
        helpers
            .iter_mut()
            .for_each(|helper| helper.context = self.context);
        let queue = Queue::new(blocks);
        // The first block is done, and this thread takes at least one.
        let most = (view.layout.nblocks() as usize).saturating_sub(2);
        let most = most.min(helpers.len());
        let result = parallel::share(self, &mut helpers[..most], |decoder| {
            while let Some((block, index)) = queue.next() {
                decoder.block_into(view, index, block, first)?;
            }
            Ok(())
        });
        self.helpers = helpers;
        result.map(|_| ())
    }

    /// Fills `out` with bytes `start` to `start + out.len()` of the data, and decodes only the
    /// blocks that contain them. Returns the header.
    ///
    /// `start` counts bytes, not elements. An empty `out` is allowed for every `start` up to
    /// `nbytes`, inclusive. Whole blocks are decoded directly into `out`, partly requested ones
    /// into a buffer of the decoder.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`decode`](Self::decode), and [`ChunkError::Range`] for a range that
    /// extends past the end of the data. The content of `out` is then unspecified. Damage in other
    /// blocks goes undetected.
    ///
    /// ```
    /// use blosc1::ChunkDecoder;
    ///
    /// let chunk = blosc1::compress(b"0123456789", Default::default())?;
    /// let mut out = [0; 3];
    /// ChunkDecoder::new().decode_range(&chunk, 4, &mut out)?;
    /// assert_eq!(out, *b"456");
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    pub fn decode_range(
        &mut self,
        chunk: &[u8],
        start: u32,
        out: &mut [u8],
    ) -> Result<ChunkHeader, ChunkError> {
        let opened = self.open(chunk);
        let view = opened.as_ref().map_err(ChunkError::clone)?;
        check_range(&view.header, start, out.len())?;
        self.range_into(view, start, out)?;
        Ok(view.header)
    }

    /// Checks that `chunk` is exactly one chunk and that this decoder accepts it. Returns the
    /// header.
    ///
    /// The header, the limits, the block table, and the lengths of all streams are checked. Nothing
    /// is decompressed or allocated, so damage within a stream goes undetected. The time depends on
    /// the number of streams, not on the length of the data.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`decode`](Self::decode), except for damage in compressed bytes.
    ///
    /// ```
    /// use blosc1::{ChunkDecoder, Fault};
    ///
    /// let chunk = blosc1::compress(&[7; 5000], Default::default())?;
    /// let decoder = ChunkDecoder::with_max_block(4096);
    /// assert_eq!(decoder.validate(&chunk).unwrap_err().fault(), Fault::OverLimit);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    pub fn validate(&self, chunk: &[u8]) -> Result<ChunkHeader, ChunkError> {
        let view = self.open(chunk)?;
        if view.has_streams() {
            for index in 0..view.layout.nblocks() {
                view.stored(index)?;
            }
        }
        Ok(view.header)
    }

    /// Decodes `len` bytes of data from byte `start` into a new vector. The range is checked before
    /// it is allocated.
    pub(super) fn range_to_vec(
        &mut self,
        chunk: &[u8],
        start: u32,
        len: u32,
    ) -> Result<Vec<u8>, ChunkError> {
        let view = self.open(chunk)?;
        let len = len as usize;
        check_range(&view.header, start, len)?;
        let mut out = zeros(len)?;
        self.range_into(&view, start, &mut out)?;
        Ok(out)
    }

    /// Fills `out` with the data from byte `start`. The caller has checked the range.
    fn range_into(
        &mut self,
        view: &ChunkView<'_>,
        start: u32,
        out: &mut [u8],
    ) -> Result<(), ChunkError> {
        if let Some(data) = view.plain() {
            return data.read(start as usize, out);
        }
        let mut index = view.layout.index_of(start);
        let mut at = start as usize;
        let mut rest = out;
        while !rest.is_empty() {
            let block = view.layout.block(index);
            let (part, later) = rest.split_at_mut(rest.len().min(block.end - at));
            if part.len() == block.len() {
                self.whole_into(view, index, part)?;
            } else {
                self.part_into(view, index, at - block.start, part)?;
            }
            at += part.len();
            index += 1;
            rest = later;
        }
        Ok(())
    }

    /// Decodes block `index`, counted from 0, into `out`.
    ///
    /// The length of `out` must be that of the block: the header's `blocksize`, or what remains of
    /// `nbytes` for the last block. Pure copies and special values are cut into blocks in the same
    /// way.
    ///
    /// If the chunk uses the Blosc 2 filter delta, its first block is decoded as well. The decoder
    /// keeps it for later requests of blocks of the same chunk, which it recognizes by comparing
    /// the stored bytes.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`decode`](Self::decode), and [`ChunkError::BlockIndex`] for a block
    /// that does not exist. The content of `out` is then unspecified. Damage in other blocks goes
    /// undetected.
    ///
    /// ```
    /// use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings};
    ///
    /// let settings = ChunkSettings::default().blocksize(Some(4096));
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
        let opened = self.open(chunk);
        let view = opened.as_ref().map_err(ChunkError::clone)?;
        let nblocks = view.layout.nblocks();
        if index >= nblocks {
            let found = index;
            return Err(ChunkError::BlockIndex { found, nblocks });
        }
        let block = view.layout.block(index);
        if out.len() != block.len() {
            let (found, expected) = (out.len(), block.len());
            return Err(ChunkError::OutputLength { found, expected });
        }
        if let Some(data) = view.plain() {
            return data.read(block.start, out);
        }
        self.whole_into(view, index, out)
    }

    /// Parses a chunk and checks it against the limits: the ratio of every chunk, and for chunks
    /// with streams the format, the meta byte of a shuffle, the shape of the blocks, and their size.
    ///
    /// Where a call may be short, callers borrow the view from the result: a processor waits for
    /// the small fields to be stored before it can move them together.
    #[inline(never)]
    fn open<'a>(&self, chunk: &'a [u8]) -> Result<ChunkView<'a>, ChunkError> {
        let view = ChunkView::open(chunk)?;
        check_ratio(&view.header, self.max_ratio)?;
        if !view.has_streams() {
            return Ok(view);
        }
        view.format()?;
        let meta = view.filters.shuffle_meta;
        if meta != 0 && self.context.shuffle_meta == ShuffleMeta::Refuse {
            return Err(ChunkError::ShuffleMeta { meta });
        }
        view.filters.check(self.context.block_shape, &view.layout)?;
        let (found, limit) = (view.layout.blocksize, self.max_block);
        if found > limit {
            return Err(ChunkError::BlockOverLimit { found, limit });
        }
        Ok(view)
    }

    /// Decodes a block and copies its bytes `skip..skip + part.len()` to `part`.
    fn part_into(
        &mut self,
        view: &ChunkView<'_>,
        index: u32,
        skip: usize,
        part: &mut [u8],
    ) -> Result<(), ChunkError> {
        let mut block = std::mem::take(&mut self.block);
        let whole = room_for(&mut block, view.layout.block(index).len());
        let result = self.whole_into(view, index, whole);
        if result.is_ok() {
            copy(&whole[skip..skip + part.len()], part);
        }
        self.block = block;
        result
    }

    /// Decodes a whole block; with delta, the first block of the chunk before it, unless that is
    /// kept.
    fn whole_into(
        &mut self,
        view: &ChunkView<'_>,
        index: u32,
        out: &mut [u8],
    ) -> Result<(), ChunkError> {
        if !view.filters.delta || index == 0 {
            return self.block_into(view, index, out, &[]);
        }
        let stored = view.stored(0)?;
        let mut reference = std::mem::take(&mut self.reference);
        if !reference.is_of(stored) {
            let first = reference.room(view.layout.block(0).len());
            self.block_into(view, 0, first, &[])?;
            reference.keep(stored);
        }
        let result = reference
            .block()
            .and_then(|first| self.block_into(view, index, out, first));
        self.reference = reference;
        result
    }

    /// Decodes a whole block. `first` is the decoded first block, which later blocks with delta
    /// need.
    fn block_into(
        &mut self,
        view: &ChunkView<'_>,
        index: u32,
        out: &mut [u8],
        first: &[u8],
    ) -> Result<(), ChunkError> {
        self.moved_into(view, index, out)?;
        if view.filters.delta {
            let typesize = usize::from(view.layout.typesize);
            match index {
                0 => delta::undo_first(typesize, out),
                _ => delta::by_first(typesize, first, out)?,
            }
        }
        Ok(())
    }

    /// Decodes a block up to delta: decompresses it, and undoes all other filters.
    fn moved_into(
        &mut self,
        view: &ChunkView<'_>,
        index: u32,
        out: &mut [u8],
    ) -> Result<(), ChunkError> {
        let typesize = usize::from(view.layout.typesize);
        let shape = self.context.block_shape;
        let mut steps = view.filters.block_filters();
        let Some(last) = steps.next_back() else {
            return self.streams_into(view, index, out);
        };
        if view.filters.count == 1
            && view.layout.streams(out.len()) == 1
            && let Stream::Raw(bytes) = view.streams(index)?.next(out.len())?
        {
            return last.undo(typesize, shape, bytes, out);
        }
        let mut filtered = std::mem::take(&mut self.filtered);
        let block = room_for(&mut filtered, out.len());
        let mut result = self.streams_into(view, index, block);
        for step in steps {
            let between = room_for(&mut self.between, block.len());
            result = result.and_then(|()| step.undo(typesize, shape, block, between));
            copy(between, block);
        }
        result = result.and_then(|()| last.undo(typesize, shape, block, out));
        self.filtered = filtered;
        result
    }

    /// Decompresses all streams of a block into consecutive parts of `out`.
    fn streams_into(
        &mut self,
        view: &ChunkView<'_>,
        index: u32,
        out: &mut [u8],
    ) -> Result<(), ChunkError> {
        let mut streams = view.streams(index)?;
        let format = view.format()?;
        let (compressor, meta) = view.compressor.unwrap_or_default();
        let parameters = Parameters {
            compressor,
            meta,
            typesize: view.layout.typesize,
            shape: self.context.block_shape,
        };
        let stream_len = match view.layout.streams(out.len()) {
            1 => out.len(),
            count => out.len() / count,
        };
        for part in out.chunks_mut(stream_len) {
            match streams.next(part.len())? {
                Stream::Raw(bytes) => copy(bytes, part),
                Stream::Run(byte) => part.fill(byte),
                Stream::Compressed(bytes) => {
                    let decoder = &mut self.streams;
                    let is_done = match view.dictionary {
                        None => decoder.decompress(format, &parameters, bytes, part)?,
                        Some(dictionary) => {
                            decoder.decompress_with(format, dictionary, bytes, part)?
                        }
                    };
                    if !is_done {
                        let block = index;
                        return Err(ChunkError::Stream { block, format });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Refuses a range of bytes that is not within the data.
fn check_range(header: &ChunkHeader, start: u32, len: usize) -> Result<(), ChunkError> {
    let nbytes = header.nbytes;
    let end = u32::try_from(len)
        .ok()
        .and_then(|len| start.checked_add(len));
    match end {
        Some(end) if end <= nbytes => Ok(()),
        _ => Err(ChunkError::Range { start, len, nbytes }),
    }
}

/// Refuses a chunk that expands too much.
fn check_ratio(header: &ChunkHeader, limit: u32) -> Result<(), ChunkError> {
    let (nbytes, ctbytes) = (header.nbytes, header.ctbytes.max(1));
    if u64::from(nbytes) <= u64::from(ctbytes) * u64::from(limit) {
        return Ok(());
    }
    let found = nbytes.div_ceil(ctbytes);
    Err(ChunkError::RatioOverLimit { found, limit })
}
