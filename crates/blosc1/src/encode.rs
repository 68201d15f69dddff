//! Encodes chunks of Blosc 1.

use super::compressor::StreamEncoder;
use super::header::{
    FLAG_BITSHUFFLE, FLAG_PURE_COPY, FLAG_SHUFFLE, FLAG_UNSPLIT, FORMAT_SHIFT, VERSION, VERSIONLZ,
};
use super::layout::{HEADER_LEN, Layout, MAX_NBYTES, MIN_BUFFER};
use super::scratch::{le_u32, room_for, to_u32};
use super::{ChunkError, ChunkHeader, ChunkSettings, Filter, blocksize, filter};

/// Encodes chunks of Blosc 1, and reuses its buffers and the compressor's state for the next chunk.
///
/// A chunk depends on the settings and the data alone, not on chunks encoded before. For a single
/// chunk, [`compress`](super::compress) is shorter.
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
    /// Made on first use.
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
    /// Returns [`Usage`](super::Fault::Usage) for a level above 9 or a typesize of 0, and
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

    /// The settings passed to [`new`](Self::new).
    #[must_use]
    pub const fn settings(&self) -> &ChunkSettings {
        &self.settings
    }

    /// Appends `data` to `out` as one chunk of at most `data.len() + 16` bytes, and returns the
    /// chunk's header.
    ///
    /// Data that compression does not shorten, such as any data of less than 128 bytes, becomes a
    /// [pure copy](ChunkHeader::is_pure_copy). Empty data becomes a chunk of 16 bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Usage`](super::Fault::Usage) for more than [`MAX_NBYTES`] bytes, and
    /// [`OverLimit`](super::Fault::OverLimit) if there is no memory for the compressor's state.
    /// `out` is unchanged in both cases.
    pub fn encode(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<ChunkHeader, ChunkError> {
        let nbytes = u32::try_from(data.len())
            .ok()
            .filter(|&nbytes| nbytes <= MAX_NBYTES)
            .ok_or(ChunkError::TooMuchData { found: data.len() })?;
        let layout = blocksize::choose(&self.settings, nbytes);
        let mut header = self.header(&layout);
        let start = out.len();
        out.reserve(HEADER_LEN + data.len());
        if self.settings.level > 0 && nbytes >= MIN_BUFFER {
            let compressed = self.compress(&header, &layout, data, out);
            if let Ok(Some(ctbytes)) = compressed {
                header.ctbytes = ctbytes;
                out[start..start + HEADER_LEN].copy_from_slice(&header.to_bytes());
                return Ok(header);
            }
            out.truncate(start);
            compressed?;
        }
        header.flags |= FLAG_PURE_COPY;
        header.ctbytes = nbytes + 16;
        out.extend_from_slice(&header.to_bytes());
        out.extend_from_slice(data);
        Ok(header)
    }

    /// The header, except for the chunk's length.
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

    /// Appends the compressed chunk, with room for its header, and returns its length. Returns `None`,
    /// with unspecified bytes appended, as soon as the chunk cannot be shorter than a pure copy.
    fn compress(
        &mut self,
        header: &ChunkHeader,
        layout: &Layout,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<u32>, ChunkError> {
        // The bytes available for streams in a chunk one byte shorter than a pure copy, if each
        // remaining stream takes a single byte.
        let largest = u64::from(layout.nbytes) + 15;
        let Some(room) = largest.checked_sub(layout.smallest_chunk()) else {
            return Ok(None);
        };
        let what = "a chunk is longer than memory";
        let mut room = usize::try_from(room).map_err(|_| ChunkError::Bug { what })?;
        let ChunkSettings {
            compressor, level, ..
        } = self.settings;
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(StreamEncoder::new(compressor, level)?),
        };
        let start = out.len();
        out.resize(start + layout.table_end(), 0);
        for index in 0..layout.nblocks() {
            let slot = start + HEADER_LEN + 4 * index as usize;
            let at = out.len() - start;
            out[slot..slot + 4].copy_from_slice(&le_u32(at)?);
            let block = &data[layout.block(index)];
            let block = apply(header.filter(), layout, block, &mut self.filtered);
            let stream_len = block.len() / layout.streams(block.len());
            for stream in block.chunks_exact(stream_len) {
                if !append_stream(compressor, stream, &mut self.compressed, &mut room, out)? {
                    return Ok(None);
                }
            }
        }
        to_u32(out.len() - start).map(Some)
    }
}

/// Applies the filter to a block; returns the block itself if there is nothing to do.
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

/// Appends one stream: its length, then its compressed form or, if that is not shorter, the stream
/// itself. Returns `false` if it does not fit `room`, which excludes one byte for each stream.
fn append_stream(
    compressor: &mut StreamEncoder,
    stream: &[u8],
    compressed: &mut Vec<u8>,
    room: &mut usize,
    out: &mut Vec<u8>,
) -> Result<bool, ChunkError> {
    let largest = (stream.len() - 1).min(*room + 1);
    let compressed = room_for(compressed, stream.len());
    let bytes = match compressor.compress(stream, &mut compressed[..largest]) {
        Some(len) => &compressed[..len],
        None => stream,
    };
    let Some(left) = (*room + 1).checked_sub(bytes.len()) else {
        return Ok(false);
    };
    *room = left;
    out.extend_from_slice(&le_u32(bytes.len())?);
    out.extend_from_slice(bytes);
    Ok(true)
}
