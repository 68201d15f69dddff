//! How to encode chunks of Blosc 2.

use super::layout::MAX_BLOCKSIZE;
use super::pipeline::truncate;
use super::{ChunkError, ChunkSettings, Compressor, Filter, FilterPipeline, FilterStep};

/// The largest block that C-Blosc2 reads.
const MAX_BLOCKSIZE2: u32 = 536_866_816;

/// How a [`Blosc2Encoder`](super::Blosc2Encoder) compresses.
///
/// ```
/// use blosc1::{Blosc2Encoder, Blosc2Settings, Compressor, FilterPipeline, FilterStep};
///
/// let settings = Blosc2Settings {
///     compressor: Compressor::Zstd,
///     level: 3,
///     filters: FilterPipeline::new(&[FilterStep::Delta, FilterStep::Shuffle])?,
///     typesize: 2,
///     blocksize: Some(1000),
/// };
/// let mut encoder = Blosc2Encoder::new(settings)?;
/// let header = encoder.encode(&[7; 5000], &mut Vec::new())?;
/// assert_eq!(header.nblocks(), 5);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blosc2Settings {
    /// What compresses the streams: any but Snappy.
    pub compressor: Compressor,
    /// 0 (pure copy) to 9 (smallest); what it means beyond that is the compressor's affair.
    pub level: u8,
    /// What is done to a block beforehand.
    pub filters: FilterPipeline,
    /// Bytes of one element, 1 to 255.
    pub typesize: u8,
    /// Bytes of a block, exactly so unless there is less data, or `None` to choose by compressor and
    /// level.
    pub blocksize: Option<u32>,
}

impl Default for Blosc2Settings {
    /// Those of [`ChunkSettings`].
    fn default() -> Self {
        let settings = ChunkSettings::default();
        Self {
            compressor: settings.compressor,
            level: settings.level,
            filters: settings.filter.into(),
            typesize: settings.typesize,
            blocksize: settings.blocksize,
        }
    }
}

impl Blosc2Settings {
    /// Refuses what cannot be encoded.
    pub(super) fn check(&self) -> Result<(), ChunkError> {
        self.as_blosc1().check()?;
        if self.compressor == Compressor::Snappy {
            let compressor = self.compressor;
            return Err(ChunkError::NotInBlosc2 { compressor });
        }
        if let Some(found) = self.blocksize
            && !(1..=MAX_BLOCKSIZE2).contains(&found)
        {
            return Err(ChunkError::Blocksize { found });
        }
        for step in self.filters.steps() {
            if let FilterStep::TruncatePrecision { bits } = step
                && truncate::zeroed(self.typesize, bits).is_none()
            {
                let typesize = self.typesize;
                return Err(ChunkError::Precision { typesize, bits });
            }
        }
        Ok(())
    }

    /// What the compressors need of the settings.
    ///
    /// LZ4 skips no positions at any level, as in C-Blosc2: of the levels only the block size is left.
    pub(super) fn of_streams(&self) -> ChunkSettings {
        let mut settings = self.as_blosc1();
        if settings.compressor == Compressor::Lz4 {
            settings.level = 9;
        }
        settings
    }

    /// What the layout needs of them: of the filters, whether bytes are shuffled.
    pub(super) fn as_blosc1(&self) -> ChunkSettings {
        let filter = match self.filters.steps().any(|step| step == FilterStep::Shuffle) {
            true => Filter::Byte,
            false => Filter::None,
        };
        ChunkSettings {
            compressor: self.compressor,
            level: self.level,
            filter,
            typesize: self.typesize,
            blocksize: self.blocksize,
        }
    }
}

const _: () = assert!(MAX_BLOCKSIZE > MAX_BLOCKSIZE2);
