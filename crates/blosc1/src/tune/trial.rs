//! Tries settings on the sample.

use super::aim::Aim;
use super::model::{self, Cost, Outcome};
use crate::block_encoder::apply;
use crate::blocksize;
use crate::compressor::{ConstantStreams, NoiseTest, StreamEncoder};
use crate::layout::{HEADER_LEN, Layout, MIN_BUFFER};
use crate::scratch::{room_for, to_u32};
use crate::{ChunkError, ChunkSettings, Filter};

/// The bytes of data to which a score applies, so that it keeps its precision as an integer.
const SCALE: u128 = 1 << 20;

/// The result of compressing the sample with some settings.
///
/// The size is real. The speeds are estimates from a table of measurements: they are the same on
/// every machine, and serve to compare settings.
///
/// ```
/// use blosc1::{Aim, Tuner};
///
/// let numbers: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
/// let tuned = Tuner::new(Aim::Speed).tune(&numbers)?;
/// for trial in tuned.trials() {
///     println!("{:?}: {:.1} times smaller", trial.settings(), trial.ratio());
///     assert!(trial.score(Aim::Speed) >= tuned.best().score(Aim::Speed));
/// }
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    settings: ChunkSettings,
    /// Bytes of data.
    data: u64,
    /// Bytes of its compressed form.
    compressed: u64,
    cost: Cost,
}

impl Trial {
    /// The settings that were tried.
    #[must_use]
    pub const fn settings(&self) -> &ChunkSettings {
        &self.settings
    }

    /// The compression ratio: the bytes of the sample divided by its compressed bytes, including
    /// headers and tables; 1 for an empty sample.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "lengths of a sample")]
    pub fn ratio(&self) -> f64 {
        match self.compressed {
            0 => 1.0,
            compressed => self.data as f64 / compressed as f64,
        }
    }

    /// The estimated speed of compression by one thread, in megabytes (10⁶ bytes) of data per
    /// second; 0 for an empty sample.
    #[must_use]
    pub fn encode_speed(&self) -> f64 {
        speed(self.data, self.cost.encode)
    }

    /// The estimated speed of decompression by one thread, in megabytes (10⁶ bytes) of data per
    /// second; 0 for an empty sample.
    #[must_use]
    pub fn decode_speed(&self) -> f64 {
        speed(self.data, self.cost.decode)
    }

    /// The value that the aim minimizes: for [`Aim::Speed`] and [`Aim::Balance`] the estimated
    /// seconds per gigabyte (see [`Aim`]), for [`Aim::Size`] the inverse of the ratio.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "figures of a sample")]
    pub fn score(&self, aim: Aim) -> f64 {
        let score = self.points(aim) as f64 / SCALE as f64;
        match aim.disk() {
            Some(_) => score / 1e3,
            None => score,
        }
    }

    /// Whether the compressed form has at least this many thousandths of the size.
    pub(super) fn leaves(&self, thousandths: u64) -> bool {
        u128::from(self.compressed) * 1000 >= u128::from(self.data) * u128::from(thousandths)
    }

    /// The score as an integer, which is the same on every machine.
    pub(super) fn points(&self, aim: Aim) -> u128 {
        let data = u128::from(self.data.max(1));
        let sum = match aim.disk() {
            Some(disk) => self.time() + 2 * u128::from(disk) * u128::from(self.compressed),
            None => u128::from(self.compressed),
        };
        sum * SCALE / data
    }

    /// Picoseconds to compress and decompress with two threads.
    pub(super) fn time(&self) -> u128 {
        (u128::from(self.cost.encode) + u128::from(self.cost.decode)) / 2
    }

    /// [`time`](Self::time) for [`SCALE`] bytes of data.
    pub(super) fn pace(&self) -> u128 {
        self.time() * SCALE / u128::from(self.data.max(1))
    }
}

/// Megabytes per second; 0 for no time.
#[expect(clippy::cast_precision_loss, reason = "figures of a sample")]
fn speed(bytes: u64, picoseconds: u64) -> f64 {
    match picoseconds {
        0 => 0.0,
        _ => bytes as f64 * 1e6 / picoseconds as f64,
    }
}

/// Compresses pieces of the sample as a [`ChunkEncoder`](crate::ChunkEncoder) compresses whole
/// chunks, and keeps its buffers between trials.
#[derive(Default)]
pub(super) struct TrialRunner {
    filtered: Vec<u8>,
    compressed: Vec<u8>,
    noise: NoiseTest,
}

