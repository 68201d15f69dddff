//! Encodes Blosc 2 chunks with the extended header of 32 bytes.
//!
//! ```text
//! data ─► zeros: header alone
//!      ├► blocks, each: truncate ─► delta ─► shuffles ─► streams ─► block table ─► header
//!      └► too short, level 0, or not shortened: pure copy
//! ```

#[cfg(feature = "blosc2-rs")]
use super::c_blosc2;
use super::compressor::{ConstantStreams, StreamEncoder};
use super::extension::{EXTENDED_LEN_U32, SPECIAL_SHIFT};
use super::header::{
    BLOSC2_STABLE, FLAG_DELTA, FLAG_PURE_COPY, FLAG_UNSPLIT, FLAGS_EXTENDED, FORMAT_SHIFT,
    VERSIONLZ,
};
use super::layout::{EXTENDED_LEN, HEADER_LEN, Layout, MAX_NBYTES};
use super::pipeline::{InverseFilters, delta, truncate};
use super::scratch::{le_u32, room_for, to_u32};
use super::view::RUN_TOKEN;
use super::{
    BlockShape, Blosc2Settings, ChunkError, ChunkExtension, ChunkHeader, Engine, blocksize,
};

/// Shorter data is never compressed.
const MIN_BUFFER: u32 = 32;
/// The most data that fits in a chunk with an extended header.
const MAX_NBYTES2: u32 = MAX_NBYTES - 16;

/// Encodes Blosc 2 chunks, and reuses its buffers and the compressor's state for the next chunk.
///
/// The chunks have the extended header of 32 bytes. C-Blosc2 2.x and 3.x read them, C-Blosc 1.x
/// does not. A chunk depends on the settings and the data alone, not on chunks encoded before.
/// There are no threads and no dictionaries.
///
/// ```
/// use blosc1::{Blosc2Encoder, Blosc2Settings};
///
/// let data: Vec<u8> = (0..10_000_u64).flat_map(u64::to_le_bytes).collect();
/// let mut chunk = Vec::new();
/// let header = Blosc2Encoder::new(Blosc2Settings::default())?.encode(&data, &mut chunk)?;
/// assert!(header.is_blosc2() && chunk.len() < data.len() / 10);
///
/// assert_eq!(blosc1::decompress(&chunk)?, data);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub struct Blosc2Encoder {
    settings: Blosc2Settings,
    /// Made on first use.
    compressor: Option<StreamEncoder>,
    filters: Filters,
    /// A compressed stream.
    compressed: Vec<u8>,
    engine: Engine,
}

impl Blosc2Encoder {
    /// An encoder with these settings. The compressor's state is allocated with the first chunk.
    ///
    /// # Errors
    ///
    /// Returns [`Usage`](super::Fault::Usage) for
    ///
    /// - a level above 9 or a typesize of 0;
    /// - a block size of 0, or above 536,866,816 bytes, the limit of C-Blosc2;
    /// - Snappy, which Blosc 2 does not have;
    /// - truncated numbers of a length that the filter does not have, or without the bits to keep;
    /// - filters with cells without the shape of a block, or with cells or a block size that do not fit it.
    ///
    /// Returns [`Unsupported`](super::Fault::Unsupported) if this build cannot write the
    /// compressor's format, and for filters that are only read.
    pub fn new(settings: Blosc2Settings) -> Result<Self, ChunkError> {
        settings.check()?;
        Ok(Self {
            settings,
            compressor: None,
            filters: Filters::new(&settings),
            compressed: Vec::new(),
            engine: Engine::default(),
        })
    }

    /// Uses `engine` for later chunks; [`Engine::Native`] by default.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// The settings passed to [`new`](Self::new).
    #[must_use]
    pub const fn settings(&self) -> &Blosc2Settings {
        &self.settings
    }

