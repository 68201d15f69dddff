//! Settings chosen by what a sample of the data shows.
//!
//! Pieces of the sample are compressed with candidates, so the sizes are true; the times are reckoned by
//! a [`model`], so the choice depends on nothing but the sample, what was asked for, and which
//! compressors the build has.
//!
//! ```text
//! sample ─► typesizes probed ─► filters scouted, for compressors with and without entropy coding
//!                                    └─► compressors × levels tried on the best ─► the best of all
//! ```

mod aim;
mod figures;
mod model;
mod sample;
mod search;
mod trial;
mod tuned;

pub use aim::{Aim, UnknownAim};
pub use trial::Trial;
pub use tuned::Tuned;

use super::{ChunkError, ChunkSettings, Compressor, Filter, MAX_NBYTES};
use search::Search;
use std::ops::Range;

/// Bytes of a chunk, unless told otherwise.
const CHUNK_SIZE: u32 = 1 << 20;

/// Chooses settings by a sample of the data; what is given stays, the rest is chosen.
///
/// The same sample and the same options give the same settings on every machine, with the same
/// compressors in the build. At most 1 MiB of the sample is looked at. Tuning takes some tens of
/// milliseconds, and for [`Aim::Size`] a second or so.
///
/// ```
/// use blosc1::{Aim, Compressor, Tuner};
///
/// let numbers: Vec<u8> = (0..100_000_u64).flat_map(|n| (n * n).to_le_bytes()).collect();
/// let tuned = Tuner::new(Aim::Balance).tune(&numbers)?;
/// assert_eq!(tuned.settings().typesize, 8);
/// assert!(tuned.best().ratio() > 2.0);
///
/// let tuned = Tuner::new(Aim::Size).compressor(Compressor::Zlib).tune(&numbers)?;
/// assert_eq!(tuned.settings().compressor, Compressor::Zlib);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuner {
    aim: Aim,
    typesize: Option<u8>,
    filter: Option<Filter>,
    compressor: Option<Compressor>,
    level: Option<u8>,
    blocksize: Option<u32>,
    chunk_size: u32,
}

impl Default for Tuner {
    /// As [`new`](Self::new), for [`Aim::Balance`].
    fn default() -> Self {
        Self::new(Aim::Balance)
    }
}

impl Tuner {
    /// Chooses everything, for chunks of 1 MiB.
    #[must_use]
    pub const fn new(aim: Aim) -> Self {
        Self {
            aim,
            typesize: None,
            filter: None,
            compressor: None,
            level: None,
            blocksize: None,
            chunk_size: CHUNK_SIZE,
        }
    }

    /// Another aim.
    #[must_use]
    pub const fn aim(mut self, aim: Aim) -> Self {
        self.aim = aim;
        self
    }

    /// Bytes an element, 1 to 255, which are not guessed then.
    #[must_use]
    pub const fn typesize(mut self, typesize: u8) -> Self {
        self.typesize = Some(typesize);
        self
    }

    /// The filter, which is not chosen then.
    #[must_use]
    pub const fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// The compressor, which is not chosen then.
    #[must_use]
    pub const fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = Some(compressor);
        self
    }

    /// The level, 0 to 9, which is not chosen then.
    #[must_use]
    pub const fn level(mut self, level: u8) -> Self {
        self.level = Some(level);
        self
    }

    /// Bytes of a block; `None`, the default, leaves them to compressor and level.
    #[must_use]
    pub const fn blocksize(mut self, blocksize: Option<u32>) -> Self {
        self.blocksize = blocksize;
        self
    }

    /// Uncompressed bytes of the chunks to come, on which the blocks depend; 1 MiB by default.
    #[must_use]
    pub const fn chunk_size(mut self, bytes: u32) -> Self {
        self.chunk_size = bytes;
        self
    }

    /// Where to look in data of this many bytes: the whole of it up to 1 MiB, else 4 pieces of 256 KiB, of
    /// which the first is the beginning and the last the end.
    ///
    /// ```
    /// use blosc1::{Aim, Tuner};
    ///
    /// let tuner = Tuner::new(Aim::Balance);
    /// assert_eq!(tuner.places(1000), [0..1000]);
    /// let places = tuner.places(1 << 40);
    /// assert_eq!((places.len(), places[0].start), (4, 0));
    /// assert!(places[3].end > (1 << 40) - 100);
    /// ```
    #[must_use]
    pub fn places(&self, len: u64) -> Vec<Range<u64>> {
        sample::places(len)
    }

    /// Chooses by data that lies together, looking at its [`places`](Self::places).
    ///
    /// # Errors
    ///
    /// [`Usage`](super::Fault::Usage) for a given level above 9 or a typesize of 0;
    /// [`Unsupported`](super::Fault::Unsupported) if this build lacks a given compressor, or has none.
    pub fn tune(&self, data: &[u8]) -> Result<Tuned, ChunkError> {
        let places = self.places(data.len() as u64);
        let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let pieces = places
            .iter()
            .filter_map(|place| data.get(index(place.start)..index(place.end)));
        self.tune_pieces(&pieces.collect::<Vec<_>>())
    }

    /// Chooses by pieces of the data, such as those at [`places`](Self::places), of which the first
    /// mebibyte is looked at. A piece should begin with an element.
    ///
    /// # Errors
    ///
    /// As for [`tune`](Self::tune).
    pub fn tune_pieces(&self, pieces: &[&[u8]]) -> Result<Tuned, ChunkError> {
        let tuner = Self {
            chunk_size: self.chunk_size.clamp(1, MAX_NBYTES),
            ..*self
        };
        Search::new(tuner, sample::bounded(pieces)).run()
    }

    /// The settings that were given, and the default ones for the rest.
    fn default_settings(&self) -> ChunkSettings {
        let default = ChunkSettings::default();
        let compressor = self.compressor.unwrap_or(default.compressor);
        ChunkSettings {
            compressor,
            level: self.level.unwrap_or(compressor.default_level()),
            filter: self.filter.unwrap_or(default.filter),
            typesize: self.typesize.unwrap_or(default.typesize),
            blocksize: self.blocksize,
        }
    }
}
