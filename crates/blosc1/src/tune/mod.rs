//! Chooses settings by a sample of the data.
//!
//! Pieces of the sample are compressed with candidate settings, so the sizes are real. The times
//! are estimated by a [`model`], so the choice only depends on the sample, the options, and the
//! compressors of the build.
//!
//! ```text
//! sample ─► looks like noise? ─► one trial of each compressor without a filter confirms it ─► the best
//!       └─► typesizes compared ─► filters compared, for compressors with and without entropy coding
//!                                     └─► compressors × levels tried on the best ─► the best of all
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

use std::ops::Range;

use super::layout::MAX_NBYTES;
use super::{ChunkError, ChunkSettings, Compressor, Filter};
use search::Search;

/// Bytes of the future chunks by default.
const CHUNK_SIZE: u32 = 1 << 20;

/// Chooses [`ChunkSettings`] by a sample of the data. Settings that the caller provides are kept;
/// the others are chosen.
///
/// | setting | chosen from |
/// |---|---|
/// | typesize | 1, 2, 3, 4, 6, 8, 12, 16, 24 |
/// | filter | none, shuffle, bitshuffle |
/// | compressor | all that the build can write, except those that another one outdoes for the aim |
/// | level | a few per compressor and aim, slow ones only for [`Aim::Size`] |
/// | block size, split mode | not chosen: the defaults |
///
/// The same sample and options give the same settings on every machine, if the builds have the same
/// compressors. At most 1 MiB of the sample is used. Tuning takes tens of milliseconds, and about a
/// second for [`Aim::Size`]. It runs on the calling thread.
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
    /// [`new`](Self::new) with [`Aim::Balance`].
    fn default() -> Self {
        Self::new(Aim::Balance)
    }
}

impl Tuner {
    /// A tuner that chooses all settings, for chunks of 1 MiB.
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

    /// Sets the aim.
    #[must_use]
    pub const fn aim(mut self, aim: Aim) -> Self {
        self.aim = aim;
        self
    }

    /// Sets the element size in bytes, 1 to 255, instead of choosing it.
    #[must_use]
    pub const fn typesize(mut self, typesize: u8) -> Self {
        self.typesize = Some(typesize);
        self
    }

    /// Sets the element size in bytes that the data itself states, such as a `.npy` header, unless
    /// [`typesize`](Self::typesize) was called. `None` changes nothing.
    ///
    /// ```
    /// use blosc1::{Aim, Tuner};
    ///
    /// let tuner = Tuner::new(Aim::Balance);
    /// assert_eq!(tuner.typesize_of_data(Some(4)), tuner.typesize(4));
    /// assert_eq!(tuner.typesize(2).typesize_of_data(Some(4)), tuner.typesize(2));
    /// assert_eq!(tuner.typesize_of_data(None), tuner);
    /// ```
    #[must_use]
    pub const fn typesize_of_data(mut self, typesize: Option<u8>) -> Self {
        if self.typesize.is_none() {
            self.typesize = typesize;
        }
        self
    }

    /// Sets the filter instead of choosing it.
    #[must_use]
    pub const fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets the compressor instead of choosing it. Its level is still chosen, unless it is set as
    /// well.
    #[must_use]
    pub const fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = Some(compressor);
        self
    }

    /// Sets the level, 0 to 9, instead of choosing it.
    #[must_use]
    pub const fn level(mut self, level: u8) -> Self {
        self.level = Some(level);
        self
    }

    /// Sets the uncompressed bytes of a block; `None`, the default, leaves them to compressor and
    /// level.
    #[must_use]
    pub const fn blocksize(mut self, blocksize: Option<u32>) -> Self {
        self.blocksize = blocksize;
        self
    }

    /// Sets the uncompressed bytes of the future chunks, which affect the block size; 1 MiB by
    /// default. Values outside of 1 to [`MAX_NBYTES`] are adjusted.
    #[must_use]
    pub const fn chunk_size(mut self, bytes: u32) -> Self {
        self.chunk_size = bytes;
        self
    }

    /// The parts of data of `len` bytes to use as a sample: all of it up to 1 MiB, else 4 pieces of
    /// 256 KiB, the first at the beginning and the last at the end.
    ///
    /// The pieces begin at multiples of 48 bytes: at an element, for every typesize that is tried.
    /// No data has no pieces.
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

    /// Chooses settings for contiguous data by the sample at its [`places`](Self::places).
    ///
    /// Data of fewer than 128 bytes, which is never compressed, gets the defaults, in case other
    /// data follows.
    ///
    /// # Errors
    ///
    /// Returns [`Usage`](super::Fault::Usage) for a given level above 9 or a typesize of 0, and
    /// [`Unsupported`](super::Fault::Unsupported) if this build cannot write the given compressor,
    /// or any.
    pub fn tune(&self, data: &[u8]) -> Result<Tuned, ChunkError> {
        let what = "a piece of the sample is not within the data";
        let piece = |place: Range<u64>| {
            let start = usize::try_from(place.start).ok()?;
            data.get(start..usize::try_from(place.end).ok()?)
        };
        let pieces = self.places(data.len() as u64).into_iter().map(piece);
        let pieces: Option<Vec<_>> = pieces.collect();
        self.tune_pieces(&pieces.ok_or(ChunkError::Bug { what })?)
    }

    /// Chooses settings by pieces of the data, such as those at [`places`](Self::places).
    ///
    /// Only the first mebibyte of all pieces together is used. Each piece should begin at the start
    /// of an element.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`tune`](Self::tune).
    ///
    /// ```
    /// use blosc1::{Aim, Tuner};
    ///
    /// let data: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    /// let tuner = Tuner::new(Aim::Speed);
    /// let places = tuner.places(data.len() as u64);
    /// let pieces: Vec<&[u8]> =
    ///     places.iter().map(|place| &data[place.start as usize..place.end as usize]).collect();
    /// assert_eq!(tuner.tune_pieces(&pieces)?, tuner.tune(&data)?);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    pub fn tune_pieces(&self, pieces: &[&[u8]]) -> Result<Tuned, ChunkError> {
        let tuner = Self {
            chunk_size: self.chunk_size.clamp(1, MAX_NBYTES),
            ..*self
        };
        Search::new(tuner, sample::bounded(pieces)).run()
    }

    /// The provided settings, and the defaults for the others.
    fn default_settings(&self) -> ChunkSettings {
        let default = ChunkSettings::default();
        let compressor = self.compressor.unwrap_or(default.compressor);
        ChunkSettings {
            compressor,
            level: self.level.unwrap_or(compressor.default_level()),
            filter: self.filter.unwrap_or(default.filter),
            typesize: self.typesize.unwrap_or(default.typesize),
            blocksize: self.blocksize,
            ..ChunkSettings::default()
        }
    }
}
