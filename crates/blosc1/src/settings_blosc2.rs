//! The settings of the Blosc 2 encoder.

use super::layout::MAX_BLOCKSIZE;
use super::{
    BlockShape, ChunkError, ChunkSettings, Compressor, Filter, FilterPipeline, FilterStep,
};

/// The largest block in bytes that C-Blosc2 reads.
const MAX_BLOCKSIZE2: u32 = 536_866_816;

/// How [`Blosc2Encoder`](super::Blosc2Encoder) makes a chunk.
///
/// The defaults are those of [`ChunkSettings`]. Unlike there, a block size is used exactly, and
/// there may be up to six filters.
///
/// ```
/// use blosc1::{Blosc2Encoder, Blosc2Settings, Compressor, FilterPipeline, FilterStep};
///
/// let settings = Blosc2Settings::default()
///     .compressor(Compressor::Zstd)
///     .level(3)
///     .filters(FilterPipeline::new(&[FilterStep::Delta, FilterStep::Shuffle])?)
///     .typesize(2)
///     .blocksize(Some(1000));
/// let mut encoder = Blosc2Encoder::new(settings)?;
/// let header = encoder.encode(&[7; 5000], &mut Vec::new())?;
/// assert_eq!(header.nblocks(), 5);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blosc2Settings {
    /// The compressor: any except Snappy, which Blosc 2 does not have.
    pub compressor: Compressor,
    /// The compression level, from 0 (store the data as a pure copy) to 9 (smallest output). With
    /// LZ4, as in C-Blosc2, levels above 0 only affect the block size.
    pub level: u8,
    /// The filters applied to each block before compression; a single shuffle by default.
    pub filters: FilterPipeline,
    /// Bytes of one element, 1 to 255, 8 by default.
    pub typesize: u8,
    /// Uncompressed bytes of a block, 1 to 536,866,816, or `None` (the default) to choose them by
    /// compressor and level. Used exactly, unless there is less data. A block size that is not a
    /// whole number of elements is never split.
    pub blocksize: Option<u32>,
    /// The shape of a block, for [filters with cells](FilterStep::Cells).
    pub block_shape: Option<BlockShape>,
}

impl Default for Blosc2Settings {
    /// The defaults of [`ChunkSettings`].
    fn default() -> Self {
        let settings = ChunkSettings::default();
        Self {
            compressor: settings.compressor,
            level: settings.level,
            filters: settings.filter.into(),
            typesize: settings.typesize,
            blocksize: settings.blocksize,
            block_shape: None,
        }
    }
}

impl Blosc2Settings {
    /// Sets the compressor. The level does not change; [`Compressor::default_level`] suits each
    /// compressor.
    #[must_use]
    pub const fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = compressor;
        self
    }

    /// Sets the compression level, 0 to 9.
    #[must_use]
    pub const fn level(mut self, level: u8) -> Self {
        self.level = level;
        self
    }

    /// Sets the filters, which replace the shuffle of the default.
    #[must_use]
    pub const fn filters(mut self, filters: FilterPipeline) -> Self {
        self.filters = filters;
        self
    }

    /// Sets the bytes of one element, 1 to 255.
    #[must_use]
    pub const fn typesize(mut self, typesize: u8) -> Self {
        self.typesize = typesize;
        self
    }

    /// Sets the uncompressed bytes of a block; `None` to choose them by compressor and level.
    #[must_use]
    pub const fn blocksize(mut self, blocksize: Option<u32>) -> Self {
        self.blocksize = blocksize;
        self
    }

    /// Sets the shape of a block, which [filters with cells](FilterStep::Cells) need; all data must then be whole blocks.
    ///
    /// ```
    /// use blosc1::{BlockShape, Blosc2Encoder, Blosc2Settings, ChunkContext, ChunkDecoder, FilterPipeline, FilterStep};
    ///
    /// let shape = BlockShape::new(&[6, 10]);
    /// let steps = [FilterStep::Cells { side: 4 }, FilterStep::Shuffle, FilterStep::Bytedelta { streams: 2 }];
    /// let settings = Blosc2Settings::default()
    ///     .filters(FilterPipeline::new(&steps)?)
    ///     .typesize(2)
    ///     .blocksize(Some(6 * 10 * 2))
    ///     .block_shape(shape);
    /// let data: Vec<u8> = (0..120_u16).flat_map(u16::to_le_bytes).collect();
    /// let mut chunk = Vec::new();
    /// Blosc2Encoder::new(settings)?.encode(&data, &mut chunk)?;
    ///
    /// let mut decoder = ChunkDecoder::new();
    /// decoder.set_context(ChunkContext { block_shape: shape, ..Default::default() });
    /// assert_eq!(decoder.decode_to_vec(&chunk)?, data);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub const fn block_shape(mut self, shape: Option<BlockShape>) -> Self {
        self.block_shape = shape;
        self
    }

    /// Refuses what [`ChunkSettings::check`] refuses, Snappy, a block size outside C-Blosc2's
    /// range, truncated numbers that the elements are not, and filters that are only read.
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
            let typesize = self.typesize;
            match step {
                FilterStep::TruncatePrecision { bits } | FilterStep::TruncateInteger { bits }
                    if step.zeroed(typesize).is_none() =>
                {
                    return Err(ChunkError::Precision { typesize, bits });
                }
                FilterStep::CellMeans { .. } | FilterStep::BytedeltaFirst { .. } => {
                    let (id, _) = step.stored();
                    return Err(ChunkError::FilterOnlyRead { id });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The level at which the compressor runs.
    ///
    /// LZ4 always runs at 9, where it skips no positions, as in C-Blosc2: its level affects the
    /// block size only.
    pub(super) fn stream_level(&self) -> u8 {
        match self.compressor {
            Compressor::Lz4 => 9,
            _ => self.level,
        }
    }

    /// The settings on which the layout depends. Of the filters, only a shuffle affects it.
    pub(super) fn as_blosc1(&self) -> ChunkSettings {
        let filter = if self.filters.steps().any(|step| step == FilterStep::Shuffle) {
            Filter::Byte
        } else {
            Filter::None
        };
        ChunkSettings {
            compressor: self.compressor,
            level: self.level,
            filter,
            typesize: self.typesize,
            blocksize: self.blocksize,
            ..ChunkSettings::default()
        }
    }
}

const _: () = assert!(MAX_BLOCKSIZE > MAX_BLOCKSIZE2);