impl TrialRunner {
    /// Tries settings on `pieces`, as parts of chunks of `chunk_size` bytes.
    pub fn run(
        &mut self,
        settings: ChunkSettings,
        chunk_size: u32,
        pieces: &[&[u8]],
    ) -> Result<Trial, ChunkError> {
        settings.check()?;
        let mut trial = Trial {
            settings,
            data: 0,
            compressed: 0,
            cost: Cost::default(),
        };
        let mut encoder = None;
        let most = chunk_size.max(1) as usize;
        // A piece longer than a chunk is cut into chunks, whose blocks may be smaller.
        for piece in pieces.iter().flat_map(|piece| piece.chunks(most)) {
            if settings.level == 0 || piece.len() < MIN_BUFFER as usize {
                let len = piece.len() as u64;
                trial.add(len, len, model::copy(len));
                continue;
            }
            let encoder = match &mut encoder {
                Some(encoder) => encoder,
                none => none.insert(StreamEncoder::new(settings.compressor, settings.level)?),
            };
            let layout = layout_within(&settings, chunk_size, to_u32(piece.len())?);
            for index in 0..layout.nblocks() {
                // The layout is within the piece, so no block is outside it.
                self.add_block(&mut trial, encoder, &layout, &piece[layout.block(index)]);
            }
        }
        // The share of the header for the tried part of a chunk.
        trial.compressed += trial.data * HEADER_LEN as u64 / u64::from(chunk_size.max(1));
        Ok(trial)
    }

    /// Compresses one block, and adds its size and cost to the trial.
    fn add_block(
        &mut self,
        trial: &mut Trial,
        encoder: &mut StreamEncoder,
        layout: &Layout,
        block: &[u8],
    ) {
        let settings = trial.settings;
        let len = block.len() as u64;
        let block = apply(settings.filter, layout, block, &mut self.filtered);
        let streams = layout.streams(block.len()).max(1);
        // The entry of the block table.
        let mut stored = 4;
        let mut cost = model::filter(&settings, len);
        for stream in block.chunks_exact((block.len() / streams).max(1)) {
            let room = room_for(&mut self.compressed, stream.len());
            let compressed = encoder.compress(stream, &mut room[..stream.len() - 1]);
            let compressed = compressed.map(|len| len as u64);
            stored += 4 + compressed.unwrap_or(stream.len() as u64);
            cost.add(match compressed {
                Some(compressed) if streams == 1 => {
                    whole_block(&mut self.noise, &settings, stream, compressed)
                }
                Some(compressed) => {
                    model::stream(&settings, stream.len() as u64, outcome(stream, compressed))
                }
                None => model::stream(&settings, stream.len() as u64, Outcome::Stored),
            });
        }
        if stored >= len {
            // A chunk of such blocks is stored: it takes the time to compress, but decompresses as
            // a copy.
            cost.decode = model::copy(len).decode;
            stored = len;
        }
        cost.add(model::memory(len, stored));
        trial.add(len, stored, cost);
    }
}

/// The outcome for a stream that was compressed to this length.
fn outcome(stream: &[u8], compressed: u64) -> Outcome {
    match ConstantStreams::byte_of(stream) {
        Some(_) => Outcome::Constant,
        None => Outcome::Compressed(compressed),
    }
}

/// The cost of a block that is one stream.
///
/// If a filter has grouped the bytes of equal rank, some ranks may be noise, which costs little,
/// while the others cause most of the work. The two parts are estimated separately.
fn whole_block(
    noise: &mut NoiseTest,
    settings: &ChunkSettings,
    block: &[u8],
    compressed: u64,
) -> Cost {
    let len = block.len() as u64;
    let rank = block.len() / usize::from(settings.typesize).max(1);
    if settings.filter == Filter::None || rank == 0 || rank == block.len() {
        return model::stream(settings, len, outcome(block, compressed));
    }
    let is_noise = |rank: &&[u8]| noise.is_noise(rank);
    let ranks = block.chunks_exact(rank).filter(is_noise);
    let noise: u64 = ranks.map(|rank| rank.len() as u64).sum();
    let rest = len - noise;
    // An estimate: noise is stored uncompressed, so the rest of the compressed bytes belongs to the
    // other ranks.
    let shrunk = compressed.saturating_sub(noise).min(rest);
    let mut cost = model::stream(settings, noise, Outcome::Stored);
    cost.add(model::stream(settings, rest, Outcome::Compressed(shrunk)));
    cost
}

impl Trial {
    fn add(&mut self, data: u64, compressed: u64, cost: Cost) {
        self.data += data;
        self.compressed += compressed;
        self.cost.add(cost);
    }
}

/// The layout of a piece of `len` bytes as part of a chunk: full blocks of the size in that chunk,
/// or a single shorter block if the piece is shorter than a block.
fn layout_within(settings: &ChunkSettings, chunk_size: u32, len: u32) -> Layout {
    let whole = blocksize::choose(settings, chunk_size.max(len));
    let unit = u32::from(settings.typesize).max(1);
    let nbytes = if whole.blocksize <= len {
        len - len % whole.blocksize.max(1)
    } else {
        // Bitshuffle does not change a block unless its number of elements is a multiple of eight.
        let eight = unit * 8;
        match len - len % eight {
            0 => len - len % unit,
            most if whole.blocksize.is_multiple_of(eight) => most,
            most => most - unit,
        }
    };
    let blocksize = whole.blocksize.min(nbytes);
    Layout {
        nbytes,
        blocksize,
        typesize: settings.typesize,
        split: whole.split && Layout::can_split(settings.typesize, blocksize),
        header_len: HEADER_LEN,
    }
}
