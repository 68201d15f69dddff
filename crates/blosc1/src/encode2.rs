//! Data in, chunk of Blosc 2 out.

#[cfg(feature = "blosc2-rs")]
use super::c_blosc2;
use super::compressor::{Constants, StreamEncoder};
use super::encode::{le_u32, room_for};
use super::extension::{EXTENDED_LEN_U32, SPECIAL_SHIFT};
use super::header::{
    BLOSC2_STABLE, EXTENDED_LEN, FLAG_DELTA, FLAG_PURE_COPY, FLAG_UNSPLIT, FLAGS_EXTENDED,
    FORMAT_SHIFT, HEADER_LEN, MAX_NBYTES, VERSIONLZ,
};
use super::layout::Layout;
use super::pipeline::{FilterPipeline, Undo, delta, truncate};
use super::source::RUN_TOKEN;
use super::{Blosc2Settings, ChunkError, ChunkExtension, ChunkHeader, Engine, FilterStep};

/// Less data than this is never compressed.
const MIN_BUFFER: u32 = 32;
/// The most data that fits a chunk with an extended header.
const MAX_NBYTES2: u32 = MAX_NBYTES - 16;

/// Encodes chunks of Blosc 2 one after the other, keeping its memory and the compressor's state.
///
/// They have the extended header and are read by C-Blosc2 2.x and 3.x. A chunk depends on settings
/// and data alone, not on what was encoded before.
///
/// ```
/// use blosc1::{Blosc2Encoder, Blosc2Settings, ChunkDecoder};
///
/// let data: Vec<u8> = (0..10_000_u64).flat_map(u64::to_le_bytes).collect();
/// let mut chunk = Vec::new();
/// let header = Blosc2Encoder::new(Blosc2Settings::default())?.encode(&data, &mut chunk)?;
/// assert!(header.is_blosc2() && chunk.len() < data.len() / 10);
///
/// let mut decoded = vec![0; data.len()];
/// ChunkDecoder::new().decode(&chunk, &mut decoded)?;
/// assert_eq!(decoded, data);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub struct Blosc2Encoder {
    settings: Blosc2Settings,
    /// Made for the first stream.
    compressor: Option<StreamEncoder>,
    filters: Filters,
    /// A compressed stream.
    compressed: Vec<u8>,
    engine: Engine,
}

impl Blosc2Encoder {
    /// An encoder with these settings.
    ///
    /// # Errors
    ///
    /// [`Usage`](super::Fault::Usage) for a level above 9, a typesize of 0, a block size of 0 or
    /// above that of C-Blosc2 (512 MiB, nearly), Snappy, and precision truncated of anything but
    /// numbers of 4 or 8 bytes; [`Unsupported`](super::Fault::Unsupported) if this build lacks the
    /// compressor.
    pub fn new(settings: Blosc2Settings) -> Result<Self, ChunkError> {
        settings.check()?;
        Ok(Self {
            settings,
            compressor: None,
            filters: Filters::new(&settings.filters, settings.typesize),
            compressed: Vec::new(),
            engine: Engine::default(),
        })
    }

    /// The same encoder, which has chunks made by `engine` from now on.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// The settings given to [`new`](Self::new).
    #[must_use]
    pub const fn settings(&self) -> &Blosc2Settings {
        &self.settings
    }

    /// Appends `data` to `out` as one chunk of at most `data.len() + 32` bytes, and gives the first
    /// half of its header.
    ///
    /// Data that compression would not shorten, as any below 32 bytes, becomes a pure copy; zeros
    /// become a header alone.
    ///
    /// # Errors
    ///
    /// [`Usage`](super::Fault::Usage) for more than 2³¹ − 33 bytes;
    /// [`Unsupported`](super::Fault::Unsupported) for what another [`Engine`] does not do; `out` is
    /// then as it was.
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

