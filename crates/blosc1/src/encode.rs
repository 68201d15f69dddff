//! Encodes Blosc 1 chunks.
//!
//! ```text
//! data ─► block size ─► blocks, each: filter ─► streams ─► output ─► header
//!                 └─► too short, level 0, or not shortened: pure copy
//! ```

use super::block_encoder::{BlockEncoder, Job};
use super::header::{
    FLAG_BITSHUFFLE, FLAG_PURE_COPY, FLAG_SHUFFLE, FLAG_UNSPLIT, FORMAT_SHIFT, VERSION, VERSIONLZ,
};
use super::layout::{HEADER_LEN, Layout, MIN_BUFFER, compress_bound};
use super::output::{Growing, Output, Slice};
use super::parallel;
use super::scratch::to_u32;
use super::{ChunkError, ChunkHeader, ChunkSettings, Filter, blocksize};

/// Encodes Blosc 1 chunks, and reuses its buffers and the compressor's state for the next chunk.
///
/// A chunk depends on the settings and the data alone: not on chunks encoded before, and not on the
/// number of threads. For a single chunk, [`compress`](super::compress) is shorter.
///
/// The encoder keeps one filtered block, one compressed stream, and the compressor's state; with
/// [threads](Self::threads), this for each thread, and the compressed blocks of the last chunk.
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
    own: BlockEncoder,
    /// A compressed stream, before it is appended to the output.
    compressed: Vec<u8>,
    /// The encoders of the other threads.
    helpers: Vec<BlockEncoder>,
}

impl ChunkEncoder {
    /// An encoder with these settings. The compressor's state is allocated with the first chunk.
    ///
    /// # Errors
    ///
    /// Returns [`ChunkError::Level`] for a level above 9 and [`ChunkError::Typesize`] for a
    /// typesize of 0, which are [`Usage`](super::Fault::Usage), and
    /// [`Unsupported`](super::Fault::Unsupported) if this build cannot write the compressor's
    /// format.
    pub fn new(settings: ChunkSettings) -> Result<Self, ChunkError> {
        settings.check()?;
        Ok(Self {
            settings,
            own: BlockEncoder::default(),
            compressed: Vec::new(),
            helpers: Vec::new(),
        })
    }