    /// Appends `data` to `out` as one chunk of at most `data.len() + 32` bytes, and returns the
    /// first half of the chunk's header.
    ///
    /// Data that compression does not shorten, and any data of less than 32 bytes, becomes a [pure
    /// copy](ChunkHeader::is_pure_copy). Whole elements that are all zero become a header alone,
    /// unless the level is 0.
    ///
    /// # Errors
    ///
    /// - [`Usage`](super::Fault::Usage) for more than 2³¹ − 33 bytes, and with filters that have cells for anything but whole
    ///   blocks;
    /// - [`Unsupported`](super::Fault::Unsupported) for features that the [`Engine`] lacks;
    /// - [`OverLimit`](super::Fault::OverLimit) if the compressor's state cannot be allocated.
    ///
    /// `out` is unchanged in all cases.
    ///
    /// ```
    /// use blosc1::{Blosc2Encoder, Blosc2Settings};
    ///
    /// let mut chunk = Vec::new();
    /// Blosc2Encoder::new(Blosc2Settings::default())?.encode(&[0; 80_000], &mut chunk)?;
    /// assert_eq!(chunk.len(), 32);
    /// assert_eq!(blosc1::decompress(&chunk)?, [0; 80_000]);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    pub fn encode(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<ChunkHeader, ChunkError> {
        let nbytes = u32::try_from(data.len())
            .ok()
            .filter(|&nbytes| nbytes <= MAX_NBYTES2)
            .ok_or(ChunkError::TooMuchData { found: data.len() })?;
        match self.engine {
            Engine::Native => self.append(nbytes, data, out),
            #[cfg(feature = "blosc2-rs")]
            Engine::CBlosc2 => match c_blosc2::encode(&self.settings, data, out)? {
                Some(header) => Ok(header),
                None => self.append(nbytes, data, out),
            },
        }
    }

    /// Appends `data` of `nbytes` bytes as one chunk, with the native engine.
    fn append(
        &mut self,
        nbytes: u32,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<ChunkHeader, ChunkError> {
        let layout = blocksize::choose_blosc2(&self.settings.as_blosc1(), nbytes);
        self.filters
            .inverse
            .check(self.settings.block_shape, &layout)?;
        let (mut header, mut extension) = self.header(&layout);
        let start = out.len();
        if self.settings.level > 0 && nbytes >= MIN_BUFFER {
            if is_special(&layout) && ConstantStreams::byte_of(data) == Some(0) {
                header.ctbytes = EXTENDED_LEN_U32;
                extension.blosc2_flags = ZEROS << SPECIAL_SHIFT;
                write_header(&header, &extension, out);
                return Ok(header);
            }
            out.reserve(EXTENDED_LEN + data.len());
            write_header(&header, &extension, out);
            let compressed = self.compress(&layout, data, start, out);
            if let Ok(Some(ctbytes)) = compressed {
                header.ctbytes = ctbytes;
                out[start..start + HEADER_LEN].copy_from_slice(&header.to_bytes());
                return Ok(header);
            }
            out.truncate(start);
            compressed?;
        }
        // As in C-Blosc2, the flags of a pure copy name neither a compressor nor whether blocks are
        // split.
        header.flags = FLAGS_EXTENDED | FLAG_PURE_COPY;
        header.ctbytes = nbytes + EXTENDED_LEN_U32;
        write_header(&header, &extension, out);
        out.extend_from_slice(data);
        Ok(header)
    }

    /// The header of a compressed chunk whose length is not known yet: `ctbytes` is 0.
    fn header(&self, layout: &Layout) -> (ChunkHeader, ChunkExtension) {
        let unsplit = if layout.split { 0 } else { FLAG_UNSPLIT };
        let delta = if self.filters.inverse.delta {
            FLAG_DELTA
        } else {
            0
        };
        let compressor = self.settings.compressor;
        let format = compressor.format().code() << FORMAT_SHIFT;
        let header = ChunkHeader {
            version: BLOSC2_STABLE,
            versionlz: VERSIONLZ,
            flags: FLAGS_EXTENDED | delta | unsplit | format,
            typesize: layout.typesize,
            nbytes: layout.nbytes,
            blocksize: layout.blocksize,
            ctbytes: 0,
        };
        let extension = ChunkExtension {
            filters: self.settings.filters.ids(),
            compressor: compressor.blosc2_number(),
            compressor_meta: 0,
            filters_meta: self.settings.filters.metas(),
            flags2: 0,
            blosc2_flags: 0,
        };
        (header, extension)
    }

    /// Appends table and blocks to a chunk whose header begins at `start` in `out`, and returns the
    /// chunk's length.
    ///
    /// Returns `None`, with unspecified bytes appended, as soon as the chunk cannot be shorter than
    /// a pure copy.
    fn compress(
        &mut self,
        layout: &Layout,
        data: &[u8],
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<Option<u32>, ChunkError> {
        // Where a chunk ends that is one byte shorter than a pure copy.
        let end = start + EXTENDED_LEN + data.len() - 1;
        if layout.smallest_chunk() >= u64::from(layout.nbytes) + u64::from(EXTENDED_LEN_U32) {
            return Ok(None);
        }
        let (compressor, level) = (self.settings.compressor, self.settings.stream_level());
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(StreamEncoder::new(compressor, level)?),
        };
        out.resize(start + layout.table_end(), 0);
        for index in 0..layout.nblocks() {
            let slot = start + EXTENDED_LEN + 4 * index as usize;
            let at = out.len() - start;
            out[slot..slot + 4].copy_from_slice(&le_u32(at)?);
            let block = self.filters.apply(index, &data[layout.block(index)])?;
            let stream_len = block.len() / layout.streams(block.len());
            for stream in block.chunks_exact(stream_len) {
                if !append_stream(compressor, stream, &mut self.compressed, end, out)? {
                    return Ok(None);
                }
            }
        }
        to_u32(out.len() - start).map(Some)
    }
}

