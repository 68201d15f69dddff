//! One choice of settings, tried on the sample.

use super::model::{self, Cost};
use super::{Aim, sample::PIECE};
use crate::blosc::compressor::StreamEncoder;
use crate::blosc::encode::apply;
use crate::blosc::header::HEADER_LEN;
use crate::blosc::layout::{Layout, MIN_BUFFER};
use crate::blosc::{ChunkError, ChunkSettings};

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

/// Compresses pieces as a [`ChunkEncoder`](crate::blosc::ChunkEncoder) would that had more of them.
#[derive(Default)]
pub(super) struct Bench {
    filtered: Vec<u8>,
    compressed: Vec<u8>,
}

impl Bench {
    /// Tries settings on pieces out of chunks of this size, of each piece at most `most` bytes.
    pub fn run(
        &mut self,
        settings: ChunkSettings,
        chunk_size: u32,
        pieces: &[&[u8]],
        most: usize,
    ) -> Result<Trial, ChunkError> {
        settings.check()?;
        let mut trial = Trial {
            settings,
            data: 0,
            compressed: 0,
            cost: Cost::default(),
        };
        let mut encoder = None;
        for piece in pieces {
            let piece = piece.get(..most.min(PIECE)).unwrap_or(piece);
            if settings.level == 0 || piece.len() < MIN_BUFFER as usize {
                trial.add_copy(piece.len() as u64);
                continue;
            }
            let encoder = match &mut encoder {
                Some(encoder) => encoder,
                none => none.insert(StreamEncoder::new(&settings)?),
            };
            self.add(&mut trial, encoder, chunk_size, piece);
        }
        Ok(trial)
    }

    /// Adds a piece that is long enough to compress.
    fn add(
        &mut self,
        trial: &mut Trial,
        encoder: &mut StreamEncoder,
        chunk_size: u32,
        piece: &[u8],
    ) {
        let settings = trial.settings;
        let layout = layout_within(&settings, chunk_size, piece.len());
        let (mut stored, mut cost) = (0, Cost::default());
        for index in 0..layout.nblocks() {
            let Some(block) = piece.get(layout.block(index)) else {
                continue;
            };
            cost.add(model::filter(&settings, block.len() as u64));
            stored += 4;
            let block = apply(settings.filter, &layout, block, &mut self.filtered);
            let stream_len = block.len() / layout.streams(block.len()).max(1);
            for stream in block.chunks_exact(stream_len.max(1)) {
                let room = crate::blosc::encode::room_for(&mut self.compressed, stream.len());
                let room = room.get_mut(..stream.len() - 1).unwrap_or_default();
                let len = encoder.compress(stream, room).map(|len| len as u64);
                stored += 4 + len.unwrap_or(stream.len() as u64);
                cost.add(model::stream(&settings, stream.len() as u64, len));
            }
        }
        let data = u64::from(layout.nbytes);
        trial.data += data;
        if stored < data {
            trial.compressed += stored;
            trial.cost.add(cost);
        } else {
            // The attempt was made; only reading it back is a copy.
            trial.compressed += data;
            trial.cost.add(Cost {
                encode: cost.encode,
                ..model::copy(data)
            });
        }
    }
}

impl Trial {
    fn add_copy(&mut self, len: u64) {
        self.data += len;
        self.compressed += len;
        self.cost.add(model::copy(len));
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
            most if whole.blocksize % eight == 0 => most,
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
