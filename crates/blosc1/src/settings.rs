//! The settings of the encoder for Blosc 1.

use super::{ChunkError, Compressor, Filter};

/// How [`compress`](super::compress) and [`ChunkEncoder`](super::ChunkEncoder) make a chunk.
///
/// The most important setting is the [`typesize`](Self::typesize): the filters work element by
/// element, so a wrong size costs most of the compression. It never affects correctness.
///
/// ```
/// use blosc1::{ChunkSettings, Compressor, Filter};
///
/// let settings = ChunkSettings::default()
///     .compressor(Compressor::Zstd)
///     .level(3)
///     .filter(Filter::Bit)
///     .typesize(2);
/// let chunk = blosc1::compress(&[7; 5000], settings)?;
/// assert!(chunk.len() < 100);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkSettings {
    /// The compressor, LZ4 by default.
    pub compressor: Compressor,
    /// The compression level, from 0 (store the data as a pure copy) to 9 (smallest output). Each
    /// compressor interprets it in its own way; see [`Compressor::default_level`].
    pub level: u8,
    /// The filter applied to each block before compression, [`Filter::Byte`] by default.
    pub filter: Filter,
    /// Bytes of one element, 1 to 255, 8 by default. The unit of the filters and of
    /// [`decompress_range`](super::decompress_range).
    pub typesize: u8,
    /// Bytes of a block, or `None` (the default) to choose them by compressor and level. Values below
    /// 128 or `typesize` are raised; the result is rounded down to whole elements. Smaller blocks make
    /// partial reads cheaper, larger ones compress better.
    pub blocksize: Option<u32>,
    /// Which blocks are split into streams, [`SplitMode::ForwardCompat`] by default.
    pub split: SplitMode,
}

/// Which blocks of a chunk of Blosc 1 are split into one stream for each byte of an element.
///
/// Whatever the mode, a block is only split if its elements have at most 16 bytes and it has at least
/// 128 of them. Splitting shuffled data helps fast compressors; every reader handles both forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SplitMode {
    /// Splits for all compressors but Zstd, as C-Blosc does by default.
    #[default]
    ForwardCompat,
    /// Splits for blosclz and Snappy.
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

impl Default for ChunkSettings {
    /// LZ4, or the first compressor of this build, at its default level, with shuffled elements of
    /// 8 bytes. In the measurements of the project, this took the least time to write data and read
    /// it back.
    fn default() -> Self {
        let available = |compressor: &Compressor| compressor.is_available();
        let compressor = [Compressor::Lz4]
            .into_iter()
            .chain(Compressor::ALL)
            .find(available)
            // A build without any compressor: the encoder reports this one as missing.
            .unwrap_or(Compressor::Blosclz);
        Self {
            compressor,
            level: compressor.default_level(),
            filter: Filter::Byte,
            typesize: 8,
            blocksize: None,
            split: SplitMode::default(),
        }
    }
}

impl ChunkSettings {
    /// Sets the compressor. The level stays; see [`Compressor::default_level`] for one that suits it.
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

    /// Sets the filter.
    #[must_use]
    pub const fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the bytes of one element, 1 to 255.
    #[must_use]
    pub const fn typesize(mut self, typesize: u8) -> Self {
        self.typesize = typesize;
        self
    }

    /// Sets the bytes of a block; `None` to choose them by compressor and level.
    #[must_use]
    pub const fn blocksize(mut self, blocksize: Option<u32>) -> Self {
        self.blocksize = blocksize;
        self
    }

    /// Sets which blocks are split into streams.
    ///
    /// ```
    /// use blosc1::{ChunkSettings, SplitMode};
    ///
    /// let settings = ChunkSettings::default().split(SplitMode::Never);
    /// let chunk = blosc1::compress(&[7; 5000], settings)?;
    /// assert!(!blosc1::read_header(&chunk)?.is_split());
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub const fn split(mut self, split: SplitMode) -> Self {
        self.split = split;
        self
    }

    /// Refuses settings that no chunk can have.
    pub(super) fn check(&self) -> Result<(), ChunkError> {
        if self.level > 9 {
            return Err(ChunkError::Level { found: self.level });
        }
        if self.typesize == 0 {
            return Err(ChunkError::Typesize);
        }
        if !self.compressor.is_available() {
            return Err(ChunkError::not_built(self.compressor));
        }
        Ok(())
    }
}