    /// Appends `data`, which is of `nbytes`, as one chunk.
    fn append(
        &mut self,
        nbytes: u32,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<ChunkHeader, ChunkError> {
        let layout = Layout::choose_extended(&self.settings.as_blosc1(), nbytes);
        let (mut header, mut extension) = self.header(&layout);
        let start = out.len();
        if self.settings.level > 0 && nbytes >= MIN_BUFFER {
            if is_special(&layout) && Constants::byte_of(data) == Some(0) {
                header.ctbytes = EXTENDED_LEN_U32;
                extension.blosc2_flags = ZEROS << SPECIAL_SHIFT;
                write_header(&header, &extension, out);
                return Ok(header);
            }
            out.reserve(EXTENDED_LEN + data.len());
            write_header(&header, &extension, out);
            if let Some(ctbytes) = self.compress(&layout, data, start, out)? {
                header.ctbytes = ctbytes;
                out[start..start + HEADER_LEN].copy_from_slice(&header.to_bytes());
                return Ok(header);
            }
            out.truncate(start);
        }
        // C-Blosc2 names no compressor here, nor whether blocks are split.
        header.flags = FLAGS_EXTENDED | FLAG_PURE_COPY;
        header.ctbytes = nbytes + EXTENDED_LEN_U32;
        write_header(&header, &extension, out);
        out.extend_from_slice(data);
        Ok(header)
    }

    /// The header, but for the chunk's length.
    fn header(&self, layout: &Layout) -> (ChunkHeader, ChunkExtension) {
        let unsplit = if layout.split { 0 } else { FLAG_UNSPLIT };
        let delta = if self.filters.undo.delta {
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

    /// Appends table and blocks to a chunk whose header is there from `start` on, and gives the
    /// chunk's length; or `None`, with anything appended, as soon as it is certain not to be below
    /// a pure copy's.
    fn compress(
        &mut self,
        layout: &Layout,
        data: &[u8],
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<Option<u32>, ChunkError> {
        // Where the chunk has to end to be one byte shorter than a pure copy.
        let end = start + EXTENDED_LEN + data.len() - 1;
        if layout.smallest_chunk() >= u64::from(layout.nbytes) + u64::from(EXTENDED_LEN_U32) {
            return Ok(None);
        }
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(StreamEncoder::new(&self.settings.of_streams())?),
        };
        out.resize(start + layout.table_end(), 0);
        for index in 0..layout.nblocks() {
            let slot = start + EXTENDED_LEN + 4 * index as usize;
            let at = out.len() - start;
            out[slot..slot + 4].copy_from_slice(&le_u32(at));
            let block = self.filters.apply(index, &data[layout.block(index)]);
            let stream_len = block.len() / layout.streams(block.len());
            for stream in block.chunks_exact(stream_len) {
                if !append_stream(compressor, stream, &mut self.compressed, end, out) {
                    return Ok(None);
                }
            }
        }
        Ok(u32::try_from(out.len() - start).ok())
    }
}

/// The number of zeros among special values.
const ZEROS: u8 = 1;

/// Whether readers take special values of so much data: C-Blosc2 wants whole elements.
fn is_special(layout: &Layout) -> bool {
    layout.nbytes.is_multiple_of(layout.typesize.into())
}

fn write_header(header: &ChunkHeader, extension: &ChunkExtension, out: &mut Vec<u8>) {
    out.extend_from_slice(&header.to_bytes());
    out.extend_from_slice(&extension.to_bytes());
}

/// Appends one stream: a run of one byte, or its length, then what the compressor made of it or,
/// where that is no shorter, the stream as it is. `false` if that would go beyond `end`.
fn append_stream(
    compressor: &mut StreamEncoder,
    stream: &[u8],
    compressed: &mut Vec<u8>,
    end: usize,
    out: &mut Vec<u8>,
) -> bool {
    if let Some(byte) = Constants::byte_of(stream) {
        out.extend_from_slice(&u32::from(byte).wrapping_neg().to_le_bytes());
        if byte != 0 {
            out.push(RUN_TOKEN);
        }
        return out.len() <= end;
    }
    let Some(room) = end.checked_sub(out.len() + 4) else {
        return false;
    };
    let largest = (stream.len() - 1).min(room);
    let compressed = room_for(compressed, stream.len());
    let bytes = match compressor.compress(stream, &mut compressed[..largest]) {
        Some(len) => &compressed[..len],
        None => stream,
    };
    if bytes.len() > room {
        return false;
    }
    out.extend_from_slice(&le_u32(bytes.len()));
    out.extend_from_slice(bytes);
    true
}

/// The filters with the memory that they need.
struct Filters {
    typesize: u8,
    /// Bits that truncated precision sets to zero, of all such steps the most.
    zeroed: u8,
    /// The others.
    undo: Undo,
    /// The first block before delta.
    first: Vec<u8>,
    /// A block after one filter, and after the next.
    buffers: [Vec<u8>; 2],
}

impl Filters {
    fn new(pipeline: &FilterPipeline, typesize: u8) -> Self {
        let zeroed = pipeline.steps().filter_map(|step| match step {
            FilterStep::TruncatePrecision { bits } => truncate::zeroed(typesize, bits),
            _ => None,
        });
        Self {
            typesize,
            zeroed: zeroed.max().unwrap_or(0),
            undo: pipeline.undo(typesize, BLOSC2_STABLE),
            first: Vec::new(),
            buffers: [Vec::new(), Vec::new()],
        }
    }

    /// The block as the compressor is to see it. Blocks come in order, from the first on.
    ///
    /// Truncated precision comes before all others wherever it stands: what it does to bytes that
    /// have been moved is of no use to anybody.
    fn apply<'a>(&'a mut self, index: u32, block: &'a [u8]) -> &'a [u8] {
        let typesize = usize::from(self.typesize);
        let [here, there] = &mut self.buffers;
        let mut is_moved = false;
        if self.zeroed > 0 || self.undo.delta {
            let copy = room_for(here, block.len());
            copy.copy_from_slice(block);
            if self.zeroed > 0 {
                truncate::truncate(self.typesize, self.zeroed, copy);
            }
            if self.undo.delta && index == 0 {
                room_for(&mut self.first, block.len()).copy_from_slice(copy);
                delta::apply_first(typesize, copy);
            } else if self.undo.delta {
                delta::by_first(typesize, &self.first, copy);
            }
            is_moved = true;
        }
        if block.len() >= typesize {
            for step in self.undo.moves().rev() {
                let moved = room_for(there, block.len());
                let from = if is_moved {
                    &here[..block.len()]
                } else {
                    block
                };
                step.apply(typesize, from, moved);
                std::mem::swap(here, there);
                is_moved = true;
            }
        }
        if is_moved {
            &here[..block.len()]
        } else {
            block
        }
    }
}
