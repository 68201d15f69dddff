//! One choice of settings, tried on the sample.

use super::Aim;
use super::model::{self, Cost, Fate};
use crate::compressor::{Constants, NoiseTest, StreamEncoder};
use crate::encode::{apply, room_for};
use crate::header::HEADER_LEN;
use crate::layout::{Layout, MIN_BUFFER};
use crate::{ChunkError, ChunkSettings, Filter};

/// What a score counts in: bytes of data.
const SCALE: u128 = 1 << 20;

/// Settings, and what they made of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    settings: ChunkSettings,
    /// Bytes of data, and what became of them.
    data: u64,
    compressed: u64,
    cost: Cost,
}

impl Trial {
    /// The settings that were tried.
    #[must_use]
    pub const fn settings(&self) -> &ChunkSettings {
        &self.settings
    }

    /// How many times smaller the sample became; 1 for an empty one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "lengths of a sample")]
    pub fn ratio(&self) -> f64 {
        match self.compressed {
            0 => 1.0,
            compressed => self.data as f64 / compressed as f64,
        }
    }

    /// How fast one thread compresses, as reckoned: millions of bytes of data a second.
    #[must_use]
    pub fn encode_speed(&self) -> f64 {
        speed(self.data, self.cost.encode)
    }

    /// How fast one thread decompresses, as reckoned: millions of bytes of data a second.
    #[must_use]
    pub fn decode_speed(&self) -> f64 {
        speed(self.data, self.cost.decode)
    }

    /// What the aim makes least: for [`Aim::Speed`] and [`Aim::Balance`] the seconds that a gigabyte
    /// takes, for [`Aim::Size`] the compressed part of a byte.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "figures of a sample")]
    pub fn score(&self, aim: Aim) -> f64 {
        let score = self.points(aim) as f64 / SCALE as f64;
        match aim.disk() {
            Some(_) => score / 1e3,
            None => score,
        }
    }

    /// The score as a whole number, which is the same on every machine.
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

    /// The same for a byte of data, scaled.
    pub(super) fn pace(&self) -> u128 {
        self.time() * SCALE / u128::from(self.data.max(1))
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures of a sample")]
fn speed(bytes: u64, picoseconds: u64) -> f64 {
    match picoseconds {
        0 => 0.0,
        _ => bytes as f64 * 1e6 / picoseconds as f64,
    }
}

/// Compresses pieces as a [`ChunkEncoder`](crate::ChunkEncoder) would that had more of them.
#[derive(Default)]
pub(super) struct Bench {
    filtered: Vec<u8>,
    compressed: Vec<u8>,
    noise: NoiseTest,
}

impl Bench {
    /// Tries settings on pieces out of chunks of this size.
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
        let most = usize::try_from(chunk_size).unwrap_or(usize::MAX).max(1);
        // A chunk that is smaller than a piece has smaller blocks, too.
        for piece in pieces.iter().flat_map(|piece| piece.chunks(most)) {
            if settings.level == 0 || piece.len() < MIN_BUFFER as usize {
                let len = piece.len() as u64;
                trial.add(len, len, model::copy(len));
                continue;
            }
            let encoder = match &mut encoder {
                Some(encoder) => encoder,
                none => none.insert(StreamEncoder::new(&settings)?),
            };
            let layout = layout_within(&settings, chunk_size, piece.len());
            for index in 0..layout.nblocks() {
                if let Some(block) = piece.get(layout.block(index)) {
                    self.add_block(&mut trial, encoder, &layout, block);
                }
            }
        }
        // Of the header, the part that falls to so much of a chunk.
        trial.compressed += trial.data * HEADER_LEN as u64 / u64::from(chunk_size.max(1));
        Ok(trial)
    }

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
        // Its place in the table.
        let mut stored = 4;
        let mut cost = model::filter(&settings, len);
        for stream in block.chunks_exact((block.len() / streams).max(1)) {
            let room = room_for(&mut self.compressed, stream.len());
            let room = room.get_mut(..stream.len() - 1).unwrap_or_default();
            let compressed = encoder.compress(stream, room).map(|len| len as u64);
            stored += 4 + compressed.unwrap_or(stream.len() as u64);
            cost.add(match compressed {
                Some(compressed) if streams == 1 => {
                    whole_block(&mut self.noise, &settings, stream, compressed)
                }
                Some(compressed) => {
                    model::stream(&settings, stream.len() as u64, fate(stream, compressed))
                }
                None => model::stream(&settings, stream.len() as u64, Fate::Stored),
            });
        }
        if stored >= len {
            // A chunk of such blocks is stored: the attempt was made, but it is read back as it is.
            cost.decode = model::copy(len).decode;
            stored = len;
        }
        cost.add(model::memory(len, stored));
        trial.add(len, stored, cost);
    }
}

fn fate(stream: &[u8], compressed: u64) -> Fate {
    match Constants::byte_of(stream) {
        Some(_) => Fate::Constant,
        None => Fate::Shrunk(compressed),
    }
}

/// The time for a block that is one stream. Where a filter has put bytes of equal rank together, some
/// ranks may be noise that costs little while the others make all the work.
fn whole_block(
    noise: &mut NoiseTest,
    settings: &ChunkSettings,
    block: &[u8],
    compressed: u64,
) -> Cost {
    let len = block.len() as u64;
    let rank = block.len() / usize::from(settings.typesize).max(1);
    if settings.filter == Filter::None || rank == 0 || rank == block.len() {
        return model::stream(settings, len, fate(block, compressed));
    }
    let is_noise = |rank: &&[u8]| noise.is_noise(rank);
    let ranks = block.chunks_exact(rank).filter(is_noise);
    let noise: u64 = ranks.map(|rank| rank.len() as u64).sum();
    let rest = len - noise;
    let shrunk = compressed.saturating_sub(noise).min(rest);
    let mut cost = model::stream(settings, noise, Fate::Stored);
    cost.add(model::stream(settings, rest, Fate::Shrunk(shrunk)));
    cost
}

impl Trial {
    fn add(&mut self, data: u64, compressed: u64, cost: Cost) {
        self.data += data;
        self.compressed += compressed;
        self.cost.add(cost);
    }
}
/// The blocks of a piece as they would be in a chunk: whole ones of the chunk's size, or else one
/// that is as much of it as the piece has.
fn layout_within(settings: &ChunkSettings, chunk_size: u32, len: usize) -> Layout {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    let whole = Layout::choose(settings, chunk_size.max(len));
    let unit = u32::from(settings.typesize).max(1);
    let nbytes = if whole.blocksize <= len {
        len - len % whole.blocksize.max(1)
    } else {
        // Bitshuffle leaves blocks alone that are no multiple of eight elements.
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