/// The number of zeros among the kinds of special values.
const ZEROS: u8 = 1;

/// Whether readers accept special values for this data: C-Blosc2 requires whole elements.
fn is_special(layout: &Layout) -> bool {
    layout.nbytes.is_multiple_of(layout.typesize.into())
}

/// Appends the 32 bytes of the header.
fn write_header(header: &ChunkHeader, extension: &ChunkExtension, out: &mut Vec<u8>) {
    out.extend_from_slice(&header.to_bytes());
    out.extend_from_slice(&extension.to_bytes());
}

/// Appends one stream: a repeated byte as its code; other data as its length and its compressed
/// form, or the data itself if that is not longer.
///
/// Returns `false` if the stream would end after position `end` of `out`.
fn append_stream(
    compressor: &mut StreamEncoder,
    stream: &[u8],
    compressed: &mut Vec<u8>,
    end: usize,
    out: &mut Vec<u8>,
) -> Result<bool, ChunkError> {
    if let Some(byte) = ConstantStreams::byte_of(stream) {
        out.extend_from_slice(&u32::from(byte).wrapping_neg().to_le_bytes());
        if byte != 0 {
            out.push(RUN_TOKEN);
        }
        return Ok(out.len() <= end);
    }
    let Some(room) = end.checked_sub(out.len() + 4) else {
        return Ok(false);
    };
    let largest = (stream.len() - 1).min(room);
    let compressed = room_for(compressed, stream.len());
    let bytes = match compressor.compress(stream, &mut compressed[..largest]) {
        Some(len) => &compressed[..len],
        None => stream,
    };
    if bytes.len() > room {
        return Ok(false);
    }
    out.extend_from_slice(&le_u32(bytes.len())?);
    out.extend_from_slice(bytes);
    Ok(true)
}

/// The filters of a chunk, with their buffers.
struct Filters {
    typesize: u8,
    shape: Option<BlockShape>,
    /// The lowest bits of each number that are set to zero: the most of all steps, 0 without one.
    zeroed: u8,
    /// All other filters.
    inverse: InverseFilters,
    /// The first block, before delta is applied to it.
    first: Vec<u8>,
    /// The block after the latest filter, and room for the next filter.
    buffers: [Vec<u8>; 2],
}

impl Filters {
    /// Prepares the filters.
    fn new(settings: &Blosc2Settings) -> Self {
        let typesize = settings.typesize;
        let zeroed = settings
            .filters
            .steps()
            .filter_map(|step| step.zeroed(typesize));
        Self {
            typesize,
            shape: settings.block_shape,
            zeroed: zeroed.max().unwrap_or(0),
            inverse: settings.filters.inverse(typesize, BLOSC2_STABLE),
            first: Vec::new(),
            buffers: [Vec::new(), Vec::new()],
        }
    }

    /// Applies the filters to a block. Blocks must come in order, beginning with the first.
    ///
    /// Numbers are truncated before all others, regardless of the position of that step: on bytes that
    /// have been moved, it would destroy the data.
    fn apply<'a>(&'a mut self, index: u32, block: &'a [u8]) -> Result<&'a [u8], ChunkError> {
        let typesize = usize::from(self.typesize);
        let [here, there] = &mut self.buffers;
        let mut is_moved = false;
        if self.zeroed > 0 || self.inverse.delta {
            let copy = room_for(here, block.len());
            copy.copy_from_slice(block);
            if self.zeroed > 0 {
                truncate::truncate(self.typesize, self.zeroed, copy);
            }
            if self.inverse.delta && index == 0 {
                room_for(&mut self.first, block.len()).copy_from_slice(copy);
                delta::apply_first(typesize, copy);
            } else if self.inverse.delta {
                delta::by_first(typesize, &self.first, copy)?;
            }
            is_moved = true;
        }
        for step in self.inverse.block_filters().rev() {
            let moved = room_for(there, block.len());
            let from = if is_moved {
                &here[..block.len()]
            } else {
                block
            };
            step.apply(typesize, self.shape, from, moved)?;
            std::mem::swap(here, there);
            is_moved = true;
        }
        Ok(if is_moved {
            &here[..block.len()]
        } else {
            block
        })
    }
}
