//! Data in, chunk out.

use super::compressor::StreamEncoder;
use super::header::{
    FLAG_BITSHUFFLE, FLAG_PURE_COPY, FLAG_SHUFFLE, FLAG_UNSPLIT, FORMAT_SHIFT, HEADER_LEN,
    MAX_NBYTES, VERSION, VERSIONLZ,
};
use super::layout::{Layout, MIN_BUFFER};
use super::{ChunkError, ChunkHeader, ChunkSettings, Filter, filter};

/// Encodes chunks one after the other, keeping its memory and the compressor's state.
///
/// The chunk depends on settings and data alone, not on what was encoded before.
///
/// ```
/// use blosc1::{ChunkEncoder, ChunkSettings};
///
/// let mut encoder = ChunkEncoder::new(ChunkSettings::default())?;
/// let mut out = Vec::new();
/// let first = encoder.encode(&[0; 1000], &mut out)?;
/// let second = encoder.encode(b"too short to compress", &mut out)?;
/// assert!(!first.is_pure_copy() && second.is_pure_copy());
/// assert_eq!(out.len(), (first.ctbytes + second.ctbytes) as usize);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
pub struct ChunkEncoder {
    settings: ChunkSettings,
    /// Made for the first stream.
    compressor: Option<StreamEncoder>,
    /// A filtered block.
    filtered: Vec<u8>,
    /// A compressed stream.
    compressed: Vec<u8>,
}

impl ChunkEncoder {
    /// An encoder with these settings.
    ///
    /// # Errors
    ///
    /// [`Usage`](super::Fault::Usage) for a level above 9 or a typesize of 0;
    /// [`Unsupported`](super::Fault::Unsupported) if this build lacks the compressor.
    pub fn new(settings: ChunkSettings) -> Result<Self, ChunkError> {
        settings.check()?;
        Ok(Self {
            settings,
            compressor: None,
            filtered: Vec::new(),
            compressed: Vec::new(),
        })
    }

    /// The settings given to [`new`](Self::new).
    #[must_use]
    pub const fn settings(&self) -> &ChunkSettings {
        &self.settings
    }

    /// Appends `data` to `out` as one chunk of at most `data.len() + 16` bytes, and gives its
    /// header.
    ///
    /// Data that compression would not shorten, as any below 128 bytes, becomes a pure copy.
    ///
    /// # Errors
    ///
    /// [`Usage`](super::Fault::Usage) for more than [`MAX_NBYTES`] bytes; `out` is then as
    /// it was.
    pub fn encode(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<ChunkHeader, ChunkError> {
        let nbytes = u32::try_from(data.len())
            .ok()
            .filter(|&nbytes| nbytes <= MAX_NBYTES)
            .ok_or(ChunkError::TooMuchData { found: data.len() })?;
        let layout = Layout::choose(&self.settings, nbytes);
        let mut header = self.header(&layout);
        let start = out.len();
        out.reserve(HEADER_LEN + data.len());
        if self.settings.level > 0 && nbytes >= MIN_BUFFER {
            if let Some(ctbytes) = self.compress(&header, &layout, data, out)? {
                header.ctbytes = ctbytes;
                out[start..start + HEADER_LEN].copy_from_slice(&header.to_bytes());
                return Ok(header);
            }
            out.truncate(start);
        }
        header.flags |= FLAG_PURE_COPY;
        header.ctbytes = nbytes + 16;
        out.extend_from_slice(&header.to_bytes());
        out.extend_from_slice(data);
        Ok(header)
    }

    /// The header, but for the chunk's length.
    fn header(&self, layout: &Layout) -> ChunkHeader {
        let filter = match self.settings.filter {
            Filter::None => 0,
            Filter::Byte => FLAG_SHUFFLE,
            Filter::Bit => FLAG_BITSHUFFLE,
        };
        let unsplit = if layout.split { 0 } else { FLAG_UNSPLIT };
        let format = self.settings.compressor.format().code() << FORMAT_SHIFT;
        ChunkHeader {
            version: VERSION,
            versionlz: VERSIONLZ,
            flags: filter | unsplit | format,
            typesize: layout.typesize,
            nbytes: layout.nbytes,
            blocksize: layout.blocksize,
            ctbytes: 0,
        }
    }

    /// Appends the compressed chunk, its header's place left open, and gives its length; or
    /// `None`, with anything appended, as soon as it is certain not to be below a pure copy's.
    fn compress(
        &mut self,
        header: &ChunkHeader,
        layout: &Layout,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<u32>, ChunkError> {
        // What is left for streams if the chunk is to be one byte shorter than a pure copy and
        // each stream to come takes but a byte.
        let largest = u64::from(layout.nbytes) + 15;
        let Some(room) = largest.checked_sub(layout.smallest_chunk()) else {
            return Ok(None);
        };
        let mut room = usize::try_from(room).unwrap_or(usize::MAX);
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(StreamEncoder::new(&self.settings)?),
        };
        let start = out.len();
        out.resize(start + layout.table_end(), 0);
        for index in 0..layout.nblocks() {
            let slot = start + HEADER_LEN + 4 * index as usize;
            let at = out.len() - start;
            out[slot..slot + 4].copy_from_slice(&le_u32(at));
            let block = &data[layout.block(index)];
            let block = apply(header.filter(), layout, block, &mut self.filtered);
            let stream_len = block.len() / layout.streams(block.len());
            for stream in block.chunks_exact(stream_len) {
                if !append_stream(compressor, stream, &mut self.compressed, &mut room, out) {
                    return Ok(None);
                }
            }
        }
        Ok(u32::try_from(out.len() - start).ok())
    }
}

/// The block as the compressor is to see it.
pub(super) fn apply<'a>(
    filter: Filter,
    layout: &Layout,
    block: &'a [u8],
    filtered: &'a mut Vec<u8>,
) -> &'a [u8] {
    let typesize = usize::from(layout.typesize);
    let run = match filter {
        Filter::Byte if typesize > 1 => filter::shuffle,
        Filter::Bit if block.len() >= typesize => filter::bitshuffle,
        _ => return block,
    };
    let filtered = room_for(filtered, block.len());
    run(typesize, block, filtered);
    filtered
}

/// Appends one stream: its length, then what the compressor made of it or, where that is no
/// shorter, the stream as it is. `false` if it does not fit `room`, of which one byte is already
/// set aside for each stream.
fn append_stream(
    compressor: &mut StreamEncoder,
    stream: &[u8],
    compressed: &mut Vec<u8>,
    room: &mut usize,
    out: &mut Vec<u8>,
) -> bool {
    let largest = (stream.len() - 1).min(*room + 1);
    let compressed = room_for(compressed, stream.len());
    let bytes = match compressor.compress(stream, &mut compressed[..largest]) {
        Some(len) => &compressed[..len],
        None => stream,
    };
    let Some(left) = (*room + 1).checked_sub(bytes.len()) else {
        return false;
    };
    *room = left;
    out.extend_from_slice(&le_u32(bytes.len()));
    out.extend_from_slice(bytes);
    true
}

/// The first `len` bytes of a scratch buffer, which holds anything.
pub(super) fn room_for(scratch: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if scratch.len() < len {
        // Asked for anew so that pages never touched cost nothing, and nothing old is copied.
        *scratch = Vec::new();
        *scratch = vec![0; len];
    }
    &mut scratch[..len]
}

/// A position or length within a chunk, which is below 2 GiB.
pub(super) fn le_u32(value: usize) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes()
}