    /// Compresses the blocks of a chunk with `count` threads, including the calling one. 0 and 1,
    /// the default, use the calling thread alone; more than 256 count as 256.
    ///
    /// The other threads are started for each chunk of several blocks and end with the call; if one
    /// cannot be started, the others do its part. The chunk is the same for any number of threads.
    ///
    /// ```
    /// use blosc1::{ChunkEncoder, ChunkSettings};
    ///
    /// let data = vec![7; 3_000_000];
    /// let mut chunk = Vec::new();
    /// ChunkEncoder::new(ChunkSettings::default())?.threads(2).encode(&data, &mut chunk)?;
    /// assert_eq!(chunk, blosc1::compress(&data, ChunkSettings::default())?);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub fn threads(mut self, count: usize) -> Self {
        self.set_threads(count);
        self
    }

    /// Sets the number of [threads](Self::threads) for later chunks. A smaller number frees the
    /// buffers of the others.
    pub fn set_threads(&mut self, count: usize) {
        let helpers = parallel::helpers(count);
        self.helpers.resize_with(helpers, BlockEncoder::default);
    }

    /// The settings for the next chunk.
    #[must_use]
    pub const fn settings(&self) -> &ChunkSettings {
        &self.settings
    }

    /// Changes the settings for later chunks.
    ///
    /// Buffers are kept. The compressor's state is kept if the compressor and the level do not
    /// change.
    ///
    /// ```
    /// use blosc1::{ChunkEncoder, ChunkSettings};
    ///
    /// let settings = ChunkSettings::default();
    /// let mut encoder = ChunkEncoder::new(settings)?;
    /// encoder.set_settings(settings.typesize(2))?;
    /// let header = encoder.encode(&[7; 1000], &mut Vec::new())?;
    /// assert_eq!(header.typesize, 2);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`new`](Self::new); the settings are then unchanged.
    pub fn set_settings(&mut self, settings: ChunkSettings) -> Result<(), ChunkError> {
        settings.check()?;
        let kept = (self.settings.compressor, self.settings.level);
        if kept != (settings.compressor, settings.level) {
            for encoder in self.helpers.iter_mut().chain([&mut self.own]) {
                encoder.forget_compressor();
            }
        }
        self.settings = settings;
        Ok(())
    }

    /// Appends `data` to `out` as one chunk of at most [`compress_bound`] bytes, and returns the
    /// chunk's header.
    ///
    /// Data that compression does not shorten, and any data of less than 128 bytes, becomes a [pure
    /// copy](ChunkHeader::is_pure_copy). Empty data becomes a chunk of 16 bytes. `out` reserves
    /// room for a pure copy first, so it may be left with spare capacity.
    ///
    /// # Errors
    ///
    /// Returns [`ChunkError::TooMuchData`] for more than [`MAX_NBYTES`](super::MAX_NBYTES) bytes,
    /// and [`ChunkError::Memory`] if the compressor's state cannot be allocated. `out` is then
    /// unchanged.
    ///
    /// ```
    /// use blosc1::{ChunkEncoder, ChunkSettings};
    ///
    /// let mut out = b"before".to_vec();
    /// let header = ChunkEncoder::new(ChunkSettings::default())?.encode(&[7; 5000], &mut out)?;
    /// assert_eq!(out.len(), 6 + header.ctbytes as usize);
    /// assert_eq!(blosc1::decompress(&out[6..])?, [7; 5000]);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    pub fn encode(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<ChunkHeader, ChunkError> {
        let nbytes = nbytes_of(data)?;
        let start = out.len();
        out.reserve(HEADER_LEN + data.len());
        let mut compressed = std::mem::take(&mut self.compressed);
        let largest = u64::from(nbytes) + 15;
        let mut output = Growing::new(out, &mut compressed);
        let header = self.compressed_header(nbytes, data, largest, &mut output);
        self.compressed = compressed;
        if let Ok(Some(header)) = header {
            out[start..start + HEADER_LEN].copy_from_slice(&header.to_bytes());
            return Ok(header);
        }
        out.truncate(start);
        header?;
        let header = self.copy_header(nbytes);
        out.extend_from_slice(&header.to_bytes());
        out.extend_from_slice(data);
        Ok(header)
    }

    /// Writes `data` to the beginning of `out` as one chunk, and returns the chunk's header, whose
    /// `ctbytes` is the length of the chunk.
    ///
    /// [`compress_bound`] bytes are always enough. `out` may be shorter if the data is expected to
    /// shrink. The chunk does not depend on the length of `out`. With a single thread, nothing is
    /// allocated apart from the buffers that the encoder keeps.
    ///
    /// ```
    /// use blosc1::{ChunkEncoder, ChunkSettings, Fault};
    ///
    /// let mut encoder = ChunkEncoder::new(ChunkSettings::default())?;
    /// let mut out = [0; 200];
    /// let header = encoder.encode_into(&[7; 10_000], &mut out)?;
    /// assert_eq!(blosc1::decompress(&out[..header.ctbytes as usize])?, [7; 10_000]);
    ///
    /// let error = encoder.encode_into(&[7; 10_000], &mut [0; 20]).unwrap_err();
    /// assert_eq!(error.fault(), Fault::Usage);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`encode`](Self::encode), and [`ChunkError::OutputTooShort`] if the
    /// chunk does not fit. The content of `out` is then unspecified.
    pub fn encode_into(&mut self, data: &[u8], out: &mut [u8]) -> Result<ChunkHeader, ChunkError> {
        let nbytes = nbytes_of(data)?;
        let largest = (out.len() as u64).min(u64::from(nbytes) + 15);
        let mut compressed = std::mem::take(&mut self.compressed);
        let mut output = Slice::new(out, &mut compressed);
        let header = self.compressed_header(nbytes, data, largest, &mut output);
        self.compressed = compressed;
        if let Some(header) = header? {
            return write(&[&header.to_bytes()], out).map(|()| header);
        }
        let header = self.copy_header(nbytes);
        write(&[&header.to_bytes(), data], out).map(|()| header)
    }

    /// Writes everything but the header of a compressed chunk of at most `largest` bytes to an
    /// empty `out`, and returns the header.
    ///
    /// Returns `None`, with unspecified bytes written, if the data is too short or the level is 0,
    /// or if the compressed chunk does not fit.
    fn compressed_header(
        &mut self,
        nbytes: u32,
        data: &[u8],
        largest: u64,
        out: &mut impl Output,
    ) -> Result<Option<ChunkHeader>, ChunkError> {
        if self.settings.level == 0 || nbytes < MIN_BUFFER {
            return Ok(None);
        }
        let layout = blocksize::choose(&self.settings, nbytes);
        let mut header = self.header(&layout);
        let ctbytes = self.compress(&header, &layout, data, largest, out)?;
        header.ctbytes = ctbytes.unwrap_or(0);
        Ok(ctbytes.map(|_| header))
    }

    /// The header of a pure copy. It names the filter and the compressor of the settings.
    fn copy_header(&self, nbytes: u32) -> ChunkHeader {
        let mut header = self.header(&blocksize::choose(&self.settings, nbytes));
        header.flags |= FLAG_PURE_COPY;
        header.ctbytes = nbytes + 16;
        header
    }

    /// The header of a compressed chunk whose length is not known yet: `ctbytes` is 0.
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

    /// Writes zeros for the header, the block table, and all blocks, and returns the length of the
    /// chunk.
    ///
    /// Returns `None`, with unspecified bytes written, as soon as the chunk cannot have at most
    /// `largest` bytes.
    fn compress(
        &mut self,
        header: &ChunkHeader,
        layout: &Layout,
        data: &[u8],
        largest: u64,
        out: &mut impl Output,
    ) -> Result<Option<u32>, ChunkError> {
        // `room` excludes the length and one byte of each remaining stream, the least that it can
        // take.
        let Some(room) = largest.checked_sub(layout.smallest_chunk()) else {
            return Ok(None);
        };
        let what = "a chunk is longer than memory";
        let mut room = usize::try_from(room).map_err(|_| ChunkError::Bug { what })?;
        let ChunkSettings {
            compressor, level, ..
        } = self.settings;
        let job = Job {
            layout,
            data,
            compressor,
            level,
            filter: header.filter(),
        };
        out.zeros(layout.table_end())?;
        if !self.helpers.is_empty() && layout.nblocks() > 1 {
            let most = self.helpers.len().min(layout.nblocks() as usize - 1);
            let (helpers, _) = self.helpers.split_at_mut(most);
            return parallel::encode(&job, &mut self.own, helpers, room, out);
        }
        for index in 0..layout.nblocks() {
            out.note_start(index)?;
            if !self.own.encode(&job, index, &mut room, out)? {
                return Ok(None);
            }
        }
        to_u32(out.written()).map(Some)
    }
}

/// The length of the data, if it fits in one chunk.
fn nbytes_of(data: &[u8]) -> Result<u32, ChunkError> {
    let too_much = ChunkError::TooMuchData { found: data.len() };
    let nbytes = u32::try_from(data.len()).map_err(|_| too_much.clone())?;
    match compress_bound(data.len()) {
        Some(_) => Ok(nbytes),
        None => Err(too_much),
    }
}

/// Writes `parts` one after another to the beginning of `out`.
fn write(parts: &[&[u8]], out: &mut [u8]) -> Result<(), ChunkError> {
    let found = out.len();
    let mut rest = out;
    for part in parts {
        let (place, later) = rest
            .split_at_mut_checked(part.len())
            .ok_or(ChunkError::OutputTooShort { found })?;
        place.copy_from_slice(part);
        rest = later;
    }
    Ok(())
}
